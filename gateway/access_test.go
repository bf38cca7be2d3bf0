package gateway

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
)

func TestWhoIsNamed(t *testing.T) {
	tests := []struct {
		list []string
		want bool
	}{
		{[]string{"fake:111"}, true}, {[]string{"111"}, true}, {[]string{" Fake : 111 "}, true}, {[]string{"fake:1111"}, false},
		{[]string{"other:111"}, false}, {nil, false}, {[]string{""}, false},
	}
	for _, c := range tests {
		w := newWorld(t, setup{access: AccessConfig{Allow: c.list}})
		_, ok, err := w.access.Who(t.Context(), "fake:111")
		if err != nil || ok != c.want {
			t.Errorf("%q: %v %v", c.list, ok, err)
		}
		w.close()
	}
}

func TestRights(t *testing.T) {
	w := newWorld(t, trusted)
	defer w.close()
	user, _, _ := w.access.Who(t.Context(), "fake:1")
	admin, _, _ := w.access.Who(t.Context(), "fake:9")
	stranger, ok, _ := w.access.Who(t.Context(), "fake:7")
	if !user.Can(core.CanSubmit|core.CanRespond) || user.Can(core.CanControl) || user.Can(core.CanApprove) || user.Admin {
		t.Errorf("user: %+v", user)
	}
	if !admin.Can(core.CanApprove|core.CanControl|core.CanOperate) || !admin.Admin {
		t.Errorf("admin: %+v", admin)
	}
	if ok || stranger.Caps != 0 {
		t.Errorf("stranger: %+v", stranger)
	}
}

func TestPairing(t *testing.T) {
	w := newWorld(t, trusted)
	defer w.close()
	w.receive(w.message("hello", from("7")))
	said := w.mouth.texts()[0]
	code := strings.Split(said, "`")[1]
	if len(code) != codeLength || clean(code) != code {
		t.Fatalf("code %q", code)
	}
	w.receive(w.message("/pair", from("9")))
	if list := w.mouth.texts(); !strings.Contains(list[0], code) {
		t.Errorf("the list: %q", list)
	}
	w.receive(w.message("/pair approve WRONGONE", from("9")))
	w.receive(w.message("/pair approve "+strings.ToLower(code), from("9")))
	if said := w.mouth.texts(); !strings.Contains(said[0], "Nobody has that code") || !strings.Contains(said[1], "may talk to me now") {
		t.Errorf("said: %q", said)
	}
	w.receive(w.message("hello again", from("7")))
	want(t, "queued", len(w.queued()), 1)
	w.receive(w.message("/pair revoke fake:7", from("9")))
	w.receive(w.message("and again", from("7")))
	want(t, "queued after the revocation", len(w.queued()), 1)
}

// What the configuration gives it takes away again: to have been seen, so that there is a chat to ask in, is no standing.
func TestStandingEndsWithTheConfiguration(t *testing.T) {
	w := newWorld(t, trusted)
	defer w.close()
	w.receive(w.message("hello", from("9")))
	if home, ok := w.access.Home(t.Context()); !ok || home.Chat != "9" {
		t.Fatalf("home: %+v %v", home, ok)
	}
	w.access = NewAccess(AccessConfig{Admins: []string{"fake:8"}, Pairing: true}, w.s)
	w.g.cfg.Access = w.access
	if by, ok, err := w.access.Who(t.Context(), "fake:9"); ok || by.Admin || err != nil {
		t.Errorf("who was an admin is one still: %+v %v", by, err)
	}
	if home, ok := w.access.Home(t.Context()); ok {
		t.Errorf("their chat is asked still: %+v", home)
	}
	w.mouth.texts()
	w.receive(w.message("hello", from("9")))
	if said := w.mouth.texts(); len(said) != 1 || !strings.Contains(said[0], "`") {
		t.Errorf("they are told %q, want a code", said)
	}
}

