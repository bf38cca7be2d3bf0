package lease

import (
	"os/exec"
	"strings"
	"testing"

	"bellhop/core"
)

func TestAlive(t *testing.T) {
	self, err := Self("me")
	if err != nil {
		t.Fatal(err)
	}
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	with := func(change func(*core.Holder)) core.Holder {
		h := self
		change(&h)
		return h
	}
	name, _, _ := strings.Cut(self.Host, "/")
	for _, tc := range []struct {
		name         string
		h            core.Holder
		alive, alone bool
	}{
		{"this process", self, true, true},
		{"its process is gone", with(func(h *core.Holder) { h.PID, h.Instance = gone.Process.Pid, "x" }), false, false},
		{"its number was used again", with(func(h *core.Holder) { h.StartTime--; h.Instance = "x" }), false, false},
		{"before the last boot", with(func(h *core.Holder) { h.Host, h.Instance = name+"/other-boot", "x" }), false, false},
		{"another host", with(func(h *core.Holder) { h.Host, h.Instance = "elsewhere/boot", "x" }), true, false},
		{"another pid namespace", with(func(h *core.Holder) { h.Namespace, h.Instance = "pid:[1]", "x" }), true, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := Alive(tc.h); got != tc.alive {
				t.Errorf("Alive = %v", got)
			}
			if got := Alone(self)(tc.h); got != tc.alone {
				t.Errorf("Alone = %v", got)
			}
		})
	}
}

func TestZombieIsGone(t *testing.T) {
	zombie := exec.Command("true")
	out, err := zombie.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := zombie.Start(); err != nil {
		t.Fatal(err)
	}
	h, err := Self("x")
	if err != nil {
		t.Fatal(err)
	}
	h.PID = zombie.Process.Pid
	if h.StartTime, _, err = stat(h.PID); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 1)
	_, _ = out.Read(buf) // end of file: it has ended, and nobody has waited for it
	for range 1_000_000 {
		if !running(h) {
			_ = zombie.Wait()
			return
		}
	}
	t.Error("a zombie counts as alive")
}

func TestParseStat(t *testing.T) {
	fields := " S 1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1000 1\n"
	for _, tc := range []struct {
		name, raw string
		start     int64
		state     byte
		bad       bool
	}{
		{"plain", "42 (bellhop)" + fields, 987654, 'S', false},
		{"a name with blanks and parentheses", "42 (a) R 1 (b) )" + fields, 987654, 'S', false},
		{"cut short", "42 (bellhop) S 1 1", 0, 0, true},
		{"empty", "", 0, 0, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			start, state, err := parseStat([]byte(tc.raw))
			if start != tc.start || state != tc.state || (err != nil) != tc.bad {
				t.Errorf("start %d state %q err %v", start, state, err)
			}
		})
	}
}
