package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"bellhop/core/provider/providertest"
)

// nodeTTL is for how long the nodes of a test believe each other to live.
const nodeTTL = 2 * time.Second

// split makes rigs of nodes that share the surroundings and the store of r. Each has a data folder of its own.
func (r *rig) split(nodes int) (out []*rig) {
	r.t.Helper()
	text, err := os.ReadFile(r.config)
	if err != nil {
		r.t.Fatal(err)
	}
	for n := range nodes {
		own := *r
		own.dir = filepath.Join(r.dir, fmt.Sprint("node", n))
		if err := os.MkdirAll(own.dir, 0o700); err != nil {
			r.t.Fatal(err)
		}
		own.config = filepath.Join(own.dir, "bellhop.yaml")
		own.write(strings.Replace(string(text), "data: "+r.dir, "data: "+own.dir, 1))
		out = append(out, &own)
	}
	return out
}

// nodes brings up gateways on one PostgreSQL.
func twoNodes(t *testing.T, rule providertest.Rule) (r *rig, nodes []*rig, running []*process) {
	t.Helper()
	r = newRig(t, rule).on(storeKinds[1])
	r.reconfigure("access: {allow", fmt.Sprintf("lease: {node: %s}\naccess: {allow", nodeTTL))
	nodes = r.split(2)
	for _, n := range nodes {
		running = append(running, n.start())
	}
	return r, nodes, running
}

// slow begins to answer and goes on when it is released.
func slow(r *providertest.Request) providertest.Reply {
	if strings.Contains(r.Last(), "ping") {
		return providertest.Reply{providertest.Text("PONG")}
	}
	return providertest.Reply{providertest.Text("It begins"), providertest.Wait(time.Minute)}
}

// What runs on one node is stopped at another.
func TestStopOnAnotherNode(t *testing.T) {
	t.Parallel()
	r, nodes, running := twoNodes(t, slow)
	here, there := nodes[0].web("here"), nodes[1].web("there")
	here.insist("1", "hello")
	r.until("the turn runs", func() bool { return len(r.model.Requests()) == 1 })
	var got struct {
		Status string `json:"status"`
	}
	there.must("session.interrupt", map[string]any{"session_id": here.session}, &got)
	if got.Status != "interrupted" {
		t.Fatalf("%+v", got)
	}
	r.until("the turn has ended", func() bool { return strings.Contains(r.must("verify"), "started 0") })
	here.insist("2", "ping")
	// three rows: the turn, its stop, the message
	r.until("the next message is answered", func() bool { return strings.Contains(r.must("verify"), "terminal 3") })
	for _, g := range running {
		g.stop()
	}
}

// A tool that one node wants to run is allowed at another.
func TestApproveOnAnotherNode(t *testing.T) {
	t.Parallel()
	_, nodes, running := twoNodes(t, func(q *providertest.Request) providertest.Reply {
		if len(q.Results()) == 0 {
			return providertest.Reply{providertest.Call("call_1", "shell", `{"command":"echo done >> allowed.log"}`)}
		}
		return providertest.Reply{providertest.Text("It is done.")}
	})
	here, there := nodes[0].web("here"), nodes[1].web("there")
	here.insist("1", "do it")
	nodes[0].until("the question", func() bool { return len(here.resume().Questions) == 1 })
	there.must("approval.respond", map[string]any{"request_id": here.resume().Questions[0].Request, "choice": "once"}, nil)
	nodes[0].until("the answer", func() bool { return here.resume().finals("It is done.") == 1 })
	if n := nodes[0].lines("allowed.log"); n != 1 {
		t.Errorf("it ran %d times", n)
	}
	for _, g := range running {
		g.stop()
	}
}

// The node that receives is frozen, killed, or leaves: another receives within the time it was believed to live, and a second.
func TestReceivingMoves(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(g *process){
		"frozen": func(g *process) { _ = g.cmd.Process.Signal(syscall.SIGSTOP) },
		"killed": func(g *process) { g.kill() },
		"leaves": func(g *process) { g.stop() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _, running := twoNodes(t, slow)
			r.chat.Say(r.owner, "ping")
			r.until("an answer", func() bool { return r.says("PONG") == 1 })
			end(running[0]) // it was there first
			began := time.Now()
			r.chat.Say(r.owner, "ping")
			r.until("an answer by the other node", func() bool { return r.says("PONG") == 2 })
			t.Logf("taken over and answered after %v", time.Since(began).Round(time.Millisecond))
			_ = running[0].cmd.Process.Signal(syscall.SIGCONT)
			running[1].stop()
			if out := r.must("verify"); !strings.Contains(out, "ok") {
				t.Error(out)
			}
		})
	}
}
