package main

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"reflect"

	"bellhop/adapters"
	"bellhop/config"
	"bellhop/core"
	"bellhop/core/lease"
	"bellhop/core/prompt"
	"bellhop/core/readback"
	"bellhop/core/tool"
	"bellhop/core/turn"
	"bellhop/gateway"
	"bellhop/gateway/admission"
	"bellhop/gateway/ask"
	"bellhop/gateway/attach"
	"bellhop/gateway/command"
	"bellhop/gateway/deliver"
	"bellhop/gateway/dispatch"
	"bellhop/gateway/problem"
	"bellhop/gateway/rpc"
	"bellhop/gateway/rpc/proof"
	"bellhop/gateway/session"
	"bellhop/gateway/web"
	"bellhop/stream"
	"bellhop/stream/markup"
)

// house is the gateway, wired and not yet running.
type house struct {
	cfg      config.Config
	log      *slog.Logger
	store    core.Store
	metrics  *metrics
	problems *problem.Register
	health   *health
	doors    []door
	hub      *stream.Hub
	ask      *ask.Desk
	mouth    *deliver.Mouth
	access   *gateway.Access
	gateway  *gateway.Gateway
	dispatch *dispatch.Dispatcher
	keeper   *lease.Keeper
	self     core.Holder
	node     company
	reach    *session.Reach
	rpc      *rpc.Server
	auth     *rpc.Auth
	commands *command.Table
}

// parts are what a house is made of that does not hang on the store.
type parts struct {
	metrics *metrics
	doors   []door
	token   string // of the terminal client
	self    core.Holder
}

// newParts makes them, and the folders that they work in.
func newParts(cfg config.Config, instance string) (p parts, err error) {
	p.metrics = newMetrics()
	if p.self, err = lease.Self(instance); err != nil {
		return p, err
	}
	for _, dir := range []string{cfg.Agent.Workspace, spillFolder(cfg)} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return p, core.E("make folders", core.Unavailable, err)
		}
	}
	if p.token, err = rpc.TokenFile(filepath.Join(cfg.Data, tokenFile)); err != nil {
		return p, err
	}
	p.doors, err = newAdapters(cfg)
	return p, err
}

// newHouse wires everything, from the store outwards. Nothing runs yet.
func newHouse(ctx context.Context, cfg config.Config, st core.Store, made parts, log *slog.Logger) (*house, error) {
	h := &house{cfg: cfg, log: log, store: st, metrics: made.metrics, doors: made.doors, self: made.self}
	h.problems = problem.New(h.tellProblem)
	h.health = newHealth(st.Check, h.problems, replacer(secretsOf(reflect.ValueOf(cfg))))
	h.metrics.registry.MustRegister(newLedger(st))
	h.metrics.registry.MustRegister(newOpenProblems(h.problems))
	h.hub = stream.NewHub(st, stream.HubOptions{Log: log})
	h.hub.AttachAll(h.metrics)
	h.access = gateway.NewAccess(accessConfig(cfg), st)
	h.ask = ask.New(st, ask.Options{Timeouts: questionTimes(cfg), Log: log,
		Publish: func(ctx context.Context, q core.Question, b core.EventBody) {
			h.hub.Emit(ctx, q.Conversation, q.Admission, q.Turn, b)
			if q.State != core.QuestionOpen {
				h.node.Tell(context.WithoutCancel(ctx), core.Note{Kind: core.NoteQuestion, Conversation: q.Conversation, Question: q.ID})
			}
		}})
	h.mouth = h.newMouth()
	h.hub.AttachAll(h.mouth)
	if err := h.newEngine(ctx); err != nil {
		return nil, err
	}
	var err error
	h.auth, err = rpc.NewAuth(ctx, rpc.AuthOptions{Facts: h.store, Token: made.token, OwnUser: true})
	return h, err
}

func (h *house) newMouth() *deliver.Mouth {
	c := deliver.Config{Store: h.store.Outbox(), Chats: h.store, Leases: h.store, Turns: h.store, Home: h.access.Home,
		Platforms: map[string]deliver.Platform{}, Files: []string{h.cfg.Agent.Workspace, spillFolder(h.cfg)},
		Nodes: func() int { return h.node.Count() }, Alone: !nodes(h.cfg), Metrics: h.metrics, Log: h.log}
	for _, d := range h.doors {
		c.Adapters = append(c.Adapters, d.Adapter)
		c.Platforms[d.Name()] = d.speak
	}
	return deliver.New(c)
}

// outlet lets dispatch open deliver's views.
type outlet struct{ mouth *deliver.Mouth }

func (o outlet) Open(ctx context.Context, c *core.Claim, f core.Fence) dispatch.View {
	return o.mouth.Open(ctx, c, f)
}

// wakingReader tells the outbox that a settled row may have left something to say.
type wakingReader struct {
	*readback.Reader
	wake func()
}

func (w wakingReader) Settle(ctx context.Context, row core.Admission) (readback.Report, error) {
	defer w.wake()
	return w.Reader.Settle(ctx, row)
}

func (w wakingReader) Stop(ctx context.Context, row core.Admission) (readback.Report, error) {
	defer w.wake()
	return w.Reader.Stop(ctx, row)
}

func (w wakingReader) Forsaken(ctx context.Context, row core.Admission) error {
	defer w.wake()
	return w.Reader.Forsaken(ctx, row)
}

func (w wakingReader) Resolve(ctx context.Context, by core.Principal, id core.AdmissionID, as string) (*core.Admission, error) {
	defer w.wake()
	return w.Reader.Resolve(ctx, by, id, as)
}

