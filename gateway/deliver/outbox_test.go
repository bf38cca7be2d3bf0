package deliver

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/adapters"
	"bellhop/core"
)

func notice(chat, text string, edit ...func(*core.Delivery)) core.Delivery {
	d := core.Delivery{Route: core.Route{Platform: "fake", Chat: chat}, Text: text, Admission: "A" + core.AdmissionID(chat)}
	for _, e := range edit {
		e(&d)
	}
	return d
}

// rows lists the rows of a chat's notices.
func (w *world) rows(chat string) []core.Delivery {
	w.t.Helper()
	rows, err := w.s.Outbox().Of(w.t.Context(), "A"+core.AdmissionID(chat))
	if err != nil {
		w.t.Fatal(err)
	}
	return rows
}

func (w *world) say(d core.Delivery) {
	w.t.Helper()
	if err := w.m.Say(w.t.Context(), d); err != nil {
		w.t.Fatal(err)
	}
}

// refuse fails calls of a method, the first n of them, with an error of the platform.
func refuse(n int, method string, e adapters.Error) func(call) error {
	return func(c call) error {
		if n > 0 && c.method == method {
			n--
			e.Method = method
			return &e
		}
		return nil
	}
}

// Each answer of a platform, and what deliver makes of it.
func TestFallbacks(t *testing.T) {
	long := strings.Repeat("word ", 30)
	tests := []struct {
		name  string
		fail  func(call) error
		row   core.Delivery
		want  []string
		state core.DeliveryState
		calls int
		check func(t *testing.T, w *world)
	}{
		{name: "plain sailing", row: notice("1", "hello"), want: []string{"hello"}, calls: 1},
		{name: "markup refused", fail: refuse(1, "send", adapters.Error{Kind: adapters.Markup, Code: 400}),
			row: notice("1", "*hello"), want: []string{"*hello"}, calls: 2,
			check: func(t *testing.T, w *world) { want(t, "plain", w.p.shown["1"][0].plain, true) }},
		{name: "markup refused twice", fail: refuse(99, "send", adapters.Error{Kind: adapters.Markup, Code: 400}),
			row: notice("1", "*hello"), state: core.DeliveryDead, calls: 10, want: []string{}},
		{name: "too long after all", fail: func(c call) error {
			if len([]rune(c.text)) > 60 {
				return &adapters.Error{Kind: adapters.TooLong, Code: 400}
			}
			return nil
		}, row: notice("1", strings.TrimSpace(long[:95])), want: nil, calls: 4},
		{name: "split at the limit", row: notice("1", strings.TrimSpace(long)), calls: 2},
		{name: "topic is gone", fail: func(c call) error {
			if c.thread != "" {
				return &adapters.Error{Kind: adapters.NoThread, Code: 400}
			}
			return nil
		}, row: notice("1", "hello", func(d *core.Delivery) { d.Route.Thread = "7" }), want: []string{"hello"}, calls: 2},
		{name: "blocked", fail: refuse(9, "send", adapters.Error{Kind: adapters.NoTarget, Code: 403}),
			row: notice("1", "hello"), want: []string{}, state: core.DeliveryDead, calls: 1},
		{name: "flood wait", fail: refuse(1, "send", adapters.Error{Kind: adapters.Limited, Code: 429, RetryAfter: 90 * time.Second}),
			row: notice("1", "hello"), want: []string{"hello"}, calls: 2},
		{name: "temporary", fail: refuse(3, "send", adapters.Error{Kind: adapters.Temporary, Code: 500}),
			row: notice("1", "hello"), want: []string{"hello"}, calls: 4},
		{name: "nothing visible", fail: refuse(1, "send", adapters.Error{Kind: adapters.Empty, Code: 400}),
			row: notice("1", "."), want: []string{}, calls: 1},
		{name: "no buttons here", fail: func(c call) error {
			if c.buttons > 0 {
				return &adapters.Error{Kind: adapters.Unsupported, Code: 400}
			}
			return nil
		}, row: notice("1", "hello", func(d *core.Delivery) { d.Buttons = []core.Button{{Label: "x", Data: "x"}} }), want: []string{"hello"}, calls: 2},
		{name: "answer lost", fail: refuse(1, "send", adapters.Error{Kind: adapters.Ambiguous}),
			row: notice("1", "hello"), want: []string{repeated + "hello"}, calls: 2},
		{name: "answer lost twice", fail: refuse(2, "send", adapters.Error{Kind: adapters.Ambiguous}),
			row: notice("1", "hello"), want: []string{repeated + "hello"}, calls: 3},
		{name: "senseless", fail: refuse(99, "send", adapters.Error{Kind: adapters.Misuse, Code: 400}),
			row: notice("1", "hello"), want: []string{}, state: core.DeliveryDead, calls: 5},
		{name: "message to edit is gone", row: notice("1", "hello", func(d *core.Delivery) { d.Parts = []core.Part{{Ref: "99", Sent: 1}} }),
			want: []string{"hello"}, calls: 2},
		{name: "edits unsupported", fail: refuse(9, "edit", adapters.Error{Kind: adapters.Unsupported, Code: 400}),
			row: notice("1", "hello", func(d *core.Delivery) { d.Parts = []core.Part{{Ref: "99", Sent: 1}} }), want: []string{"hello"}, calls: 2},
		{name: "unknown platform", row: notice("1", "hello", func(d *core.Delivery) { d.Route.Platform = "other" }),
			want: []string{}, state: core.DeliveryOwed},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.p.fail = c.fail
				w.say(c.row)
				time.Sleep(time.Hour)
				synctest.Wait()
				if c.want != nil {
					wantTexts(t, w.p, "1", c.want...)
				} else if got := strings.Join(w.p.texts("1"), ""); got != c.row.Text {
					t.Errorf("visible %q, want %q", got, c.row.Text)
				}
				if c.state == "" {
					c.state = core.DeliveryDelivered
				}
				want(t, "state", w.rows("1")[0].State, c.state)
				if n := len(w.p.made("1")); n != c.calls {
					t.Errorf("%d calls, want %d: %v", n, c.calls, w.p.made("1"))
				}
				if c.check != nil {
					c.check(t, w)
				}
			}, unlimited)
		})
	}
}

