package telegram

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/go-telegram/bot/models"

	"bellhop/adapters"
)

// identity is who the bot is. The id is part of the token; the name takes a getMe, and is only needed in groups.
type identity struct {
	id   int64
	name string // user name without @
}

// namesSomebody reports whether an update holds an @, without which no user name matters.
func namesSomebody(raw []byte) bool { return bytes.IndexByte(raw, '@') >= 0 }

// address fills in the text, whether it speaks to the bot, and the command in it.
func (me identity) address(in *adapters.Inbound, m *message, text string, entities []models.MessageEntity) {
	var units []uint16
	if len(entities) > 0 {
		units = utf16.Encode([]rune(text))
	}
	quoted := m.Forward != nil
	in.Mentioned = !in.Group || in.Reply != nil && in.Reply.Own
	var cut []models.MessageEntity
	for _, e := range entities {
		if quoted || !fits(e, units) || inside(e, entities, "blockquote", "expandable_blockquote", "code", "pre") {
			continue
		}
		part := decodeUnits(units[e.Offset : e.Offset+e.Length])
		switch e.Type {
		case models.MessageEntityTypeMention:
			if strings.EqualFold(part, "@"+me.name) && me.name != "" {
				in.Mentioned = true
				cut = append(cut, e)
			}
		case models.MessageEntityTypeTextMention:
			if e.User != nil && e.User.ID == me.id {
				in.Mentioned = true
				cut = append(cut, e)
			}
		case models.MessageEntityTypeBotCommand:
			if _, to, ok := strings.Cut(part, "@"); ok && strings.EqualFold(to, me.name) {
				in.Mentioned = true
			}
		}
	}
	if len(cut) > 0 {
		text = without(units, cut)
	}
	in.Text = strings.TrimSpace(text)
	if in.Kind == adapters.KindMessage && !quoted && !literal(entities) {
		me.command(in)
	}
}

// command recognises a leading /name, with or without Telegram's own entity: some clients send none.
func (me identity) command(in *adapters.Inbound) {
	word, rest := cutWord(in.Text)
	name, ok := strings.CutPrefix(word, "/")
	name, to, named := strings.Cut(name, "@")
	if !ok || !commandWord(name) || named && !userName(to) {
		return
	}
	if named && !strings.EqualFold(to, me.name) {
		in.Other = true
		return
	}
	in.Command, in.Args = strings.ToLower(name), strings.TrimSpace(rest)
	if named {
		in.Text = strings.TrimSpace("/" + name + " " + in.Args)
		in.Mentioned = true
	}
}

// cutWord returns the first word of s and what follows it, white space included.
func cutWord(s string) (word, rest string) {
	if i := strings.IndexAny(s, " \t\r\n"); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// commandWord reports whether s can name a command: 1 to 32 letters, digits or underscores.
func commandWord(s string) bool {
	return s != "" && len(s) <= 32 && strings.IndexFunc(s, notWord) < 0
}

func userName(s string) bool { return s != "" && strings.IndexFunc(s, notWord) < 0 }

func notWord(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_'
}

// literal reports whether the text begins inside a quotation or code, where a command is only shown.
func literal(entities []models.MessageEntity) bool {
	return slices.ContainsFunc(entities, func(e models.MessageEntity) bool {
		switch e.Type {
		case "blockquote", "expandable_blockquote", "code", "pre":
			return e.Offset == 0 && e.Length > 0
		}
		return false
	})
}

// inside reports whether e lies in an entity of one of the kinds.
func inside(e models.MessageEntity, all []models.MessageEntity, kinds ...models.MessageEntityType) bool {
	return slices.ContainsFunc(all, func(o models.MessageEntity) bool {
		return slices.Contains(kinds, o.Type) && o.Offset <= e.Offset && e.Offset+e.Length <= o.Offset+o.Length
	})
}

func fits(e models.MessageEntity, units []uint16) bool {
	return e.Offset >= 0 && e.Length > 0 && e.Offset <= len(units) && e.Length <= len(units)-e.Offset
}

func decodeUnits(u []uint16) string { return string(utf16.Decode(u)) }

// without returns the text with some stretches taken out, each with the blank that parted it from the rest.
func without(units []uint16, cut []models.MessageEntity) string {
	for _, e := range slices.Backward(cut) {
		end := e.Offset + e.Length
		if end < len(units) && units[end] == ' ' && (e.Offset == 0 || units[e.Offset-1] == ' ' || units[e.Offset-1] == '\n') {
			end++
		}
		units = slices.Delete(units, e.Offset, end)
	}
	return decodeUnits(units)
}

// utf16Len counts UTF-16 code units, Telegram's measure.
func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}