// newEngine wires admission, turns, commands and the guards around one registry of what runs.
func (h *house) newEngine(ctx context.Context) error {
	runner, err := h.newRunner()
	if err != nil {
		return err
	}
	live := session.New()
	node, believed := h.company()
	h.node = node
	h.reach = session.NewReach(ctx, live, node, h.store, h.log)
	reader := readback.New(h.store, readback.Options{Log: h.log,
		Stopped: func(ctx context.Context, row core.Admission) (bool, error) { return command.Stopped(ctx, h.store, row) },
		Drop:    func(ctx context.Context, id core.AdmissionID) { h.ask.Drop(ctx, id) },
		Emit: func(ctx context.Context, row core.Admission, b core.EventBody) {
			h.hub.Emit(ctx, row.Conversation, row.ID, row.Turn, b)
		}})
	h.keeper = lease.New(h.store, lease.Options{TTL: h.cfg.Lease.TTL, Renew: h.cfg.Lease.Renew, Wait: h.cfg.Lease.Wait, Alive: believed.holds, Log: h.log})
	files := attach.New(attach.Options{Next: runner, Fetchers: h.fetchers(), Workspace: h.cfg.Agent.Workspace, Log: h.log})
	h.dispatch = dispatch.New(dispatch.Config{Store: h.store, Keeper: h.keeper, Holder: h.self, Alive: believed.alive, Others: believed.others, Runner: files, Hub: h.hub, Sessions: live,
		Outlet: outlet{h.mouth}, Readback: wakingReader{reader, h.mouth.Wake}, Observe: h.metrics.ended, Notify: h.mouth.Notify,
		MaxParallel: h.cfg.Turns.MaxParallel, Liveness: h.cfg.Lease.Liveness, Drain: h.cfg.Turns.Drain, Log: h.log})
	desk := admission.New(h.store, admission.Options{Wake: h.dispatch.Wake, Sessions: h.reach, Forsaken: wakingReader{reader, h.mouth.Wake}.Forsaken, Cap: h.cfg.Busy.Cap, Metrics: h.metrics, Log: h.log})
	h.commands = command.New(command.Deps{Desk: desk, Ask: h.ask, Fate: wakingReader{reader, h.mouth.Wake}, Sessions: h.reach, Store: h.store, People: h.access,
		Wake: h.dispatch.Wake, Tell: h.tellPerson, Models: h.modelNames, Model: h.cfg.Model.Name, Busy: h.cfg.Busy.Mode, Version: programVersion()})
	h.gateway = gateway.New(gateway.Config{Desk: desk, Mouth: h.mouth, Commands: timedStops{h.commands, h.metrics}, Sessions: h.reach, Store: h.store,
		Access: h.access, Seat: node.Seat, Busy: h.cfg.Busy.Mode, Rate: rateOf(h.cfg.Access.Rate), Metrics: h.metrics, Log: h.log})
	h.rpc = rpc.New(rpc.Config{Admission: desk, Command: timedStops{h.commands, h.metrics}, Ask: h.ask, Sessions: timedInterrupts{h.reach, h.metrics}, Hub: h.hub, Store: h.store,
		Version: programVersion(), Setup: h.setup, Render: markup.Web, Log: h.log, Pool: h.cfg.RPC.Pool, Limit: h.cfg.RPC.SlashTimeout})
	return nil
}

func (h *house) newRunner() (*turn.Runner, error) {
	models, err := newModels(h.cfg)
	if err != nil {
		return nil, err
	}
	tools, open := newTools(h.cfg)
	a := h.cfg.Agent
	return turn.New(turn.Options{Store: h.store, Models: models, Tools: tool.NewSet(tools, open...),
		Prompt: prompt.New(prompt.Options{Identity: a.SystemPrompt, Workspace: a.Workspace}),
		Hint:   h.hint, Image: prompt.Pictures(mostImage), Asker: h.ask,
		Standing:  &standing{off: h.cfg.Approvals.Mode == "off", allow: h.cfg.Approvals.Allow, deny: h.cfg.Approvals.Deny, facts: h.store},
		Log:       h.log,
		Spent:     h.metrics.spent,
		Workspace: a.Workspace, Spill: spillFolder(h.cfg), MaxCalls: a.MaxCalls, MaxCallsRich: a.MaxCallsRich, MaxTime: a.MaxTime}), nil
}

func (h *house) fetchers() map[string]adapters.Fetcher {
	out := map[string]adapters.Fetcher{}
	for _, d := range h.doors {
		if f := adapters.CapsOf(d.Adapter).Fetcher; f != nil {
			out[d.Name()] = f
		}
	}
	return out
}

// tokenFile holds the key of the terminal client, in the data folder.
const tokenFile = "rpc.token"

// handler is everything on the one listener. ctx is the life of its connections.
func (h *house) handler(ctx context.Context) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", h.health.live)
	mux.HandleFunc("GET /readyz", h.health.ready)
	mux.Handle("GET /metrics", localOnly(h.metrics.handler()))
	if h.cfg.Platforms.Web.Enabled {
		page := web.Handler()
		mux.Handle("GET /{$}", page)
		mux.Handle("GET /web/", page)
		mux.Handle("POST /rpc/session", h.auth.Trade())
	}
	mux.Handle("GET "+proof.Path, h.auth.Prove())
	mux.Handle("GET /rpc", h.rpc.WebSocket(ctx, h.auth.Principal))
	for _, d := range h.doors {
		if m := adapters.CapsOf(d.Adapter).Mounter; m != nil {
			if pattern, hook := m.Mount(h.inbox(d)); pattern != "" {
				mux.Handle(pattern, hook)
			}
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Server", serverName)
		mux.ServeHTTP(w, r)
	})
}