func TestChatMoved(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.admit("-1", "hello", func(s *core.Submission) { s.Route.Group, s.Group, s.Key = true, true, "fake:-1:u1" })
		w.p.fail = func(c call) error {
			if c.chat == "-1" {
				return &adapters.Error{Kind: adapters.Moved, Code: 400, MovedTo: "-1009"}
			}
			return nil
		}
		c := w.claim(a.Conversation)
		c.answer("hello")
		synctest.Wait()
		wantTexts(t, w.p, "-1009", "hello")
		want(t, "calls", len(w.p.calls), 2)
		v, err := w.s.Lookup(t.Context(), "fake:-1009:u1")
		if err != nil || v.ID != a.Conversation {
			t.Errorf("the conversation did not move along: %v %v", v.ID, err)
		}
	})
}

// A long answer that fails in the middle goes on at the failed part: no part is lost, doubled or out of order.
func TestLongAnswerResumesAtTheFailedPart(t *testing.T) {
	text := strings.TrimSpace(strings.Repeat("one two three four five. ", 20))
	for _, restart := range []bool{false, true} {
		bubble(t, func(t *testing.T, w *world) {
			w.p.fail = func(c call) error {
				if c.n == 3 {
					return &adapters.Error{Kind: adapters.Temporary, Code: 502}
				}
				return nil
			}
			w.say(notice("1", text))
			time.Sleep(time.Millisecond)
			if restart {
				synctest.Wait()
				w.stop()
				w.start()
			}
			time.Sleep(10 * time.Minute)
			synctest.Wait()
			if got := strings.Join(w.p.texts("1"), ""); got != text {
				t.Errorf("visible %q", w.p.texts("1"))
			}
			want(t, "state", w.rows("1")[0].State, core.DeliveryDelivered)
		})
	}
}

// What a dead process left behind is taken up at once by the next one, in every state.
func TestLeftOversAfterARestart(t *testing.T) {
	now := time.Now()
	tests := []struct {
		name string
		row  core.Delivery
		want []string
	}{
		{"owed", core.Delivery{State: core.DeliveryOwed}, []string{"hello"}},
		{"born with the commit, not sent", core.Delivery{Kind: core.DeliverFinal, State: core.DeliveryLive, LiveUntil: now.Add(30 * time.Second)}, []string{"hello"}},
		{"fate of the first attempt unknown", core.Delivery{Kind: core.DeliverFinal, State: core.DeliverySending, Parts: []core.Part{{Sent: 1}},
			LiveUntil: now.Add(30 * time.Second)}, []string{repeated + "hello"}},
		{"shown, not marked", core.Delivery{Kind: core.DeliverFinal, State: core.DeliveryLive, LiveUntil: now.Add(30 * time.Second),
			Parts: []core.Part{{Ref: "1", Sent: 1, Hash: "another"}, {Ref: "2", Hash: "status", Sent: 1}}}, []string{"hello"}},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.stop()
				base := time.Now()
				d := notice("1", "hello")
				d.ID, d.Kind, d.State, d.Parts = "D1", c.row.Kind, c.row.State, c.row.Parts
				if !c.row.LiveUntil.IsZero() {
					d.LiveUntil = base.Add(30 * time.Second)
				}
				for _, p := range d.Parts {
					if p.Ref != "" {
						w.p.shown = map[string][]*message{"1": append(w.p.shown["1"], &message{ref: p.Ref, text: "hel ▉"})}
					}
				}
				if err := w.s.Outbox().Put(t.Context(), d); err != nil {
					t.Fatal(err)
				}
				w.start()
				time.Sleep(2 * time.Second)
				synctest.Wait()
				wantTexts(t, w.p, "1", c.want...)
				want(t, "state", w.rows("1")[0].State, core.DeliveryDelivered)
			})
		})
	}
}

