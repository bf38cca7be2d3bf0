package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"bellhop/gateway/rpc/jsonrpc"
)

// talk is the conversation of a terminal.
func (t *chat) talk(ctx context.Context) error {
	for t.ended == nil {
		t.paint.prompt()
		text, err := t.line(ctx)
		if err != nil {
			return err
		}
		if t.ended != nil {
			return nil
		}
		if strings.TrimSpace(text) == "" {
			continue
		}
		if err := t.told(t.one(ctx, text)); err != nil {
			return err
		}
	}
	return nil
}

// told shows how a turn of a conversation ended badly, and returns what ends the conversation, too.
func (t *chat) told(err error) error {
	switch {
	case errors.Is(err, ErrInterrupted), errors.Is(err, ErrUnsettled), errors.Is(err, ErrFailed), codeOf(err) != 0:
		fmt.Fprintln(t.o.Err, err)
		return nil
	}
	return err
}

// line waits for a line while nothing runs; turns of what was typed before are shown meanwhile.
func (t *chat) line(ctx context.Context) (string, error) {
	for {
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case e := <-t.c.Events():
			if err := t.told(t.meanwhile(ctx, e)); err != nil {
				return "", err
			}
		case <-t.o.Interrupt:
			t.ended = errDone
			return "", nil
		case text, ok := <-t.lines:
			if !ok {
				t.ended = io.EOF
			}
			return text, nil
		}
	}
}

// meanwhile takes news that comes while nothing is waited for. A message that was typed beside another turn has its own
// now, perhaps: that one is shown to its end.
func (t *chat) meanwhile(ctx context.Context, e Event) error {
	typed := t.later[e.Admission]
	if e.Type == "status.update" && typed {
		t.paint.on(e)
		return nil
	}
	t.paint.beside(e)
	if e.Type != "message.start" || !typed && !t.later[retryOf(e)] {
		return nil
	}
	delete(t.later, e.Admission)
	delete(t.later, retryOf(e))
	t.own, t.started = e.Admission, true
	t.paint.begin()
	t.paint.note("")
	defer t.paint.prompt()
	return t.wait(ctx, false)
}

// keep notes a message that is not waited for, and may have a turn of its own.
func (t *chat) keep(status, admission string) {
	if status != "command" && admission != "" && admission != t.own {
		t.later[admission] = true
	}
}

// read hands on the lines of In.
func (t *chat) read(ctx context.Context) {
	defer close(t.lines)
	in := bufio.NewScanner(t.o.In)
	in.Buffer(nil, jsonrpc.MaxMessage/2)
	for in.Scan() {
		select {
		case t.lines <- in.Text():
		case <-ctx.Done():
			return
		}
	}
}
