package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"bellhop/core"
	"bellhop/core/store"
)

// TestSeed fills a data folder with many conversations of one turn each, so that a start on them can be measured:
//
//	BELLHOP_SEED=/path/of/data go test -run TestSeed ./cmd/bellhop
func TestSeed(t *testing.T) {
	data := os.Getenv("BELLHOP_SEED")
	if data == "" {
		t.Skip("BELLHOP_SEED names no folder")
	}
	s, err := store.Open(t.Context(), store.Options{DSN: filepath.Join(data, databaseFile)})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 10_000 {
		if err := seed(t.Context(), s, fmt.Sprint(n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// seed stores a conversation that had one turn.
func seed(ctx context.Context, s *store.Store, chat string) error {
	key := core.Key("telegram:" + chat)
	out, err := s.Admit(ctx, core.Intake{Entries: []core.Entry{{By: core.Principal{ID: core.PrincipalID(key), Caps: core.CanSubmit},
		Submission: core.Submission{Key: key, Source: string(key), RequestID: "1", Surface: "chat", Text: "What changed?",
			Route: core.Route{Platform: "telegram", Chat: chat}}}}})
	if err != nil {
		return err
	}
	l, claim, err := s.Start(ctx, out[0].Admission.Conversation, core.TurnID("turn"+chat), core.Holder{Instance: "seed"}, time.Minute, nil, nil)
	if err != nil {
		return err
	}
	if _, err := s.OpenSession(ctx, l.Fence, core.Session{SystemPrompt: "You are helpful."}); err != nil {
		return err
	}
	id := claim.Admission.ID
	_, err = s.Settle(ctx, l.Fence, id, core.Settlement{
		Outcome: core.Outcome{Result: core.Completed, Reason: core.ReasonAnswered, Text: "Nothing."},
		Tail:    []core.Message{{Role: core.RoleAssistant, Admission: id, Content: "Nothing."}},
		Deliveries: []core.Delivery{{Kind: core.DeliverFinal, State: core.DeliveryDelivered, Text: "Nothing.",
			Route: claim.Admission.Submission.Route}}})
	return err
}
