package telegram

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"bellhop/adapters"
	"bellhop/adapters/media"
	"bellhop/stream/markup"
)

// Telegram's bounds of files.
const (
	maxDownload = 20 << 20
	maxUpload   = 50 << 20
	maxPhoto    = 10 << 20
)

// Fetch opens a file that a person sent. A file beyond 20 MB is Unsupported, one that Telegram no longer has is Gone.
func (a *Adapter) Fetch(ctx context.Context, f adapters.File) (io.ReadCloser, error) {
	const method = "getFile"
	if f.Size > maxDownload {
		return nil, &adapters.Error{Kind: adapters.Unsupported, Method: method, Text: "bots can fetch files up to 20 MB"}
	}
	var file models.File
	if err := a.api.call(ctx, method, map[string]string{"file_id": f.Ref}, &file); err != nil {
		return nil, err
	}
	if strings.HasPrefix(file.FilePath, "/") {
		return nil, &adapters.Error{Kind: adapters.Unsupported, Method: method, Text: "the local API server keeps files on its own disk"}
	}
	got, err := a.files.Get(ctx, a.cfg.api()+"/file/bot"+a.cfg.Token.Reveal()+"/"+file.FilePath)
	if err != nil {
		return nil, a.notFetched(err)
	}
	return got.Body, nil
}

func (a *Adapter) notFetched(err error) error {
	e := &adapters.Error{Kind: adapters.Temporary, Method: "getFile", Err: a.api.hide.error(err)}
	var m *media.Error
	if errors.As(err, &m) {
		switch e.Code = m.Status; m.Kind {
		case media.TooLarge:
			e.Kind = adapters.Unsupported
		case media.Missing:
			e.Kind = adapters.Gone
		case media.Blocked:
			e.Kind = adapters.Misuse
		}
	}
	return e
}

// Upload sends a file as what it is said to be: photo, voice, audio, video, else a document. Beyond Telegram's bounds
// (10 MB for photos, 50 MB for others) it is Unsupported, found out before the end of the file is sent.
func (a *Adapter) Upload(ctx context.Context, to adapters.Target, f adapters.Upload) (adapters.Ref, error) {
	method, most := uploadMethod(f.Kind)
	chat, err := chatID(method, to)
	if err != nil {
		return "", err
	}
	topic, err := thread(method, to)
	if err != nil {
		return "", err
	}
	body := &capped{r: f.Body, left: most}
	u := upload{chat: chat, topic: topic, file: &models.InputFileUpload{Filename: f.Name, Data: body}, reply: libReply(f.ReplyTo)}
	if f.Caption != "" {
		u.caption, u.mode = markup.Telegram(f.Caption), models.ParseModeHTML
	}
	ctx, cancel := context.WithTimeout(ctx, uploadTimeout)
	defer cancel()
	a.places.begin(chat)
	m, err := u.send(ctx, a.lib, method)
	if err != nil {
		a.places.end(chat, 0)
		return "", a.notSent(method, body, err)
	}
	a.places.end(chat, m.ID)
	return adapters.Ref(strconv.Itoa(m.ID)), nil
}

func uploadMethod(kind string) (method string, most int64) {
	switch kind {
	case "photo":
		return "sendPhoto", maxPhoto
	case "voice":
		return "sendVoice", maxUpload
	case "audio":
		return "sendAudio", maxUpload
	case "video":
		return "sendVideo", maxUpload
	}
	return "sendDocument", maxUpload
}

func libReply(id string) *models.ReplyParameters {
	r := reply(id)
	if r == nil {
		return nil
	}
	return &models.ReplyParameters{MessageID: r.Message, AllowSendingWithoutReply: true}
}

// upload holds what the five sending calls have in common.
type upload struct {
	chat    int64
	topic   int
	file    models.InputFile
	caption string
	mode    models.ParseMode
	reply   *models.ReplyParameters
}

func (u upload) send(ctx context.Context, lib *bot.Bot, method string) (*models.Message, error) {
	switch method {
	case "sendPhoto":
		return lib.SendPhoto(ctx, &bot.SendPhotoParams{ChatID: u.chat, MessageThreadID: u.topic, Photo: u.file,
			Caption: u.caption, ParseMode: u.mode, ReplyParameters: u.reply})
	case "sendVoice":
		return lib.SendVoice(ctx, &bot.SendVoiceParams{ChatID: u.chat, MessageThreadID: u.topic, Voice: u.file,
			Caption: u.caption, ParseMode: u.mode, ReplyParameters: u.reply})
	case "sendAudio":
		return lib.SendAudio(ctx, &bot.SendAudioParams{ChatID: u.chat, MessageThreadID: u.topic, Audio: u.file,
			Caption: u.caption, ParseMode: u.mode, ReplyParameters: u.reply})
	case "sendVideo":
		return lib.SendVideo(ctx, &bot.SendVideoParams{ChatID: u.chat, MessageThreadID: u.topic, Video: u.file,
			Caption: u.caption, ParseMode: u.mode, ReplyParameters: u.reply})
	}
	return lib.SendDocument(ctx, &bot.SendDocumentParams{ChatID: u.chat, MessageThreadID: u.topic, Document: u.file,
		Caption: u.caption, ParseMode: u.mode, ReplyParameters: u.reply})
}

// notSent finds the classified error inside the library's. A file cut short by its bound or its reader was not sent.
func (a *Adapter) notSent(method string, body *capped, err error) error {
	if body.over.Load() {
		return &adapters.Error{Kind: adapters.Unsupported, Method: method, Text: "the file is larger than Telegram takes"}
	}
	if cause := body.err.Load(); cause != nil {
		return &adapters.Error{Kind: adapters.Misuse, Method: method, Text: "the file cannot be read", Err: *cause}
	}
	var e *adapters.Error
	if errors.As(err, &e) {
		return e
	}
	return &adapters.Error{Kind: adapters.Ambiguous, Method: method, Err: a.api.hide.error(err)}
}

// capped reads no more than Telegram takes, and remembers why reading ended. The library reads it in a goroutine that
// may outlive the call by a moment.
type capped struct {
	r    io.Reader
	left int64
	over atomic.Bool
	err  atomic.Pointer[error]
}

var errTooLarge = errors.New("the file is too large")

func (c *capped) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if c.left -= int64(n); c.left < 0 {
		c.over.Store(true)
		return 0, errTooLarge
	}
	if err != nil && !errors.Is(err, io.EOF) {
		c.err.Store(&err)
	}
	return n, err
}
