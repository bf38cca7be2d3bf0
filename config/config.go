package config

import (
	"time"

	"bellhop/adapters/telegram"
)

// Config is the whole file. Its YAML keys are the product's contract; the zero value is not usable, start from Default.
type Config struct {
	Data       string              `yaml:"data"`
	Listen     string              `yaml:"listen"`
	Log        Log                 `yaml:"log"`
	Store      Store               `yaml:"store"`
	Model      Model               `yaml:"model"`
	Providers  map[string]Provider `yaml:"providers"`
	Agent      Agent               `yaml:"agent"`
	Access     Access              `yaml:"access"`
	Busy       Busy                `yaml:"busy"`
	Lease      Lease               `yaml:"lease"`
	Compaction Compaction          `yaml:"compaction"`
	Stream     Stream              `yaml:"stream"`
	Display    Display             `yaml:"display"`
	Questions  Questions           `yaml:"questions"`
	RPC        RPC                 `yaml:"rpc"`
	Approvals  Approvals           `yaml:"approvals"`
	Turns      Turns               `yaml:"turns"`
	Retention  Retention           `yaml:"retention"`
	Platforms  Platforms           `yaml:"platforms"`

	// File is where it was read from, empty for defaults and environment alone.
	File string `yaml:"-"`
	// Secrets are the files that hold secrets: File if one is written there, and those that x_file keys name.
	Secrets []string `yaml:"-"`
	// Warnings are things that work but are probably not meant.
	Warnings []string `yaml:"-"`
}

// Log says what is logged, and how.
type Log struct {
	Level  string `yaml:"level" enum:"debug,info,warn,error"`
	Format string `yaml:"format" enum:"text,json"`
}

// Store is where everything is kept.
type Store struct {
	Driver string `yaml:"driver" enum:"sqlite,postgres"`
	DSN    Secret `yaml:"dsn"`
	Sync   string `yaml:"sync" enum:"full,normal"` // normal may lose the last messages on power loss
}

// Model is the model that answers.
type Model struct {
	Provider  string     `yaml:"provider"`
	Name      string     `yaml:"name"`
	Fallbacks []ModelRef `yaml:"fallbacks"`
	Auxiliary ModelRef   `yaml:"auxiliary"`
}

// ModelRef names a model of a provider.
type ModelRef struct {
	Provider string `yaml:"provider"`
	Name     string `yaml:"name"`
}

// Provider is one model endpoint.
type Provider struct {
	Kind    string         `yaml:"kind" enum:"openai,anthropic,practice"`
	BaseURL string         `yaml:"base_url"`
	APIKey  Secret         `yaml:"api_key"`
	Windows map[string]int `yaml:"windows"`                   // context window in tokens, by model, where the endpoint does not tell
	Vision  []string       `yaml:"vision"`                    // models that see pictures
	Think   string         `yaml:"think" enum:"open,any,off"` // which think tags in an answer are reasoning; empty: those at its head
	Rate    int            `yaml:"rate"`                      // of practice: tokens a second
}

// Agent is how turns run.
type Agent struct {
	SystemPrompt string        `yaml:"system_prompt"`
	MaxCalls     int           `yaml:"max_calls"`
	MaxCallsRich int           `yaml:"max_calls_rich"`
	MaxTime      time.Duration `yaml:"max_time"`
	Tools        []string      `yaml:"tools"`
	Workspace    string        `yaml:"workspace"`
	ShellForAll  bool          `yaml:"shell_for_all"` // not only admins may have commands run
}

// Access is who may talk.
type Access struct {
	Default string   `yaml:"default" enum:"deny,allow"`
	Allow   []string `yaml:"allow"`
	Admins  []string `yaml:"admins"`
	Pairing bool     `yaml:"pairing"`
	Rate    Rate     `yaml:"rate"` // of one person whom only default: allow lets in; none is no limit
}

// Busy is what happens to input while a turn runs.
type Busy struct {
	Mode string `yaml:"mode" enum:"queue,steer,interrupt"`
	Cap  int    `yaml:"cap"`
}

// Lease holds the times of the turn lease.
type Lease struct {
	TTL      time.Duration `yaml:"ttl"`
	Renew    time.Duration `yaml:"renew"`
	Wait     time.Duration `yaml:"wait"`
	Liveness time.Duration `yaml:"liveness"`
	// Node is for how long a node that was not heard of again is believed to live, where several serve one database.
	Node time.Duration `yaml:"node"`
}

// Compaction holds the thresholds of history compaction.
type Compaction struct {
	Threshold            float64 `yaml:"threshold"`
	SmallWindow          int     `yaml:"small_window"`
	SmallWindowThreshold float64 `yaml:"small_window_threshold"`
	Target               float64 `yaml:"target"`
	ProtectFirst         int     `yaml:"protect_first"`
	ProtectLast          int     `yaml:"protect_last"`
}

// Stream is how an answer grows on the screen.
type Stream struct {
	EditInterval    time.Duration `yaml:"edit_interval"`
	DraftInterval   time.Duration `yaml:"draft_interval"`
	BufferThreshold int           `yaml:"buffer_threshold"`
	Cursor          string        `yaml:"cursor"`
	Mode            string        `yaml:"mode" enum:"edit,draft,native,buffer,off"`
}

