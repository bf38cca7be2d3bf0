package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"bellhop/core/provider/providertest"
)

// rule is the scripted model: it answers the last message of the person by its first word. After tool results it tells
// what they were.
func rule(word time.Duration) providertest.Rule {
	return func(r *providertest.Request) providertest.Reply {
		if results := r.Results(); len(results) > 0 {
			last := results[len(results)-1]
			return speak(word, "The tool is done. It said:\n\n```\n"+strings.TrimSpace(last)+"\n```\n")
		}
		return answer(word, r.Last())
	}
}

func answer(word time.Duration, said string) providertest.Reply {
	said = unlabelled(strings.TrimSpace(said))
	name, rest, _ := strings.Cut(said, " ")
	rest = strings.TrimSpace(rest)
	switch strings.ToLower(name) {
	case "run:", "run":
		return call("shell", map[string]any{"command": rest})
	case "count":
		return speak(word, numbers(rest))
	case "table":
		return speak(word, "Here is a table:\n\n| Room | Guest | Nights |\n| --- | --- | ---: |\n| 12 | *Ann* | 3 |\n| 14 | **Bo** | 1 |\n\nAnd a bit of `code`:\n\n```go\nfmt.Println(\"hello\")\n```\n")
	case "long":
		n, _ := strconv.Atoi(rest)
		return speak(word, paragraphs(min(max(n, 1), 60)))
	case "think":
		return append(providertest.Reply{providertest.Think("The person wants me to think. ", "So I do.")}, speak(word, "I thought about it: "+rest)...)
	case "fail":
		return providertest.Reply{providertest.Refuse(500, "server_error", "The scripted model fails because it was asked to.")}
	case "hang":
		return providertest.Reply{providertest.Hang()}
	}
	return speak(word, greeting(said))
}

// unlabelled takes away who said it, which a gateway may put in front of what is said in a group.
func unlabelled(said string) string {
	who, rest, ok := strings.Cut(said, ": ")
	if !ok || strings.EqualFold(who, "run") || strings.ContainsAny(who, " \n") {
		return said
	}
	return rest
}

func greeting(said string) string {
	return fmt.Sprintf("You said: **%s**\n\nI am a scripted model. Try one of these:\n\n"+
		"- `run: ls -la` – a tool; `run: rm -r x` wants approval\n- `count 50` – a growing answer\n- `long 20` – an answer of many messages\n"+
		"- `table` – Markdown\n- `think hard` – reasoning\n- `fail`, `hang` – a model in trouble\n", strings.TrimSpace(plain(said)))
}

// plain takes away what would end the bold around it.
func plain(s string) string { return strings.NewReplacer("*", "", "\n", " ").Replace(s) }

func numbers(rest string) string {
	n, err := strconv.Atoi(rest)
	if err != nil || n < 1 {
		n = 10
	}
	var b strings.Builder
	for i := range min(n, 2000) {
		fmt.Fprintf(&b, "%d ", i+1)
	}
	return b.String()
}

func paragraphs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "**%d.** The porter carries what he is given, one piece after the other, and writes each into the book before he lifts it. "+
			"Nothing is carried twice, nothing is left in the hall, and whoever asks is told where it is.\n\n", i+1)
	}
	return b.String()
}

// speak streams a text word by word.
func speak(word time.Duration, text string) providertest.Reply {
	if word == 0 {
		return providertest.Reply{providertest.Text(text)}
	}
	var reply providertest.Reply
	for _, piece := range strings.SplitAfter(text, " ") {
		reply = append(reply, providertest.Text(piece), providertest.Wait(word))
	}
	return reply
}

func call(tool string, args map[string]any) providertest.Reply {
	b, err := json.Marshal(args)
	if err != nil {
		return providertest.Reply{providertest.Text(err.Error())}
	}
	return providertest.Reply{providertest.Call("call_1", tool, string(b))}
}
