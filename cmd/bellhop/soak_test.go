//go:build crashtest

package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"bellhop/adapters/telegram/telegramtest"
	"bellhop/core"
	"bellhop/core/provider/providertest"
)

// soak is a gateway under load whose process, platform and model fail at random.
type soak struct {
	r       *rig
	ctx     context.Context // of the load
	healthy atomic.Bool
	chats   []*soakChat
	web     *webClient
	webSaid []string
	kills   int
	terms   int
	faults  atomic.Int64
	sick    atomic.Int64 // replies of the model that failed
}

type soakChat struct {
	*telegramtest.Chat
	person telegramtest.Person
	said   []string
}

// mostCopies of an answer may be marked as repeats: each stands for a send that got no answer. Faults that are planted for
// sends wait for them, so when there are few sends all of them are lost.
const mostCopies = 6

var soakID = regexp.MustCompile(`\b(m|t)-\w+-\d+\b`) // t: the answer needs a tool

// model answers the newest message by its id. It fails often, as long as the soak is not healthy.
func (s *soak) model(q *providertest.Request) providertest.Reply {
	id := ""
	for _, m := range q.Messages {
		if ids := soakID.FindAllString(m.Text, -1); m.Role == core.RoleUser && len(ids) > 0 {
			id = ids[len(ids)-1]
		}
	}
	if !s.healthy.Load() && rand.IntN(8) == 0 {
		s.sick.Add(1)
		return []providertest.Reply{
			{providertest.Refuse(429, "rate_limit_exceeded", "slow down", "Retry-After", "1")},
			{providertest.Refuse(500, "server_error", "sorry")},
			{providertest.Text("ANSWER "), providertest.Cut()},
		}[rand.IntN(3)]
	}
	if id[0] == 't' && len(q.Results()) == 0 {
		return providertest.Reply{providertest.Call("call_1", "shell", fmt.Sprintf(`{"command":"echo %s >> %s"}`, id, effectsFile))}
	}
	return providertest.Reply{providertest.Text("ANSWER ", "to ", id, " and ", "its "), providertest.Wait(time.Duration(rand.IntN(80)) * time.Millisecond), providertest.Text("END")}
}

