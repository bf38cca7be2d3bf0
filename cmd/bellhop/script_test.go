package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"bellhop/adapters/telegram/telegramtest"
	"bellhop/core/provider/providertest"
)

// TestScripts plays the stories in testdata/script: the built program, a fake Telegram with people in it, and a model that
// says what the script makes it say. Ann is the owner. Beside testscript's own verbs there are
//
//	config KEY: VALUE          replace a top-level line of bellhop.yaml, or add it
//	start                      the gateway, until it is ready
//	terminate                  the gateway, which must end with code 0; restart also starts it again
//	kill-9, hangup             the gateway; hangup makes it read its configuration again
//	bellhop ARG...             a command of the program; ! for one that fails; <FILE is its standard input
//	code N                     the exit code of the last bellhop
//	quiet                      until nothing runs, waits or is owed
//	appears FILE TEXT          a file comes to hold a text
//	log REGEXP                 the gateway's output has it; never-log
//	rpc METHOD JSON            one call on the RPC door; the result is in stdout
//	get PATH STATUS [REGEXP]   one HTTP request; post PATH FILE STATUS [HEADER VALUE] sends a file
//
//	say WHO [in PLACE] [to REGEXP] [quote TEXT] TEXT    PLACE is a group, or FORUM/TOPIC; "to" answers a message
//	edit WHO [in PLACE] OLD NEW                          of their own message
//	delete WHO [in PLACE] REGEXP                         any message there
//	paste WHO FILE             a long text, which the client cuts at 4,096 characters
//	album WHO CAPTION...       photos; file WHO KIND NAME FILE [CAPTION] sends anything else
//	press WHO [in PLACE] LABEL a button
//	sees WHO [in PLACE] REGEXP...    the bot's messages come to match, in this order
//	sees-once WHO [in PLACE] REGEXP  and only one of them does; never: none does
//	toast WHO REGEXP           the short answer to a press
//	picture WHO NAME CAPTION   a file that the bot sent
//
//	model STEP...              the next reply, as providertest.Parse reads it; "until NAME" waits for release NAME;
//	                           a file of replies with dashes between them is "model FILE"
//	release NAME               let the model go on
//	asked REGEXP               what the model was last told (a user's words or a tool's result) comes to match
//	remembers REGEXP           the whole of its last request does; never-asked: no request ever ended so
//	asks N                     it has been asked N times in all
//	fail METHOD STATUS [TIMES] the platform answers so; heal ends it
//	calls METHOD N             how often the platform was called so
//	note NAME in stdout|log|WHO REGEXP    keep what the brackets match as $NAME
//
// In arguments \n is a line end.
func TestScripts(t *testing.T) {
	testscript.RunT(theatre{t}, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setupStory,
		Cmds:                verbs(),
	})
}

// story is one script's world.
type story struct {
	*rig
	gateway *process
	code    int
	people  map[string]telegramtest.Person
	gates   map[string]chan struct{}
	look    func() string // what to show when a wait fails
}

type storyKey struct{}

// theatre is a test for testscript that lets the stories have the test itself.
type theatre struct{ *testing.T }

func (t theatre) Run(name string, f func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { f(theatre{t}) })
}

func (theatre) Verbose() bool { return testing.Verbose() }

func setupStory(e *testscript.Env) error {
	r := newRigIn(e.T().(theatre).T, e.WorkDir, func(*providertest.Request) providertest.Reply { return nil })
	e.Values[storyKey{}] = &story{rig: r, gates: map[string]chan struct{}{}}
	e.Setenv("TELEGRAM", r.api)
	e.Setenv("TOKEN", r.tg.Bot().Token)
	return nil
}

// verb is one word of the scripts. It returns what is wrong.
type verb func(s *story, ts *testscript.TestScript, args []string) error

func verbs() map[string]func(*testscript.TestScript, bool, []string) {
	out := map[string]func(*testscript.TestScript, bool, []string){"bellhop": runBellhop}
	for _, table := range []map[string]verb{gatewayVerbs, peopleVerbs, modelVerbs} {
		for name, v := range table {
			out[name] = func(ts *testscript.TestScript, neg bool, args []string) {
				if neg {
					ts.Fatalf("%s cannot be negated", name)
				}
				if err := v(storyOf(ts), ts, unescaped(args)); err != nil {
					ts.Fatalf("%s: %v", name, err)
				}
			}
		}
	}
	return out
}

func storyOf(ts *testscript.TestScript) *story { return ts.Value(storyKey{}).(*story) }

func unescaped(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = strings.ReplaceAll(a, `\n`, "\n")
	}
	return out
}

// pattern is a regular expression whose dot matches line ends.
func pattern(s string) (*regexp.Regexp, error) { return regexp.Compile("(?s)" + s) }

// wait waits for cond and tells what is there instead when it does not come.
func (s *story) wait(what string, cond func() bool) error {
	look := s.look
	s.look = nil
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		changed := s.tg.Changed()
		select {
		case <-changed:
		case <-tick.C:
		case <-deadline.C:
			there := ""
			if look != nil {
				there = look()
			}
			return fmt.Errorf("it never came: %s\n%s", what, there)
		}
	}
	return nil
}

func needs(args []string, n int, usage string) error {
	if len(args) < n {
		return fmt.Errorf("usage: %s", usage)
	}
	return nil
}

// setConfig replaces or adds one top-level line of the configuration.
func (s *story) setConfig(line string) error {
	key, _, ok := strings.Cut(line, ":")
	if !ok {
		return fmt.Errorf("%q is no configuration line", line)
	}
	old, err := os.ReadFile(s.config)
	if err != nil {
		return err
	}
	var kept []string
	skip := false
	for _, l := range strings.Split(string(old), "\n") {
		if l != "" && l[0] != ' ' {
			skip = strings.HasPrefix(l, key+":")
		}
		if !skip {
			kept = append(kept, l)
		}
	}
	return os.WriteFile(s.config, []byte(strings.Join(append(kept, line, ""), "\n")), 0o600)
}
