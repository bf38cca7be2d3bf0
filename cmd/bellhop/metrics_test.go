package main

import (
	"bufio"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"bellhop/adapters/telegram/telegramtest"
	"bellhop/core"
	"bellhop/core/provider/providertest"
)

// measured is one gateway whose figures are watched.
type measured struct {
	*rig
	g *process
	w *webClient
}

// costly answers by the message's first word.
func costly(q *providertest.Request) providertest.Reply {
	switch {
	case strings.HasPrefix(told(q), "hang"):
		return providertest.Reply{providertest.Text("I am"), providertest.Hang()}
	case strings.HasPrefix(told(q), "count"):
		r := providertest.Reply{}
		for i := range 8 {
			r = append(r, providertest.Text(fmt.Sprint("word", i, " ")), providertest.Wait(200*time.Millisecond))
		}
		return r
	}
	return providertest.Reply{providertest.Text("PONG"), providertest.Cost(core.Usage{Input: 100, Output: 20, CacheRead: 50,
		CacheWrite: 7, Reasoning: 5, Cost: 0.01})}
}

// figures are all series that a gateway shows now.
func (m *measured) figures() map[string]float64 {
	out := map[string]float64{}
	sc := bufio.NewScanner(strings.NewReader(m.g.get("metrics")))
	for sc.Scan() {
		series, value, ok := strings.Cut(sc.Text(), " ")
		if n, err := strconv.ParseFloat(value, 64); ok && err == nil && strings.HasPrefix(series, "bellhop_") {
			out[strings.TrimPrefix(series, "bellhop_")] = n
		}
	}
	return out
}

// sum adds the series that match p.
func (m *measured) sum(p *regexp.Regexp) (n float64) {
	for series, v := range m.figures() {
		if p.MatchString(series) {
			n += v
		}
	}
	return n
}

func (m *measured) say(text string) { m.chat.Say(m.owner, text) }

// hang begins a turn that does not end by itself.
func (m *measured) hang() {
	m.say("hang")
	started := regexp.MustCompile(`^admissions\{state="started"\}`)
	m.until("a turn runs", func() bool { return m.sum(started) > 0 })
}

// sleepThrough suspends the gateway for longer than its leases last.
func (m *measured) sleepThrough() {
	m.hang()
	for _, s := range []struct {
		signal syscall.Signal
		wait   time.Duration
	}{{syscall.SIGSTOP, 3 * time.Second}, {syscall.SIGCONT, 0}} {
		if err := m.g.cmd.Process.Signal(s.signal); err != nil {
			m.t.Fatal(err)
		}
		<-time.After(s.wait)
	}
}

func (m *measured) interrupt() {
	got, _ := m.w.submit("stopped", "hang")
	m.until("the turn can be interrupted", func() bool {
		var r struct{ Status string }
		m.w.must("session.interrupt", map[string]any{"session_id": m.w.session, "admission_id": got.Admission}, &r)
		return r.Status == "interrupted"
	})
}

func (m *measured) spoil() {
	m.write("streem: {}")
	if err := m.g.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		m.t.Fatal(err)
	}
}

var (
	open = regexp.MustCompile(`^admissions\{`)
	owed = regexp.MustCompile(`^deliveries\{state="(owed|sending|live)"\}$`)
)

// rest waits until nothing that was begun can raise anything any more.
func (m *measured) rest() {
	m.until("the gateway is at rest", func() bool { return m.sum(open) == 0 && m.sum(owed) == 0 })
}

