package main

import (
	"context"
	"sync"
	"time"

	"bellhop/adapters"
	"bellhop/core"
	"bellhop/gateway/problem"
)

// This file runs the adapters, and tells the register of problems what becomes of them.

// keep runs one adapter while it is this node's to run.
func (h *house) keep(ctx context.Context, d door) error {
	return h.node.Keep(ctx, d.Name(), func(ctx context.Context) error { return h.receive(ctx, d) })
}

// receive runs one adapter. An adapter that cannot go on is a problem of its own; the other doors stay open.
func (h *house) receive(ctx context.Context, d door) error {
	var menu sync.WaitGroup
	menu.Go(func() { h.setMenu(ctx, d) }) // beside the first poll, which must not wait for it
	defer menu.Wait()
	err := d.Run(ctx, h.inbox(d))
	if err != nil && ctx.Err() == nil {
		h.problems.Raise(problem.Problem{ID: "receive:" + d.Name(), Text: "the platform refused this account: " + err.Error(),
			Remedy: remedyFor(adapters.KindOf(err)), Fatal: len(h.doors) == 1 && !h.cfg.Platforms.Web.Enabled})
		<-ctx.Done()
	}
	return nil
}

// inbox is the gateway's way in with an eye on the connection.
func (h *house) inbox(d door) adapters.Inbox {
	return &watchedInbox{Inbox: h.gateway.Inbox(d.Adapter, d.options), name: d.Name(), problems: h.problems, heard: h.mouth.Heard}
}

// watchedInbox turns what an adapter says of its connection, and input that cannot be stored, into a problem or its end.
type watchedInbox struct {
	adapters.Inbox
	name     string
	problems *problem.Register
	heard    func(platform string) // the platform answers: what is owed there can go out
}

// storeProblem is raised while input is refused because it cannot be stored. The platform keeps it and hands it over again.
const storeProblem = "store"

func (w *watchedInbox) Receive(ctx context.Context, b adapters.Batch) ([]adapters.Receipt, error) {
	receipts, err := w.Inbox.Receive(ctx, b)
	switch {
	case err == nil && len(b.Inbound) > 0:
		w.problems.Clear(storeProblem)
	case err != nil && ctx.Err() == nil:
		p := problem.Problem{ID: storeProblem, Text: "messages cannot be stored, so none are taken: " + err.Error(),
			Remedy: "it is tried again and again; bellhop doctor looks at the store"}
		if core.Is(err, core.NoSpace) {
			p.Remedy = "make room on the disk of the data folder; nothing has to be restarted"
		}
		w.problems.Raise(p)
	}
	return receipts, err
}

func (w *watchedInbox) Health(err error) {
	w.Inbox.Health(err)
	id := "receive:" + w.name
	if err == nil {
		w.heard(w.name)
		w.problems.Clear(id)
		return
	}
	remedy := remedyFor(adapters.KindOf(err))
	if adapters.KindOf(err) == adapters.Conflict {
		remedy = "another program receives for this bot: stop it, or give it another token"
	}
	w.problems.Raise(problem.Problem{ID: id, Text: "messages are not received: " + err.Error(), Remedy: remedy})
}

func (h *house) tellProblem(p problem.Problem, open bool) {
	if open {
		h.log.Error("there is a problem; what helps: "+p.Remedy, "problem", p.ID, "err", p.Text)
		return
	}
	h.log.Info("a problem is over", "problem", p.ID)
}

// menuTime bounds telling a platform its command menu, which nothing waits for.
const menuTime = 20 * time.Second

// setMenu tells the platform which commands there are. A platform that refuses keeps its old menu; everything works
// without.
func (h *house) setMenu(ctx context.Context, d door) {
	menu := adapters.CapsOf(d.Adapter).Menu
	if menu == nil {
		return
	}
	var items []adapters.MenuItem
	for _, c := range h.commands.Menu("") {
		items = append(items, adapters.MenuItem{Name: c.Name, About: c.About, Admin: c.Admin})
	}
	ctx, cancel := context.WithTimeout(ctx, menuTime)
	defer cancel()
	if err := menu.SetMenu(ctx, items); err != nil && ctx.Err() == nil {
		h.log.Warn("the command menu could not be set", "platform", d.Name(), "err", err)
	}
}
