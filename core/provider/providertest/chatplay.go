package providertest

import (
	"context"
	"net/http"
	"strings"

	"bellhop/core"
)

// chatPlayer writes one reply as chunks; for a call that does not stream it gathers them into one answer.
type chatPlayer struct {
	w     http.ResponseWriter
	flush *http.ResponseController
	ctx   context.Context
	req   *Request

	dialect map[Dialect]bool
	calls   []obj
	text    strings.Builder // what a call that does not stream gets
	thought strings.Builder
	size    int
	usage   *core.Usage
	thinks  bool // inside think tags
	begun   bool
}

func (p *chatPlayer) in(d Dialect) bool { return p.dialect[d] }

// begin sends status and role before the first thing that is said.
func (p *chatPlayer) begin() {
	if p.begun || !p.req.Stream {
		return
	}
	p.begun = true
	p.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	p.w.WriteHeader(http.StatusOK)
	p.chunk(obj{"role": "assistant", "content": ""}, nil)
}

// step plays one step; over means that nothing follows.
func (p *chatPlayer) step(s Step) (over bool) {
	switch s.op {
	case opWait, opGate, opDialect, opUsage, opHang:
	default:
		p.begin()
	}
	switch s.op {
	case opText:
		p.say(s.pieces)
	case opThink:
		p.think(s.pieces)
	case opCall:
		p.call(s.call)
	case opWait:
		return pause(p.ctx.Done(), s.wait)
	case opGate:
		select {
		case <-s.gate:
		case <-p.ctx.Done():
			return true
		}
	case opDialect:
		if p.dialect == nil {
			p.dialect = map[Dialect]bool{}
		}
		p.dialect[s.dialect] = true
	case opUsage:
		p.usage = &s.usage
	case opRaw:
		for _, piece := range s.pieces {
			p.write(piece)
		}
	case opFinish:
		p.finish(s.code)
		return true
	case opFail:
		p.data(obj{"error": obj{"message": s.pieces[0], "type": s.code, "param": nil, "code": orNull(s.code)}})
		return true
	case opHang:
		<-p.ctx.Done()
		return true
	case opCut:
		panic(http.ErrAbortHandler) // the only way to break a connection from a handler
	case opQuit:
		return true
	}
	return p.ctx.Err() != nil
}

func (p *chatPlayer) say(pieces []string) {
	if p.thinks {
		p.thinks = false
		pieces = append([]string{"</think>"}, pieces...)
	}
	for _, s := range pieces {
		p.size += len(s)
		p.text.WriteString(s)
		var content any = s
		if p.in(TypedParts) {
			content = []obj{{"type": "text", "text": s}}
		}
		p.chunk(obj{"content": content}, nil)
	}
}

func (p *chatPlayer) think(pieces []string) {
	if p.in(ThinkTags) && !p.thinks {
		p.thinks = true
		pieces = append([]string{"<think>"}, pieces...)
	}
	for _, s := range pieces {
		p.size += len(s)
		p.thought.WriteString(s)
		switch {
		case p.in(ThinkTags):
			p.text.WriteString(s)
			p.chunk(obj{"content": s}, nil)
		case p.in(ReasoningField):
			p.chunk(obj{"content": "", "reasoning": s}, nil)
		case p.in(ReasoningDetails):
			p.chunk(obj{"content": "", "reasoning_details": []obj{{"type": "reasoning.text", "text": s}}}, nil)
		case p.in(TypedParts):
			p.chunk(obj{"content": []obj{{"type": "thinking", "thinking": []obj{{"type": "text", "text": s}}}}}, nil)
		default:
			p.chunk(obj{"reasoning_content": s}, nil)
		}
	}
}

