package rpc

import (
	"context"
	"log/slog"
	"time"
)

// Config is what a Server works on. Everything but Setup, Render, Log and the numbers is required.
type Config struct {
	Admission Admission
	Command   Commands
	Ask       Ask
	Sessions  Sessions
	Hub       Hub
	Store     Store

	Version string
	Setup   func(ctx context.Context) Setup // what setup.status says
	Render  func(markdown string) string    // Markdown to safe HTML for "rendered"; nil: rendered stays empty
	Log     *slog.Logger

	Pool  int           // slow calls of one client at a time, default 4
	Room  int           // events that may wait for one client, default 1024
	Limit time.Duration // of one call, default 45 s
	Cap   int           // rows that may wait in one session, 0: admission's own cap
}

// Setup says how far the gateway is set up.
type Setup struct {
	Ready    bool   `json:"ready"`
	Practice bool   `json:"practice"` // the built-in practice model answers
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Message  string `json:"message"` // one sentence for a person
}

// Server answers clients. Safe for concurrent use; it starts nothing by itself.
type Server struct {
	cfg     Config
	methods map[string]Method
	log     *slog.Logger
}

// New makes a Server.
func New(cfg Config) *Server {
	if cfg.Pool <= 0 {
		cfg.Pool = 4
	}
	if cfg.Room <= 0 {
		cfg.Room = 1024
	}
	if cfg.Limit <= 0 {
		cfg.Limit = 45 * time.Second
	}
	if cfg.Render == nil {
		cfg.Render = func(string) string { return "" }
	}
	if cfg.Setup == nil {
		cfg.Setup = func(context.Context) Setup { return Setup{Ready: true} }
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Server{cfg: cfg, methods: methods(), log: cfg.Log}
}
