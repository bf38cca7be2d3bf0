package telegram

import (
	"context"
	"time"

	"github.com/rivo/uniseg"

	"bellhop/adapters"
)

// typingFor is how long Telegram shows that the bot is typing.
const typingFor = 5 * time.Second

type (
	aboutMessage struct {
		Chat    int64 `json:"chat_id"`
		Message int   `json:"message_id"`
	}
	chatAction struct {
		Chat   int64  `json:"chat_id"`
		Thread int    `json:"message_thread_id,omitempty"`
		Action string `json:"action"`
	}
	setReaction struct {
		aboutMessage
		Reaction []reaction `json:"reaction"`
	}
	reaction struct {
		Type  string `json:"type"`
		Emoji string `json:"emoji"`
	}
	answerPress struct {
		Query string `json:"callback_query_id"`
		Text  string `json:"text,omitempty"`
	}
)

// about addresses a message of a chat.
func about(method string, to adapters.Target, id string) (aboutMessage, error) {
	chat, err := chatID(method, to)
	if err != nil {
		return aboutMessage{}, err
	}
	n, err := messageID(method, id)
	return aboutMessage{Chat: chat, Message: n}, err
}

// Delete removes one of our messages; Telegram allows it for 48 hours.
func (a *Adapter) Delete(ctx context.Context, to adapters.Target, ref adapters.Ref) error {
	const method = "deleteMessage"
	p, err := about(method, to, string(ref))
	if err != nil {
		return err
	}
	return a.api.call(ctx, method, p, nil)
}

// Typing shows that an answer is on its way, for TypingFor or until a message comes.
func (a *Adapter) Typing(ctx context.Context, to adapters.Target) error {
	const method = "sendChatAction"
	chat, err := chatID(method, to)
	if err != nil {
		return err
	}
	topic, err := thread(method, to)
	if err != nil {
		return err
	}
	return a.api.call(ctx, method, chatAction{Chat: chat, Thread: topic, Action: "typing"}, nil)
}

// TypingFor is how long one Typing lasts.
func (a *Adapter) TypingFor() time.Duration { return typingFor }

// React puts one emoji of Telegram's fixed list on a message, or takes it away with "".
func (a *Adapter) React(ctx context.Context, to adapters.Target, message, emoji string) error {
	const method = "setMessageReaction"
	p, err := about(method, to, message)
	if err != nil {
		return err
	}
	list := []reaction{}
	if emoji != "" {
		list = append(list, reaction{Type: "emoji", Emoji: emoji})
	}
	return a.api.call(ctx, method, setReaction{aboutMessage: p, Reaction: list}, nil)
}

// maxToast is the most characters that are shown in answer to a press.
const maxToast = 200

// AnswerPress ends the waiting of the person who pressed, with a short text or none. A press answered too late is Gone.
func (a *Adapter) AnswerPress(ctx context.Context, pressID, text string) error {
	return a.api.call(ctx, "answerCallbackQuery", newAnswer(pressID, text), nil)
}

func newAnswer(press, text string) answerPress {
	return answerPress{Query: press, Text: shorten(text, maxToast)}
}

// shorten cuts a text between what people see as characters, so that it has at most n code points with its ellipsis.
func shorten(s string, n int) string {
	if len([]rune(s)) <= n {
		return s
	}
	used, end := 1, 0
	for g := uniseg.NewGraphemes(s); g.Next(); {
		if used += len(g.Runes()); used > n {
			break
		}
		_, end = g.Positions()
	}
	return s[:end] + "…"
}