// Display is what of a turn's inner life is shown.
type Display struct {
	ToolProgress string        `yaml:"tool_progress" enum:"off,compact,full"`
	Reasoning    string        `yaml:"reasoning" enum:"hidden,shown"`
	Interim      bool          `yaml:"interim"`
	Cleanup      bool          `yaml:"cleanup"`
	LongRunning  time.Duration `yaml:"long_running"`
}

// Questions holds how long a person has to answer.
type Questions struct {
	Approval time.Duration `yaml:"approval"`
	Clarify  time.Duration `yaml:"clarify"`
	Secret   time.Duration `yaml:"secret"`
	Sudo     time.Duration `yaml:"sudo"`
}

// RPC sizes the JSON-RPC door.
type RPC struct {
	Pool         int           `yaml:"pool"`
	SlashTimeout time.Duration `yaml:"slash_timeout"`
}

// Approvals is what needs a person's word.
type Approvals struct {
	Mode  string   `yaml:"mode" enum:"ask,off"`
	Allow []string `yaml:"allow"`
	Deny  []string `yaml:"deny"`
}

// Turns bounds what runs at once.
type Turns struct {
	MaxParallel int           `yaml:"max_parallel"`
	Drain       time.Duration `yaml:"drain"` // how long SIGTERM waits for running turns
}

// Retention is how long what is over is kept; 0 is for ever. Transcripts and receipts are always kept.
type Retention struct {
	Payloads   time.Duration `yaml:"payloads"`   // what an input said, beside its receipt
	Events     time.Duration `yaml:"events"`     // what clients that come back are told again
	Deliveries time.Duration `yaml:"deliveries"` // finished rows of the outbox
	Inbox      time.Duration `yaml:"inbox"`      // files that people sent, in the workspace
}

// Platforms are the doors. A platform is on when its section has what it needs, and off with enabled: false.
type Platforms struct {
	Telegram Many[Telegram] `yaml:"telegram"`
	Discord  Many[Unbuilt]  `yaml:"discord"`
	Slack    Many[Unbuilt]  `yaml:"slack"`
	Webhook  Many[Unbuilt]  `yaml:"webhook"`
	API      Many[Unbuilt]  `yaml:"api"`
	Web      Web            `yaml:"web"`
}

// Common are the keys that every platform section takes besides its own.
type Common struct {
	Name    string  `yaml:"name"`
	Enabled *bool   `yaml:"enabled"`
	Limits  Limits  `yaml:"limits"`
	Stream  Stream  `yaml:"stream"`
	Display Display `yaml:"display"`
	Shared  bool    `yaml:"shared"` // one conversation for a whole group instead of one a person
	Bots    int     `yaml:"bots"`   // messages of one other bot that are answered in a minute
	Busy    string  `yaml:"busy" enum:"queue,steer,interrupt"`

	// Set tells which of Stream's and Display's keys were written; the others fall back to the file's own sections.
	Set map[string]bool `yaml:"-"`
}

// On reports whether the section is not switched off.
func (c Common) On() bool { return c.Enabled == nil || *c.Enabled }

// Telegram is one Telegram account.
type Telegram struct {
	Common          `yaml:",inline"`
	telegram.Config `yaml:",inline"`
}

// Web is the browser's page.
type Web struct {
	Enabled bool `yaml:"enabled"`
}

// Unbuilt accepts any keys of a platform that this version does not have; using it gives a warning.
type Unbuilt struct{ Any bool }

// Many is a section, or a list of them.
type Many[T any] []T

const day = 24 * time.Hour

// Default returns the values that hold where nothing is written.
func Default() Config {
	return Config{
		Listen:     "127.0.0.1:8787",
		Log:        Log{Level: "info", Format: "text"},
		Store:      Store{Driver: "sqlite", Sync: "full"},
		Agent:      Agent{MaxCalls: 90, MaxCallsRich: 500, MaxTime: 30 * time.Minute, Tools: []string{"shell", "file"}},
		Access:     Access{Default: "deny", Pairing: true},
		Busy:       Busy{Mode: "queue", Cap: 32},
		Lease:      Lease{TTL: 300 * time.Second, Renew: 60 * time.Second, Wait: 1800 * time.Second, Liveness: 15 * time.Minute, Node: 15 * time.Second},
		Compaction: Compaction{0.5, 512000, 0.75, 0.2, 3, 20},
		Stream:     Stream{EditInterval: time.Second, DraftInterval: 300 * time.Millisecond, BufferThreshold: 40, Cursor: " ▉", Mode: "edit"},
		Display:    Display{ToolProgress: "compact", Reasoning: "hidden", Interim: true, Cleanup: true, LongRunning: time.Minute},
		Questions:  Questions{300 * time.Second, 300 * time.Second, 300 * time.Second, 120 * time.Second},
		RPC:        RPC{Pool: 4, SlashTimeout: 45 * time.Second},
		Approvals:  Approvals{Mode: "ask"},
		Turns:      Turns{MaxParallel: 64, Drain: 25 * time.Second},
		Retention:  Retention{30 * day, 7 * day, 30 * day, 30 * day},
		Platforms:  Platforms{Web: Web{Enabled: true}},
	}
}
