package web_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"bellhop/gateway/web"

	"github.com/chromedp/chromedp"
)

// faults is a small audit in the page: names of controls, headings, unique ids, contrast of text, sizes of targets, and
// nothing wider than the screen.
const faults = `(() => {
  const out = [];
  const seen = (n) => n.checkVisibility({ checkVisibilityCSS: true, checkOpacity: true });
  const label = (n) => n.getAttribute("aria-label") || (n.getAttribute("aria-labelledby") || "").split(" ").map((id) => document.getElementById(id)?.textContent || "").join("").trim()
    || [...(n.labels || [])].map((l) => l.textContent).join("").trim() || (n.tagName === "BUTTON" || n.tagName === "A" || n.tagName === "SUMMARY" ? n.textContent.trim() : "");
  for (const n of document.querySelectorAll("button, a[href], input, textarea, summary, [role=group], [role=region], nav, ol[id], section[id]")) {
    if (!["OL", "SECTION"].includes(n.tagName) && !label(n)) out.push("no name: " + n.outerHTML.slice(0, 80));
  }
  for (const n of document.querySelectorAll("img")) if (!n.hasAttribute("alt")) out.push("no alt: " + n.src);
  if (!document.documentElement.lang) out.push("no language");
  if (document.querySelectorAll("main").length !== 1 || document.querySelectorAll("h1").length !== 1) out.push("not one main and one h1");
  const ids = [...document.querySelectorAll("[id]")].map((n) => n.id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) out.push("id twice: " + id);
  for (const n of document.querySelectorAll("[aria-controls], [aria-labelledby], [aria-describedby]"))
    for (const a of ["aria-controls", "aria-labelledby", "aria-describedby"])
      for (const id of (n.getAttribute(a) || "").split(" ").filter(Boolean)) if (!document.getElementById(id)) out.push(a + " points nowhere: " + id);
  const channel = (c) => { c /= 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const rgb = (s) => s.match(/[\d.]+/g).map(Number);
  const ground = (n) => { for (; n; n = n.parentElement) { const c = rgb(getComputedStyle(n).backgroundColor); if (c.length < 4 || c[3] === 1) return c; } return [255, 255, 255]; };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let t; (t = walker.nextNode()); ) {
    const n = t.parentElement;
    if (!t.data.trim() || !seen(n) || n.closest(".hidden, .skip, noscript, [inert], :disabled")) continue;
    const [a, b] = [light(rgb(getComputedStyle(n).color)), light(ground(n))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) out.push("contrast " + ratio.toFixed(2) + ": " + t.data.trim().slice(0, 40));
  }
  for (const n of document.querySelectorAll("button, summary, input, textarea")) {
    const r = n.getBoundingClientRect();
    if (seen(n) && (r.height < 24 || r.width < 24)) out.push("small target: " + n.textContent);
  }
  if (document.documentElement.scrollWidth > innerWidth) out.push("wider than the screen: " + document.documentElement.scrollWidth);
  return out;
})()`

// TestAccess audits the page in the states that it can be in, light and dark, narrow and wide.
func TestAccess(t *testing.T) {
	g := make(gate)
	s := serve(t, talkative(g))
	for _, width := range []int64{390, 1280} {
		b := open(t, width, 800)
		audit := func(state string) {
			t.Helper()
			for _, f := range get[[]string](b, faults) {
				t.Errorf("%s at %d: %s", state, width, f)
			}
		}
		b.do(chromedp.Navigate(s.link()))
		b.until(`document.querySelectorAll(".idea").length === 3`)
		audit("empty")
		b.say("approve this")
		b.shows(".card", "rm -rf build")
		b.say("and this waits")
		b.shows("#queue li", "and this waits")
		audit("asking")
		b.dark()
		audit("asking, dark")
		b.do(chromedp.Click(`//section[contains(@class,"card")]//button[text()="Always"]`))
		g.open(t, 1)
		b.shows(".text", "You said: and this waits")
		b.do(chromedp.Click(`.tool summary`))
		audit("answered, dark")
		b.picture("access-dark")

		b.do(chromedp.Evaluate(`document.getElementById("log").insertAdjacentHTML("beforeend", "<button></button><img id=log>")`, nil))
		if n := len(get[[]string](b, faults)); n < 4 {
			t.Errorf("the audit finds %d of 4 planted faults", n)
		}
	}
}

// TestNoJump: what stands on the page stays where it is while an answer streams and ends.
func TestNoJump(t *testing.T) {
	g := make(gate)
	s := serve(t, talkative(g))
	b := open(t, 1280, 800)
	b.do(chromedp.Navigate(s.link()))
	b.until(`document.body.dataset.connection === "online"`)
	const places = `["#text", ".asked", ".answer h2", ".answer pre", ".answer ol"].map(q => document.querySelector(q)).map(n => n ? Math.round(n.getBoundingClientRect().top) : -1)`
	b.say("stream it")
	g.open(t, 8)
	b.shows(".text.live pre", "fmt.Println")
	before := get[[]int](b, places)
	g.open(t, strings.Count(answerText, "\n")+1-8)
	b.until(`document.getElementById("stop").hidden`)
	after := get[[]int](b, places)
	for i := range before {
		if d := after[i] - before[i]; d < -2 || d > 2 {
			t.Errorf("place %d moved by %d pixels when the answer was complete", i, d)
		}
	}
}

func TestHandler(t *testing.T) {
	h := web.Handler()
	for path, want := range map[string]int{"/": 200, "/web/app.js": 200, "/web/app.css": 200, "/web/icon.svg": 200,
		"/web/": 404, "/web/index.html": 404, "/other": 404, "/web/../web.go": 404} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
		if w.Code != 200 {
			continue
		}
		if csp := w.Header().Get("Content-Security-Policy"); strings.Contains(csp, "unsafe") || !strings.Contains(csp, "default-src 'none'") {
			t.Errorf("%s: policy %q", path, csp)
		}
		again := httptest.NewRequest("GET", path, nil)
		again.Header.Set("If-None-Match", w.Header().Get("ETag"))
		r := httptest.NewRecorder()
		h.ServeHTTP(r, again)
		if r.Code != http.StatusNotModified {
			t.Errorf("%s again: %d", path, r.Code)
		}
		if strings.Contains(w.Body.String(), "http://") && path != "/web/icon.svg" || strings.Contains(w.Body.String(), "https://") {
			t.Errorf("%s names something elsewhere", path)
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("POST", "/", nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
}
