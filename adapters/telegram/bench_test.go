package telegram

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"bellhop/adapters"
)

// BenchmarkDecode reads a poll's largest batch; the library's own types stand beside it.
func BenchmarkDecode(b *testing.B) {
	var batch []json.RawMessage
	for i := range 100 {
		batch = append(batch, json.RawMessage(fmt.Sprintf(`{"update_id":%d,`, i+1)+
			inGroup(`"text":"hello @my_bot, what does 😀 mean here?","entities":[`+entity("mention", 6, 7)+`]`)+`}`))
	}
	a := &Adapter{}
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, raw := range batch {
				if in, _ := a.decode(raw, bell); !in.Mentioned {
					b.Fatal("misread")
				}
			}
		}
	})
	b.Run("library", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, raw := range batch {
				var u models.Update
				if json.Unmarshal(raw, &u) != nil || u.Message == nil {
					b.Fatal("misread")
				}
			}
		}
	})
}

// BenchmarkCall sends a message over loopback as JSON and as the library's multipart form.
func BenchmarkCall(b *testing.B) {
	answer := []byte(`{"ok":true,"result":{"message_id":7,"from":{"id":1,"is_bot":true,"first_name":"B"},"chat":{"id":1,"type":"private"},"date":1,"text":"x"}}`)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = w.Write(answer)
	}))
	defer srv.Close()
	a, err := New("telegram", Config{Token: "1:abc", APIURL: srv.URL}, Options{})
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	m := adapters.Outgoing{Text: "A line of **text** of the usual length, as answers go.", Live: true, Buttons: [][]adapters.Button{{{Label: "Stop", Data: "stop:1"}}}}
	b.Run("json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := a.Send(ctx, adapters.Target{Chat: "1"}, m); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("library", func(b *testing.B) {
		b.ReportAllocs()
		off := true
		for b.Loop() {
			text, _ := render(m)
			if _, err := a.lib.SendMessage(ctx, &bot.SendMessageParams{ChatID: int64(1), Text: text, ParseMode: models.ParseModeHTML,
				LinkPreviewOptions: &models.LinkPreviewOptions{IsDisabled: &off},
				ReplyMarkup:        &models.InlineKeyboardMarkup{InlineKeyboard: [][]models.InlineKeyboardButton{{{Text: "Stop", CallbackData: "stop:1"}}}}}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
