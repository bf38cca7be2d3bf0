package main

import (
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"bellhop/core"
)

// metrics is everything /metrics shows. It hears of turns as a listener of the hub and of platform calls from deliver;
// what the ledger knows is read when somebody asks.
type metrics struct {
	registry *prometheus.Registry

	admitted  *prometheus.CounterVec
	commit    prometheus.Histogram
	ack       *prometheus.HistogramVec
	turn      *prometheus.HistogramVec
	token     prometheus.Histogram
	visible   prometheus.Histogram
	leaseLost prometheus.Counter
	calls     *prometheus.CounterVec
	throttled *prometheus.CounterVec
	edits     *prometheus.CounterVec
	stopAck   prometheus.Histogram
	tokens    *prometheus.CounterVec
	cost      prometheus.Counter
	success   *prometheus.GaugeVec

	mu     sync.Mutex
	silent map[core.ConversationID]begun
}

// begun is a turn whose model has not said anything yet.
type begun struct {
	turn core.TurnID
	at   time.Time
}

// mostSilent bounds the turns that are waited for: some end without a word and without an end of their own, because
// another process or a retry goes on.
const mostSilent = 4096

var fine = []float64{.0005, .001, .002, .005, .01, .02, .05, .1, .25, .5, 1, 2.5, 10}

func newMetrics() *metrics {
	m := &metrics{registry: prometheus.NewRegistry(), silent: map[core.ConversationID]begun{}}
	hist := func(name, help string) prometheus.HistogramOpts {
		return prometheus.HistogramOpts{Namespace: "bellhop", Name: name, Help: help, Buckets: fine}
	}
	long := func(name, help string) prometheus.HistogramOpts {
		o := hist(name, help)
		o.Buckets = []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800}
		return o
	}
	count := func(name, help string) prometheus.CounterOpts {
		return prometheus.CounterOpts{Namespace: "bellhop", Name: name, Help: help}
	}
	m.admitted = prometheus.NewCounterVec(count("admissions_total", "Inputs that were offered, by what became of them."), []string{"platform", "outcome"})
	m.commit = prometheus.NewHistogram(hist("admission_commit_seconds", "Time to make a batch of inputs durable."))
	m.ack = prometheus.NewHistogramVec(hist("ack_seconds", "Time from receiving a batch to being free to acknowledge it."), []string{"platform"})
	m.turn = prometheus.NewHistogramVec(long("turn_seconds", "Length of turns."), []string{"outcome"})
	m.token = prometheus.NewHistogram(long("turn_first_token_seconds", "Time from a turn's start to the model's first text."))
	m.visible = prometheus.NewHistogram(long("turn_first_visible_seconds", "Time from a turn's start to the first text a person can see."))
	m.leaseLost = prometheus.NewCounter(count("lease_lost_total", "Turns that stopped because their lease was lost."))
	m.calls = prometheus.NewCounterVec(count("platform_calls_total", "Calls to platforms, by result."), []string{"platform", "method", "code"})
	m.throttled = prometheus.NewCounterVec(count("platform_throttled_seconds_total", "Time spent waiting for rate limits."), []string{"platform"})
	m.edits = prometheus.NewCounterVec(count("stream_edits_total", "Edits of live messages."), []string{"platform"})
	m.stopAck = prometheus.NewHistogram(hist("stop_ack_seconds", "Time from a stop being received to its turn being told."))
	m.tokens = prometheus.NewCounterVec(count("model_tokens_total", "Model tokens."), []string{"provider", "model", "kind"})
	m.cost = prometheus.NewCounter(count("model_cost_usd_total", "Known cost of model calls in US dollars."))
	m.success = prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "bellhop", Name: "platform_last_success_timestamp_seconds",
		Help: "When a platform last took or gave something."}, []string{"platform", "direction"})
	m.registry.MustRegister(m.admitted, m.commit, m.ack, m.turn, m.token, m.visible, m.leaseLost, m.calls, m.throttled,
		m.edits, m.stopAck, m.tokens, m.cost, m.success, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// On follows turns by their events. It never blocks.
func (m *metrics) On(e core.Event) {
	switch e.Type {
	case core.MessageStart:
		m.mu.Lock()
		defer m.mu.Unlock()
		if len(m.silent) >= mostSilent {
			clear(m.silent) // a few figures less
		}
		m.silent[e.Conversation] = begun{e.Turn, e.At}
	case core.MessageDelta, core.MessageComplete:
		m.mu.Lock()
		defer m.mu.Unlock()
		b, ok := m.silent[e.Conversation]
		if !ok || b.turn != e.Turn {
			return
		}
		delete(m.silent, e.Conversation)
		if e.Type == core.MessageDelta {
			m.token.Observe(e.At.Sub(b.at).Seconds())
		}
	}
}

// Call hears of one ended platform call.
func (m *metrics) Call(platform, method, code string) {
	m.calls.WithLabelValues(platform, method, code).Inc()
	if code == "200" || code == "ok" {
		m.success.WithLabelValues(platform, "out").SetToCurrentTime()
	}
}

// Throttled hears how long a call waited for a limit.
func (m *metrics) Throttled(platform string, d time.Duration) {
	m.throttled.WithLabelValues(platform).Add(d.Seconds())
}

// Edited hears of one edit of a live message.
func (m *metrics) Edited(platform string) { m.edits.WithLabelValues(platform).Inc() }

// Admitted hears what became of an offered input; platform is the surface it came by.
func (m *metrics) Admitted(platform, outcome string) {
	m.admitted.WithLabelValues(platform, outcome).Inc()
}

// Acked hears how long a batch took from its receipt to being durable.
func (m *metrics) Acked(platform string, d time.Duration) {
	m.ack.WithLabelValues(platform).Observe(d.Seconds())
}

// Committed hears how long the store took to make a batch durable.
func (m *metrics) Committed(d time.Duration) { m.commit.Observe(d.Seconds()) }

// Received hears that a platform's connection worked.
func (m *metrics) Received(platform string, at time.Time) {
	m.success.WithLabelValues(platform, "in").Set(float64(at.UnixMilli()) / 1000)
}

// stopped hears that a stop was carried out that began at since.
func (m *metrics) stopped(since time.Time) { m.stopAck.Observe(time.Since(since).Seconds()) }

// ended hears of a turn that was settled, or lost its lease.
func (m *metrics) ended(o core.Outcome, d time.Duration) {
	m.turn.WithLabelValues(string(o.Result)).Observe(d.Seconds())
	if o.Reason == core.ReasonLeaseLost {
		m.leaseLost.Inc()
	}
}

// spent hears what a reply of a model cost.
func (m *metrics) spent(provider, model string, u core.Usage) {
	m.cost.Add(u.Cost)
	count := func(kind string, n int) {
		if n > 0 {
			m.tokens.WithLabelValues(provider, model, kind).Add(float64(n))
		}
	}
	count("input", u.Input)
	count("output", u.Output)
	count("cache_read", u.CacheRead)
	count("cache_write", u.CacheWrite)
	count("reasoning", u.Reasoning)
}

// Shown hears that a turn's first text can be seen.
func (m *metrics) Shown(after time.Duration) { m.visible.Observe(after.Seconds()) }
