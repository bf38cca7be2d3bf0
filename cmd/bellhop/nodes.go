package main

import (
	"context"

	"bellhop/core"
	"bellhop/core/lease"
	"bellhop/gateway/node"
	"bellhop/gateway/session"
)

// This file is what differs when several processes serve one store.

// company is how this process knows the others. Without others there is no node: the folder's lock says that nobody else
// serves the store, and one visit at a time drains a conversation, so what holds a lease is a leftover.
type company struct {
	node   *node.Node
	alive  func(core.Holder) bool // whose started rows are not orphans
	holds  func(core.Holder) bool // whose leases are to be waited for
	others func(core.Holder) bool // who drains what it holds, so that nobody need wait for it
}

// told are the others as those who have something to tell them know them; nil: there are none.
func (c company) told() session.Others {
	if c.node == nil {
		return nil
	}
	return c.node
}

func (h *house) company(self core.Holder) company {
	if !nodes(h.cfg) {
		nobody := func(core.Holder) bool { return false }
		return company{alive: lease.Alone(self), holds: nobody, others: nobody}
	}
	n := node.New(node.Config{Store: h.store, Self: self, Version: programVersion(), TTL: h.cfg.Lease.Node, Proven: lease.Alive, Log: h.log,
		Heard: h.heard, Died: h.inherit, Lost: func() { h.keeper.LoseAll() }})
	other := func(holder core.Holder) bool { return holder.Instance != self.Instance && n.Alive(holder) }
	return company{node: n, alive: n.Alive, holds: other, others: other}
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
func (h *house) heard(n core.Note) {
	switch n.Kind {
	case core.NoteWork:
		if n.Conversation != "" {
			h.dispatch.Wake(n.Conversation)
			return
		}
		h.dispatch.Look()
	case core.NoteMissed:
		h.dispatch.Look()
	case core.NoteControl:
		h.reach.Heard(n)
	case core.NoteQuestion:
		h.ask.Look(h.life, n.Question)
	}
}

// seat is what the cursor of a platform is moved with.
func (h *house) seat(platform string) core.Seat {
	if h.node == nil {
		return core.Seat{}
	}
	return h.node.Seat(platform)
}

// tell tells the other nodes, if there may be any.
func (h *house) tell(ctx context.Context, n core.Note) {
	if h.node != nil {
		h.node.Tell(ctx, n)
	}
}

// count is how many processes serve the store.
func (h *house) count() int {
	if h.node == nil {
		return 1
	}
	return h.node.Count()
}
