package turn

import (
	"context"
	"encoding/json"
	"time"

	"bellhop/core/tool"
)

type jsonArgs = json.RawMessage

func constant(text string) func(context.Context, tool.Env, jsonArgs) (tool.Result, error) {
	return func(context.Context, tool.Env, jsonArgs) (tool.Result, error) { return tool.Result{Text: text}, nil }
}

func sleeps(d time.Duration) func(context.Context, tool.Env, jsonArgs) (tool.Result, error) {
	return func(ctx context.Context, _ tool.Env, _ jsonArgs) (tool.Result, error) {
		select {
		case <-time.After(d):
			return tool.Result{Text: "slept"}, nil
		case <-ctx.Done():
			return tool.Result{Text: "half"}, ctx.Err()
		}
	}
}
