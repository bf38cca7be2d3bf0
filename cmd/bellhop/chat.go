package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"bellhop/config"
	"bellhop/gateway/rpc"
	"bellhop/gateway/rpc/client"
	"bellhop/gateway/rpc/jsonrpc"
)

func (a *app) chatCommand() *cobra.Command {
	var o client.ChatOptions
	var wait time.Duration
	c := &cobra.Command{Use: "chat [TEXT]", Short: "talk to the running gateway from the terminal", Args: cobra.ArbitraryArgs,
		Long: "Talk to the running gateway. With TEXT it sends one message and prints the answer; without, it reads the terminal, or\n" +
			"standard input as one message. Ctrl-C interrupts the turn.",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Text = strings.Join(args, " ")
			return a.chat(cmd.Context(), o, wait)
		}}
	c.Flags().StringVarP(&o.Session, "session", "s", "", "`key` or title of a session to go on with")
	c.Flags().DurationVar(&wait, "wait", 10*time.Second, "how long to try when no gateway answers")
	c.Flags().BoolVar(&o.JSON, "json", false, "print events as JSON lines")
	return c
}

// returnTime is how long chat tries to reach a gateway again that it has talked to: a restart may drain first.
const returnTime = 2 * time.Minute

func (a *app) chat(ctx context.Context, o client.ChatOptions, wait time.Duration) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	path := filepath.Join(cfg.Data, tokenFile)
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("no gateway has run on %s yet, so nothing was sent; start one with `bellhop serve`", cfg.Data)
	}
	token, err := rpc.TokenFile(path)
	if err != nil {
		return err
	}
	o.In, o.Out, o.Err = a.in, a.out, a.err
	o.Again, o.Where = max(wait, returnTime), func() string { return addressOf(cfg) }
	if f, ok := a.in.(*os.File); ok {
		o.Interactive = isTerminal(f) && o.Text == ""
	}
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, syscall.SIGINT)
	defer signal.Stop(interrupts)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	presses := make(chan struct{})
	o.Interrupt = presses
	dial := func(ctx context.Context) (jsonrpc.Conn, error) { // a gateway that was started again may listen elsewhere
		return client.WebSocket(addressOf(cfg), token)(ctx)
	}
	c := client.Open(dial, wait)
	var wg sync.WaitGroup
	wg.Go(func() { forward(ctx, interrupts, presses) })
	err = client.Chat(ctx, c, o)
	cancel()
	wg.Wait()
	if errors.Is(err, client.ErrFailed) || errors.Is(err, client.ErrUnreachable) {
		return errSaid
	}
	return err
}

// forward passes interrupts on until ctx ends.
func forward(ctx context.Context, in <-chan os.Signal, out chan<- struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-in:
			select {
			case out <- struct{}{}:
			case <-ctx.Done():
				return
			}
		}
	}
}

// addressFile says where the running gateway listens; the configuration may ask for any free port.
const addressFile = "gateway.addr"

func writeAddress(data, addr string) error {
	return os.WriteFile(filepath.Join(data, addressFile), []byte(addr+"\n"), 0o600)
}

// forgetAddress says that nothing listens any more. A gateway that is killed leaves its address behind: whoever dials it
// asks for a proof first.
func forgetAddress(data string) error {
	err := os.Remove(filepath.Join(data, addressFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// addressOf is where the gateway of this data folder listens.
func addressOf(c config.Config) string {
	if b, err := os.ReadFile(filepath.Join(c.Data, addressFile)); err == nil {
		return strings.TrimSpace(string(b))
	}
	return c.Listen
}
