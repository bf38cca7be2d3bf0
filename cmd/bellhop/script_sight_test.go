package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

func (s *story) sees(_ *testscript.TestScript, args []string) error {
	a, args, err := s.find(args)
	if err != nil {
		return err
	}
	if err := needs(args, 1, "sees WHO [in PLACE] REGEXP..."); err != nil {
		return err
	}
	var want []*regexp.Regexp
	for _, x := range args {
		p, err := pattern(x)
		if err != nil {
			return err
		}
		want = append(want, p)
	}
	s.look = a.screen
	return s.wait(a.who.Name+" sees "+strings.Join(args, ", then "), func() bool {
		left := want
		for _, text := range a.said() {
			if len(left) > 0 && left[0].MatchString(text) {
				left = left[1:]
			}
		}
		return len(left) == 0
	})
}

// count is how many of the bot's messages match.
func (a at) count(expr string) (int, error) {
	p, err := pattern(expr)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, text := range a.said() {
		if p.MatchString(text) {
			n++
		}
	}
	return n, nil
}

func (s *story) seesOnce(ts *testscript.TestScript, args []string) error {
	if err := s.sees(ts, args); err != nil {
		return err
	}
	a, args, err := s.find(args)
	if err != nil {
		return err
	}
	if n, err := a.count(args[0]); err != nil || n != 1 {
		return fmt.Errorf("%d messages match %q (%v):%s", n, args[0], err, a.screen())
	}
	return nil
}

func (s *story) never(_ *testscript.TestScript, args []string) error {
	a, args, err := s.find(args)
	if err != nil {
		return err
	}
	if err := needs(args, 1, "never WHO [in PLACE] REGEXP"); err != nil {
		return err
	}
	if n, err := a.count(args[0]); err != nil || n != 0 {
		return fmt.Errorf("%d messages match %q (%v):%s", n, args[0], err, a.screen())
	}
	return nil
}

func (s *story) toast(_ *testscript.TestScript, args []string) error {
	a, args, err := s.find(args)
	if err != nil {
		return err
	}
	if err := needs(args, 1, "toast WHO REGEXP"); err != nil {
		return err
	}
	p, err := pattern(args[0])
	if err != nil {
		return err
	}
	s.look = func() string { return fmt.Sprintf("%q", a.chat.Toasts()) }
	return s.wait("a toast "+args[0], func() bool { return p.MatchString(strings.Join(a.chat.Toasts(), "\n")) })
}

func (s *story) picture(_ *testscript.TestScript, args []string) error {
	a, args, err := s.find(args)
	if err != nil {
		return err
	}
	if err := needs(args, 2, "picture WHO NAME CAPTION"); err != nil {
		return err
	}
	s.look = a.screen
	return s.wait("a file "+args[0], func() bool {
		n := 0
		for _, m := range a.here() {
			if m.Own && m.File != nil && m.File.Name == args[0] && m.Text == args[1] {
				n++
			}
		}
		return n == 1
	})
}

// note keeps what a regular expression finds in the last output, the log, or the bot's messages to somebody.
func (s *story) note(ts *testscript.TestScript, args []string) error {
	if len(args) != 4 || args[1] != "in" {
		return fmt.Errorf("usage: note NAME in stdout|log|WHO REGEXP")
	}
	p, err := pattern(args[3])
	if err != nil {
		return err
	}
	read := func() string { return strings.Join(at{chat: s.tg.DM(s.person(args[2]))}.said(), "\n") }
	switch args[2] {
	case "stdout", "stderr":
		read = func() string { return ts.ReadFile(args[2]) }
	case "log":
		read = func() string { return s.gateway.log.String() }
	}
	var found []string
	s.look = read
	if err := s.wait(args[3]+" in "+args[2], func() bool {
		all := p.FindAllStringSubmatch(read(), -1)
		if len(all) > 0 {
			found = all[len(all)-1]
		}
		return len(all) > 0
	}); err != nil {
		return err
	}
	ts.Setenv(args[0], found[len(found)-1])
	return nil
}
