package command

import (
	"strings"

	"bellhop/core"
	"bellhop/stream/markup"
)

// Words is what a person reads when something failed, in four parts.
type Words struct {
	What string // what happened
	Safe string // whether what they wrote is safe
	Do   string // what they can do
	Ref  string // a short reference that is also in the log; may be empty
}

func (w Words) String() string {
	parts := make([]string, 0, 4)
	for _, p := range []string{w.What, w.Safe, w.Do} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	if w.Ref != "" {
		parts = append(parts, "(ref `"+w.Ref+"`)")
	}
	return strings.Join(parts, " ")
}

const nothingStored = "Nothing was stored."

// words maps every Kind to what a person reads.
func words(k core.Kind) Words {
	switch k {
	case core.Invalid:
		return Words{"That makes no sense to me.", nothingStored, "Please put it in another way.", ""}
	case core.NotFound:
		return Words{"I cannot find that.", "", "It may be gone already.", ""}
	case core.Conflict:
		return Words{"That has changed meanwhile.", "", "Please look again, then repeat it.", ""}
	case core.Busy:
		return Words{"I am busy with something else here.", nothingStored, "Try again in a moment, or `/stop` what runs.", ""}
	case core.Full:
		return Words{"Too many messages are waiting already.", "This one was not stored, and those after it are not until some are answered.", "Send it again when some are answered; `/queue` shows them, `/stop all` clears them.", ""}
	case core.Denied:
		return Words{"You may not do that.", nothingStored, "An admin of this gateway can.", ""}
	case core.Stale:
		return Words{"Another process has taken this conversation over.", "Your message is safe.", "It goes on there.", ""}
	case core.Unavailable:
		return Words{"Something that I need cannot be reached now.", nothingStored, "Please try again in a minute.", ""}
	case core.Timeout:
		return Words{"That took too long.", "It may not have been done.", "Please look, then try again.", ""}
	case core.NoSpace:
		return Words{"I cannot store anything: the disk is full.", nothingStored, "The owner has to make room; then send it again.", ""}
	case core.Corrupt:
		return Words{"My store is damaged, so I have stopped writing to it.", nothingStored, "The owner has to look at it.", ""}
	case core.Locked:
		return Words{"Another process is in charge here.", nothingStored, "Please try again in a moment.", ""}
	case core.Newer:
		return Words{"My store belongs to a newer version of this program.", nothingStored, "The owner has to update it.", ""}
	}
	return Words{"Something went wrong on my side.", "What you sent before is safe.", "Please try again; if it stays so, tell the owner.", ""}
}

// WordsFor puts an error into words; ref is the reference under which the log has it, and may be empty.
func WordsFor(err error, ref string) Words {
	w := words(core.KindOf(err))
	w.Ref = ref
	return w
}

// named is how a person is called in an answer: the name is theirs, and no markup.
func named(name string) string { return markup.Escape(markup.Clip(name, 40)) }
