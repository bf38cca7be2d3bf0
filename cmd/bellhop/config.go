package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"bellhop/config"
)

func (a *app) configCommand() *cobra.Command {
	c := &cobra.Command{Use: "config", Short: "check or show the configuration", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	c.AddCommand(
		&cobra.Command{Use: "check", Short: "every fault of the configuration at once", Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error { return a.configCheck() }},
		&cobra.Command{Use: "show", Short: "the configuration in force, secrets hidden", Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error { return a.configShow() }},
		&cobra.Command{Use: "schema", Short: "a JSON Schema of the file, for editors", Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error {
				e := json.NewEncoder(a.out)
				e.SetIndent("", "  ")
				return e.Encode(config.Schema())
			}},
	)
	return c
}

func (a *app) configCheck() error {
	c, err := a.load()
	if err != nil {
		var faults config.Faults
		if errors.As(err, &faults) {
			fmt.Fprintf(a.err, "%s\nNothing was changed.\n", faults)
			return errors.Join(errSaid, err)
		}
		return err
	}
	for _, w := range append(c.Warnings, exposures(c)...) {
		fmt.Fprintln(a.err, "warning:", w)
	}
	from := c.File
	if from == "" {
		from = "no file: defaults and environment"
	}
	fmt.Fprintf(a.out, "ok (%s)\n", from)
	return nil
}

func (a *app) configShow() error {
	c, err := a.load()
	if err != nil {
		return err
	}
	text, err := config.Show(c)
	if err != nil {
		return err
	}
	fmt.Fprint(a.out, text)
	return nil
}