func TestOneRowPerTargetAtATime(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		for _, text := range []string{"1", "2", "3", "4", "5", "6", "7", "8"} {
			w.say(notice("1", text))
			w.say(notice("2", text))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		wantTexts(t, w.p, "1", "1", "2", "3", "4", "5", "6", "7", "8")
		wantTexts(t, w.p, "2", "1", "2", "3", "4", "5", "6", "7", "8")
	})
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	inside, outside := filepath.Join(dir, "a.png"), filepath.Join(t.TempDir(), "secret")
	for _, f := range []string{inside, outside} {
		if err := os.WriteFile(f, []byte("bytes"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	folders := func(c *Config, _ *platform) { c.Files = []string{dir} }
	bubble(t, func(t *testing.T, w *world) {
		c := w.turn("1")
		c.say("Summary.\nMEDIA:" + inside + "\nItem A")
		time.Sleep(2 * time.Second)
		d := c.answer("Summary.\nMEDIA:" + inside + "\nItem A")
		synctest.Wait()
		wantTexts(t, w.p, "1", "Summary.", "Item A")
		want(t, "file", w.p.shown["1"][1].file, "bytes")
		want(t, "state", d.State, core.DeliveryDelivered)

		for _, path := range []string{outside, filepath.Join(dir, "link"), filepath.Join(dir, "..", "x"), "/etc/passwd"} {
			c := w.turn("2")
			c.answer("MEDIA:" + path)
			synctest.Wait()
		}
		for _, text := range w.p.texts("2") {
			if !strings.Contains(text, "could not be read") {
				t.Errorf("a file from outside: %q", text)
			}
		}
		want(t, "uploads", len(w.p.made("2", "upload")), 0)
	}, folders, unlimited)
}

// A caption that is too long for its file, by our count or the platform's, stands below it.
func TestLongCaption(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.png")
	if err := os.WriteFile(path, []byte("bytes"), 0o600); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("word ", 29) + "end"
	for _, tt := range []struct {
		name    string
		limit   int // of captions, as published
		real    int
		caption string
		want    []string // nil: the caption is more than one message
	}{
		{"fits", 50, 50, "short", []string{"hi", "short"}},
		{"too long", 20, 20, "a caption of some words", []string{"hi", "", "a caption of some words"}},
		{"too long for a message", 20, 20, long, nil},
		{"the platform counts otherwise", 50, 20, "a caption of some words", []string{"hi", "", "a caption of some words"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.p.fail = func(c call) error {
					if c.method == "upload" && len(c.text) > tt.real {
						return &adapters.Error{Kind: adapters.TooLong, Method: "upload", Code: 400}
					}
					return nil
				}
				d := notice("1", "hi")
				d.Media = []core.Media{{Kind: "photo", Path: path, Caption: tt.caption}}
				w.say(d)
				time.Sleep(time.Minute)
				synctest.Wait()
				got := w.p.texts("1")
				if len(got) < 2 || w.p.shown["1"][1].file != "bytes" {
					t.Fatalf("visible: %q", got)
				}
				if tt.want != nil {
					wantTexts(t, w.p, "1", tt.want...)
				} else if len(got) < 4 || got[1] != "" || strings.Join(got[2:], "") != tt.caption {
					t.Errorf("visible: %q", got)
				}
				want(t, "state", w.rows("1")[0].State, core.DeliveryDelivered)
			}, unlimited, func(c *Config, p *platform) { c.Files, p.limits.Caption = []string{dir}, tt.limit })
		})
	}
}

func TestSayWithoutAStore(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		if err := w.m.Say(t.Context(), notice("1", "x")); err == nil {
			t.Error("said without a record")
		}
		want(t, "calls", len(w.p.calls), 0)
	}, func(c *Config, _ *platform) { c.Store = failing{c.Store} })
}

type failing struct{ core.Deliveries }

func (failing) Put(context.Context, ...core.Delivery) error { return errors.New("no disk") }

// Rows that nobody told us of: of a turn that was read back, and of another process.
func TestRowsOfOthers(t *testing.T) {
	for name, news := range map[string]func(m *Mouth){
		"read back":       func(m *Mouth) { m.On(core.Event{Turn: "T9", EventBody: core.EventBody{Type: core.MessageComplete}}) },
		"another process": func(*Mouth) { time.Sleep(lookEvery) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				time.Sleep(time.Second)
				d := notice("1", "hello")
				d.ID, d.State, d.Kind = "D1", core.DeliveryOwed, core.DeliverFinal
				if err := w.s.Outbox().Put(t.Context(), d); err != nil {
					t.Fatal(err)
				}
				news(w.m)
				time.Sleep(100 * time.Millisecond)
				synctest.Wait()
				wantTexts(t, w.p, "1", "hello")
			})
		})
	}
}
