package telegram

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/go-telegram/bot/models"

	"bellhop/adapters"
)

// content is the text of a message with its entities: text, caption, rich text, or what else it says in words.
func (m *message) content() (string, []models.MessageEntity) {
	switch {
	case m.Text != "":
		return m.Text, m.Entities
	case m.Caption != "":
		return m.Caption, m.CaptionEntities
	case m.Rich != nil:
		return m.Rich.text(), nil
	}
	return m.said(), nil
}

// said puts messages into words that are neither text nor file.
func (m *message) said() string {
	switch {
	case m.Venue != nil:
		return fmt.Sprintf("Place: %s, %s (%g, %g)", m.Venue.Title, m.Venue.Address, m.Venue.Location.Latitude, m.Venue.Location.Longitude)
	case m.Location != nil:
		return fmt.Sprintf("Location: %g, %g", m.Location.Latitude, m.Location.Longitude)
	case m.Contact != nil:
		return fmt.Sprintf("Contact: %s, %s", strings.TrimSpace(m.Contact.FirstName+" "+m.Contact.LastName), m.Contact.PhoneNumber)
	case m.Dice != nil:
		return fmt.Sprintf("%s %d", m.Dice.Emoji, m.Dice.Value)
	case m.Poll != nil:
		lines := []string{"Poll: " + m.Poll.Question}
		for _, o := range m.Poll.Options {
			lines = append(lines, "- "+o.Text)
		}
		return strings.Join(lines, "\n")
	}
	return ""
}

// empty reports whether a message holds nothing a person said or sent: it is news about the chat.
func (m *message) empty() bool {
	text, _ := m.content()
	return text == "" && len(m.files()) == 0
}

// kindWords names a message without text, for one that answers it.
func (m *message) kindWords() string {
	if f := m.files(); len(f) > 0 {
		return "[" + f[0].Kind + "]"
	}
	return ""
}

// files are references to what was sent; bytes come with Fetch. Of a photo's sizes the largest counts.
func (m *message) files() []adapters.File {
	var out []adapters.File
	add := func(kind, id, name, mime string, size int64) {
		out = append(out, adapters.File{Kind: kind, Ref: id, Name: name, MIME: mime, Size: size})
	}
	if len(m.Photo) > 0 {
		best := m.Photo[0]
		for _, p := range m.Photo[1:] {
			if p.Width*p.Height >= best.Width*best.Height {
				best = p
			}
		}
		add("photo", best.FileID, "", "image/jpeg", int64(best.FileSize))
	}
	if a := m.Animation; a != nil {
		add("video", a.FileID, a.FileName, a.MimeType, a.FileSize)
	} else if d := m.Document; d != nil { // an animation comes with a document of itself
		add("document", d.FileID, d.FileName, d.MimeType, d.FileSize)
	}
	if v := m.Voice; v != nil {
		add("voice", v.FileID, "", cmp.Or(v.MimeType, "audio/ogg"), v.FileSize)
	}
	if a := m.Audio; a != nil {
		add("audio", a.FileID, a.FileName, a.MimeType, a.FileSize)
	}
	if v := m.Video; v != nil {
		add("video", v.FileID, v.FileName, v.MimeType, v.FileSize)
	}
	if v := m.VideoNote; v != nil {
		add("video_note", v.FileID, "", "video/mp4", int64(v.FileSize))
	}
	if s := m.Sticker; s != nil {
		add("sticker", s.FileID, s.Emoji, stickerMIME(s), int64(s.FileSize))
	}
	return out
}

func stickerMIME(s *models.Sticker) string {
	switch {
	case s.IsVideo:
		return "video/webm"
	case s.IsAnimated:
		return "application/x-tgsticker"
	}
	return "image/webp"
}

// richMessage is a message of blocks (Bot API 10.1). Block and text kinds grow with every version, so it is read by
// shape: whatever stands where text can stand is taken, in order, a line for each block.
type richMessage struct {
	Blocks []json.RawMessage `json:"blocks"`
}

const maxRichDepth = 32

func (r *richMessage) text() string {
	var b strings.Builder
	for _, block := range r.Blocks {
		richBlock(&b, block, 0)
	}
	return strings.TrimSpace(b.String())
}

// richParts are the fields of blocks that hold more of them, in reading order.
type richParts struct {
	Label       string              `json:"label"`
	Summary     json.RawMessage     `json:"summary"`
	Text        json.RawMessage     `json:"text"`
	Expression  string              `json:"expression"`
	Alternative string              `json:"alternative_text"`
	Items       []json.RawMessage   `json:"items"`
	Blocks      []json.RawMessage   `json:"blocks"`
	Cells       [][]json.RawMessage `json:"cells"`
	Caption     json.RawMessage     `json:"caption"`
}

func richBlock(b *strings.Builder, raw json.RawMessage, depth int) {
	var p richParts
	if depth > maxRichDepth || json.Unmarshal(raw, &p) != nil {
		return
	}
	if p.Label != "" {
		b.WriteString(p.Label + " ")
	}
	for _, t := range []json.RawMessage{p.Summary, p.Text} {
		if len(t) > 0 {
			richText(b, t, depth+1)
			b.WriteByte('\n')
		}
	}
	if p.Expression != "" {
		b.WriteString(p.Expression + "\n")
	}
	for _, list := range [][]json.RawMessage{p.Items, p.Blocks} {
		for _, x := range list {
			richBlock(b, x, depth+1)
		}
	}
	for _, row := range p.Cells {
		for i, cell := range row {
			if i > 0 {
				b.WriteString(" | ")
			}
			richText(b, cell, depth+1)
		}
		b.WriteByte('\n')
	}
	if len(p.Caption) > 0 {
		richText(b, p.Caption, depth+1)
		b.WriteByte('\n')
	}
}

// richText writes a string, a list of texts, or an object around one.
func richText(b *strings.Builder, raw json.RawMessage, depth int) {
	if depth > maxRichDepth {
		return
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		b.WriteString(s)
		return
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		for _, x := range list {
			richText(b, x, depth+1)
		}
		return
	}
	var p richParts
	if json.Unmarshal(raw, &p) != nil {
		return
	}
	b.WriteString(p.Alternative + p.Expression)
	if len(p.Text) > 0 {
		richText(b, p.Text, depth+1)
	}
}
