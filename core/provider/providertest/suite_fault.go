package providertest

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
	"bellhop/core/provider"
)

func testFaults(t *testing.T, k Kit) {
	for name, c := range map[string]struct {
		steps []Step
		kind  provider.ErrorKind
		text  string
	}{
		"cut":                     {[]Step{Text("half"), Cut()}, provider.Transport, "half"},
		"ends without a word":     {[]Step{Text("half"), Quit()}, provider.Transport, "half"},
		"nothing at all":          {[]Step{Quit()}, provider.Transport, ""},
		"garbage":                 {[]Step{Text("half"), Raw("data: {\"choi\n\n")}, provider.Transport, "half"},
		"error object":            {[]Step{Text("half"), Fail("server_error", "boom")}, provider.Overloaded, "half"},
		"too long, inside":        {[]Step{Fail("context_length_exceeded", "This model's maximum context length is 10 tokens.")}, provider.Overflow, ""},
		"says it cannot stream":   {[]Step{Refuse(400, "", "m does not support streaming")}, provider.NoStream, ""},
		"says so inside a stream": {[]Step{Text("unknown does not support streaming"), Fail("error", "failed")}, provider.NoStream, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := k.start(t).play(t, c.steps...)
			wantKind(t, err, c.kind)
			if r.Text() != c.text || r.Done != nil {
				t.Errorf("text %q, done %v", r.Text(), r.Done)
			}
		})
	}
	t.Run("an answer about streaming stays an answer", func(t *testing.T) {
		if r := k.start(t).must(t, Text("It does not support streaming", ", sadly.")); r.Text() != "It does not support streaming, sadly." {
			t.Errorf("%q", r.Text())
		}
	})
	t.Run("one call an error", func(t *testing.T) {
		b := k.start(t)
		for _, status := range []int{429, 500, 503} {
			before := len(b.server.Requests())
			_, _ = b.play(t, Refuse(status, "", "no"))
			if n := len(b.server.Requests()) - before; n != 1 {
				t.Errorf("status %d: %d calls", status, n)
			}
		}
	})
	t.Run("no address", func(t *testing.T) {
		p := k.New("http://127.0.0.1:1/v1?token=planted", planted, nil)
		_, err := provider.Gather(p.Stream(t.Context(), ask("x")))
		wantKind(t, err, provider.Transport)
		clean(t, err)
		clean(t, p.Probe(t.Context(), "m"))
	})
	t.Run("a senseless address", func(t *testing.T) {
		_, err := provider.Gather(k.New("http://user:planted@[::1/v1", planted, nil).Stream(t.Context(), ask("x")))
		wantKind(t, err, provider.Transport)
		clean(t, err)
	})
}

func testKinds(t *testing.T, k Kit) {
	for _, c := range []struct {
		status     int
		code, text string
		kind       provider.ErrorKind
	}{
		{429, "rate_limit_exceeded", "Rate limit reached for m", provider.RateLimited},
		{429, "", "Too Many Requests", provider.RateLimited},
		{429, "insufficient_quota", "You exceeded your current quota, please check your plan and billing details.", provider.Quota},
		{402, "", "Insufficient credits", provider.Quota},
		{400, "context_length_exceeded", "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.", provider.Overflow},
		{400, "", "The prompt (total length 5000) is too long to fit into the model (context length 4096).", provider.Overflow},
		{400, "exceed_context_size_error", "the request exceeds the available context size, try increasing it", provider.Overflow},
		{500, "", "the request exceeds the available context size", provider.Overflow},
		{400, "", "input length exceeds maximum context length", provider.Overflow},
		{400, "", "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens", provider.Overflow},
		{413, "", "Payload Too Large", provider.Overflow},
		{404, "model_not_found", "The model `m` does not exist", provider.NoModel},
		{404, "", "model \"m\" not found, try pulling it first", provider.NoModel},
		{400, "", "m is not a valid model ID", provider.NoModel},
		{404, "", "", provider.BadRequest},
		{401, "invalid_api_key", "Incorrect API key provided: " + planted, provider.Auth},
		{403, "", "Country, region, or territory not supported", provider.Auth},
		{400, "content_filter", "The response was filtered due to the prompt triggering the content management policy", provider.Filtered},
		{400, "", "Invalid value for temperature", provider.BadRequest},
		{500, "server_error", "The server had an error", provider.Overloaded},
		{503, "server_is_overloaded", "Slow down", provider.Overloaded},
		{529, "", "Overloaded", provider.Overloaded},
	} {
		t.Run(http.StatusText(c.status)+" "+c.code+" "+string(c.kind), func(t *testing.T) {
			_, err := k.start(t).play(t, Refuse(c.status, c.code, c.text))
			wantKind(t, err, c.kind)
			var e *provider.Error
			if errors.As(err, &e); e.Code != c.status {
				t.Errorf("status %d, want %d", e.Code, c.status)
			}
		})
	}
	t.Run("how long to wait", func(t *testing.T) {
		for name, c := range map[string]struct {
			value string
			want  time.Duration
		}{"Retry-After": {"7", 7 * time.Second}, "retry-after-ms": {"1500", 1500 * time.Millisecond}} {
			_, err := k.start(t).play(t, Refuse(429, "rate_limit_exceeded", "slow", name, c.value))
			var e *provider.Error
			if errors.As(err, &e); e.RetryAfter != c.want {
				t.Errorf("%s %s: %v", name, c.value, e.RetryAfter)
			}
		}
	})
}

