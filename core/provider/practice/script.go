package practice

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"bellhop/core"
	"bellhop/core/provider"
)

// script is one reply: reasoning, text, then a call, an error, or nothing.
type script struct {
	thought string
	text    string
	call    *core.ToolCall
	err     error
	over    time.Duration // spread the text over this time
}

// answer chooses the reply to a request.
func answer(r provider.Request) script {
	said, rounds, results, first := situation(r)
	steps := split(said)
	if rounds == 0 {
		return perform(r, steps[0], first)
	}
	if rounds < len(steps) {
		next := perform(r, steps[rounds], false)
		next.text = "The tool returned " + quote(results) + "\n\nNow the next step. " + next.text
		return next
	}
	return script{text: "The tool returned " + quote(results)}
}

// situation reads the messages: what the person said last, how many rounds of calls followed, what the last of them
// returned, and whether this is the beginning of the conversation.
func situation(r provider.Request) (said string, rounds int, results []string, first bool) {
	first = true
	for i := range r.Messages {
		switch m := &r.Messages[i]; m.Role {
		case core.RoleUser:
			said, rounds, results = m.Text, 0, nil
		case core.RoleAssistant:
			first = false
			if len(m.Calls) > 0 {
				rounds++
				results = nil
			}
		case core.RoleTool:
			results = append(results, m.Text)
		}
	}
	return said, rounds, results, first
}

// command is one thing that can be tried. The expression's groups are its arguments.
type command struct {
	form  form
	reply func(r provider.Request, args []string) script
}

var commands = []command{
	{whole(`run:\s*(.+)`), func(r provider.Request, a []string) script {
		return call(r, "shell", "Let me run that.", map[string]string{"command": a[0]})
	}},
	{whole(`read:?\s+(\S+)`), func(r provider.Request, a []string) script {
		return call(r, "read_file", "Let me read that.", map[string]string{"path": a[0]})
	}},
	{whole(`write:?\s+(\S+?):\s*(.*)`), func(r provider.Request, a []string) script {
		return call(r, "write_file", "Let me write that.", map[string]string{"path": a[0], "content": a[1]})
	}},
	{whole(`fail:?\s*(.*)`), func(_ provider.Request, a []string) script { return failure(a[0]) }},
	{whole(`count:?\s+(\d+)`), func(_ provider.Request, a []string) script { return script{text: count(number(a[0], 10000))} }},
	{whole(`long:?\s+(\d+)`), func(_ provider.Request, a []string) script { return script{text: long(number(a[0], 200000))} }},
	{whole(`slow:?\s+(\d+)\s*(.*)`), func(_ provider.Request, a []string) script { return slow(number(a[0], 3600), a[1]) }},
	{whole(`table`), func(provider.Request, []string) script { return script{text: table} }},
	{whole(`code`), func(provider.Request, []string) script { return script{text: code} }},
	{whole(`think`), func(provider.Request, []string) script { return script{thought: thought, text: conclusion} }},
	{whole(`help`), func(provider.Request, []string) script { return script{text: greeting + help} }},
}

// form is an expression that is made when it is first used: most gateways never use one.
type form func() *regexp.Regexp

func made(expr string) form {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

func whole(expr string) form { return made(`(?is)^\s*` + expr + `\s*$`) }

var (
	then    = made(`(?i)\s*(?:&&\s*)?\bthen:\s*`)
	preface = made(`(?s)^\[[^\]]*\]\s*`)   // "[replying to …]" and its like
	author  = made(`^[^:\n]{1,64}:\s+`)    // "Ann: " in groups
	aside   = made(`(?s)\n\[attached:.*$`) // what the gateway adds at the end
)

// split returns the steps of a message, at least one.
func split(said string) []string {
	said = aside().ReplaceAllString(preface().ReplaceAllString(said, ""), "")
	return then().Split(said, -1)
}

// perform answers one step; first is set at the beginning of a conversation.
func perform(r provider.Request, step string, first bool) script {
	for _, text := range []string{step, author().ReplaceAllString(step, "")} {
		for _, c := range commands {
			m := c.form().FindStringSubmatch(text)
			if m == nil {
				continue
			}
			for i := range m {
				m[i] = strings.TrimSpace(m[i])
			}
			return c.reply(r, m[1:])
		}
	}
	text := "You said: " + strings.TrimSpace(step)
	if strings.TrimSpace(step) == "" {
		text = "You said nothing."
	}
	if first {
		return script{text: greeting + text + "\n\n" + help}
	}
	return script{text: text + "\n\n(I am the practice model. Say `help` to see what you can try.)"}
}

// call makes a tool call, or says that the tool is not there.
func call(r provider.Request, tool, text string, args map[string]string) script {
	for _, t := range r.Tools {
		if t.Name != tool {
			continue
		}
		raw, err := json.Marshal(args)
		if err != nil { // a map of strings always has a JSON form
			raw = []byte("{}")
		}
		return script{text: text, call: &core.ToolCall{Name: tool, Args: raw}}
	}
	return script{text: fmt.Sprintf("I would call the tool `%s`, but it is not offered to me here: it may be switched off, or be for admins only.", tool)}
}

// failures are the kinds that can be asked for.
var failures = []struct {
	word string
	kind provider.ErrorKind
	code int
}{
	{"rate", provider.RateLimited, 429}, {"quota", provider.Quota, 429}, {"auth", provider.Auth, 401},
	{"model", provider.NoModel, 404}, {"overflow", provider.Overflow, 400}, {"bad", provider.BadRequest, 400},
	{"filtered", provider.Filtered, 400}, {"overloaded", provider.Overloaded, 503}, {"transport", provider.Transport, 0},
	{"stream", provider.NoStream, 400}, {"cut", provider.Transport, 0},
}

// failure fails as asked. "cut" breaks off in the middle of the text.
func failure(word string) script {
	word = strings.ToLower(strings.TrimSpace(word))
	var words []string
	for _, f := range failures {
		words = append(words, "`"+f.word+"`")
		if word != "" && (strings.HasPrefix(word, f.word) || word == string(f.kind)) {
			e := &provider.Error{Kind: f.kind, Code: f.code, Text: "practice: as you asked"}
			if f.word == "cut" {
				return script{text: "This answer will break off in the mid", err: e}
			}
			return script{err: e}
		}
	}
	return script{text: "I can fail in these ways: " + strings.Join(words, ", ") + ". For example `fail: overloaded`."}
}

// number reads digits; more than most is most.
func number(digits string, most int) int {
	n, err := strconv.Atoi(digits)
	if err != nil || n > most {
		return most
	}
	return n
}

func slow(seconds int, text string) script {
	if strings.TrimSpace(text) == "" {
		text = count(max(1, seconds))
	}
	return script{text: text, over: time.Duration(seconds) * time.Second}
}