func soakTime(t *testing.T) time.Duration {
	v := os.Getenv("SOAK")
	if v == "" {
		return 20 * time.Second
	}
	d, err := time.ParseDuration(v)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestSoak: whatever dies under load, every accepted message has exactly one end, and no effect happens twice.
func TestSoak(t *testing.T) {
	s := &soak{}
	s.r = newRig(t, s.model)
	s.r.model.Keep(100)
	s.r.reconfigure("access: {allow", "approvals: {mode: off}\nagent: {shell_for_all: true}\naccess: {default: allow, allow")
	ctx, cancel := context.WithTimeout(t.Context(), soakTime(t))
	defer cancel()
	s.ctx = ctx
	for n := range 4 {
		p := s.r.tg.Person(fmt.Sprint("Person", n))
		s.chats = append(s.chats, &soakChat{Chat: s.r.tg.DM(p), person: p})
	}
	g := s.r.start()
	s.web = s.r.web("soak")
	var load sync.WaitGroup
	for n, c := range s.chats {
		load.Go(func() { s.talk(n, c) })
	}
	load.Go(s.write)
	load.Go(s.chaos)
	s.murder(g)
	g = s.r.start()
	load.Wait()
	s.r.tg.Heal()
	s.healthy.Store(true)
	s.settle(g)
}

// talk says something new now and then, as long as not much of it waits.
func (s *soak) talk(n int, c *soakChat) {
	for i := 0; s.pause(50, 400); i++ {
		if i-s.answered(c) > 4 {
			i--
			s.dropFates(c)
			continue
		}
		if i%50 == 49 && s.answered(c) >= len(c.said) { // conversations do not grow for ever
			c.Say(c.person, "/new")
		}
		id := fmt.Sprintf("%s-c%d-%d", []string{"m", "m", "t"}[i%3], n, i)
		c.said = append(c.said, id)
		c.Say(c.person, id)
	}
}

// answered counts the messages that have an answer, however often it is shown, or a word instead.
func (s *soak) answered(c *soakChat) int {
	n, ids := 0, map[string]bool{}
	for _, m := range c.Said() {
		switch {
		case strings.Contains(m.Text, "END"):
			ids[soakID.FindString(m.Text)] = true
		case strings.Contains(m.Text, "could not"):
			n++
		}
	}
	return n + len(ids)
}

// dropFates decides about turns whose effect is unknown.
func (s *soak) dropFates(c *soakChat) {
	for _, m := range c.Visible() {
		for _, row := range m.Buttons {
			for _, b := range row {
				if strings.HasPrefix(b.Data, "fate:") && strings.HasSuffix(b.Data, ":drop") {
					c.Press(c.person, m.ID, b.Data)
				}
			}
		}
	}
}

// write is the client at the door; every message has its request id, under which it is repeated until there is a receipt.
func (s *soak) write() {
	slower := int(soakTime(s.r.t)/(5*time.Minute)) + 1 // its one conversation grows for as long as the soak runs
	for i := 0; s.pause(100*slower, 500*slower); i++ {
		id := fmt.Sprintf("%s-web-%d", []string{"m", "t"}[i%2], i)
		s.webSaid = append(s.webSaid, id)
		if i%8 == 0 {
			s.dropWebFate()
		}
		s.web.insist(id, id)
	}
}

// dropWebFate decides about a turn of the door whose effect is unknown, which the messages after it wait for. There is mostly
// none, and the gateway may be away.
func (s *soak) dropWebFate() {
	_ = s.web.call("prompt.submit", map[string]any{"session_id": s.web.session, "text": "/resolve drop", "queue": true}, nil)
}

// chaos breaks calls of the platform.
func (s *soak) chaos() {
	for s.pause(50, 300) {
		s.faults.Add(1)
		switch rand.IntN(6) {
		case 0:
			s.r.tg.Fail(telegramtest.Fault{Status: 429, RetryAfter: 1})
		case 1:
			s.r.tg.Fail(telegramtest.Fault{Status: 502, Body: "<html>Bad Gateway</html>"})
		case 2:
			s.r.tg.Fail(telegramtest.Fault{Method: "sendMessage", Lost: true})
		case 3:
			s.r.tg.Fail(telegramtest.Fault{Method: "editMessageText", Drop: true})
		case 4:
			s.r.tg.Fail(telegramtest.Fault{Method: "getUpdates", Status: 500})
		default:
			s.r.tg.Cut()
		}
	}
}

// pause waits a random time of so many milliseconds. false: the load is over.
func (s *soak) pause(least, most int) bool {
	select {
	case <-s.ctx.Done():
		return false
	case <-time.After(time.Duration(least+rand.IntN(most-least)) * time.Millisecond):
		return true
	}
}

// murder ends the gateway again and again, mostly without a warning, and starts it anew. It returns with none running.
func (s *soak) murder(g *process) {
	for s.pause(300, 2000) {
		if rand.IntN(5) == 0 {
			s.terms++
			_ = g.cmd.Process.Signal(syscall.SIGTERM)
			s.pause(0, 1500)
		}
		g.kill()
		s.kills++
		g = s.r.launch()
		if rand.IntN(4) > 0 { // else it may be killed while it starts
			g.ready()
		}
	}
	g.kill()
}

// settle waits until everything has its end, and counts.
func (s *soak) settle(g *process) {
	s.r.t.Helper()
	if s.web != nil {
		s.web.insist("m-web-99999", "m-web-99999")
		s.webSaid = append(s.webSaid, "m-web-99999")
	}
	for n, c := range s.chats {
		id := fmt.Sprintf("m-c%d-99999", n)
		c.said = append(c.said, id)
		c.Say(c.person, id)
	}
	for n, c := range s.chats {
		s.r.untilLong(fmt.Sprintf("the last message of chat %d is answered", n), new(string), func() bool {
			s.dropFates(c)
			return answersTo(c.Said(), c.said[len(c.said)-1]) > 0
		})
	}
	s.r.untilLong("the last message at the door is answered", new(string), func() bool {
		if s.web == nil {
			return true
		}
		s.dropWebFate()
		return s.web.resume().finals("m-web-99999") > 0
	})
	note := ""
	s.r.untilLong("nothing is owed or under way", &note, func() bool {
		out := s.r.must("verify")
		note = out
		return strings.Contains(out, "queued 0 + started 0 + unknown 0") && !strings.Contains(out, "deliveries owed") &&
			!strings.Contains(out, "deliveries sending")
	})
	g.stop()
	s.count(s.r.must("verify"))
}

func answersTo(said []telegramtest.Shown, id string) int {
	n := 0
	for _, m := range said {
		if strings.Contains(m.Text, "to "+id+" and its END") {
			n++
		}
	}
	return n
}

// count holds what people see against what they said.
func (s *soak) count(verified string) {
	t := s.r.t
	t.Helper()
	ends := s.ends()
	effects := map[string]int{}
	if b, err := os.ReadFile(s.r.workspace(effectsFile)); err == nil {
		for _, id := range strings.Fields(string(b)) {
			effects[id]++
		}
	}
	said, answered, repeated, overtaken, other := 0, 0, 0, 0, 0
	for n, c := range s.chats {
		shown := c.Said()
		last := 0
		for _, id := range c.said {
			said++
			plain, marked := 0, 0
			for _, m := range shown {
				if !strings.Contains(m.Text, "to "+id+" and its END") {
					continue
				}
				if strings.Contains(m.Text, "(repeated") {
					marked++
					continue
				}
				plain++
				if m.ID < last {
					overtaken++
				}
				last = max(last, m.ID)
			}
			repeated += marked
			switch end := ends[id]; {
			case end == "":
				t.Errorf("chat %d: %s was said and never accepted", n, id)
			case plain > 1 || marked > mostCopies:
				t.Errorf("chat %d: %s is answered %d times, and %d times marked:\n%s", n, id, plain, marked, s.trace(c, id))
			case plain+marked > 0:
				answered++
			case end == core.ReasonAnswered:
				t.Errorf("chat %d: the answer to %s was never shown", n, id)
			default:
				other++
			}
		}
	}
	history := map[string]int{}
	if s.web != nil {
		history = s.history()
	}
	for _, id := range s.webSaid {
		said++
		switch n := history[id]; {
		case n > 1:
			t.Errorf("door: %s is answered %d times", id, n)
		case n == 1:
			answered++
		case ends[id] == "" || ends[id] == core.ReasonAnswered:
			t.Errorf("door: %s has no answer; it ended as %q", id, ends[id])
		default:
			other++
		}
	}
	for id, n := range effects {
		if n != 1 {
			t.Errorf("the effect of %s happened %d times", id, n)
		}
	}
	t.Logf("%d kills, %d of them after SIGTERM; %d faults of the platform, %d of the model\n%d said, %d answered (%d repeated with a mark; %d shown after a later one, because the platform refused them at first), %d ended otherwise and told; %d effects\n%s",
		s.kills, s.terms, s.faults.Load(), s.sick.Load(), said, answered, repeated, overtaken, other, len(effects), verified)
}

// trace tells what was sent about a message, and what the ledger knows of it.
func (s *soak) trace(c *soakChat, id string) string {
	var b strings.Builder
	for _, k := range s.r.tg.Calls("") {
		if k.Chat == c.ID && strings.Contains(k.Args["text"], id+" ") {
			fmt.Fprintf(&b, "%s %s message %d %d %s %q\n", k.At.Format("05.000"), k.Method, k.Message, k.Code, k.Error, k.Args["text"])
		}
	}
	s.r.open(func(st core.Store) {
		rows, err := st.Recent(s.r.t.Context(), "", 1_000_000)
		if err != nil {
			s.r.t.Fatal(err)
		}
		for _, a := range rows {
			if a.Submission.Text != id {
				continue
			}
			fmt.Fprintf(&b, "%s retry of %q: %s, claimed %s, settled %s\n", a.ID, a.RetryOf, a.Outcome.Reason, a.Claimed.Format("05.000"), a.Settled.Format("05.000"))
			sent, err := st.Outbox().Of(s.r.t.Context(), a.ID)
			if err != nil {
				s.r.t.Fatal(err)
			}
			for _, d := range sent {
				fmt.Fprintf(&b, "    %s %s %s %v created %s done %s %s\n", d.ID, d.Kind, d.State, d.Parts, d.Created.Format("05.000"), d.Done.Format("05.000"), d.Error)
			}
		}
	})
	return b.String()
}

// ends are the reasons with which messages ended, by id: of the row that went on last.
func (s *soak) ends() map[string]core.Reason {
	out := map[string]core.Reason{}
	s.r.open(func(st core.Store) {
		rows, err := st.Recent(s.r.t.Context(), "", 1_000_000)
		if err != nil {
			s.r.t.Fatal(err)
		}
		slices.SortStableFunc(rows, func(a, b core.Admission) int { return cmp.Compare(a.Seq, b.Seq) })
		settled := map[core.ConversationID]core.Admission{}
		for _, a := range rows {
			if before := settled[a.Conversation]; a.Turn != "" && a.Outcome.Reason != core.ReasonRetried {
				if a.Claimed.Before(before.Settled) {
					s.r.t.Errorf("%q began before %q, which was said before it, had ended", a.Submission.Text, before.Submission.Text)
				}
				settled[a.Conversation] = a
			}
			if a.Outcome.Reason != core.ReasonRetried {
				out[a.Submission.Text] = a.Outcome.Reason
			}
			s.live(st, a)
		}
	})
	return out
}

// live asserts that no message of a turn that has ended still looks as if it were growing.
func (s *soak) live(st core.Store, a core.Admission) {
	s.r.t.Helper()
	rows, err := st.Outbox().Of(s.r.t.Context(), a.ID)
	if err != nil {
		s.r.t.Fatal(err)
	}
	for _, d := range rows {
		if d.State == core.DeliveryLive && a.Status == core.Terminal {
			s.r.t.Errorf("a %s of %q, which ended as %s (retry of %q), is still live: %+v", d.Kind, a.Submission.Text, a.Outcome.Reason, a.RetryOf, d)
		}
	}
}

// history counts the answers in the transcript of the door's session.
func (s *soak) history() map[string]int {
	out := map[string]int{}
	s.r.open(func(st core.Store) {
		rows, err := st.Page(s.r.t.Context(), core.ConversationID(s.web.session), 0, 1_000_000)
		if err != nil {
			s.r.t.Fatal(err)
		}
		for _, m := range rows {
			if id := soakID.FindString(m.Content); m.Role == core.RoleAssistant && strings.Contains(m.Content, "END") && !m.Interim {
				out[id]++
			}
		}
	})
	return out
}
