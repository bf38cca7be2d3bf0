package deliver

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"bellhop/core"
	"bellhop/stream/markup"
)

func itoa(n int) string { return strconv.Itoa(n) }

// detailLength is how much of a command or question a card shows, in graphemes.
const detailLength = 1500

// cardText is a question as people see it. away: it is shown in another chat than the one it is about.
func cardText(q core.Question, a core.Admission, away bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s **%s**\n", icon(q.Ask.Kind), q.Ask.Title)
	if q.Ask.Detail != "" {
		b.WriteString(detail(q))
	}
	if q.Ask.Risk != "" {
		fmt.Fprintf(&b, "\n%s\n", q.Ask.Risk)
	}
	if away {
		who := a.Submission.Author
		if who == "" {
			who = string(a.By)
		}
		fmt.Fprintf(&b, "\nAsked for by %s (`%s`).\n", markup.Escape(who), a.By)
	}
	b.WriteString("\n" + howTo(q))
	if !q.Deadline.IsZero() && !q.Created.IsZero() {
		fmt.Fprintf(&b, " It waits for %s.", span(q.Deadline.Sub(q.Created)))
	}
	return b.String()
}

func icon(k core.QuestionKind) string {
	if k == core.Clarify {
		return "❓"
	}
	return "🔐"
}

func howTo(q core.Question) string {
	switch q.Ask.Kind {
	case core.Approval:
		return fmt.Sprintf("Press a button, or write `/approve %s` or `/deny %s`.", q.ID, q.ID)
	case core.Clarify:
		return fmt.Sprintf("Press a button, or write `/approve %s` and your answer.", q.ID)
	}
	return "This cannot be answered safely in a chat; use `bellhop chat` or the web page."
}

// detail is the command in a code block that it cannot break out of; a clarifying question is plain text.
func detail(q core.Question) string {
	text := markup.Clip(q.Ask.Detail, detailLength)
	if q.Ask.Kind == core.Clarify {
		return "\n" + text + "\n"
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + text + "\n" + fence + "\n"
}

// closedText is what stands in the place of a card once it cannot be answered any more.
func closedText(q core.Question) string {
	var b strings.Builder
	at := q.Answered
	if at.IsZero() {
		at = q.Deadline
	}
	when := at.Format("15:04")
	switch q.State {
	case core.QuestionAnswered:
		word, mark := verdict(q)
		fmt.Fprintf(&b, "%s **%s** – %s by %s at %s.\n", mark, q.Ask.Title, word, markup.Escape(nameOfPerson(q)), when)
	case core.QuestionExpired:
		fmt.Fprintf(&b, "⌛ **%s** – expired at %s, not run.\n", q.Ask.Title, when)
	default:
		fmt.Fprintf(&b, "⏹ **%s** – not needed any more, not run.\n", q.Ask.Title)
	}
	if q.Ask.Kind == core.Approval && q.Ask.Detail != "" {
		b.WriteString(detail(q))
	}
	return strings.TrimRight(b.String(), "\n")
}

// verdict is the answer in words, and its mark.
func verdict(q core.Question) (word, mark string) {
	if q.Ask.Kind != core.Approval {
		return "answered", "✅"
	}
	switch core.Choice(q.Answer) {
	case core.ChoiceOnce:
		return "allowed once", "✅"
	case core.ChoiceSession:
		return "allowed for this session", "✅"
	case core.ChoiceAlways:
		return "allowed from now on", "✅"
	}
	return "denied", "🚫"
}

func awayText(place core.Route) string {
	if place.IsZero() {
		return "🔐 This needs the owner's permission, but nobody has claimed this gateway yet. It will not run."
	}
	return "🔐 This needs the owner's permission. I have asked and go on when there is an answer."
}

// span is a duration as people say it.
func span(d time.Duration) string {
	switch n := int(d.Round(time.Second).Seconds()); {
	case n == 60:
		return "1 minute"
	case n > 60 && n%60 == 0:
		return itoa(n/60) + " minutes"
	default:
		return itoa(n) + " seconds"
	}
}
