package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"bellhop/config"
	"bellhop/core"
	"bellhop/core/store"
)

// serverName is what the gateway calls itself in answers, so that doctor knows it.
const serverName = "bellhop"

func (a *app) serveCommand() *cobra.Command {
	return &cobra.Command{Use: "serve", Short: "run the gateway", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context()) }}
}

// serve runs the gateway until a signal or a failure.
func (a *app) serve(ctx context.Context) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	var level slog.LevelVar
	return a.open(ctx, cfg, newLog(a.err, cfg, &level), &level, nil)
}

// open builds the house and lives in it. Everything that another instance could be using is taken before anything is
// opened. client, which may be nil, is a guest whose leaving ends the house.
func (a *app) open(ctx context.Context, cfg config.Config, log *slog.Logger, level *slog.LevelVar, client guest) (err error) {
	claim, err := claimAll(ctx, cfg)
	if err != nil {
		return err
	}
	for _, w := range append(cfg.Warnings, exposures(cfg)...) {
		log.Warn(w)
	}
	defer func() { err = errors.Join(err, claim.close()) }()
	defer func() { err = errors.Join(err, forgetAddress(cfg.Data)) }()
	st, made, err := prepare(ctx, cfg, claim.listener.Addr())
	if st != nil {
		defer func() { err = errors.Join(err, st.Close()) }()
	}
	if err != nil {
		return err
	}
	h, err := newHouse(ctx, cfg, st, made, log)
	if err != nil {
		return err
	}
	return a.live(ctx, h, claim.listener, level, client)
}

// prepare opens the store, and makes beside it what does not need it. A store that was opened comes back also with an error.
func prepare(ctx context.Context, cfg config.Config, at net.Addr) (st *store.Store, made parts, err error) {
	var group errgroup.Group
	instance := rand.Text()
	group.Go(func() (err error) {
		made, err = newParts(cfg, instance)
		return errors.Join(err, writeAddress(cfg.Data, reachable(at)))
	})
	st, err = openStore(ctx, cfg, instance)
	return st, made, errors.Join(err, group.Wait())
}

// guest is somebody for whom the house was opened.
type guest func(ctx context.Context, h *house) error

// claims are what only one instance may hold: the data folder, the address, each bot's token.
type claims struct {
	locks    []io.Closer
	listener net.Listener
}

// afterlife is for how long what a process held may be held after its death: a child that it was just about to start has
// everything it had, until it becomes the other program.
const afterlife = time.Second

// claimAll takes everything, and waits a little for what a process that was killed has left.
func claimAll(ctx context.Context, cfg config.Config) (*claims, error) {
	for began := time.Now(); ; {
		c, err := claimOnce(cfg)
		if !core.Is(err, core.Locked) || time.Since(began) > afterlife {
			return c, err
		}
		select {
		case <-ctx.Done():
			return c, err
		case <-time.After(afterlife / 20):
		}
	}
}

func claimOnce(cfg config.Config) (c *claims, err error) {
	c = &claims{}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	folder, err := store.LockFolder(cfg.Data)
	if err != nil {
		return c, err
	}
	c.locks = append(c.locks, folder)
	if c.listener, err = listen(cfg.Listen); err != nil {
		return c, err
	}
	if nodes(cfg) { // which of them has a bot's connection they agree on in the store
		return c, nil
	}
	tokens, err := lockTokens(cfg)
	c.locks = append(c.locks, tokens...)
	return c, err
}