// raised says what makes each figure of the contract rise. A row begins when the one before it has come to rest, unless it
// is about a turn that runs.
var raised = []struct {
	series string // regexp
	by     func(m *measured)
	during bool
}{
	{`admissions_total\{outcome="fresh",platform="telegram"\}`, func(m *measured) { m.say("ping") }, false},
	{`admissions_total\{outcome="fresh",platform="rpc"\}`, func(m *measured) { m.w.insist("one", "ping") }, false},
	{`admissions_total\{outcome="duplicate",platform="rpc"\}`, func(m *measured) { m.w.insist("one", "ping") }, false},
	{`admissions_total\{outcome="command",platform="telegram"\}`, func(m *measured) { m.say("/whoami") }, false},
	{`admission_commit_seconds_count`, func(m *measured) { m.w.insist("two", "ping") }, false},
	{`ack_seconds_count\{platform="telegram"\}`, func(m *measured) { m.say("ping") }, false},
	{`turn_seconds_count\{outcome="completed"\}`, func(m *measured) { m.say("ping") }, false},
	{`turn_first_token_seconds_count`, func(m *measured) { m.say("ping") }, false},
	{`turn_first_visible_seconds_count`, func(m *measured) { m.say("ping") }, false},
	{`turn_first_visible_seconds_count`, func(m *measured) { m.w.insist("three", "ping") }, false},
	{`platform_calls_total\{code="ok",method="send",platform="telegram"\}`, func(m *measured) { m.say("ping") }, false},
	{`stream_edits_total\{platform="telegram"\}`, func(m *measured) { m.say("count") }, false},
	{`deliveries\{state="delivered"\}`, func(m *measured) { m.say("ping") }, false},
	{`model_tokens_total\{kind="input",model="scripted",provider="m"\}`, func(m *measured) { m.say("ping") }, false},
	{`model_tokens_total\{kind="output",model="scripted",provider="m"\}`, func(m *measured) { m.say("ping") }, false},
	{`model_tokens_total\{kind="cache_read",model="scripted",provider="m"\}`, func(m *measured) { m.say("ping") }, false},
	{`model_tokens_total\{kind="cache_write",model="scripted",provider="m"\}`, func(m *measured) { m.say("ping") }, false},
	{`model_tokens_total\{kind="reasoning",model="scripted",provider="m"\}`, func(m *measured) { m.say("ping") }, false},
	{`model_cost_usd_total`, func(m *measured) { m.say("ping") }, false},
	{`platform_last_success_timestamp_seconds\{direction="in",platform="telegram"\}`, func(m *measured) { m.say("ping") }, false},
	{`platform_last_success_timestamp_seconds\{direction="out",platform="telegram"\}`, func(m *measured) { m.say("ping") }, false},
	{`platform_throttled_seconds_total\{platform="telegram"\}`, func(m *measured) {
		m.tg.Fail(telegramtest.Fault{Method: "sendMessage", Status: 429, RetryAfter: 1})
		m.say("ping")
		m.say("ping")
	}, false},
	{`stop_ack_seconds_count`, func(m *measured) { m.interrupt() }, false},
	{`admissions\{state="started"\}`, func(m *measured) { m.say("hang") }, false},
	{`stop_ack_seconds_count`, func(m *measured) { m.say("/stop") }, true},
	{`lease_lost_total`, func(m *measured) { m.sleepThrough() }, false},
	{`problems\{id="reload"\}`, func(m *measured) { m.spoil() }, true},
}

// The figures that are the gateway's own beyond the contract.
var beside = []string{"admissions_unaccounted", "admissions_oldest_queued_seconds"}

func TestEveryFigureMoves(t *testing.T) {
	t.Parallel()
	r := newRig(t, costly)
	r.reconfigure("access: {", "lease: {ttl: 2s, renew: 500ms}\naccess: {")
	m := &measured{rig: r, g: r.start()}
	m.w = r.web("figures")
	for _, row := range raised {
		p := regexp.MustCompile("^" + row.series + "$")
		if !row.during {
			m.rest()
		}
		before := m.sum(p)
		row.by(m)
		m.until(row.series+" rises", func() bool { return m.sum(p) > before })
	}
	for series := range m.figures() {
		name, _, _ := strings.Cut(series, "{")
		name = regexp.MustCompile(`_(count|sum|bucket)$`).ReplaceAllString(name, "")
		known := slices.Contains(beside, name)
		for _, row := range raised {
			known = known || strings.HasPrefix(row.series, name)
		}
		if !known {
			t.Errorf("nothing in the table raises %s", name)
		}
	}
}

// Turns that never say a word and have no end are not kept for ever.
func TestSilentTurnsAreBounded(t *testing.T) {
	m := newMetrics()
	for i := range 3 * mostSilent {
		m.On(core.Event{Conversation: core.ConversationID(fmt.Sprint("c", i)), Turn: core.TurnID(fmt.Sprint("t", i)),
			EventBody: core.EventBody{Type: core.MessageStart}})
	}
	if n := len(m.silent); n > mostSilent {
		t.Errorf("%d turns are kept", n)
	}
	m = newMetrics()
	for i := range 9 { // retries of one message
		m.On(core.Event{Conversation: "c", Turn: core.TurnID(fmt.Sprint("t", i)), EventBody: core.EventBody{Type: core.MessageStart}})
	}
	m.On(core.Event{Conversation: "c", Turn: "t0", EventBody: core.EventBody{Type: core.MessageComplete}})
	if n := len(m.silent); n != 1 {
		t.Errorf("%d turns of one conversation are kept", n)
	}
	m.On(core.Event{Conversation: "c", Turn: "t8", EventBody: core.EventBody{Type: core.MessageDelta, Text: "x"}})
	if n := len(m.silent); n != 0 {
		t.Errorf("a turn that spoke is kept")
	}
}
