package openai

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"bellhop/core"
	"bellhop/core/provider"
)

const (
	maxReply   = 64 << 20 // bytes of one reply
	maxProblem = 64 << 10 // bytes of an error body that are read
	tailWait   = 5 * time.Second
	drainWait  = 50 * time.Millisecond
	endMark    = "[DONE]"
)

// call is one model call.
type call struct {
	p     *Provider
	yield func(provider.Part, error) bool
	left  bool // the caller broke off

	think *splitter
	calls calls
	frags []fragment // reused
	held  string     // a first text that may turn out to be an error's
	begun bool       // a first chunk was read

	model        string
	finish       string // the endpoint's word; empty: not yet
	usage        *usage
	sent, got    int // bytes of the request and of the reply
	shown, mused int // bytes of text and of reasoning
}

// run makes the call and hands out its parts. The error is a *provider.Error.
func (c *call) run(ctx context.Context, r provider.Request) error {
	body, err := c.p.encode(r)
	if err != nil {
		return &provider.Error{Kind: provider.BadRequest, Text: "the request has no JSON form", Err: c.p.scrub.cause(err)}
	}
	c.sent = len(body)
	w := newWatch(ctx, c.p.o.FirstByte)
	defer w.stop()
	resp, err := c.p.post(w.ctx, "/chat/completions", body)
	if err != nil {
		return c.p.broken(ctx, w, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return c.p.refused(ctx, w, resp)
	}
	src := w.reading(resp.Body, c.p.o.Gap)
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "application/json" {
		err = c.whole(src)
	} else {
		err = c.stream(src, w)
	}
	switch {
	case c.left:
		return nil
	case err != nil:
		return c.fault(ctx, w, err)
	}
	c.close()
	w.limit(drainWait) // read the end of the body, so that the connection can be used again
	_, _ = io.CopyN(io.Discard, resp.Body, maxProblem)
	return nil
}

func (c *call) fault(ctx context.Context, w *watch, err error) error {
	var known *provider.Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, errTooLong), errors.Is(err, errTooMuch):
		return &provider.Error{Kind: provider.BadRequest, Text: c.p.o.Name, Err: err}
	}
	return c.p.broken(ctx, w, err)
}

// stream reads events until the reply is complete.
func (c *call) stream(src io.Reader, w *watch) error {
	es := newEvents(src)
	for !c.left {
		data, err := es.next()
		switch {
		case err != nil && c.finish != "":
			return nil // the reply was complete
		case err == io.EOF:
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		case len(data) == 0:
			continue
		case string(data) == endMark:
			return nil
		}
		if c.got += len(data); c.got > maxReply {
			return errTooMuch
		}
		if err := c.event(data, es.failed()); err != nil {
			return err
		}
		if c.finish != "" {
			w.limit(tailWait) // only usage can still come
		}
	}
	return nil
}

// event takes one chunk.
func (c *call) event(data []byte, failed bool) error {
	if c.begun && !failed {
		if text, thought, ok := plain(data); ok {
			c.add(text, thought)
			return nil
		}
	}
	ch, err := decode(data)
	if err != nil {
		return c.lines(data, err)
	}
	if failed || ch.failure() {
		return c.failed(data)
	}
	c.begun = true
	for i := range ch.Choices {
		if isSet(ch.Choices[i].Error) {
			return c.failed(data)
		}
	}
	return c.chunk(ch)
}

