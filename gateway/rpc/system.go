package rpc

import (
	"context"
	"maps"
	"reflect"
	"slices"

	"bellhop/core"
	"bellhop/gateway/rpc/jsonrpc"
)

type setupResult struct {
	Setup
	Version string `json:"version"`
	Name    string `json:"name"`  // who the caller is
	Admin   bool   `json:"admin"` // and whether they may administer
}

func setupStatus(ctx context.Context, e *Env, _ struct{}) (setupResult, error) {
	return setupResult{e.s.cfg.Setup(ctx), e.s.cfg.Version, firstOf(e.By.Name, string(e.By.ID)), e.By.Admin}, nil
}

// Described is one method in rpc.discover.
type Described struct {
	Name   string      `json:"name"`
	About  string      `json:"summary"`
	Params []Parameter `json:"params"`
}

// Parameter is one member of a method's params.
type Parameter struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Required bool   `json:"required"`
}

type discoverResult struct {
	OpenRPC string                  `json:"openrpc"`
	Info    map[string]string       `json:"info"`
	Methods []Described             `json:"methods"`
	Events  []core.EventType        `json:"events"`
	Errors  map[string]jsonrpc.Code `json:"errors"`
}

// discover describes the table, from the table itself.
func discover(_ context.Context, e *Env, _ struct{}) (discoverResult, error) {
	out := discoverResult{OpenRPC: "1.3.2", Info: map[string]string{"title": "bellhop", "version": e.s.cfg.Version},
		Events: eventTypes(), Errors: map[string]jsonrpc.Code{"parse": jsonrpc.ParseError, "invalid request": jsonrpc.InvalidRequest,
			"unknown method": jsonrpc.MethodNotFound, "wrong shape": jsonrpc.InvalidParams, "internal": jsonrpc.ServerError,
			"no such session": NoSession, "missing or senseless": BadParams, "not allowed": NotAllowed, "busy, or nothing to answer": SessionNow}}
	for _, name := range slices.Sorted(maps.Keys(e.s.methods)) {
		m := e.s.methods[name]
		out.Methods = append(out.Methods, Described{name, m.About, parametersOf(m.params)})
	}
	return out, nil
}

func parametersOf(t reflect.Type) []Parameter {
	out := []Parameter{}
	for i := range t.NumField() {
		f := t.Field(i)
		ft := f.Type
		if ft.Kind() == reflect.Pointer {
			ft = ft.Elem()
		}
		out = append(out, Parameter{memberName(f), schemaName(ft), f.Tag.Get("need") == "yes"})
	}
	return out
}

func schemaName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	}
	return "integer"
}

// eventTypes lists what a client may hear.
func eventTypes() []core.EventType {
	return []core.EventType{Ready, core.MessageStart, core.ThinkingDelta, core.ReasoningDelta, core.ReasoningReady,
		core.ToolGenerating, core.ToolStart, core.ToolProgress, core.ToolComplete, core.MessageDelta, core.MessageReset,
		core.MessageInterim, core.MessageComplete, core.ClarifyRequest, core.SudoRequest, core.SecretRequest,
		core.ApprovalRequest, core.QuestionResolved, core.StatusUpdate, core.SessionInfo, core.QueueUpdate,
		core.Background, core.ErrorEvent}
}
