package admission

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"bellhop/core"

	"github.com/rivo/uniseg"
)

// titleLength is how many graphemes a preview has at most.
const titleLength = 60

// Digest is what makes two submissions under one request id the same: the normalized text and the references of the files.
func Digest(s core.Submission) [32]byte { return digest(normalize(s)) }

func digest(s core.Submission) [32]byte {
	h := sha256.New()
	field(h, strings.TrimSpace(s.Text))
	for _, a := range s.Attachments {
		field(h, a.Kind)
		field(h, a.Ref)
	}
	return [32]byte(h.Sum(nil))
}

// field writes a length and a text, so that no two lists of fields look the same.
func field(h hash.Hash, s string) {
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(len(s)))
	_, _ = h.Write(n[:]) // a hash never fails
	_, _ = io.WriteString(h, s)
}

// normalize repairs every text of s and makes its preview. White space at the end goes, except from a piece of a paste,
// whose rest will be joined to it; white space at the beginning is meant.
func normalize(s core.Submission) core.Submission {
	s.Text, s.APIText = repair(s.Text), repair(s.APIText)
	if !s.Part {
		s.Text = strings.TrimRightFunc(s.Text, unicode.IsSpace)
	}
	s.Author, s.Lang, s.Model = repair(s.Author), repair(s.Lang), repair(s.Model)
	s.RequestID, s.Key = core.RequestID(repair(string(s.RequestID))), core.Key(repair(string(s.Key)))
	s.Source, s.MessageID = repair(s.Source), repair(s.MessageID)
	s.Attachments = repairFiles(s.Attachments)
	if s.Reply != nil {
		r := *s.Reply
		r.Author, r.Text, r.Quote = repair(r.Author), repair(r.Text), repair(r.Quote)
		s.Reply = &r
	}
	if len(s.Display) > 0 {
		s.Display = maps.Clone(s.Display)
		for k, v := range s.Display {
			s.Display[k] = repair(v)
		}
	}
	if s.Title = preview(repair(s.Title)); s.Title == "" {
		s.Title = title(s)
	}
	return s
}

func repairFiles(files []core.Attachment) []core.Attachment {
	if len(files) == 0 {
		return nil
	}
	files = slices.Clone(files)
	for n := range files {
		f := &files[n]
		f.Name, f.Ref, f.MIME = repair(f.Name), repair(f.Ref), repair(f.MIME)
	}
	return files
}

// repair returns s as valid UTF-8 without NUL: what is no character becomes U+FFFD, lone surrogates too, NUL goes.
func repair(s string) string {
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "")
	}
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

func isBlank(s string) bool { return strings.TrimSpace(s) == "" }

// title is the first line that says something, or what the first file is.
func title(s core.Submission) string {
	if t := preview(s.Text); t != "" {
		return t
	}
	if len(s.Attachments) == 0 {
		return ""
	}
	if a := s.Attachments[0]; a.Name != "" {
		return preview(a.Name)
	}
	return s.Attachments[0].Kind
}

// preview shortens the first line that is not blank to titleLength graphemes.
func preview(s string) string {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			return cut(line, titleLength)
		}
	}
	return ""
}

// cut returns at most n graphemes of s, the last one an ellipsis when something is missing.
func cut(s string, n int) string {
	if len(s) <= n { // no grapheme is shorter than a byte
		return s
	}
	rest, state, kept := s, -1, 0
	for count := 0; rest != ""; count++ {
		var g string
		g, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if count == n {
			return s[:kept] + "…"
		}
		if count < n-1 {
			kept += len(g)
		}
	}
	return s
}
