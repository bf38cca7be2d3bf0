package providertest

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// verbs are the words of a script, each with what it makes of the rest of its line.
var verbs = map[string]func(rest string) (Step, error){
	"say":    func(s string) (Step, error) { return Text(strings.SplitAfter(s, " ")...), nil },
	"line":   func(s string) (Step, error) { return Text(s + "\n"), nil },
	"think":  func(s string) (Step, error) { return Think(strings.SplitAfter(s, " ")...), nil },
	"call":   parseCall,
	"wait":   parseWait,
	"in":     func(s string) (Step, error) { return In(Dialect(s)), nil },
	"finish": func(s string) (Step, error) { return Finish(s), nil },
	"refuse": parseRefuse,
	"fail":   func(s string) (Step, error) { code, text, _ := strings.Cut(s, " "); return Fail(code, text), nil },
	"hang":   func(string) (Step, error) { return Hang(), nil },
	"cut":    func(string) (Step, error) { return Cut(), nil },
	"quit":   func(string) (Step, error) { return Quit(), nil },
}

// Parse reads replies from a script, for test scripts and by-hand tests: one step a line, a line of dashes between two
// replies, # begins a comment line.
//
//	say TEXT              visible text, word by word      wait DURATION        pause
//	line TEXT             text with a line end            in DIALECT           write what follows so
//	think TEXT            reasoning                       finish REASON        end with this reason
//	call ID NAME JSON     a tool call                     refuse STATUS CODE TEXT
//	fail CODE TEXT        error inside the stream         hang, cut, quit
func Parse(script string) ([]Reply, error) {
	var out []Reply
	reply := Reply{}
	for n, line := range strings.Split(script, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "", strings.HasPrefix(line, "#"):
			continue
		case strings.Trim(line, "-") == "":
			out, reply = append(out, reply), Reply{}
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		verb, ok := verbs[word]
		if !ok {
			return nil, fmt.Errorf("line %d: no such step: %s", n+1, word)
		}
		step, err := verb(rest)
		if err != nil {
			return nil, fmt.Errorf("line %d: %s: %w", n+1, word, err)
		}
		reply = append(reply, step)
	}
	if len(reply) > 0 {
		out = append(out, reply)
	}
	return out, nil
}

func parseCall(s string) (Step, error) {
	f := strings.SplitN(s, " ", 3)
	if len(f) < 3 {
		return Step{}, fmt.Errorf("it needs an id, a name and arguments")
	}
	return Call(f[0], f[1], f[2]), nil
}

func parseWait(s string) (Step, error) {
	d, err := time.ParseDuration(s)
	return Wait(d), err
}

func parseRefuse(s string) (Step, error) {
	f := strings.SplitN(s, " ", 3)
	status, err := strconv.Atoi(f[0])
	if err != nil || status < 300 || status > 599 {
		return Step{}, fmt.Errorf("%q is no status of an error", f[0])
	}
	f = append(f, "", "")
	return Refuse(status, f[1], f[2]), nil
}
