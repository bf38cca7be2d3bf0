package telegramtest

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite testdata from the vendor's description")

// described lies beside the checkout where there is one.
var described = filepath.Join("..", "..", "..", "..", "shared", "specs", "telegram.json")

// newer is what the vendor's change log says of versions after the description's (10.3: drafts with a stop button).
const newer = `
# 10.3
method sendMessageDraft
  can_stop Boolean
  keep_on_stop Boolean
`

type (
	vendorField struct {
		Name     string
		Types    []string
		Required bool
	}
	vendorEntry struct {
		Fields   []vendorField
		Subtypes []string
	}
	vendorSpec struct {
		Version string
		Methods map[string]vendorEntry
		Types   map[string]vendorEntry
	}
)

// TestDigest holds testdata/api.txt against the description where that is there; -update rewrites it.
func TestDigest(t *testing.T) {
	b, err := os.ReadFile(described)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the vendor's description is not there; the committed digest stands")
	}
	if err != nil {
		t.Fatal(err)
	}
	var spec vendorSpec
	if err := json.Unmarshal(b, &spec); err != nil {
		t.Fatal(err)
	}
	want := writeDigest(spec)
	if *update {
		if err := os.WriteFile(filepath.Join("testdata", "api.txt"), []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, apiText); diff != "" {
		t.Errorf("testdata/api.txt is stale, run with -update (-want +got):\n%s", diff)
	}
}

func writeDigest(spec vendorSpec) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", spec.Version)
	reached := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(spec.Methods)) {
		fmt.Fprintf(&b, "method %s\n", name)
		writeFields(&b, spec.Methods[name].Fields)
		if name == "sendMessageDraft" {
			for line := range strings.Lines(newer) {
				if strings.HasPrefix(line, "  ") {
					b.WriteString(line)
				}
			}
		}
		reach(spec, spec.Methods[name].Fields, reached)
	}
	for _, name := range slices.Sorted(maps.Keys(reached)) {
		if e := spec.Types[name]; len(e.Subtypes) > 0 {
			fmt.Fprintf(&b, "union %s %s\n", name, strings.Join(short(e.Subtypes), "|"))
		} else {
			fmt.Fprintf(&b, "type %s\n", name)
			writeFields(&b, e.Fields)
		}
	}
	return b.String()
}

func writeFields(b *strings.Builder, fields []vendorField) {
	for _, f := range fields {
		mark := ""
		if f.Required {
			mark = "!"
		}
		fmt.Fprintf(b, "  %s%s %s\n", f.Name, mark, strings.Join(short(f.Types), "|"))
	}
}

func short(types []string) []string {
	out := make([]string, len(types))
	for i, t := range types {
		out[i] = strings.ReplaceAll(t, "Array of ", "[]")
	}
	return out
}

// reach adds the types that requests can hold.
func reach(spec vendorSpec, fields []vendorField, into map[string]bool) {
	for _, f := range fields {
		for _, t := range f.Types {
			reachType(spec, strings.ReplaceAll(t, "Array of ", ""), into)
		}
	}
}

func reachType(spec vendorSpec, name string, into map[string]bool) {
	e, ok := spec.Types[name]
	if !ok || into[name] || name == "InputFile" {
		return
	}
	into[name] = true
	for _, sub := range e.Subtypes {
		reachType(spec, strings.ReplaceAll(sub, "Array of ", ""), into)
	}
	reach(spec, e.Fields, into)
}

func TestDigestChecks(t *testing.T) {
	d := loadDigest()
	call := func(js string) args {
		a := args{raw: map[string]json.RawMessage{}}
		if err := json.Unmarshal([]byte(js), &a.raw); err != nil {
			t.Fatal(err)
		}
		return a
	}
	for _, tt := range []struct{ method, js, want string }{
		{"sendMessage", `{"chat_id":1,"text":"x"}`, ""},
		{"sendMessage", `{"chat_id":"1","text":"x"}`, ""},
		{"sendMessage", `{"chat_id":1}`, "text is required"},
		{"sendMessage", `{"chat_id":1,"text":"x","message_thread":3}`, "unknown parameter message_thread"},
		{"sendMessage", `{"chat_id":1,"text":"x","message_thread_id":"a"}`, "message_thread_id: not an integer"},
		{"sendMessage", `{"chat_id":1,"text":5}`, "text: not a string"},
		{"sendMessage", `{"chat_id":1,"text":"x","reply_parameters":{"message":1}}`, "reply_parameters: ReplyParameters.message_id is required"},
		{"sendMessage", `{"chat_id":1,"text":"x","link_preview_options":{"is_off":true}}`, "link_preview_options: unknown field LinkPreviewOptions.is_off"},
		{"sendMessageDraft", `{"chat_id":1,"draft_id":2,"text":"x","can_stop":true}`, ""},
		{"setMessageReaction", `{"chat_id":1,"message_id":2,"reaction":[{"type":"emoji","emoji":"👀"}]}`, ""},
		{"makeCoffee", `{}`, "not in the description"},
	} {
		if got := strings.Join(d.check(tt.method, call(tt.js)), "; "); got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.method, tt.js, got, tt.want)
		}
	}
}
