package readback

import (
	"fmt"
	"strings"
	"time"

	"bellhop/core"
)

// What people read.
const (
	wordsUndecided = "I was cut off while a tool ran, and cannot tell whether it took effect."
	wordsAfter     = "Please check, then choose. If you just write on, I leave it as it is."
	wordsGivenUp   = "I was cut off each time I tried to answer this message, so I stopped trying. It is kept; send it again, " +
		"perhaps in smaller pieces."
	wordsStopped = "*(stopped)*"
	wordsClosing = "(This turn was cut off before it could answer.)"
)

const (
	fatePrefix = "fate:"
	shown      = 3   // calls that are named
	argsShown  = 200 // characters of a call's arguments
)

// fateNotice asks the author of row what became of its open calls. Without a route there is nobody to send it to: the row
// then stands only for the fact that it was told.
func fateNotice(row core.Admission, open []core.Call) core.Delivery {
	n := *say(row, core.DeliverNotice, wordsUndecided+"\n\n"+list(open)+"\n"+wordsAfter)
	n.Buttons = []core.Button{
		{Label: "It is done", Data: fatePrefix + string(row.ID) + ":" + AsDone},
		{Label: "Run it again", Data: fatePrefix + string(row.ID) + ":" + AsRetry, Style: "danger"},
		{Label: "Drop it", Data: fatePrefix + string(row.ID) + ":" + AsDrop},
	}
	if n.Route.IsZero() {
		n.State, n.Done = core.DeliveryDelivered, n.Created
	}
	return n
}

// findNotice finds the fate notice of row among what was sent.
func findNotice(row core.Admission, sent []core.Delivery) (core.Delivery, bool) {
	for _, d := range sent {
		if d.Admission == row.ID && len(d.Buttons) > 0 && strings.HasPrefix(d.Buttons[0].Data, fatePrefix+string(row.ID)) {
			return d, true
		}
	}
	return core.Delivery{}, false
}

// say is a delivery that says text where row's answer would have gone.
func say(row core.Admission, k core.DeliveryKind, text string) *core.Delivery {
	return &core.Delivery{ID: newDeliveryID(), Conversation: row.Conversation, Admission: row.ID, Turn: row.Turn,
		Kind: k, State: core.DeliveryOwed, Route: row.Submission.Route, Text: text, Created: time.Now()}
}

// list names the open calls.
func list(open []core.Call) string {
	var b strings.Builder
	for n, c := range open {
		if n == shown {
			fmt.Fprintf(&b, "and %s\n", plural(len(open)-shown, "more call", "more calls"))
			break
		}
		args := strings.ReplaceAll(cut(string(c.Args), argsShown), "```", "'''")
		fmt.Fprintf(&b, "```\n%s %s\n```\n", c.Name, args)
	}
	return b.String()
}

// cut returns at most n characters of s.
func cut(s string, n int) string {
	count := 0
	for at := range s {
		if count == n {
			return s[:at] + "…"
		}
		count++
	}
	return s
}

func plural(n int, one, many string) string {
	if n == 1 {
		return fmt.Sprintf("%d %s", n, one)
	}
	return fmt.Sprintf("%d %s", n, many)
}

// ref is the short reference that a person can quote: the end of the receipt's id.
func ref(id core.AdmissionID) string {
	s := string(id)
	return s[max(0, len(s)-6):]
}
