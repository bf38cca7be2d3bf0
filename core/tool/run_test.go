package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a tool whose Call is a func.
type fake struct {
	spec Spec
	call func(ctx context.Context, env Env, args json.RawMessage) (Result, error)
}

func (f fake) Spec() Spec { return f.spec }
func (f fake) Assess(context.Context, Env, json.RawMessage) (Risk, error) {
	return Risk{Verdict: Allow}, nil
}
func (f fake) Call(ctx context.Context, env Env, args json.RawMessage) (Result, error) {
	return f.call(ctx, env, args)
}

func sleeper(d time.Duration) fake {
	return fake{call: func(ctx context.Context, env Env, _ json.RawMessage) (Result, error) {
		select {
		case <-time.After(d):
			return Result{Text: "slept " + d.String()}, nil
		case <-ctx.Done():
			return Result{}, ctx.Err()
		}
	}}
}

// watched runs jobs and returns what was told, in order.
func watched(ctx context.Context, r Runner, jobs []Job) (log []string, ended []Ended) {
	r.Run(ctx, jobs, Watch{
		Began: func(i int) { log = append(log, fmt.Sprint("began ", i)) },
		Ended: func(i int, e Ended) { log = append(log, fmt.Sprint("ended ", i)); ended = append(ended, e) },
	})
	return log, ended
}

func TestResultsComeInOrderAndWorkersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var jobs []Job
		for i := range 20 {
			jobs = append(jobs, Job{Tool: sleeper(time.Duration(20-i) * time.Second)})
		}
		begun := time.Now()
		log, ended := watched(t.Context(), Runner{Workers: 8}, jobs)
		next := map[string]int{}
		for _, l := range log {
			var what string
			var i int
			if _, err := fmt.Sscan(l, &what, &i); err != nil {
				t.Fatal(err)
			}
			if i != next[what] {
				t.Fatalf("out of order: %v", log)
			}
			next[what]++
		}
		if len(ended) != 20 || ended[0].Result.Text != "slept 20s" {
			t.Errorf("%d ended, first %+v", len(ended), ended[0])
		}
		if took := time.Since(begun); took < 27*time.Second || took > 40*time.Second {
			t.Errorf("took %s for 210 s of work on 8 workers", took)
		}
	})
}

func TestInterruptCutsRunningAndSkipsTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deaf := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		jobs := []Job{
			{Tool: sleeper(time.Second)},
			{Tool: sleeper(time.Hour)},
			{Tool: fake{call: func(context.Context, Env, json.RawMessage) (Result, error) { <-deaf; return Result{Text: "late"}, nil }}},
			{Tool: sleeper(time.Second)},
		}
		time.AfterFunc(10*time.Second, cancel)
		begun := time.Now()
		_, ended := watched(ctx, Runner{Workers: 3}, jobs[:3])
		if got := [3]Fate{ended[0].State, ended[1].State, ended[2].State}; got != [3]Fate{Ran, Cut, Lost} {
			t.Errorf("fates %v", got)
		}
		if took := time.Since(begun) - 10*time.Second; took > time.Second {
			t.Errorf("ended %s after the interrupt", took)
		}
		if _, ended = watched(ctx, Runner{}, jobs[3:]); ended[0].State != Skipped {
			t.Errorf("begun after the interrupt: %+v", ended[0])
		}
		close(deaf)
	})
}

func TestTimeoutPanicAndError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := sleeper(time.Hour)
		slow.spec.Timeout = 5 * time.Second
		_, ended := watched(t.Context(), Runner{}, []Job{
			{Tool: slow},
			{Tool: fake{call: func(context.Context, Env, json.RawMessage) (Result, error) { panic("boom") }}},
			{Tool: fake{call: func(context.Context, Env, json.RawMessage) (Result, error) {
				return Result{Text: "half"}, errors.New("broke")
			}}},
		})
		if e := ended[0]; e.State != Cut || !e.Result.Failed || !strings.Contains(e.Result.Text, "within 5s") {
			t.Errorf("timeout: %+v", e)
		}
		if e := ended[1]; e.State != Ran || !e.Result.Failed || strings.Contains(e.Result.Text, "boom") {
			t.Errorf("panic: %+v", e)
		}
		if e := ended[2]; e.State != Ran || !e.Result.Failed || e.Result.Text != "half\nbroke" {
			t.Errorf("error: %+v", e)
		}
	})
}

func TestBeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		beats := 0
		Runner{}.Run(t.Context(), []Job{{Tool: sleeper(35 * time.Second)}}, Watch{Ended: func(int, Ended) {}, Beat: func() { beats++ }})
		if beats != 3 {
			t.Errorf("%d beats in 35 s", beats)
		}
	})
}

// C146.
func TestClipKeepsRunesAndTellsTheTruth(t *testing.T) {
	env := Env{CallID: "../../x y", Spill: filepath.Join(t.TempDir(), "spill")}
	if SpillPath(env) != filepath.Join(env.Spill, "______x_y.txt") {
		t.Fatalf("path %s", SpillPath(env))
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Repeat(rapid.SampledFrom([]string{"😀", "é", "a", "命\n"}).Draw(t, "unit"), rapid.IntRange(300, 2000).Draw(t, "n"))
		limit := rapid.IntRange(60, 299).Draw(t, "max")
		r := Clip(Result{Text: text}, env, limit)
		var total, first, last int
		note := r.Text[strings.Index(r.Text, "\n\n[")+3:]
		if _, err := fmt.Sscanf(note, "%d bytes in all; the first %d and the last %d are shown.", &total, &first, &last); err != nil {
			t.Fatalf("%v: %s", err, note)
		}
		if total != len(text) || !strings.HasPrefix(text, r.Text[:first]) || !strings.HasSuffix(text, r.Text[len(r.Text)-last:]) {
			t.Fatalf("says %d, %d of %d, text has %d: %s", first, last, total, len(text), r.Text)
		}
		if !utf8.ValidString(r.Text) || strings.Contains(r.Text, "\uFFFD") || first+last > limit {
			t.Fatalf("bad cut at %d: %q", limit, r.Text)
		}
		if b, err := os.ReadFile(r.Path); err != nil || string(b) != text {
			t.Fatalf("file of %d bytes, %v", len(b), err)
		}
	})
}

func TestClipWithoutAPlaceToSpill(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := Clip(Result{Text: strings.Repeat("x", 5000)}, Env{CallID: "c", Spill: file}, 1000)
	if r.Path != "" || !strings.Contains(r.Text, "The rest could not be kept") {
		t.Errorf("%+v", r)
	}
}

// C019.
func TestShorten(t *testing.T) {
	if got, want := Shorten(strings.Repeat("命", 87), 260), strings.Repeat("命", 86)+"…"; got != want {
		t.Errorf("got %q", got)
	}
	if got := Line("  git push\nrm x", 100); got != "git push …" {
		t.Errorf("got %q", got)
	}
	if got := Repair("a\x00b\xff"); got != "ab\uFFFD" {
		t.Errorf("got %q", got)
	}
}

func TestSet(t *testing.T) {
	all := NewSet([]Tool{fake{spec: Spec{Name: "a"}}, fake{spec: Spec{Name: "b", Admin: true}}, fake{spec: Spec{Name: "c", Admin: true}}}, "c")
	names := func(admin bool) (out string) {
		for _, s := range all.Specs(admin) {
			if _, ok := all.For(admin, s.Name); !ok {
				t.Errorf("%s is listed but not given", s.Name)
			}
			out += s.Name
		}
		return out
	}
	if names(false) != "ac" || names(true) != "abc" {
		t.Errorf("%s, %s", names(false), names(true))
	}
	if _, ok := all.For(false, "b"); ok {
		t.Error("a tool for admins is given to everybody")
	}
	if _, ok := all.Lookup("b"); !ok {
		t.Error("not found")
	}
}
