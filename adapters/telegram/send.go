package telegram

import (
	"context"
	"strconv"

	"bellhop/adapters"
	"bellhop/stream/markup"
)

// Parameters of the calls that make up most of the traffic. They go out as JSON, which costs a third of the
// library's multipart forms (BenchmarkCall).
type (
	sendMessage struct {
		Chat    int64        `json:"chat_id"`
		Thread  int          `json:"message_thread_id,omitempty"`
		Text    string       `json:"text"`
		Mode    string       `json:"parse_mode,omitempty"`
		Preview *linkPreview `json:"link_preview_options,omitempty"`
		Silent  bool         `json:"disable_notification,omitempty"`
		Reply   *replyTo     `json:"reply_parameters,omitempty"`
		Markup  *keyboard    `json:"reply_markup,omitempty"`
	}
	editMessageText struct {
		Chat    int64        `json:"chat_id"`
		Message int          `json:"message_id"`
		Text    string       `json:"text"`
		Mode    string       `json:"parse_mode,omitempty"`
		Preview *linkPreview `json:"link_preview_options,omitempty"`
		Markup  *keyboard    `json:"reply_markup,omitempty"`
	}
	sendDraft struct {
		Chat   int64  `json:"chat_id"`
		Thread int    `json:"message_thread_id,omitempty"`
		ID     int64  `json:"draft_id"`
		Text   string `json:"text"`
		Mode   string `json:"parse_mode,omitempty"`
		Stop   bool   `json:"can_stop,omitempty"`
		Keep   bool   `json:"keep_on_stop,omitempty"`
	}
	linkPreview struct {
		Off bool `json:"is_disabled"`
	}
	replyTo struct {
		Message int  `json:"message_id"`
		Allow   bool `json:"allow_sending_without_reply"`
	}
	keyboard struct {
		Rows [][]button `json:"inline_keyboard"`
	}
	button struct {
		Text  string `json:"text"`
		Data  string `json:"callback_data"`
		Style string `json:"style,omitempty"`
	}
	sent struct {
		ID int `json:"message_id"`
	}
)

// maxData is the most bytes a button's data may have.
const maxData = 64

var noPreview = &linkPreview{Off: true}

// render returns the text to send and its parse mode. Plain text goes out without any, from the original.
func render(m adapters.Outgoing) (text, mode string) {
	if m.Plain {
		return markup.Plain(m.Text), ""
	}
	return markup.Telegram(m.Text), "HTML"
}

// previews are off while more edits follow: they would come and go with each.
func preview(m adapters.Outgoing) *linkPreview {
	if m.Live {
		return noPreview
	}
	return nil
}

func buttons(method string, rows [][]adapters.Button) (*keyboard, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	k := &keyboard{Rows: make([][]button, len(rows))}
	for i, row := range rows {
		k.Rows[i] = make([]button, len(row))
		for j, b := range row {
			if len(b.Data) > maxData || b.Data == "" || b.Label == "" {
				return nil, misuse(method, "a button needs a label and 1 to 64 bytes of data")
			}
			k.Rows[i][j] = button{Text: b.Label, Data: b.Data, Style: b.Style}
		}
	}
	return k, nil
}

// reply never fails a message: Telegram sends it without the reference when that is gone, and so does a reference that
// was never Telegram's.
func reply(id string) *replyTo {
	n, err := strconv.Atoi(id)
	if err != nil || n <= 0 {
		return nil
	}
	return &replyTo{Message: n, Allow: true}
}

// Send creates one message.
func (a *Adapter) Send(ctx context.Context, to adapters.Target, m adapters.Outgoing) (adapters.Ref, error) {
	const method = "sendMessage"
	chat, err := chatID(method, to)
	if err != nil {
		return "", err
	}
	topic, err := thread(method, to)
	if err != nil {
		return "", err
	}
	keys, err := buttons(method, m.Buttons)
	if err != nil {
		return "", err
	}
	p := sendMessage{Chat: chat, Thread: topic, Preview: preview(m), Silent: m.Silent, Reply: reply(m.ReplyTo), Markup: keys}
	p.Text, p.Mode = render(m)
	var out sent
	a.places.begin(chat)
	err = a.api.call(ctx, method, &p, &out)
	a.places.end(chat, out.ID)
	if err != nil {
		return "", err
	}
	return adapters.Ref(strconv.Itoa(out.ID)), nil
}

// Edit changes one of our messages. Buttons that m does not name go away.
func (a *Adapter) Edit(ctx context.Context, to adapters.Target, ref adapters.Ref, m adapters.Outgoing) error {
	const method = "editMessageText"
	chat, err := chatID(method, to)
	if err != nil {
		return err
	}
	id, err := messageID(method, string(ref))
	if err != nil {
		return err
	}
	keys, err := buttons(method, m.Buttons)
	if err != nil {
		return err
	}
	p := editMessageText{Chat: chat, Message: id, Preview: preview(m), Markup: keys}
	p.Text, p.Mode = render(m)
	if err := a.api.call(ctx, method, &p, nil); err != nil {
		return err
	}
	a.places.note(chat, id)
	return nil
}

// Draft shows a growing answer in a private chat for 30 seconds. Buttons cannot be shown; where there are any, the
// draft gets Telegram's own stop button, which comes back as KindStop with the draft's id.
func (a *Adapter) Draft(ctx context.Context, to adapters.Target, id int64, m adapters.Outgoing) error {
	const method = "sendMessageDraft"
	chat, err := chatID(method, to)
	if err != nil {
		return err
	}
	topic, err := thread(method, to)
	if err != nil {
		return err
	}
	stop := len(m.Buttons) > 0
	p := sendDraft{Chat: chat, Thread: topic, ID: id, Stop: stop, Keep: stop}
	p.Text, p.Mode = render(m)
	return a.api.call(ctx, method, &p, nil)
}
