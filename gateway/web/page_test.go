package web_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"bellhop/core"
	"bellhop/gateway/rpc/rpctest"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// gate lets a script go on step by step.
type gate chan struct{}

func (g gate) wait(ctx context.Context) bool {
	select {
	case <-g:
		return true
	case <-ctx.Done():
		return false
	}
}

func (g gate) open(t *testing.T, n int) {
	t.Helper()
	for range n {
		select {
		case g <- struct{}{}:
		case <-time.After(20 * time.Second):
			t.Fatal("no turn waits at the gate")
		}
	}
}

const answerText = "## Three things\n\n1. **First**, a list\n2. then `code`:\n\n```go\nfmt.Println(\"hello\")\n```\n\n| room | guest |\n|---|---|\n| 12 | Ada |\n\nDone."

// talkative answers by what it is asked; g lets it go on.
func talkative(g gate) rpctest.Script {
	return func(ctx context.Context, t *rpctest.Turn) {
		switch p := t.Prompt(); {
		case strings.HasPrefix(p, "stream"):
			for _, piece := range strings.SplitAfter(answerText, "\n") {
				if !g.wait(ctx) {
					return
				}
				t.Say(piece)
			}
		case strings.HasPrefix(p, "approve"):
			t.Say("Let me look.")
			t.Interim()
			choice := t.Question(ctx, core.Ask{Kind: core.Approval, Call: "c1", Tool: "shell", Title: "Run a command?",
				Detail: "rm -rf build && make", Risk: "deletes files"})
			if choice == "deny" {
				t.Say("I leave it.")
				return
			}
			t.Tool("c1", "shell", "rm -rf build && make", func() string { g.wait(ctx); return "built 12 files" })
			t.Say("It was built: " + choice)
		case strings.HasPrefix(p, "wait"):
			t.Say("I wait")
			g.wait(ctx)
		default:
			t.Say("You said: " + p)
		}
	}
}

func TestTalk(t *testing.T) {
	g := make(gate)
	s := serve(t, talkative(g))
	b := open(t, 1280, 800)
	b.do(chromedp.Navigate(s.link()))
	b.until(`document.body.dataset.connection === "online"`)
	if hash := get[string](b, "location.hash"); hash != "" {
		t.Errorf("the secret stayed in the address: %s", hash)
	}
	b.until(`document.querySelectorAll(".idea").length === 3`)
	b.picture("hello-1280")

	b.say("stream something")
	b.shows(".asked", "stream something")
	g.open(t, 1)
	b.shows(".text.live h2", "Three things")
	if get[bool](b, `document.getElementById("stop").hidden`) {
		t.Error("no Stop button while the answer streams")
	}
	g.open(t, 6)
	b.shows(".text.live pre", "fmt.Println")
	b.picture("streaming-1280")
	g.open(t, strings.Count(answerText, "\n")+1-7)
	b.until(`document.getElementById("stop").hidden && document.querySelectorAll(".text:not(.live)").length === 1`)
	b.shows(".text th", "guest")
	b.shows("#polite", "Three things")
	b.until(`document.getElementById("title").textContent === "stream something"`)
	b.shows("#sessions [aria-current]", "stream something")
	b.picture("answer-1280")
	b.dark()
	b.picture("answer-1280-dark")
	if n := get[int](b, `document.querySelectorAll(".turn").length`); n != 1 {
		t.Errorf("%d turns are shown, want 1", n)
	}

	b.do(chromedp.Reload())
	b.shows(".text th", "guest")
	b.shows(".asked", "stream something")
}