// lines takes an event of several data lines that are a chunk each: some servers separate events by one line end only.
func (c *call) lines(data []byte, err error) error {
	if bytes.IndexByte(data, '\n') < 0 {
		return err
	}
	for line := range bytes.SplitSeq(data, []byte{'\n'}) {
		line = bytes.TrimSpace(line)
		switch {
		case len(line) == 0:
		case string(line) == endMark:
			c.finish = cmp.Or(c.finish, "stop")
		default:
			if err := c.event(line, false); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *call) failed(data []byte) error {
	p := readProblem(0, data)
	if c.held != "" {
		p.text = c.held + ": " + p.text
	}
	return c.p.failure(p, nil)
}

func (c *call) chunk(ch *chunk) error {
	if ch.Model != "" {
		c.model = ch.Model
	}
	if ch.Usage != nil {
		c.usage = ch.Usage
	}
	for i := range ch.Choices {
		choice := &ch.Choices[i]
		if choice.Index != 0 {
			continue // one was asked for
		}
		d := &choice.Delta
		if choice.Message != nil {
			d = choice.Message
		}
		if err := c.delta(d); err != nil {
			return err
		}
		if choice.FinishReason != "" {
			c.finish = choice.FinishReason
		}
	}
	return nil
}

func (c *call) delta(d *delta) error {
	text, typed := d.said()
	c.add(text, d.thought()+typed)
	deltas := d.ToolCalls
	if d.FunctionCall != nil {
		deltas = append(deltas, callDelta{Function: *d.FunctionCall})
	}
	for _, t := range deltas {
		c.release()
		begun, err := c.calls.add(t)
		if err != nil {
			return err
		}
		if begun != "" {
			c.emit(provider.Part{Naming: begun})
		}
	}
	return nil
}

// add hands out text and reasoning.
func (c *call) add(text, thought string) {
	if thought != "" {
		c.think.plainOnly()
		c.mused += len(thought)
		c.emit(provider.Part{Reasoning: thought})
	}
	if text == "" {
		return
	}
	if c.held == "" && c.shown == 0 && strings.Contains(text, "support stream") {
		c.held = text // an error event may follow, then these are its words
		return
	}
	c.release()
	c.say(text)
}

func (c *call) release() {
	if held := c.held; held != "" {
		c.held = ""
		c.say(held)
	}
}

func (c *call) say(text string) {
	c.shown += len(text)
	c.frags = c.think.add(text, c.frags[:0])
	c.emitAll(c.frags)
}

func (c *call) emitAll(frags []fragment) {
	for _, f := range frags {
		switch f.kind {
		case visible:
			c.emit(provider.Part{Text: f.text})
		case hidden:
			c.emit(provider.Part{Reasoning: f.text})
		case recant:
			c.emit(provider.Part{Recant: true})
		}
	}
}

func (c *call) emit(p provider.Part) {
	if !c.left && !c.yield(p, nil) {
		c.left = true
	}
}

// close hands out what could only be told at the end: held text, whole calls, the Done part.
func (c *call) close() {
	c.release()
	c.frags = c.think.end(c.frags[:0])
	c.emitAll(c.frags)
	calls := c.calls.done()
	for i := range calls {
		c.emit(provider.Part{Call: &calls[i]})
	}
	c.emit(provider.Part{Done: &provider.Done{Finish: finish(c.finish, len(calls) > 0), Usage: c.cost(), Model: c.model}})
}

// finish maps an endpoint's word. Calls that came with "stop" want their answers all the same.
func finish(word string, calls bool) provider.Finish {
	switch strings.ToLower(word) {
	case "length", "max_tokens", "model_length":
		return provider.FinishLength
	case "content_filter", "safety", "recitation":
		return provider.FinishFiltered
	}
	if calls {
		return provider.FinishTools
	}
	return provider.FinishStop
}

// cost returns the usage as told, else four bytes a token.
func (c *call) cost() core.Usage {
	if c.usage != nil {
		return c.usage.core()
	}
	return core.Usage{Calls: 1, Input: (c.sent + 3) / 4, Output: (c.shown + c.mused + c.calls.size + 3) / 4,
		Reasoning: (c.mused + 3) / 4, Estimated: true}
}

// whole reads a reply that comes at once, because it was asked for so or because the endpoint knows no other way.
func (c *call) whole(src io.Reader) error {
	body, err := io.ReadAll(io.LimitReader(src, maxReply+1))
	if err != nil {
		return err
	}
	if len(body) > maxReply {
		return errTooMuch
	}
	ch, err := decode(body)
	if err != nil {
		return err
	}
	if ch.failure() || len(ch.Choices) > 0 && isSet(ch.Choices[0].Error) {
		return c.failed(body)
	}
	if len(ch.Choices) == 0 {
		return io.ErrUnexpectedEOF
	}
	return c.chunk(ch)
}