func (c *claims) close() error {
	var errs []error
	if c.listener != nil {
		if err := c.listener.Close(); !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	for _, l := range c.locks {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}

// live runs the stages of the house: what receives stops first, then turns, then what speaks, then the news.
func (a *app) live(ctx context.Context, h *house, l net.Listener, level *slog.LevelVar, client guest) error {
	stop, leave, done := signals(ctx, h.log, client == nil)
	defer done()
	st := newStages(context.WithoutCancel(ctx))
	if err := h.mouth.TakeOver(ctx); err != nil {
		return err
	}
	if err := h.node.Join(ctx); err != nil {
		return err
	}
	news := st.stage(h.hub.Run, h.node.Run)
	speak := st.stage(h.mouth.Run, h.ask.Run, func(ctx context.Context) error { return serveHTTP(ctx, l, h.handler(ctx)) })
	turns := st.stage(h.dispatch.Run)
	doors := st.stage()
	for _, d := range h.doors {
		doors.add(func(ctx context.Context) error { return h.keep(ctx, d) })
	}
	hup := hangups()
	doors.add(func(ctx context.Context) error { return a.reload(ctx, h, hup, level) })
	doors.add((&housekeeper{store: h.store, keep: h.cfg.Retention, workspace: h.cfg.Agent.Workspace, log: h.log}).Run)
	if client != nil {
		doors.add(func(ctx context.Context) error { defer leave(); return client(ctx, h) })
	}
	h.health.set("")
	a.announce(ctx, h, l)
	var failure error
	select {
	case <-stop.Done():
		h.log.Info("stopping: no new messages are taken, running turns have " + h.cfg.Turns.Drain.String() + " to end")
	case failure = <-st.failed:
		h.log.Error("stopping", "err", failure)
	}
	h.health.set("stopping")
	for _, s := range []*stage{doors, turns, speak, news} {
		failure = errors.Join(failure, s.end())
		if s == turns {
			h.node.Tell(context.WithoutCancel(ctx), core.Note{Kind: core.NoteWork}) // what is left here
		}
	}
	return failure
}

// announce prints the ready line, and to a new owner the code, which goes to the terminal alone.
func (a *app) announce(ctx context.Context, h *house, l net.Listener) {
	url := fmt.Sprintf("http://%s/", reachable(l.Addr()))
	if h.cfg.Platforms.Web.Enabled {
		url += "#k=" + h.auth.Mint(keyTTL)
	}
	fmt.Fprintf(a.out, "bellhop ready on %s\n", url)
	if len(h.doors) == 0 || !h.cfg.Access.Pairing {
		return
	}
	code, err := h.access.ClaimCode(ctx)
	if err != nil {
		h.log.Error("no code for the owner could be made", "err", err)
		return
	}
	if code != "" {
		fmt.Fprintf(a.err, "To become the owner, send this code to the bot: %s\n", code)
	}
}

// reachable is an address as programs of this machine can open it: what listens everywhere is this machine, too.
func reachable(a net.Addr) string {
	host, port, err := net.SplitHostPort(a.String())
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return a.String()
}

// keyTTL is how long the link of the ready line works.
const keyTTL = 24 * time.Hour

// signals returns a context that ends with SIGTERM, with SIGINT from a terminal, or by leave. A second signal exits at
// once.
func signals(ctx context.Context, log *slog.Logger, terminal bool) (stop context.Context, leave, done func()) {
	stop, leave = context.WithCancel(ctx)
	ch := make(chan os.Signal, 2)
	signal.Notify(ch, syscall.SIGTERM)
	if terminal {
		signal.Notify(ch, syscall.SIGINT)
	}
	quit := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-quit:
				return
			case <-ch:
				leave()
				if n > 0 {
					log.Warn("second signal: exiting at once; everything accepted is in the store")
					os.Exit(exitFailed)
				}
			}
		}
	})
	return stop, leave, func() {
		signal.Stop(ch)
		close(quit)
		leave()
		wg.Wait()
	}
}

// stages are groups of long-running functions that end one after the other.
type stages struct {
	ctx    context.Context
	failed chan error // the first unexpected end
}

func newStages(ctx context.Context) *stages {
	return &stages{ctx: ctx, failed: make(chan error, 1)}
}

// stage is one group. Its functions run until its context ends.
type stage struct {
	all    *stages
	ctx    context.Context
	cancel context.CancelFunc
	group  errgroup.Group
}

func (s *stages) stage(fns ...func(context.Context) error) *stage {
	g := &stage{all: s}
	g.ctx, g.cancel = context.WithCancel(s.ctx)
	for _, fn := range fns {
		g.add(fn)
	}
	return g
}

func (g *stage) add(fn func(context.Context) error) {
	g.group.Go(func() error {
		err := fn(g.ctx)
		if err != nil && g.ctx.Err() == nil {
			select {
			case g.all.failed <- err:
			default:
			}
			return nil // told
		}
		if errors.Is(err, context.Canceled) {
			return nil
		}
		return err
	})
}

func (g *stage) end() error {
	g.cancel()
	return g.group.Wait()
}