// call writes a tool call: its head, then its arguments in two pieces, unless the dialect does otherwise.
func (p *chatPlayer) call(c core.ToolCall) {
	index := len(p.calls)
	args := string(c.Args)
	p.size += len(args)
	p.calls = append(p.calls, obj{"id": c.ID, "type": "function", "function": obj{"name": c.Name, "arguments": args}})
	half := len(args) / 2
	pieces := []string{"", args[:half], args[half:]}
	if p.in(Whole) || p.in(NoID) || p.in(ObjectArgs) {
		pieces = []string{args}
	}
	for i, piece := range pieces {
		f := obj{"arguments": piece}
		if p.in(ObjectArgs) {
			f["arguments"] = c.Args
		}
		head := i == 0 || p.in(Repeated)
		if head {
			f["name"] = c.Name
		}
		if p.in(Legacy) {
			p.chunk(obj{"function_call": f}, nil)
			continue
		}
		d := obj{"index": index, "function": f}
		if head {
			d["id"], d["type"] = c.ID, "function"
		}
		p.number(d)
		p.chunk(obj{"tool_calls": []obj{d}}, nil)
	}
}

// number sets what a dialect sends in place of index and id.
func (p *chatPlayer) number(d obj) {
	if p.in(ZeroIndex) {
		d["index"] = 0
	}
	if p.in(NoIndex) {
		delete(d, "index")
	}
	if p.in(NoID) {
		delete(d, "id")
	}
}

func (p *chatPlayer) end() {
	word := "stop"
	switch {
	case p.in(Legacy) && len(p.calls) > 0:
		word = "function_call"
	case len(p.calls) > 0 && !p.in(StopFinish):
		word = "tool_calls"
	}
	p.finish(word)
}

func (p *chatPlayer) finish(word string) {
	if p.usage == nil {
		p.usage = &core.Usage{Input: (len(p.req.Body) + 3) / 4, Output: (p.size + 3) / 4}
	}
	if !p.req.Stream {
		p.answer(word)
		return
	}
	p.begin()
	p.chunk(obj{}, word)
	if p.req.Usage {
		last := p.frame([]obj{})
		last["usage"] = p.cost()
		p.data(last)
	}
	p.write("data: [DONE]\n\n")
}

func (p *chatPlayer) cost() obj {
	u := p.usage
	prompt := obj{"cached_tokens": u.CacheRead}
	told := obj{"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output,
		"prompt_tokens_details": prompt, "completion_tokens_details": obj{"reasoning_tokens": u.Reasoning}}
	if u.CacheWrite > 0 { // routers tell this, and the price
		prompt["cache_write_tokens"] = u.CacheWrite
	}
	if u.Cost > 0 {
		told["cost"] = u.Cost
	}
	return told
}

func (p *chatPlayer) answer(word string) {
	m := obj{"role": "assistant", "content": orNull(p.text.String()), "refusal": nil}
	if len(p.calls) > 0 {
		m["tool_calls"] = p.calls
	}
	if p.thought.Len() > 0 && !p.in(ThinkTags) {
		m["reasoning_content"] = p.thought.String()
	}
	writeJSON(p.w, http.StatusOK, obj{"id": "chatcmpl-1", "object": "chat.completion", "created": 1790000000,
		"model": p.req.Model, "usage": p.cost(),
		"choices": []obj{{"index": 0, "message": m, "logprobs": nil, "finish_reason": word}}})
}

func (p *chatPlayer) frame(choices []obj) obj {
	f := obj{"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1790000000, "model": p.req.Model,
		"choices": choices}
	if p.req.Usage {
		f["usage"] = nil
	}
	return f
}

func (p *chatPlayer) chunk(delta obj, finish any) {
	f := p.frame([]obj{{"index": 0, "delta": delta, "logprobs": nil, "finish_reason": finish}})
	f["obfuscation"] = "k2Jx"
	p.data(f)
}

func (p *chatPlayer) data(v any) { p.write("data: " + string(encode(v)) + "\n\n") }

// write sends bytes of a stream. A caller who went away is noticed by the next step.
func (p *chatPlayer) write(s string) {
	if !p.req.Stream {
		return
	}
	_, _ = p.w.Write([]byte(s))
	_ = p.flush.Flush()
}