// testSilence measures time-outs in a bubble, to the second.
func testSilence(t *testing.T, k Kit) {
	for name, c := range map[string]struct {
		steps []Step
		after time.Duration
	}{
		"before a status":     {[]Step{Hang()}, 120 * time.Second},
		"after some text":     {[]Step{Wait(100 * time.Second), Text("half"), Hang()}, 160 * time.Second},
		"slow but never long": {[]Step{Text("a"), Wait(59 * time.Second), Text("b"), Wait(59 * time.Second), Text("c"), Hang()}, 178 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				_, err := k.start(t).play(t, c.steps...)
				wantKind(t, err, provider.Transport)
				if took := time.Since(begin).Round(time.Second); took != c.after {
					t.Errorf("after %v, want %v", took, c.after)
				}
			})
		})
	}
}

func testLeaving(t *testing.T, k Kit) {
	for name, first := range map[string][]Step{"before a status": {Hang()}, "within a stream": {Text("half"), Hang()}} {
		t.Run("cancelled "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := k.start(t)
				b.server.Script(first)
				ctx, cancel := context.WithCancelCause(t.Context())
				why := &core.Interrupt{Reason: core.ReasonStopped}
				begin := time.Now()
				time.AfterFunc(3*time.Second, func() { cancel(why) })
				_, err := provider.Gather(b.provider.Stream(ctx, ask("x")))
				if !errors.Is(err, why) || time.Since(begin) != 3*time.Second {
					t.Errorf("%v after %v", err, time.Since(begin))
				}
				clean(t, err)
				synctest.Wait()
				if n := b.server.Open(); n != 0 {
					t.Errorf("%d replies are still being written", n)
				}
			})
		})
	}
	t.Run("breaking off ends the call", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := k.start(t)
			b.server.Script(Reply{Text("a", "b", "c"), Hang()})
			for p, err := range b.provider.Stream(t.Context(), ask("x")) {
				if err != nil || p.Text == "b" {
					break
				}
			}
			synctest.Wait()
			if n := b.server.Open(); n != 0 {
				t.Errorf("%d replies are still being written", n)
			}
		})
	})
}

func testProbe(t *testing.T, k Kit) {
	known := k.start(t)
	known.server.Models = []string{"m", "n"}
	for model, kind := range map[string]provider.ErrorKind{"": "", "m": "", "x": provider.NoModel} {
		err := known.provider.Probe(t.Context(), model)
		clean(t, err)
		if kind == "" && err != nil || kind != "" && provider.KindOf(err) != kind {
			t.Errorf("model %q: %v", model, err)
		}
	}
	t.Run("a wrong key", func(t *testing.T) {
		client, stop := known.server.Pipe()
		defer stop()
		err := k.New(PipeURL, "planted-but-wrong", client).Probe(t.Context(), "m")
		clean(t, err)
		wantKind(t, err, provider.Auth)
	})
	t.Run("no list", func(t *testing.T) {
		b := k.start(t)
		b.server.Unlisted, b.server.Models = true, []string{"m"}
		for model, kind := range map[string]provider.ErrorKind{"": "", "m": "", "x": provider.NoModel} {
			err := b.provider.Probe(t.Context(), model)
			if kind == "" && err != nil || kind != "" && provider.KindOf(err) != kind {
				t.Errorf("model %q: %v", model, err)
			}
		}
	})
}
