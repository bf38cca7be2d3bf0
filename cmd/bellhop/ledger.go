package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"bellhop/core"
	"bellhop/core/readback"
	"bellhop/gateway/rpc"
)

// The commands of this file read the ledger beside a running gateway, or without one.

func (a *app) admissionCommand() *cobra.Command {
	c := &cobra.Command{Use: "admission", Short: "the durable queue", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	var all bool
	list := &cobra.Command{Use: "list", Short: "inputs that wait, run or are unknown", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withStore(cmd.Context(), func(s core.Store) error { return a.admissionList(cmd.Context(), s, all) })
		}}
	list.Flags().BoolVar(&all, "all", false, "also the newest that ended")
	show := &cobra.Command{Use: "show ID", Short: "one input and its receipt", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withStore(cmd.Context(), func(s core.Store) error {
				adm, err := s.Admission(cmd.Context(), core.AdmissionID(args[0]))
				if err != nil {
					return err
				}
				printAdmission(a.out, adm)
				return nil
			})
		}}
	var as string
	resolve := &cobra.Command{Use: "resolve ID", Short: "settle an unknown turn by hand", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withStore(cmd.Context(), func(s core.Store) error {
				return a.admissionResolve(cmd.Context(), s, core.AdmissionID(args[0]), as)
			})
		}}
	resolve.Flags().StringVar(&as, "as", "", "`how`: done, retry or drop")
	c.AddCommand(list, show, resolve)
	return c
}

func (a *app) admissionList(ctx context.Context, s core.Store, all bool) error {
	rows, err := s.Unsettled(ctx, "")
	if err != nil {
		return err
	}
	if all {
		recent, err := s.Recent(ctx, "", 50)
		if err != nil {
			return err
		}
		for _, r := range slices.Backward(recent) {
			if r.Status == core.Terminal {
				rows = append(rows, r)
			}
		}
	}
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tSTATUS\tCONVERSATION\tFROM\tAGE\tTEXT")
	for _, r := range rows {
		status := string(r.Status)
		if r.Status == core.Terminal {
			status = fmt.Sprintf("%s (%s)", r.Outcome.Result, r.Outcome.Reason)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", r.ID, status, r.Conversation, r.By, age(r.Created), clip(r.Submission.Text, 40))
	}
	return w.Flush()
}

func printAdmission(out io.Writer, r core.Admission) {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	row := func(k string, v any) { fmt.Fprintf(w, "%s\t%v\n", k, v) }
	row("admission", r.ID)
	row("conversation", fmt.Sprintf("%s (%s)", r.Conversation, r.Submission.Key))
	row("from", r.By)
	row("request", r.Submission.RequestID)
	row("status", r.Status)
	if r.Status == core.Terminal {
		row("outcome", fmt.Sprintf("%s: %s", r.Outcome.Result, r.Outcome.Reason))
	}
	if r.Outcome.Error != "" {
		row("cause", r.Outcome.Error)
	}
	if r.Turn != "" {
		row("turn", r.Turn)
	}
	if r.RetryOf != "" {
		row("retry of", r.RetryOf)
	}
	row("accepted", stamp(r.Created))
	row("started", stamp(r.Claimed))
	row("ended", stamp(r.Settled))
	row("text", clip(r.Submission.Text, 200))
	w.Flush()
}

// admissionResolve is the operator's word about an unknown turn. A running gateway picks the result up by itself.
func (a *app) admissionResolve(ctx context.Context, s core.Store, id core.AdmissionID, as string) error {
	if !slices.Contains([]string{"done", "retry", "drop"}, as) {
		return usageError{fmt.Errorf("--as must be done, retry or drop")}
	}
	retry, err := readback.New(s, readback.Options{}).Resolve(ctx, rpc.Local(), id, as)
	if core.Is(err, core.Conflict) {
		return fmt.Errorf("admission %s is not unknown, so there is nothing to settle", id)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "settled %s as %s\n", id, as)
	if retry != nil {
		fmt.Fprintf(a.out, "admitted again as %s\n", retry.ID)
	}
	return nil
}

func (a *app) verifyCommand() *cobra.Command {
	return &cobra.Command{Use: "verify", Short: "is every accepted input accounted for?", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withStore(cmd.Context(), func(s core.Store) error { return a.verify(cmd.Context(), s) })
		}}
}

// verify checks conservation: accepted = terminal + queued + started + unknown, every terminal answer delivered or owed.
func (a *app) verify(ctx context.Context, s core.Store) error {
	c, err := s.Census(ctx)
	if err != nil {
		return err
	}
	lost, err := s.Outbox().Undelivered(ctx)
	if err != nil {
		return err
	}
	owed, err := s.Outbox().Owed(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "accepted %d = terminal %d + queued %d + started %d + unknown %d\n", c.Accepted, c.Terminal, c.Queued, c.Started, c.Unknown)
	for _, r := range slices.Sorted(maps.Keys(c.Results)) {
		fmt.Fprintf(a.out, "  %s %d\n", r, c.Results[r])
	}
	for _, st := range slices.Sorted(maps.Keys(owed)) {
		fmt.Fprintf(a.out, "deliveries %s %d\n", st, owed[st])
	}
	switch {
	case !c.Balanced():
		fmt.Fprintln(a.err, "BROKEN: accepted inputs are unaccounted for")
		return errSaid
	case len(lost) > 0:
		fmt.Fprintf(a.err, "BROKEN: %d answers are neither delivered nor owed: %v\n", len(lost), lost)
		return errSaid
	}
	fmt.Fprintln(a.out, "ok")
	return nil
}

func age(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return time.Since(t).Round(time.Second).String()
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04:05.000")
}

// clip shortens a text to n runes on one line.
func clip(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
