package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"bellhop/core"
)

func (a *app) turnCommand() *cobra.Command {
	return &cobra.Command{Use: "turn ID", Short: "the whole life of one turn, from receipt to delivery", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withStore(cmd.Context(), func(s core.Store) error { return a.turn(cmd.Context(), s, args[0]) })
		}}
}

// moment is one line of a turn's life.
type moment struct {
	at   time.Time
	what string
}

func (a *app) turn(ctx context.Context, s core.Store, id string) error {
	adm, err := s.Admission(ctx, core.AdmissionID(id))
	if core.Is(err, core.NotFound) {
		adm, err = s.AdmissionOf(ctx, core.TurnID(id))
	}
	if err != nil {
		return err
	}
	life, err := lifeOf(ctx, s, adm)
	if err != nil {
		return err
	}
	printAdmission(a.out, adm)
	fmt.Fprintln(a.out)
	for _, m := range life {
		fmt.Fprintf(a.out, "%s  +%-9s %s\n", stamp(m.at), m.at.Sub(adm.Created).Round(time.Millisecond), m.what)
	}
	return nil
}

func lifeOf(ctx context.Context, s core.Store, adm core.Admission) ([]moment, error) {
	life := []moment{{adm.Created, "accepted"}}
	if !adm.Claimed.IsZero() {
		life = append(life, moment{adm.Claimed, fmt.Sprintf("started, generation %d", adm.Generation)})
	}
	said, err := s.Said(ctx, adm.ID)
	if err != nil {
		return nil, err
	}
	for _, m := range said {
		life = append(life, moment{m.At, saidLine(m)})
	}
	calls, err := s.Calls(ctx, adm.ID)
	if err != nil {
		return nil, err
	}
	for _, c := range calls {
		life = append(life, moment{c.Changed, fmt.Sprintf("call %s %s is %s", c.Name, c.ID, c.State)})
	}
	out, err := s.Outbox().Of(ctx, adm.ID)
	if err != nil {
		return nil, err
	}
	for _, d := range out {
		life = append(life, moment{d.Created, fmt.Sprintf("%s put in the outbox", d.Kind)})
		if !d.Done.IsZero() {
			life = append(life, moment{d.Done, fmt.Sprintf("%s %s in %d messages, %d attempts %s", d.Kind, d.State, len(d.Parts), d.Attempts, d.Error)})
		}
	}
	if !adm.Settled.IsZero() {
		life = append(life, moment{adm.Settled, fmt.Sprintf("ended: %s, %s", adm.Outcome.Result, adm.Outcome.Reason)})
	}
	slices.SortStableFunc(life, func(x, y moment) int { return x.at.Compare(y.at) })
	return life, nil
}

func saidLine(m core.Message) string {
	who := string(m.Role)
	if m.Synthetic {
		who += " (by us)"
	}
	switch {
	case len(m.Calls) > 0:
		return fmt.Sprintf("%s asks for %d calls: %s", who, len(m.Calls), clip(m.Content, 60))
	case m.CallID != "":
		return fmt.Sprintf("%s answers %s: %s", who, m.CallID, clip(m.Content, 60))
	}
	return fmt.Sprintf("%s: %s", who, clip(m.Content, 80))
}
