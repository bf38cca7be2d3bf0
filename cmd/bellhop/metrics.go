package main

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"bellhop/config"
	"bellhop/core"
	"bellhop/gateway/problem"
)

// metrics is everything /metrics shows. It hears of turns as a listener of the hub and of platform calls from deliver;
// what the ledger knows is read when somebody asks.
type metrics struct {
	registry *prometheus.Registry
	model    config.ModelRef // the primary

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

	mu    sync.Mutex
	turns map[core.TurnID]*turnTimes
}

type turnTimes struct {
	start time.Time
	spoke bool
}

var fine = []float64{.0005, .001, .002, .005, .01, .02, .05, .1, .25, .5, 1, 2.5, 10}

func newMetrics(model config.ModelRef) *metrics {
	m := &metrics{registry: prometheus.NewRegistry(), model: model, turns: map[core.TurnID]*turnTimes{}}
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
		m.turns[e.Turn] = &turnTimes{start: e.At}
		m.mu.Unlock()
	case core.MessageDelta:
		m.mu.Lock()
		t := m.turns[e.Turn]
		first := t != nil && !t.spoke
		if first {
			t.spoke = true
		}
		m.mu.Unlock()
		if first {
			m.token.Observe(e.At.Sub(t.start).Seconds())
		}
	case core.MessageComplete:
		m.mu.Lock()
		delete(m.turns, e.Turn)
		m.mu.Unlock()
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

// Admitted hears what became of an offered input.
func (m *metrics) Admitted(platform, outcome string) {
	m.admitted.WithLabelValues(platform, outcome).Inc()
}

// Acked hears how long a batch took to become durable.
func (m *metrics) Acked(platform string, d time.Duration) {
	m.ack.WithLabelValues(platform).Observe(d.Seconds())
	m.commit.Observe(d.Seconds())
}

// Received hears that a platform's connection worked.
func (m *metrics) Received(platform string, at time.Time) {
	m.success.WithLabelValues(platform, "in").Set(float64(at.UnixMilli()) / 1000)
}

// stopped hears that a stop was carried out that began at since.
func (m *metrics) stopped(since time.Time) { m.stopAck.Observe(time.Since(since).Seconds()) }

// ended hears of a settled turn.
func (m *metrics) ended(o core.Outcome, d time.Duration) {
	m.turn.WithLabelValues(string(o.Result)).Observe(d.Seconds())
	if o.Reason == core.ReasonLeaseLost {
		m.leaseLost.Inc()
	}
	m.cost.Add(o.Usage.Cost)
	for kind, n := range map[string]int{"input": o.Usage.Input, "output": o.Usage.Output, "cache_read": o.Usage.CacheRead, "reasoning": o.Usage.Reasoning} {
		m.tokens.WithLabelValues(m.model.Provider, m.model.Name, kind).Add(float64(n))
	}
}

// Delivered hears that a row of the outbox ended.
func (m *metrics) Delivered(string, core.DeliveryState) {}

// ledger shows what the store knows at the time of a scrape.
type ledger struct {
	store      core.Store
	admissions *prometheus.Desc
	deliveries *prometheus.Desc
	conserved  *prometheus.Desc
	oldest     *prometheus.Desc
}

func newLedger(s core.Store) *ledger {
	return &ledger{store: s,
		admissions: prometheus.NewDesc("bellhop_admissions", "Inputs by state.", []string{"state"}, nil),
		deliveries: prometheus.NewDesc("bellhop_deliveries", "Outbox rows by state.", []string{"state"}, nil),
		conserved:  prometheus.NewDesc("bellhop_admissions_unaccounted", "Accepted inputs that no state accounts for; always 0.", nil, nil),
		oldest:     prometheus.NewDesc("bellhop_admissions_oldest_queued_seconds", "Age of the oldest waiting input.", nil, nil)}
}

func (l *ledger) Describe(ch chan<- *prometheus.Desc) {
	ch <- l.admissions
	ch <- l.deliveries
	ch <- l.conserved
	ch <- l.oldest
}

// Collect has five seconds; a store that does not answer leaves its rows out and counts as an error of the scrape.
func (l *ledger) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	c, err := l.store.Census(ctx)
	if err != nil {
		ch <- prometheus.NewInvalidMetric(l.admissions, err)
		return
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	gauge(l.admissions, float64(c.Queued), string(core.Queued))
	gauge(l.admissions, float64(c.Started), string(core.Started))
	gauge(l.admissions, float64(c.Unknown), string(core.Unknown))
	gauge(l.conserved, float64(c.Accepted-c.Queued-c.Started-c.Unknown-c.Terminal))
	var waited float64
	if !c.OldestQueued.IsZero() {
		waited = time.Since(c.OldestQueued).Seconds()
	}
	gauge(l.oldest, waited)
	owed, err := l.store.Outbox().Owed(ctx)
	if err != nil {
		ch <- prometheus.NewInvalidMetric(l.deliveries, err)
		return
	}
	for state, n := range owed {
		gauge(l.deliveries, float64(n), string(state))
	}
}

// openProblems shows the register of problems.
type openProblems struct {
	register *problem.Register
	desc     *prometheus.Desc
}

func newOpenProblems(r *problem.Register) *openProblems {
	return &openProblems{r, prometheus.NewDesc("bellhop_problems", "What is wrong right now.", []string{"id"}, nil)}
}

func (o *openProblems) Describe(ch chan<- *prometheus.Desc) { ch <- o.desc }

func (o *openProblems) Collect(ch chan<- prometheus.Metric) {
	for _, p := range o.register.Open() {
		ch <- prometheus.MustNewConstMetric(o.desc, prometheus.GaugeValue, 1, p.ID)
	}
}
