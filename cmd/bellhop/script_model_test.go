package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"bellhop/adapters/telegram/telegramtest"
	"bellhop/core/provider/providertest"
)

var modelVerbs = map[string]verb{
	"model":       (*story).plant,
	"release":     (*story).release,
	"asked":       (*story).asked,
	"remembers":   (*story).remembers,
	"never-asked": (*story).neverAsked,
	"asks":        (*story).asks,
	"fail":        (*story).fail,
	"heal":        func(s *story, _ *testscript.TestScript, _ []string) error { s.tg.Heal(); return nil },
	"calls":       (*story).calls,
}

// gate is a point at which the model waits.
func (s *story) gate(name string) chan struct{} {
	if s.gates[name] == nil {
		s.gates[name] = make(chan struct{})
	}
	return s.gates[name]
}

func (s *story) plant(ts *testscript.TestScript, args []string) error {
	steps := args
	if len(args) == 1 && !strings.Contains(args[0], " ") {
		if b, err := os.ReadFile(ts.MkAbs(args[0])); err == nil {
			steps = strings.Split(string(b), "\n")
		}
	}
	reply := providertest.Reply{}
	for _, line := range steps {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "until "); ok {
			reply = append(reply, providertest.Until(s.gate(name)))
			continue
		}
		if len(line) > 1 && strings.Trim(line, "-") == "" {
			s.model.Script(reply)
			reply = nil
			continue
		}
		parsed, err := parseStep(line)
		if err != nil {
			return err
		}
		reply = append(reply, parsed...)
	}
	s.model.Script(reply)
	return nil
}

// parseStep reads one step; the steps of a line with line ends are one text each.
func parseStep(line string) (providertest.Reply, error) {
	if text, ok := strings.CutPrefix(line, "say "); ok { // keeps its line ends
		return providertest.Reply{providertest.Text(strings.SplitAfter(text, " ")...)}, nil
	}
	replies, err := providertest.Parse(line)
	if err != nil || len(replies) == 0 {
		return nil, err
	}
	return replies[0], nil
}

func (s *story) release(_ *testscript.TestScript, args []string) error {
	if err := needs(args, 1, "release NAME"); err != nil {
		return err
	}
	close(s.gate(args[0]))
	return nil
}

// told is the end of a request as the model reads it: the last message and what belongs to it.
func told(r *providertest.Request) string {
	if n := len(r.Messages); n > 0 {
		return r.Messages[n-1].Text
	}
	return ""
}

func whole(r *providertest.Request) string {
	var b strings.Builder
	fmt.Fprintf(&b, "model: %s\nsystem: %s\n", r.Model, r.System)
	for _, m := range r.Messages {
		fmt.Fprintf(&b, "%s: %s\n", m.Role, m.Text)
		for _, c := range m.Calls {
			fmt.Fprintf(&b, "%s calls %s %s\n", m.Role, c.Name, c.Args)
		}
		if len(m.Images) > 0 {
			fmt.Fprintf(&b, "%s shows %d images\n", m.Role, len(m.Images))
		}
	}
	return b.String()
}

func (s *story) asked(ts *testscript.TestScript, args []string) error {
	if err := needs(args, 1, "asked REGEXP"); err != nil {
		return err
	}
	p, err := pattern(args[0])
	if err != nil {
		return err
	}
	s.look = s.requests
	return s.wait("the model is asked "+args[0], func() bool {
		for _, r := range s.model.Requests() {
			if p.MatchString(told(r)) {
				return true
			}
		}
		return false
	})
}

// requests lists what the model was asked so far.
func (s *story) requests() string {
	var b strings.Builder
	for _, r := range s.model.Requests() {
		fmt.Fprintf(&b, "\n  asked: %q", told(r))
	}
	return b.String()
}

func (s *story) remembers(_ *testscript.TestScript, args []string) error {
	if err := needs(args, 1, "remembers REGEXP"); err != nil {
		return err
	}
	p, err := pattern(args[0])
	if err != nil {
		return err
	}
	list := s.model.Requests()
	if len(list) == 0 {
		return fmt.Errorf("the model was never asked")
	}
	if text := whole(list[len(list)-1]); !p.MatchString(text) {
		return fmt.Errorf("%q is not in the last request:\n%s", args[0], text)
	}
	return nil
}

func (s *story) neverAsked(_ *testscript.TestScript, args []string) error {
	if err := needs(args, 1, "never-asked REGEXP"); err != nil {
		return err
	}
	p, err := pattern(args[0])
	if err != nil {
		return err
	}
	for _, r := range s.model.Requests() {
		if p.MatchString(told(r)) {
			return fmt.Errorf("the model was asked %q", told(r))
		}
	}
	return nil
}

func (s *story) asks(_ *testscript.TestScript, args []string) error {
	if err := needs(args, 1, "asks N"); err != nil {
		return err
	}
	if got := strconv.Itoa(len(s.model.Requests())); got != args[0] {
		return fmt.Errorf("the model was asked %s times:%s", got, s.requests())
	}
	return nil
}

func (s *story) fail(_ *testscript.TestScript, args []string) error {
	if err := needs(args, 2, "fail METHOD STATUS [TIMES]"); err != nil {
		return err
	}
	status, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	f := telegramtest.Fault{Method: args[0], Status: status, Times: -1}
	if status == 429 {
		f.RetryAfter = 1
	}
	if len(args) > 2 {
		if f.Times, err = strconv.Atoi(args[2]); err != nil {
			return err
		}
	}
	s.tg.Fail(f)
	return nil
}

func (s *story) calls(_ *testscript.TestScript, args []string) error {
	if err := needs(args, 2, "calls METHOD N"); err != nil {
		return err
	}
	if got := strconv.Itoa(len(s.tg.Calls(args[0]))); got != args[1] {
		return fmt.Errorf("%s was called %s times", args[0], got)
	}
	return nil
}
