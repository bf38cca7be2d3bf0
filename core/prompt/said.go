package prompt

import (
	"fmt"
	"strings"

	"bellhop/core"
)

const (
	maxReply  = 800 // characters of an answered message
	maxAuthor = 48
)

// APIText returns what the model gets for a submission: what it answers, the author's name in groups, the text, and a line
// for each attachment that is no picture (Wire shows those). It equals Text when there is nothing to add. The text that
// admission resolved (APIText of the submission) stands in for what was typed.
func APIText(s core.Submission) string {
	text := s.Text
	if s.APIText != "" {
		text = s.APIText
	}
	if s.Voice && text != "" {
		text = "[voice message, transcribed] " + text
	}
	var b strings.Builder
	b.WriteString(replyContext(s.Reply))
	if name := oneLine(s.Author, maxAuthor); s.Group && name != "" {
		b.WriteString(name + ": ")
	}
	b.WriteString(text)
	for _, a := range s.Attachments {
		if !picture(a) {
			b.WriteString("\n" + note(a))
		}
	}
	return clean(strings.TrimPrefix(b.String(), "\n"))
}

// replyContext tells which message is answered: the part that was marked, else the whole message, clipped.
func replyContext(r *core.Reply) string {
	if r == nil {
		return ""
	}
	text := strings.TrimSpace(r.Text)
	if q := strings.TrimSpace(r.Quote); q != "" {
		text = q
	}
	if text == "" {
		return ""
	}
	who := oneLine(r.Author, maxAuthor)
	switch {
	case r.Own:
		who = "your message"
	case who == "":
		who = "a message"
	}
	return "[replying to " + who + ": " + clip(clean(text), maxReply) + "]\n"
}

func oneLine(s string, n int) string { return clip(strings.Join(strings.Fields(clean(s)), " "), n) }

func picture(a core.Attachment) bool {
	return a.Kind == "photo" || strings.HasPrefix(a.MIME, "image/")
}

// note stands for an attachment that the model cannot see itself.
func note(a core.Attachment) string {
	parts := []string{oneLine(a.Kind, maxAuthor)}
	if parts[0] == "" {
		parts[0] = "file"
	}
	if a.Name != "" {
		parts[0] += " " + oneLine(a.Name, 120)
	}
	if a.MIME != "" {
		parts = append(parts, oneLine(a.MIME, 80))
	}
	if a.Size > 0 {
		parts = append(parts, fmt.Sprintf("%d bytes", a.Size))
	}
	if a.Path != "" {
		parts = append(parts, "saved as "+oneLine(a.Path, 400))
	}
	return "[attached: " + strings.Join(parts, ", ") + "]"
}
