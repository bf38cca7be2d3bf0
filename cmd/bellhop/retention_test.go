package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/config"
	"bellhop/core"
	"bellhop/core/store"
)

// attic is a store and a workspace that fill up.
type attic struct {
	t *testing.T
	s core.Store
	k *housekeeper
	n int
}

// put leaves behind what an ended message leaves behind, and returns its id.
func (a *attic) put() core.AdmissionID {
	a.t.Helper()
	a.n++
	id := fmt.Sprint(a.n)
	got, err := a.s.Admit(a.t.Context(), core.Intake{Entries: []core.Entry{{By: core.Principal{ID: "p"},
		Submission: core.Submission{Key: "k", Source: "s", RequestID: core.RequestID(id), Text: "said"},
		Terminal:   &core.Outcome{Result: core.Completed, Reason: core.ReasonCommand}}}})
	if err != nil {
		a.t.Fatal(err)
	}
	adm := got[0].Admission
	now := time.Now()
	if err := a.s.Record(a.t.Context(), core.Event{Conversation: adm.Conversation, Seq: int64(a.n), At: now, EventBody: core.EventBody{Type: core.ErrorEvent}}); err != nil {
		a.t.Fatal(err)
	}
	if err := a.s.Outbox().Put(a.t.Context(), core.Delivery{ID: core.DeliveryID("d" + id), Admission: adm.ID, State: core.DeliveryDelivered,
		Kind: core.DeliverNotice, Created: now, Done: now}); err != nil {
		a.t.Fatal(err)
	}
	if err := os.MkdirAll(a.folder(adm.ID), 0o700); err != nil {
		a.t.Fatal(err)
	}
	return adm.ID
}

func (a *attic) folder(id core.AdmissionID) string {
	return filepath.Join(a.k.workspace, "inbox", string(id))
}

// left tells what is left of a message: its payload, event, delivery and files.
func (a *attic) left(id core.AdmissionID, seq int64) (out string) {
	a.t.Helper()
	adm, err := a.s.Admission(a.t.Context(), id)
	if err != nil {
		a.t.Fatal(err)
	}
	events, err := a.s.Since(a.t.Context(), adm.Conversation, seq-1, 1)
	if err != nil {
		a.t.Fatal(err)
	}
	sent, err := a.s.Outbox().Of(a.t.Context(), id)
	if err != nil {
		a.t.Fatal(err)
	}
	_, files := os.Stat(a.folder(id))
	for _, v := range []struct {
		what  string
		there bool
	}{{"p", adm.Submission.Text != ""}, {"e", len(events) == 1 && events[0].Seq == seq}, {"d", len(sent) == 1}, {"f", files == nil}} {
		if v.there {
			out += v.what
		}
	}
	return out
}

func TestWhatIsOverIsDeletedInTime(t *testing.T) {
	for name, tt := range map[string]struct {
		keep       config.Retention
		old, young string
	}{
		"all":      {config.Retention{Payloads: 2 * time.Hour, Events: 2 * time.Hour, Deliveries: 2 * time.Hour, Inbox: 2 * time.Hour}, "", "pedf"},
		"for ever": {config.Retention{}, "pedf", "pedf"},
		"events":   {config.Retention{Events: 2 * time.Hour}, "pdf", "pedf"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, err := store.Open(t.Context(), store.Options{DSN: filepath.Join(t.TempDir(), "bellhop.db")})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				a := &attic{t: t, s: s, k: &housekeeper{store: s, keep: tt.keep, workspace: t.TempDir(), log: slog.New(slog.DiscardHandler)}}
				own := filepath.Join(a.k.workspace, "inbox", "notes")
				if err := os.MkdirAll(own, 0o700); err != nil {
					t.Fatal(err)
				}
				old := a.put()
				time.Sleep(3 * time.Hour)
				young := a.put()
				ctx, cancel := context.WithCancel(t.Context())
				var running sync.WaitGroup
				running.Go(func() {
					if err := a.k.Run(ctx); err != nil {
						t.Error(err)
					}
				})
				time.Sleep(time.Minute)
				if got := a.left(old, 1); got != "pedf" {
					t.Errorf("something was deleted right after the start: %q is left", got)
				}
				time.Sleep(10 * time.Minute)
				if got := a.left(old, 1); got != tt.old {
					t.Errorf("of what is old %q is left, want %q", got, tt.old)
				}
				if got := a.left(young, 2); got != tt.young {
					t.Errorf("of what is young %q is left", got)
				}
				time.Sleep(4 * time.Hour)
				if got := a.left(young, 2); got != tt.old {
					t.Errorf("hours later %q is left, want %q", got, tt.old)
				}
				if _, err := os.Stat(own); err != nil {
					t.Errorf("a folder that is no message's: %v", err)
				}
				cancel()
				running.Wait()
			})
		})
	}
}
