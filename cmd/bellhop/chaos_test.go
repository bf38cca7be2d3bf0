//go:build crashtest

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"

	"bellhop/core/store/pgtest"
)

// chaos is a soak of several nodes on one PostgreSQL, which fails too.
type chaos struct {
	soak
	server *pgtest.Server
	nodes  []*member
	pauses int
	cuts   int
	downs  int
}

// member is one node. Its process changes while it is killed and started again.
type member struct {
	*rig
	g *process
}

// TestChaos: nodes die, freeze for longer than they are believed to live, and lose the database, which is restarted; the
// platform fails as in the soak. Every accepted message has exactly one end, and no effect happens twice.
func TestChaos(t *testing.T) {
	s := newChaos(t, 3, 24)
	ctx, cancel := context.WithTimeout(t.Context(), soakTime(t))
	defer cancel()
	s.ctx = ctx
	for _, n := range s.nodes {
		n.g = n.start()
	}
	var load sync.WaitGroup
	for n, c := range s.chats {
		load.Go(func() { s.talk(n, c) })
	}
	load.Go(s.soak.chaos)
	s.torment()
	load.Wait()
	s.r.tg.Heal()
	s.healthy.Store(true)
	for _, n := range s.nodes[1:] {
		n.g = n.start()
	}
	s.settle(s.nodes[0].start())
	t.Logf("%d freezes, %d cuts and %d restarts of the database", s.pauses, s.cuts, s.downs)
}

func newChaos(t *testing.T, nodes, chats int) *chaos {
	t.Helper()
	s := &chaos{}
	var err error
	if s.server, err = pgtest.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.server.Stop() })
	s.r = newRig(t, s.model).on(storeKind{"postgres", func(*testing.T) string { return s.server.DSN("public") }})
	s.r.model.Keep(100)
	s.r.reconfigure("access: {allow", fmt.Sprintf("approvals: {mode: off}\nagent: {shell_for_all: true, workspace: %s}\nlease: {node: %s}\naccess: {default: allow, allow",
		s.r.workspace(""), nodeTTL))
	for n := range chats {
		p := s.r.tg.Person(fmt.Sprint("Person", n))
		s.chats = append(s.chats, &soakChat{Chat: s.r.tg.DM(p), person: p})
	}
	for _, r := range s.r.split(nodes) {
		s.nodes = append(s.nodes, &member{rig: r})
	}
	return s
}

// torment does something bad to a node, or to the database, again and again. It returns with no node running.
func (s *chaos) torment() {
	for s.pause(300, 2000) {
		n := s.nodes[rand.IntN(len(s.nodes))]
		switch rand.IntN(8) {
		case 0, 1:
			s.freeze(n)
		case 2:
			s.cuts++
			s.server.Cut(s.r.t)
		case 3:
			s.downs++
			s.restart()
		default:
			s.murderOne(n)
		}
	}
	for _, n := range s.nodes {
		n.g.kill()
	}
}

func (s *chaos) murderOne(n *member) {
	if rand.IntN(4) == 0 {
		s.terms++
		_ = n.g.cmd.Process.Signal(syscall.SIGTERM)
		s.pause(0, 1500)
	}
	n.g.kill()
	s.kills++
	n.g = n.launch()
	if rand.IntN(4) > 0 { // else it may be killed while it starts
		n.g.ready()
	}
}

// freeze stops a node for longer than it is believed to live.
func (s *chaos) freeze(n *member) {
	s.pauses++
	_ = n.g.cmd.Process.Signal(syscall.SIGSTOP)
	select {
	case <-s.ctx.Done():
	case <-time.After(nodeTTL + time.Duration(rand.IntN(2000))*time.Millisecond):
	}
	_ = n.g.cmd.Process.Signal(syscall.SIGCONT)
}

func (s *chaos) restart() {
	if err := s.server.Kill(); err != nil {
		s.r.t.Error(err)
	}
	s.pause(0, 1000)
	if err := s.server.Restart(); err != nil {
		s.r.t.Fatal(err)
	}
}
