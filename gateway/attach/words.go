package attach

import (
	"fmt"
	"strings"

	"bellhop/core"
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
