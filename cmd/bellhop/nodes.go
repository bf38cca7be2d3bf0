package main

import (
	"context"

	"bellhop/core"
	"bellhop/core/lease"
	"bellhop/gateway/node"
)

// This file is what differs when several processes serve one store.

// company is this process among those that serve the store: *node.Node, or node.Alone.
type company interface {
	Join(ctx context.Context) error
	Run(ctx context.Context) error
	Keep(ctx context.Context, name string, run func(ctx context.Context) error) error
	Seat(name string) core.Seat
	Tell(ctx context.Context, n core.Note)
	Count() int
}

// trust says what is believed of the holders of leases.
type trust struct {
	alive  func(core.Holder) bool // their started rows are not orphans
	holds  func(core.Holder) bool // their leases are to be waited for
	others func(core.Holder) bool // they drain what they hold, so that nobody need wait for it
}

// company returns this process's node. Where it is alone the folder's lock says that nobody else serves the store, and one
// visit at a time drains a conversation, so what holds a lease is a leftover.
func (h *house) company() (company, trust) {
	if !nodes(h.cfg) {
		nobody := func(core.Holder) bool { return false }
		return node.Alone{}, trust{alive: lease.Alone(h.self), holds: nobody, others: nobody}
	}
	n := node.New(node.Config{Store: h.store, Self: h.self, Version: programVersion(), TTL: h.cfg.Lease.Node, Proven: lease.Alive, Log: h.log,
		Heard: h.heard, Died: h.inherit, Lost: func() { h.keeper.LoseAll() }})
	other := func(holder core.Holder) bool { return holder.Instance != h.self.Instance && n.Alive(holder) }
	return n, trust{alive: n.Alive, holds: other, others: other}
}

// inherit takes up what nodes that are gone have left: what they were sending, and what they were running.
func (h *house) inherit(ctx context.Context, instances []string) {
	if err := h.store.Outbox().Seize(ctx, instances...); err != nil {
		h.log.Warn("what a node left unsent could not be taken up yet; it is when its time comes", "err", err)
	}
	h.mouth.Wake()
	h.dispatch.Look()
}

// heard acts on a note of another node.
func (h *house) heard(ctx context.Context, n core.Note) {
	switch n.Kind {
	case core.NoteWork, core.NoteMissed:
		h.dispatch.Look()
	case core.NoteControl:
		h.reach.Heard(n)
	case core.NoteQuestion:
		h.ask.Look(ctx, n.Question)
	}
}