func TestApprove(t *testing.T) {
	g := make(gate)
	s := serve(t, talkative(g))
	b := open(t, 390, 844)
	b.do(chromedp.Navigate(s.link()))
	b.until(`document.body.dataset.connection === "online"`)
	b.picture("hello-390")
	b.say("approve this")
	b.shows(".card", "rm -rf build")
	b.shows("#urgent", "Run a command?")
	b.picture("approval-390")
	b.say("/aprove") // a misspelt command is answered beside the turn that waits
	b.shows(".text", "Did you mean /approve?")
	b.do(chromedp.Reload()) // a question that waits is there again, once
	b.shows(".card:not(.closed)", "rm -rf build")
	b.until(`document.body.dataset.connection === "online"`)
	if n := get[int](b, `document.querySelectorAll(".card").length`); n != 1 {
		t.Errorf("%d cards after a reload, want 1", n)
	}
	b.do(chromedp.Click(`//section[contains(@class,"card")]//button[text()="Approve once"]`))
	b.shows(".card.closed [role=status]", "by you")
	b.shows(".card.closed time", ":")
	if n := get[int](b, `document.querySelectorAll(".card button").length`); n != 0 {
		t.Errorf("%d buttons are left under an answered question", n)
	}
	b.shows(".tool .verb", "Running a command")
	b.picture("tool-390")
	g.open(t, 1)
	b.shows(".tool.done .time, .tool.done", "built 12 files")
	b.shows(".text", "It was built: once")
	b.picture("approved-390")
	b.do(chromedp.Reload()) // what was asked, and how it ended, is there again
	b.until(`document.body.dataset.connection === "online"`)
	b.shows(".card.closed pre", "rm -rf build")
	b.shows(".card.closed [role=status]", "Allowed once by you")
	b.shows(".card.closed time", ":")
	b.until(`document.querySelectorAll(".card, .card button").length === 1`)
	order := get[[]string](b, `[...document.querySelectorAll(".asked, .card, .turn .text")].map(n => n.className)`)
	if got := strings.Join(order, "|"); !strings.Contains(got, "card closed|text") {
		t.Errorf("the card does not stand before the answer: %s", got)
	}
	b.picture("approved-again-390")

	b.do(chromedp.Click("#menu"))
	b.until(`document.activeElement.id === "new"`)
	b.until(`document.getElementById("side").getBoundingClientRect().left === 0`)
	b.picture("drawer-390")
	b.press(kb.Escape)
	b.until(`document.activeElement.id === "menu"`)
}

func TestStop(t *testing.T) {
	g := make(gate)
	s := serve(t, talkative(g))
	b := open(t, 1280, 800)
	b.do(chromedp.Navigate(s.link()))
	b.say("wait for me")
	b.shows(".text.live", "I wait")
	b.do(chromedp.Click("#stop"))
	b.shows(".note", "Stopped.")
	b.shows(".text", "I wait")
	b.until(`document.getElementById("stop").hidden`)

	b.say("wait again")
	b.until(`!document.getElementById("stop").hidden`)
	b.press(kb.Escape)
	b.until(`[...document.querySelectorAll(".note")].filter(n => n.textContent === "Stopped.").length === 2`)
}

func TestQueue(t *testing.T) {
	g := make(gate)
	s := serve(t, talkative(g))
	b := open(t, 390, 844)
	b.do(chromedp.Navigate(s.link()))
	b.say("wait for me")
	b.shows(".text.live", "I wait")
	b.say("second")
	b.shows("#queue li .place", "1 before it")
	b.say("third")
	b.shows("#queue li:nth-child(2) .place", "2 before it")
	b.say("fourth")
	b.until(`document.querySelectorAll("#queue li").length === 3`)
	b.picture("queue-390")

	b.do(chromedp.Click(`#queue li:nth-child(1) button[aria-label^="Remove"]`))
	b.until(`document.querySelectorAll("#queue li").length === 2`)
	if text := get[string](b, `document.getElementById("text").value`); text != "second" {
		t.Errorf("the removed message is not back in the box: %q", text)
	}
	b.do(chromedp.Evaluate(`document.getElementById("text").value = ""`, nil))
	b.do(chromedp.Click(`#queue li:nth-child(2) button[aria-label^="Send now"]`))
	b.shows(".note", "Stopped.")
	b.shows(".text", "You said: fourth")
	b.shows(".text", "You said: third")
	b.until(`document.getElementById("queue").hidden`)
	got := get[[]string](b, `[...document.querySelectorAll(".asked p")].map(n => n.textContent)`)
	if want := "wait for me|fourth|third"; strings.Join(got, "|") != want {
		t.Errorf("the conversation is %v, want %s", got, want)
	}
}

// Buttons under the answer of a command do what they say, and say it.
func TestButtons(t *testing.T) {
	g := make(gate)
	s := serve(t, talkative(g))
	b := open(t, 390, 844)
	b.do(chromedp.Navigate(s.link()))
	b.say("wait for me")
	b.shows(".text.live", "I wait")
	b.say("second")
	b.shows("#queue li", "second")
	b.say("third")
	b.shows("#queue li:nth-child(2)", "third")
	b.say("/queue")
	b.shows(".turn .choices button", "1 remove")
	if rows := get[int](b, `document.querySelectorAll(".turn .choices").length`); rows != 2 {
		t.Errorf("the buttons stand in %d rows, want 2", rows)
	}
	b.picture("buttons-390")
	b.do(chromedp.Click(`//div[contains(@class,"choices")]//button[text()="1 remove"]`))
	b.shows(".turn [role=status]", "Removed.")
	b.until(`document.querySelectorAll("#queue li").length === 1 && document.activeElement.id === "text"`)
	b.do(chromedp.Click(`//div[contains(@class,"choices")]//button[text()="1 first"]`)) // of the one that is gone
	b.shows(".turn [role=status]", "It is not waiting any more.")
	b.say("/status")
	b.shows(".turn .choices button", "Stop")
	b.do(chromedp.Click(`//div[contains(@class,"choices")]//button[text()="Stop"]`)) // of the fake, and of no turn
	b.shows(".turn [role=status]", "That did not work: ")
	b.until(`![...document.querySelectorAll(".choices button")].find(n => n.textContent === "Stop").disabled`)
}

