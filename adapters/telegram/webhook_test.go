package telegram_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/adapters"
	"bellhop/adapters/adaptertest"
	"bellhop/adapters/telegram"
	"bellhop/adapters/telegram/telegramtest"
)

func TestWebhook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, in, post := newHook(t)
		for range 2 {
			h.dm.Say(h.ann, "x")
		}
		fails := 2
		in.FailWith(func() error {
			if fails--; fails >= 0 {
				return errors.New("disk full")
			}
			return nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if got, err := in.Wait(ctx, 2); err != nil || got[0].ID != "1001" || got[1].ID != "1002" {
			t.Fatalf("received %+v, %v", got, err)
		}
		synctest.Wait()
		if h.fake.Waiting() != 0 {
			t.Error("updates wait although they were stored")
		}
		in.AnswerPresses("done")
		query := h.dm.Press(h.ann, 1, "x")
		if _, err := in.Wait(ctx, 3); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if h.fake.Pressed(query) != 1 {
			t.Error("the press was not answered in the webhook's answer")
		}
		for name, tt := range map[string]struct {
			secret, body string
			want         int
		}{
			"no secret":    {"", `{"update_id":9}`, http.StatusUnauthorized},
			"wrong secret": {"hook-secreT", `{"update_id":9}`, http.StatusUnauthorized},
			"too large":    {hookSecret, strings.Repeat(" ", 2<<20), http.StatusRequestEntityTooLarge},
			"not JSON":     {hookSecret, `<xml>`, http.StatusBadRequest},
			"unreadable":   {hookSecret, `{"update_id":9,"message":7}`, http.StatusOK},
		} {
			if got := post(tt.secret, tt.body); got != tt.want {
				t.Errorf("%s: %d, want %d", name, got, tt.want)
			}
		}
		time.Sleep(time.Second) // of the bubble: net/http lingers on connections whose body it refused
		if got := in.Got(); len(got) != 4 || got[3].Kind != adapters.KindRaw {
			t.Errorf("received %+v", got)
		}
	})
}

const hookSecret = "hook-secret"

// newHook runs an adapter in webhook mode: the fake delivers to its handler over pipes.
func newHook(t *testing.T) (h *harness, in *adaptertest.Inbox, post func(secret, body string) int) {
	mux := http.NewServeMux()
	toUs := telegramtest.Pipe(t, mux)
	fake := telegramtest.New(telegramtest.Options{Hook: toUs})
	h = &harness{t: t, fake: fake, ann: fake.Person("Ann")}
	h.dm = fake.DM(h.ann)
	a, err := telegram.New("telegram/work", telegram.Config{Token: telegram.Secret(fake.Bot().Token), APIURL: "http://telegram.test",
		Mode: telegram.Webhook, WebhookURL: "http://us.test/telegram/work", WebhookSecret: hookSecret}, telegram.Options{Client: telegramtest.Client(t, fake)})
	if err != nil {
		t.Fatal(err)
	}
	in = adaptertest.NewInbox()
	pattern, handler := a.Mount(in)
	if pattern != "POST /telegram/work" {
		t.Fatalf("pattern is %q", pattern)
	}
	mux.Handle(pattern, handler)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx, in) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run ended with %v", err)
		}
	})
	synctest.Wait()
	return h, in, func(secret, body string) int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://us.test/telegram/work", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Telegram-Bot-Api-Secret-Token", secret)
		resp, err := toUs.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
}

// A webhook that somebody else changed is reported and set again.
func TestWebhookIsLookedAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, in, _ := newHook(t)
		c := telegramtest.Pipe(t, h.fake)
		resp, err := c.Post("http://t/bot"+h.fake.Bot().Token+"/deleteWebhook", "application/json", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		h.dm.Say(h.ann, "x")
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if in.Until(ctx, func(err error) bool { return adapters.KindOf(err) == adapters.Conflict && err != nil }) != nil {
			t.Fatalf("not reported: %v", in.Healths())
		}
		if _, err := in.Wait(ctx, 1); err != nil {
			t.Error("the webhook was not set again")
		}
	})
}

func TestNoEndpointWhilePolling(t *testing.T) {
	a, _, _ := outbound(t)
	if pattern, h := a.Mount(adaptertest.NewInbox()); pattern != "" || h != nil {
		t.Errorf("mounts %q", pattern)
	}
}
