package main

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"bellhop/core"
	"bellhop/gateway"
)

func (a *app) pairCommand() *cobra.Command {
	c := &cobra.Command{Use: "pair", Short: "who may talk", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	access := func(fn func(context.Context, *gateway.Access, []string) error) func(*cobra.Command, []string) error {
		return func(cmd *cobra.Command, args []string) error {
			cfg, err := a.load()
			if err != nil {
				return err
			}
			return a.withStore(cmd.Context(), func(s core.Store) error {
				return fn(cmd.Context(), gateway.NewAccess(accessConfig(cfg), s), args)
			})
		}
	}
	c.AddCommand(
		&cobra.Command{Use: "list", Short: "who is allowed, and who waits with a code", Args: cobra.NoArgs,
			RunE: access(func(ctx context.Context, g *gateway.Access, _ []string) error { return a.pairList(ctx, g) })},
		&cobra.Command{Use: "approve CODE", Short: "let the person in who was shown CODE", Args: cobra.ExactArgs(1),
			RunE: access(func(ctx context.Context, g *gateway.Access, args []string) error {
				p, err := g.Approve(ctx, args[0])
				if core.Is(err, core.NotFound) {
					return fmt.Errorf("nobody waits with the code %s; bellhop pair list shows the codes", args[0])
				}
				if err != nil {
					return err
				}
				fmt.Fprintf(a.out, "%s (%s) may talk now\n", p.Person, p.Name)
				return nil
			})},
		&cobra.Command{Use: "revoke ID", Short: "shut a person out, for example telegram:111", Args: cobra.ExactArgs(1),
			RunE: access(func(ctx context.Context, g *gateway.Access, args []string) error {
				if err := g.Revoke(ctx, core.PrincipalID(args[0])); err != nil {
					return err
				}
				fmt.Fprintf(a.out, "%s may not talk any more\n", args[0])
				return nil
			})},
	)
	return c
}

func (a *app) pairList(ctx context.Context, g *gateway.Access) error {
	grants, err := g.List(ctx)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "PERSON\tNAME\tSTANDING\tCODE\tSINCE")
	for _, p := range grants {
		standing := "waits"
		switch {
		case p.Owner:
			standing = "owner"
		case p.Admin:
			standing = "admin"
		case p.Allowed:
			standing = "allowed"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", p.Person, p.Name, standing, p.Code, stamp(p.Created))
	}
	return w.Flush()
}
