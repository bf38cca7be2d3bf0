package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"bellhop/core/provider/providertest"
)

// TestNoCommandOutlivesItsEnd: a process that left its command's session, group, parent and environment ends with the turn
// that is stopped, with a gateway that drains too long for it, and with one that is killed.
func TestNoCommandOutlivesItsEnd(t *testing.T) {
	const line = `(setsid env -i sh -c 'trap \"\" TERM; echo $$ > stray; while :; do sleep 1; done' &) ; sleep 1000`
	for name, end := range map[string]func(r *rig, g *process){
		"stopped": func(r *rig, _ *process) { r.chat.Say(r.owner, "/stop") },
		"drained": func(_ *rig, g *process) { g.stop() },
		"killed":  func(_ *rig, g *process) { g.kill() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(q *providertest.Request) providertest.Reply {
				if len(q.Results()) > 0 {
					return providertest.Reply{providertest.Text("done")}
				}
				return providertest.Reply{providertest.Call("call_1", "shell", `{"command":"`+line+`"}`)}
			})
			r.reconfigure("log: {level: debug}", "turns: {drain: 1s}\nlog: {level: debug}")
			g := r.start()
			r.chat.Say(r.owner, "work")
			r.until("the question", func() bool { return r.press("ans:", ":once") })
			pid := 0
			r.until("the stray runs", func() bool {
				b, err := os.ReadFile(r.workspace("stray"))
				n, _ := fmt.Sscan(string(b), &pid)
				return err == nil && n == 1 && strings.HasSuffix(string(b), "\n")
			})
			end(r, g)
			r.until("the stray is gone", func() bool { return syscall.Kill(pid, 0) != nil || zombie(pid) })
		})
	}
}

func zombie(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(b), ") Z ")
}
