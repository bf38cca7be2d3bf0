package attach

import (
	"fmt"
	"strings"

	"bellhop/core"
	"bellhop/core/prompt"
)

// silent returns what a person is told when an input without text brought nothing that a model can read; "" when it did.
func silent(files []core.Attachment, missing []missed) string {
	heard := 0
	for _, f := range files {
		if sound(f.Kind) {
			heard++
		}
	}
	switch {
	case heard < len(files):
		return ""
	case heard > 0:
		return "I cannot listen to voice messages or sound yet, so I did not answer this one. Your message is kept. Please send it as text."
	case len(missing) == 1:
		return fmt.Sprintf("I could not fetch the %s you sent, so I did not answer it. Please send it again.", kindWord(missing[0].file.Kind))
	}
	return "I could not fetch the files you sent, so I did not answer. Please send them again."
}

// said is what later turns know of an input that ended here: what came of it, and what the person was told.
func said(row core.Admission, files []core.Attachment, missing []missed, words string) []core.Message {
	sub := row.Submission
	sub.Text, sub.APIText, sub.Attachments = "", note(missing), files
	return []core.Message{
		{Admission: row.ID, Turn: row.Turn, Role: core.RoleUser, APIContent: prompt.APIText(sub), Attachment: files},
		{Admission: row.ID, Turn: row.Turn, Role: core.RoleAssistant, Content: words},
	}
}

func kindWord(kind string) string {
	switch kind {
	case "photo", "document", "video", "sticker":
		return kind
	case "voice":
		return "voice message"
	case "video_note":
		return "video message"
	}
	return "file"
}

// note tells the model what is missing.
func note(missing []missed) string {
	var b strings.Builder
	for _, m := range missing {
		name := m.file.Name
		if name == "" {
			name = kindWord(m.file.Kind)
		}
		fmt.Fprintf(&b, "[the attached %s could not be fetched]\n", name)
	}
	return strings.TrimSpace(b.String())
}

// errText is the causes for the owner.
func errText(missing []missed) string {
	var parts []string
	for _, m := range missing {
		parts = append(parts, m.err.Error())
	}
	return strings.Join(parts, "; ")
}
