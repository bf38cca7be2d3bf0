package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"runtime/debug"
	"strings"

	"bellhop/core"
	"bellhop/gateway/rpc/jsonrpc"
)

// Env is what a method gets beside its parameters. It lives for one frame.
type Env struct {
	By   core.Principal
	s    *Server
	c    *client
	held []*watch

	// after are frames that follow the reply.
	after [][]byte
}

// release sends what follows the reply, and lets the events go that were held until it was queued.
func (e *Env) release() {
	for _, frame := range e.after {
		e.c.out.reply(frame)
	}
	for _, w := range e.held {
		w.release()
	}
}

// Method is one row of the table.
type Method struct {
	Slow   bool   // runs in the pool, so that quick ones never wait behind it
	About  string // one line, for rpc.discover
	params reflect.Type
	run    func(ctx context.Context, e *Env, params json.RawMessage) (any, error)
}

// quick and slow make rows. P is a struct; a field tagged need:"yes" must be there and not be empty.
func quick[P, R any](about string, h func(context.Context, *Env, P) (R, error)) Method {
	return Method{About: about, params: reflect.TypeFor[P](), run: func(ctx context.Context, e *Env, raw json.RawMessage) (any, error) {
		var p P
		if err := decodeParams(raw, &p); err != nil {
			return nil, err
		}
		return h(ctx, e, p)
	}}
}

func slow[P, R any](about string, h func(context.Context, *Env, P) (R, error)) Method {
	m := quick(about, h)
	m.Slow = true
	return m
}

// call runs one call. A panic in a method becomes an error of that call.
func (s *Server) call(ctx context.Context, e *Env, c jsonrpc.Call) (result any, fail *jsonrpc.Error) {
	if c.Err != nil {
		return nil, c.Err
	}
	m, ok := s.methods[c.Method]
	if !ok {
		return nil, &jsonrpc.Error{Code: jsonrpc.MethodNotFound, Message: "no such method"}
	}
	defer func() {
		if p := recover(); p != nil {
			s.log.ErrorContext(ctx, "method panicked", "call", c.Method, "err", p, "stack", string(debug.Stack()))
			result, fail = nil, &jsonrpc.Error{Code: jsonrpc.ServerError, Message: words[core.Internal].Message, Data: kindData(core.Internal)}
		}
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, s.cfg.Limit, core.Errorf("answer call", core.Timeout, "%v passed", s.cfg.Limit))
	defer cancel()
	result, err := m.run(ctx, e, c.Params)
	if err == nil {
		return result, nil
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = context.Cause(ctx)
	}
	fail, known := problem(err)
	if !known {
		s.log.ErrorContext(ctx, "method failed", "call", c.Method, "err", err)
	}
	return nil, fail
}

// decodeParams reads an object into a struct: -32602 when its shape is wrong, 4002 when a required member is missing.
func decodeParams(raw json.RawMessage, into any) error {
	if len(raw) > 0 && raw[0] == '[' {
		return &jsonrpc.Error{Code: jsonrpc.InvalidParams, Message: "invalid params: an object is expected", Data: kindData(core.Invalid)}
	}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, into); err != nil {
			return &jsonrpc.Error{Code: jsonrpc.InvalidParams, Message: shapeOf(err), Data: kindData(core.Invalid)}
		}
	}
	v := reflect.ValueOf(into).Elem()
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.Tag.Get("need") == "yes" && v.Field(i).IsZero() {
			return fault(BadParams, memberName(f)+" is required")
		}
	}
	return nil
}

func shapeOf(err error) string {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		return "invalid params: " + wrong.Field + " must be " + kindName(wrong.Type)
	}
	return "invalid params"
}

// kindName says a Go type in JSON's words.
func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "a boolean"
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "a number"
}

func memberName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
