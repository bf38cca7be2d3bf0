package stream

import (
	"path"
	"strings"

	"bellhop/core"
	"bellhop/stream/markup"
)

// directive begins a line that sends a file. The line below it, unless it is blank, is the file's caption.
const directive = "MEDIA:"

// Extract takes the MEDIA: lines, and the caption line below each, out of an answer. Code blocks are left alone. Which
// files may be sent is the caller's to check.
func Extract(md string) (text string, media []core.Media) {
	var f filter
	f.add(md)
	f.end()
	return strings.TrimRight(f.text(), " \t\n"), f.media
}

// filter passes text on as it comes, without directives. What may become one is held back until it is clear.
type filter struct {
	out     strings.Builder
	line    int    // where the line under way begins in out
	held    string // of a line that may be, or is, a directive or a caption
	caption bool   // the line under way is the caption of the last media
	sc      markup.Scanner
	media   []core.Media
}

func (f *filter) text() string { return f.out.String() }

func (f *filter) add(s string) {
	for s != "" {
		part, rest, whole := strings.Cut(s, "\n")
		f.part(part)
		if s = rest; whole {
			f.newline()
		}
	}
}

// part takes text of the line under way.
func (f *filter) part(s string) {
	if f.held == "" && f.out.Len() > f.line && !f.caption {
		f.out.WriteString(s)
		return
	}
	f.held += s
	if !f.caption && !f.maybe() {
		f.out.WriteString(f.held)
		f.held = ""
	}
}

// maybe reports whether the held line is, or may become, a directive.
func (f *filter) maybe() bool {
	n := min(len(f.held), len(directive))
	return f.held[:n] == directive[:n] && f.sc.Fence() == nil
}

// newline ends the line under way.
func (f *filter) newline() {
	switch {
	case f.caption && strings.TrimSpace(f.held) != "" && !strings.HasPrefix(f.held, directive):
		f.media[len(f.media)-1].Caption = strings.TrimSpace(f.held)
		f.held, f.caption = "", false
	case f.directive():
		f.held, f.caption = "", true
	default:
		f.out.WriteString(f.held + "\n")
		f.sc.Line(f.text()[f.line : f.out.Len()-1])
		f.held, f.caption, f.line = "", false, f.out.Len()
	}
}

// directive takes the held line as one, if it is.
func (f *filter) directive() bool {
	p, ok := strings.CutPrefix(f.held, directive)
	p = strings.Trim(p, " \t\r`\"'")
	if !ok || p == "" || f.sc.Fence() != nil {
		return false
	}
	f.media = append(f.media, core.Media{Kind: mediaKind(p), Path: p, Name: path.Base(p)})
	return true
}

// end says that no more text comes: what is held is text after all, or the last directive or caption.
func (f *filter) end() {
	if f.held != "" {
		f.newline()
	}
}

func mediaKind(p string) string {
	switch strings.ToLower(path.Ext(p)) {
	case ".png", ".jpg", ".jpeg", ".webp", ".gif":
		return "photo"
	case ".mp4", ".mov", ".webm", ".mkv":
		return "video"
	case ".ogg", ".opus":
		return "voice"
	case ".mp3", ".m4a", ".wav", ".flac":
		return "audio"
	}
	return "document"
}
