package telegram_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"bellhop/adapters"
	"bellhop/adapters/telegram"
	"bellhop/adapters/telegram/telegramtest"
)

// outbound is an adapter on a fake over loopback.
func outbound(t *testing.T) (*telegram.Adapter, *telegramtest.Server, *telegramtest.Chat) {
	t.Helper()
	fake := telegramtest.New(telegramtest.Options{})
	url := telegramtest.Start(t, fake)
	a, err := telegram.New("telegram", telegram.Config{Token: telegram.Secret(fake.Bot().Token), APIURL: url}, telegram.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return a, fake, fake.DM(fake.Person("Ann"))
}

func TestSendSays(t *testing.T) {
	for name, tt := range map[string]struct {
		m    adapters.Outgoing
		want map[string]string
	}{
		"escaped":      {adapters.Outgoing{Text: "a><a> & **b**"}, map[string]string{"text": "a&gt;&lt;a&gt; &amp; <b>b</b>", "parse_mode": "HTML", "link_preview_options": "", "reply_markup": "", "disable_notification": ""}},
		"plain":        {adapters.Outgoing{Text: "Sure! Step 1 - **done**.", Plain: true}, map[string]string{"text": "Sure! Step 1 - done.", "parse_mode": ""}},
		"live":         {adapters.Outgoing{Text: "x", Live: true}, map[string]string{"link_preview_options": `{"is_disabled":true}`}},
		"silent":       {adapters.Outgoing{Text: "x", Silent: true}, map[string]string{"disable_notification": "true"}},
		"reply":        {adapters.Outgoing{Text: "x", ReplyTo: "70"}, map[string]string{"reply_parameters": `{"message_id":70,"allow_sending_without_reply":true}`}},
		"odd reply":    {adapters.Outgoing{Text: "x", ReplyTo: "ts-1.2"}, map[string]string{"reply_parameters": ""}},
		"buttons":      {adapters.Outgoing{Text: "x", Buttons: [][]adapters.Button{{{Label: "Go", Data: "go", Style: "primary"}, {Label: "No", Data: "no"}}}}, map[string]string{"reply_markup": `{"inline_keyboard":[[{"text":"Go","callback_data":"go","style":"primary"},{"text":"No","callback_data":"no"}]]}`}},
		"odd brackets": {adapters.Outgoing{Text: "[Go](https://en.wikipedia.org/wiki/Go_(programming_language))"}, map[string]string{"text": `<a href="https://en.wikipedia.org/wiki/Go_(programming_language)">Go</a>`}},
	} {
		t.Run(name, func(t *testing.T) {
			a, fake, dm := outbound(t)
			if _, err := a.Send(t.Context(), target(dm, 0), tt.m); err != nil {
				t.Fatal(err)
			}
			got := fake.Calls("sendMessage")[0].Args
			for k, want := range tt.want {
				if got[k] != want {
					t.Errorf("%s is %q, want %q", k, got[k], want)
				}
			}
		})
	}
}

// The General topic has a number that must never be sent, on no call (C075). A deleted topic is told apart (C077).
func TestGeneralTopic(t *testing.T) {
	a, fake, _ := outbound(t)
	forum := fake.Forum("Dev")
	general := target(forum, 1)
	ctx := t.Context()
	ref, err := a.Send(ctx, general, adapters.Outgoing{Text: "x"})
	_, up := a.Upload(ctx, general, adapters.Upload{Kind: "photo", Name: "x.png", Body: strings.NewReader("x")})
	if err := errors.Join(err, up, a.Typing(ctx, general), a.Edit(ctx, general, ref, adapters.Outgoing{Text: "y"}), a.Delete(ctx, general, ref)); err != nil {
		t.Fatal(err)
	}
	for _, c := range fake.Calls("") {
		if c.Args["message_thread_id"] != "" {
			t.Errorf("%s names the General topic", c.Method)
		}
	}
	topic := forum.Topic("builds")
	forum.DeleteTopic(topic)
	if _, err := a.Send(ctx, target(forum, topic), adapters.Outgoing{Text: "x"}); adapters.KindOf(err) != adapters.NoThread {
		t.Errorf("deleted topic: %v", err)
	}
	if n := len(fake.Calls("sendMessage")); n != 2 {
		t.Errorf("%d calls: an edge does not retry", n)
	}
}

func TestWhatMakesNoSense(t *testing.T) {
	a, fake, dm := outbound(t)
	ctx := t.Context()
	long := [][]adapters.Button{{{Label: "x", Data: strings.Repeat("d", 65)}}}
	_, chat := a.Send(ctx, adapters.Target{Chat: "general"}, adapters.Outgoing{Text: "x"})
	_, topic := a.Send(ctx, adapters.Target{Chat: "1", Thread: "x"}, adapters.Outgoing{Text: "x"})
	_, data := a.Send(ctx, target(dm, 0), adapters.Outgoing{Text: "x", Buttons: long})
	for what, err := range map[string]error{"chat": chat, "topic": topic, "data": data,
		"ref": a.Edit(ctx, target(dm, 0), "ts1.2", adapters.Outgoing{Text: "x"})} {
		if adapters.KindOf(err) != adapters.Misuse {
			t.Errorf("%s: %v, want misuse", what, err)
		}
	}
	if n := len(fake.Calls("")); n != 0 {
		t.Errorf("%d calls were made", n)
	}
}

func TestMovedAndMuted(t *testing.T) {
	a, fake, _ := outbound(t)
	old := fake.SmallGroup("Ops")
	now := old.Migrate(fake.Person("Bo"))
	_, err := a.Send(t.Context(), target(old, 0), adapters.Outgoing{Text: "x"})
	var e *adapters.Error
	if !errors.As(err, &e) || e.Kind != adapters.Moved || e.MovedTo != target(now, 0).Chat {
		t.Errorf("moved group: %v", err)
	}
	now.Mute()
	if _, err = a.Send(t.Context(), target(now, 0), adapters.Outgoing{Text: "x"}); adapters.KindOf(err) != adapters.Unsupported {
		t.Errorf("muted: %v", err)
	}
}

// A file beyond the bounds is found out while it is sent, and its size is known without reading it into memory.
func TestUploadBounds(t *testing.T) {
	a, fake, dm := outbound(t)
	_, err := a.Upload(t.Context(), target(dm, 0), adapters.Upload{Kind: "photo", Name: "x.jpg", Body: bytes.NewReader(make([]byte, 10<<20+1))})
	if adapters.KindOf(err) != adapters.Unsupported {
		t.Errorf("photo of more than 10 MB: %v", err)
	}
	_, err = a.Upload(t.Context(), target(dm, 0), adapters.Upload{Kind: "document", Name: "x", Body: &broken{"disk"}})
	if adapters.KindOf(err) != adapters.Misuse {
		t.Errorf("unreadable file: %v", err)
	}
	_, err = a.Upload(t.Context(), target(dm, 0), adapters.Upload{Kind: "document", Name: "x", Body: strings.NewReader("")})
	if adapters.KindOf(err) != adapters.Empty {
		t.Errorf("empty file: %v", err)
	}
	fake.Fail(telegramtest.Fault{Status: 429, RetryAfter: 3})
	_, err = a.Upload(t.Context(), target(dm, 0), adapters.Upload{Kind: "document", Name: "x", Body: strings.NewReader("x")})
	if adapters.KindOf(err) != adapters.Limited {
		t.Errorf("limited: %v", err)
	}
	if len(dm.Said()) != 0 {
		t.Errorf("visible: %+v", dm.Said())
	}
}

func TestFetchBounds(t *testing.T) {
	a, fake, dm := outbound(t)
	huge := &telegramtest.File{ID: "huge", Kind: "video", Size: 21 << 20}
	dm.Post(telegramtest.Post{From: telegramtest.Person{ID: dm.ID}, File: huge})
	for _, size := range []int64{0, 21 << 20} {
		if _, err := a.Fetch(t.Context(), adapters.File{Ref: "huge", Size: size}); adapters.KindOf(err) != adapters.Unsupported {
			t.Errorf("said to be %d bytes: %v", size, err)
		}
	}
	if n := len(fake.Calls("getFile")); n != 1 {
		t.Errorf("%d getFile calls: a size that is known needs none", n)
	}
}

func TestMenu(t *testing.T) {
	a, fake, _ := outbound(t)
	err := a.SetMenu(t.Context(), []adapters.MenuItem{{Name: "new", About: "Start over"}, {Name: "allow", About: "Let in", Admin: true}, {Name: "Bad Name", About: "x"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := fake.Menu(""); len(got) != 1 || got[0].Command != "new" {
		t.Errorf("everybody's menu is %v", got)
	}
	if got := fake.Menu("all_chat_administrators"); len(got) != 2 || got[1].Command != "allow" {
		t.Errorf("the administrators' menu is %v", got)
	}
}

func TestToastIsCutBetweenCharacters(t *testing.T) {
	a, fake, dm := outbound(t)
	press := dm.Press(telegramtest.Person{ID: dm.ID, Name: "Ann"}, 1, "x")
	if err := a.AnswerPress(t.Context(), press, strings.Repeat("👨‍👩‍👧‍👦", 50)); err != nil {
		t.Fatal(err)
	}
	if got := dm.Toasts()[0]; got != strings.Repeat("👨‍👩‍👧‍👦", 28)+"…" || fake.Pressed(press) != 1 {
		t.Errorf("toast is %q", got)
	}
}
