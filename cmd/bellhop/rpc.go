package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"bellhop/config"
	"bellhop/core"
	"bellhop/gateway/rpc"
	"bellhop/gateway/rpc/client"
	"bellhop/gateway/rpc/jsonrpc"
)

func (a *app) rpcCommand() *cobra.Command {
	var embedded bool
	c := &cobra.Command{Use: "rpc", Short: "JSON-RPC 2.0 on standard input and output", Args: cobra.NoArgs,
		Long: "JSON-RPC 2.0, one object a line. Attaches to the running gateway; when none runs, a gateway is started inside this\n" +
			"process, and drains when the input ends. SIGINT is ignored: interrupting is session.interrupt.",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.rpc(cmd.Context(), embedded) }}
	c.Flags().BoolVar(&embedded, "embedded", false, "start a gateway inside, even if one could be attached to")
	return c
}

func (a *app) rpc(ctx context.Context, embedded bool) error {
	signal.Ignore(syscall.SIGINT)
	cfg, err := a.load()
	if err != nil {
		return err
	}
	if !embedded && answers(ctx, cfg) {
		return a.attach(ctx, cfg)
	}
	return a.embed(ctx, cfg)
}

// answers reports whether the gateway of this data folder listens, and not something else where it once did.
func answers(ctx context.Context, cfg config.Config) bool {
	path := filepath.Join(cfg.Data, tokenFile)
	if _, err := os.Stat(path); err != nil {
		return false
	}
	token, err := rpc.TokenFile(path)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return client.Recognize(ctx, addressOf(cfg), token) == nil
}

// attach passes frames between the pipe and the running gateway. When the input ends it waits for the answers that are
// still due.
func (a *app) attach(ctx context.Context, cfg config.Config) error {
	token, err := rpc.TokenFile(filepath.Join(cfg.Data, tokenFile))
	if err != nil {
		return err
	}
	gateway, err := client.WebSocket(addressOf(cfg), token)(ctx)
	if err != nil {
		return core.E("attach to the gateway", core.Unavailable, err)
	}
	defer gateway.Close()
	pipe := jsonrpc.Lines(a.in, a.out)
	due := answersDue{changed: make(chan struct{}, 1)}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		err := pump(ctx, pipe, gateway, func(m []byte) { due.add(calls(m)) })
		if errors.Is(err, io.EOF) {
			due.wait(ctx)
		}
		return err
	})
	g.Go(func() error { return pump(ctx, gateway, pipe, func(m []byte) { due.add(-answersIn(m)) }) })
	err = g.Wait()
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// pump copies whole messages until one side ends.
func pump(ctx context.Context, from, to jsonrpc.Conn, see func([]byte)) error {
	for {
		m, err := from.Read(ctx)
		if err != nil {
			return err
		}
		see(m)
		if err := to.Write(ctx, m); err != nil {
			return err
		}
	}
}

// answersDue counts frames that want an answer.
type answersDue struct {
	n       atomic.Int64
	changed chan struct{}
}

func (d *answersDue) add(n int64) {
	d.n.Add(n)
	select {
	case d.changed <- struct{}{}:
	default:
	}
}

// wait returns when nothing is due any more, or ctx ended.
func (d *answersDue) wait(ctx context.Context) {
	for d.n.Load() > 0 {
		select {
		case <-d.changed:
		case <-ctx.Done():
			return
		}
	}
}

// calls counts the answers that a client's frame asks for: one for each call with an id, one for a batch.
func calls(m []byte) int64 {
	for _, c := range jsonrpc.Decode(m).Calls {
		if !c.Notification() {
			return 1
		}
	}
	return 0
}

// answersIn is 1 for a frame that answers, 0 for an event.
func answersIn(m []byte) int64 {
	if parsed, err := jsonrpc.Parse(m); err == nil && parsed.Method != "" {
		return 0
	}
	return 1
}

// embed runs a gateway in this process for the one client at the pipe. Its log goes to standard error; nothing but the
// protocol goes to standard output.
func (a *app) embed(ctx context.Context, cfg config.Config) (err error) {
	var level slog.LevelVar
	log := newLog(a.err, cfg, &level)
	out := a.out
	quiet := *a
	quiet.out = io.Discard
	return quiet.open(ctx, cfg, log, &level, func(ctx context.Context, h *house) error {
		return h.rpc.ServeStdio(ctx, a.in, out, rpc.Local())
	})
}
