package main

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"bellhop/core"
	"bellhop/gateway/problem"
)

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