func TestStrangersComeInNumbers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, trusted)
		defer w.close()
		for i := range 100 {
			w.receive(w.message("hello", from(string(rune('a'+i%26))+string(rune('a'+i/26)))))
		}
		want(t, "greetings at once", len(w.mouth.texts()), greetings)
		time.Sleep(time.Hour)
		w.receive(w.message("hello", from("zz9")))
		want(t, "an hour later", len(w.mouth.texts()), 1)
	})
}

func TestClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := trusted
		c.access.Admins, c.access.Pairing = nil, false
		w := newWorld(t, c)
		defer w.close()
		code, err := w.access.ClaimCode(t.Context())
		if err != nil || len(code) != codeLength {
			t.Fatalf("%q %v", code, err)
		}
		if f, _ := w.s.Fact(t.Context(), claimFact); f == "" || strings.Contains(f, code) {
			t.Errorf("stored: %q", f)
		}
		w.receive(w.message(code, group(true)))
		w.receive(w.message("/start WRONG234", from("7")))
		if said := w.mouth.texts(); len(said) != 0 {
			t.Errorf("said: %q", said)
		}
		m := w.message("/start "+strings.ToLower(code), from("7"))
		w.receive(m, m)
		if said := w.mouth.texts(); len(said) != 1 || !strings.Contains(said[0], "You are the owner") {
			t.Errorf("said: %q", said)
		}
		by, ok, err := w.access.Who(t.Context(), "fake:7")
		if !ok || !by.Admin || err != nil {
			t.Errorf("the owner: %+v %v", by, err)
		}
		home, ok := w.access.Home(t.Context())
		if !ok || home.Chat != "7" {
			t.Errorf("home: %+v", home)
		}
		w.receive(w.message("/start "+code, from("8")))
		if by, ok, _ := w.access.Who(t.Context(), "fake:8"); ok {
			t.Errorf("the code worked twice: %+v", by)
		}
		if again, err := w.access.ClaimCode(t.Context()); again != "" || err != nil {
			t.Errorf("a code although there is an owner: %q %v", again, err)
		}
	})
}

func TestGuessesAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, setup{})
		defer w.close()
		code, err := w.access.ClaimCode(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for range 3 * claimTries {
			w.access.Claims("fake:7", "22222222")
		}
		want(t, "the right one among too many guesses", w.access.Claims("fake:7", code), false)
		want(t, "the right one, from somebody else", w.access.Claims("fake:1", code), true)
		time.Sleep(time.Minute)
		want(t, "a minute later", w.access.Claims("fake:7", code), true)
		for n := range claimGlut {
			w.access.Claims(core.PrincipalID(fmt.Sprint("fake:g", n)), "22222222")
		}
		want(t, "the right one among too many people's guesses", w.access.Claims("fake:1", code), false)
	})
}

func TestAdminsHomeIsRemembered(t *testing.T) {
	w := newWorld(t, trusted)
	defer w.close()
	if _, ok := w.access.Home(t.Context()); ok {
		t.Error("a home before anybody spoke")
	}
	w.receive(w.message("hello", from("9")))
	home, ok := w.access.Home(t.Context())
	if !ok || home.Chat != "9" || home.Platform != "fake" {
		t.Errorf("home: %+v %v", home, ok)
	}
}

func TestCodes(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		c := newCode()
		if len(c) != codeLength || strings.Trim(c, codeAlphabet) != "" || seen[c] {
			t.Fatalf("code %q", c)
		}
		seen[c] = true
	}
	want(t, "as typed", clean(" ab2c-d3ef "), "AB2CD3EF")
	want(t, "no code", clean("hello"), "")
}

func TestReloadChangesWhoMayTalk(t *testing.T) {
	w := newWorld(t, setup{access: AccessConfig{Allow: []string{"p:1"}}})
	defer w.close()
	a := w.access
	may := func(p core.PrincipalID) bool {
		_, ok, err := a.Who(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if !may("p:1") || may("p:2") {
		t.Fatal("the first rules do not hold")
	}
	a.Reload(AccessConfig{Allow: []string{"p:2"}})
	if may("p:1") || !may("p:2") {
		t.Error("the new rules do not hold")
	}
}
