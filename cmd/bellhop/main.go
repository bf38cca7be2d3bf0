package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"bellhop/config"
	"bellhop/core"
	"bellhop/core/tool/shell"
)

// version is set by the linker; the module's own version stands in for it.
var version = ""

const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
	exitConfig = 78
)

func main() {
	if code, is := shell.Supervise(os.Args); is {
		os.Exit(code)
	}
	if os.Getenv("GOGC") == "" {
		pace()
	}
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the whole program with its surroundings passed in; it returns the exit code.
func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	a := &app{in: in, out: out, err: errOut, env: os.LookupEnv}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	err := root.ExecuteContext(ctx)
	if err != nil && !errors.Is(err, errSaid) {
		fmt.Fprintln(errOut, "bellhop:", err)
	}
	return exitCode(err)
}

// errSaid marks a failure whose words are already on the screen.
var errSaid = errors.New("said")

// usageError is a command line that makes no sense.
type usageError struct{ error }

func exitCode(err error) int {
	var faults config.Faults
	var usage usageError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &faults), core.KindOf(err) == core.Locked, core.KindOf(err) == core.Newer:
		return exitConfig
	}
	return exitFailed
}

// app is what every command shares.
type app struct {
	in       io.Reader
	out, err io.Writer
	env      config.Environment
	file     string // --config
}

func (a *app) load() (config.Config, error) { return config.Load(a.file, a.env) }

// commands is the table of sub-commands.
func (a *app) commands() []*cobra.Command {
	return []*cobra.Command{
		a.serveCommand(), a.chatCommand(), a.configCommand(), a.doctorCommand(), a.admissionCommand(),
		a.turnCommand(), a.verifyCommand(), a.pairCommand(), a.rpcCommand(), a.versionCommand(),
	}
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "bellhop",
		Short:         "A self-hosted gateway that puts an LLM agent where people already talk",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("there is no command %q; bellhop --help lists them", args[0])}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.PersistentFlags().StringVar(&a.file, "config", "", "configuration `file`")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.AddCommand(a.commands()...)
	for _, c := range root.Commands() {
		asUsage(c)
	}
	return root
}

// asUsage makes wrong arguments of c and its children usage errors.
func asUsage(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return usageError{err}
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		asUsage(sub)
	}
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprintln(a.out, "bellhop", programVersion())
			return nil
		},
	}
}

func programVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "dev"
}
