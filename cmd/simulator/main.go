package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"bellhop/adapters/telegram/telegramtest"
	"bellhop/core/provider/providertest"
)

// demoToken is what the gateway of `make demo` uses.
const demoToken = "123456789:AADemoDemoDemoDemoDemoDemoDemoDemoDem"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "simulator:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	listen string
	token  string
	pace   int
	limits bool
}

func parse(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("simulator", flag.ContinueOnError)
	f.StringVar(&o.listen, "listen", "127.0.0.1:8790", "address of the page, the Bot API and the model")
	f.StringVar(&o.token, "token", demoToken, "the bot's token")
	f.IntVar(&o.pace, "pace", 25, "words a second of the model; 0: all at once")
	f.BoolVar(&o.limits, "limits", true, "refuse calls above Telegram's published rates")
	err := f.Parse(args)
	return o, err
}

func run(ctx context.Context, args []string, out *os.File) error {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", o.listen)
	if err != nil {
		return err
	}
	w := newWorld(o)
	fmt.Fprintf(out, "chats: http://%s/  model: http://%s/v1\n", l.Addr(), l.Addr())
	return serve(ctx, l, w)
}

// serve answers until ctx ends. Everything it starts has ended when it returns.
func serve(ctx context.Context, l net.Listener, w *world) error {
	srv := &http.Server{Handler: handler(w), ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return w.fake.Run(ctx) })
	g.Go(func() error {
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	g.Go(func() error {
		<-ctx.Done()
		return srv.Close()
	})
	return g.Wait()
}

// handler splits the one port. The Bot API cannot be a pattern of a mux: its first path element holds the token.
func handler(w *world) http.Handler {
	model := providertest.New(rule(w.words))
	page := newPage(w)
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch p := r.URL.Path; {
		case strings.HasPrefix(p, "/bot"), strings.HasPrefix(p, "/file/bot"):
			w.fake.ServeHTTP(rw, r)
		case strings.HasPrefix(p, "/v1/"):
			model.ServeHTTP(rw, r)
		default:
			page.ServeHTTP(rw, r)
		}
	})
}

// world is the fake with its people and places.
type world struct {
	fake   *telegramtest.Server
	people []telegramtest.Person
	words  time.Duration // of the model, between words
}

func newWorld(o options) *world {
	t := telegramtest.Options{Bot: telegramtest.Bot{ID: botID(o.token), Token: o.token, Name: "Bell", Username: "bell_bot"}}
	if o.limits {
		t.Limits = telegramtest.Published()
	}
	w := &world{fake: telegramtest.New(t)}
	if o.pace > 0 {
		w.words = time.Second / time.Duration(o.pace)
	}
	ann, bo := w.fake.Person("Ann"), w.fake.Person("Bo")
	w.people = []telegramtest.Person{ann, bo}
	w.fake.DM(ann)
	w.fake.DM(bo)
	w.fake.Group("Kitchen table")
	forum := w.fake.Forum("Projects")
	forum.Topic("Builds")
	forum.Topic("Ideas")
	return w
}

func botID(token string) int64 {
	var id int64
	fmt.Sscan(strings.SplitN(token, ":", 2)[0], &id)
	return id
}
