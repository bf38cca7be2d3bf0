package shell

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"bellhop/core"
	"bellhop/core/tool"
)

// Options configure the tool. Zero values mean their defaults.
type Options struct {
	Timeout    time.Duration // of one command unless the call asks for another, 120 s
	MaxTimeout time.Duration // most a call may ask for, 400 s
	MaxOutput  int           // bytes of output the model sees, 32 KiB
	MaxSpill   int64         // bytes of output kept in the spill file, 16 MiB
	Env        []string      // names of environment variables to pass on beside the built-in list
	Secret     []string      // absolute paths a command must not name: data folder, configuration
}

// New returns the tool.
func New(o Options) tool.Tool { return &shell{o} }

type shell struct{ o Options }

func (s *shell) Spec() tool.Spec { return tool.Spec{Name: "shell", Effect: core.Once, Admin: true} }

func (s *shell) Assess(context.Context, tool.Env, json.RawMessage) (tool.Risk, error) {
	return tool.Risk{}, errors.New("not available")
}

func (s *shell) Call(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
	return tool.Result{}, errors.New("not available")
}
