package main

import (
	"slices"
	"testing"

	"bellhop/config"
	"bellhop/gateway"

	"github.com/google/go-cmp/cmp"
)

func parsed(t *testing.T, text string) config.Config {
	t.Helper()
	c, err := config.Parse("c.yaml", []byte(text), func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What a platform's section says reaches the gateway.
func TestKeysOfAPlatformAreWired(t *testing.T) {
	c := parsed(t, "platforms: {telegram: {token: '123456789:AAxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', require_mention: false, shared: true, bots: 4, busy: steer}}")
	doors, err := newAdapters(c)
	if err != nil {
		t.Fatal(err)
	}
	want := gateway.PlatformOptions{Shared: true, Bots: 4, Busy: "steer"}
	if d := cmp.Diff(want, doors[0].options); d != "" {
		t.Error(d)
	}
}

func TestRateNeedsARestart(t *testing.T) {
	old, next := parsed(t, "access: {rate: 1/min}"), parsed(t, "access: {rate: 2/min, admins: [\"telegram:1\"]}")
	if got := restartSections(old, next); !slices.Equal(got, []string{"access.rate"}) {
		t.Errorf("%q", got)
	}
}

// A person whom only access.default lets in is heard as often as access.rate says; who was let in by name, always.
func TestRateOfStrangers(t *testing.T) {
	t.Parallel()
	r := newRig(t, pong)
	r.reconfigure("access: {", "access: {default: allow, rate: 1/hour, ")
	g := r.start()
	stranger := r.tg.Person("Eve")
	chat := r.tg.DM(stranger)
	for range 3 {
		chat.Say(stranger, "ping")
	}
	for range 2 {
		r.chat.Say(r.owner, "ping")
	}
	r.until("the owner's answers", func() bool { return r.says("PONG") == 2 })
	answers := func() (n int) {
		for _, m := range chat.Visible() {
			if m.Own {
				n++
			}
		}
		return n
	}
	r.until("one answer", func() bool { return answers() == 1 })
	g.stop() // whatever was admitted is answered by then
	if n := answers(); n != 1 {
		t.Errorf("%d answers in an hour", n)
	}
}