func TestReconnect(t *testing.T) {
	g := make(gate)
	s := serve(t, talkative(g))
	b := open(t, 1280, 800)
	b.do(chromedp.Navigate(s.link()))
	b.say("stream through a cut")
	g.open(t, 4)
	b.shows(".text.live", "then code")
	s.cut()
	b.shows("#banner", "No connection")
	b.picture("offline-1280")
	g.open(t, 4) // nobody hears these
	b.say("while offline")
	b.shows("#queue li .place", "not sent yet")
	b.picture("unsent-1280")
	s.connect()
	b.until(`document.body.dataset.connection === "online"`)
	b.shows("#queue li", "while offline")
	g.open(t, strings.Count(answerText, "\n")+1-8)
	b.shows(".text", "You said: while offline")
	b.until(`document.getElementById("banner").textContent === ""`)
	text := get[string](b, `document.querySelector(".turn .text").textContent`)
	if strings.Count(text, "Three things") != 1 || !strings.Contains(text, `fmt.Println("hello")`) || !strings.Contains(text, "Done.") {
		t.Errorf("the answer is not whole, or doubled: %s", text)
	}
	if n := get[int](b, `document.querySelectorAll(".turn").length`); n != 2 {
		t.Errorf("%d turns are shown, want 2", n)
	}
}

func TestKeyboard(t *testing.T) {
	g := make(gate)
	s := serve(t, talkative(g))
	b := open(t, 1280, 800)
	b.do(chromedp.Navigate(s.link()))
	b.until(`document.body.dataset.connection === "online" && document.activeElement.id === "text"`)
	b.do(chromedp.KeyEvent("one"), chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(8)), chromedp.KeyEvent("approve no"))
	if text := get[string](b, `document.getElementById("text").value`); text != "one\napprove no" {
		t.Errorf("Shift+Enter made %q", text)
	}
	b.press(kb.Enter)
	b.shows(".text", "You said: one")
	b.do(chromedp.KeyEvent("approve it"))
	b.press(kb.Enter)
	b.shows(".card", "rm -rf build")
	b.until(`document.activeElement.id === "text"`) // nothing takes the focus from who types
	for i := 0; ; i++ {
		if i == 40 {
			t.Fatal("Shift+Tab does not reach Deny")
		}
		b.do(chromedp.KeyEvent(kb.Tab, chromedp.KeyModifiers(8)))
		if get[string](b, `document.activeElement.textContent`) == "Deny" {
			break
		}
	}
	b.picture("keyboard-1280")
	b.press(kb.Enter)
	b.shows(".card.closed", "Denied by you")
	b.until(`document.activeElement.id === "text"`)
	b.shows(".text", "I leave it.")
	b.do(chromedp.KeyEvent("/sta"))
	b.shows("#hint", "/status what is going on")
	b.do(chromedp.KeyEvent("tus"))
	b.press(kb.Enter)
	b.shows(".text strong", "well")
}

func TestNotSignedIn(t *testing.T) {
	s := serve(t, talkative(nil))
	b := open(t, 390, 844)
	b.do(chromedp.Navigate(s.url + "/#k=wrong"))
	b.shows("#banner", "not signed in")
	b.picture("refused-390")
}

// Who steers too late is told, beside the answer that the message gets by itself.
func TestSteerTooLate(t *testing.T) {
	g := make(gate)
	s := serve(t, talkative(g))
	b := open(t, 390, 844)
	b.do(chromedp.Navigate(s.link()))
	b.say("wait for me")
	b.shows(".text.live", "I wait")
	b.say("/steer left")
	b.shows("#queue li", "left")
	g.open(t, 1)
	b.shows(".text", "You said: left")
	b.shows(".note", "What ran has ended before it could take this in")
	b.until(`document.getElementById("queue").hidden`)
	got := get[[]string](b, `[...document.querySelectorAll(".asked p")].map(n => n.textContent)`)
	if want := "wait for me|left"; strings.Join(got, "|") != want {
		t.Errorf("the conversation is %v, want %s", got, want)
	}
}
