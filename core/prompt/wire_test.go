package prompt

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"bellhop/core"
	"bellhop/core/provider"
	"bellhop/core/provider/providertest"
)

func person(text string) core.Message { return core.Message{Role: core.RoleUser, Content: text} }
func model(text string, calls ...string) core.Message {
	m := core.Message{Role: core.RoleAssistant, Content: text}
	for _, id := range calls {
		m.Calls = append(m.Calls, core.ToolCall{ID: id, Name: "look", Args: []byte(`{}`)})
	}
	return m
}
func result(id, text string) core.Message {
	return core.Message{Role: core.RoleTool, CallID: id, Content: text}
}

// sketch writes a request in one line a message.
func sketch(r provider.Request) string {
	var b strings.Builder
	for _, m := range r.Messages {
		fmt.Fprintf(&b, "%s", m.Role)
		if m.CallID != "" {
			fmt.Fprintf(&b, "(%s)", m.CallID)
		}
		if m.Text != "" {
			fmt.Fprintf(&b, " %s", m.Text)
		}
		for _, c := range m.Calls {
			fmt.Fprintf(&b, " +%s", c.ID)
		}
		if len(m.Images) > 0 {
			fmt.Fprintf(&b, " %d pictures", len(m.Images))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestWire(t *testing.T) {
	made := result("t1", "made up")
	made.Synthetic = true
	old := model("old")
	old.Superseded = true
	api := person("typed")
	api.APIContent = "Ann: typed"
	photo := core.Attachment{Kind: "photo", Name: "cat.png", Path: "media/cat.png"}
	shown := person("what is it?")
	shown.Attachment = []core.Attachment{photo}
	for name, c := range map[string]struct {
		rows      []core.Message
		alternate bool
		want      string
	}{
		"C131 killed before the second result": {rows: []core.Message{person("go"), model("", "t1", "t2"), result("t1", "one"), person("and?")},
			want: "user go\nassistant +t1 +t2\ntool(t1) one\ntool(t2) " + unknownResult + "\nuser and?\n"},
		"killed before any result": {rows: []core.Message{person("go"), model("", "t1")},
			want: "user go\nassistant +t1\ntool(t1) " + unknownResult + "\n"},
		"C132 result whose call was trimmed": {rows: []core.Message{result("t9", "lost"), person("go on")},
			want: "user go on\n"},
		"results in call order": {rows: []core.Message{person("go"), model("", "a", "b"), result("b", "B"), result("a", "A")},
			want: "user go\nassistant +a +b\ntool(a) A\ntool(b) B\n"},
		"a message between call and result": {rows: []core.Message{person("go"), model("", "a"), person("faster"), result("a", "A")},
			want: "user go\nassistant +a\ntool(a) A\nuser faster\n"},
		"a real result before one made up": {rows: []core.Message{person("go"), model("", "t1"), made, result("t1", "real"), result("t1", "again")},
			want: "user go\nassistant +t1\ntool(t1) real\n"},
		"one id in two rounds": {rows: []core.Message{person("go"), model("", "x"), result("x", "1"), model("", "x"), result("x", "2")},
			want: "user go\nassistant +x\ntool(x) 1\nassistant +x\ntool(x) 2\n"},
		"one id twice in a message": {rows: []core.Message{person("go"), model("", "x", "x"), result("x", "1")},
			want: "user go\nassistant +x +x_2\ntool(x) 1\ntool(x_2) " + unknownResult + "\n"},
		"no id":              {rows: []core.Message{person("go"), model("", ""), result("", "1")}, want: "user go\nassistant +call\ntool(call) 1\n"},
		"empty rows":         {rows: []core.Message{person("go"), model(" \n"), person(""), person("on")}, want: "user go\nuser on\n"},
		"superseded rows":    {rows: []core.Message{person("go"), old, model("new")}, want: "user go\nassistant new\n"},
		"api content":        {rows: []core.Message{api}, want: "user Ann: typed\n"},
		"broken text":        {rows: []core.Message{person("a\xffb\x00c")}, want: "user a\uFFFDbc\n"},
		"no output":          {rows: []core.Message{person("go"), model("", "a"), result("a", "")}, want: "user go\nassistant +a\ntool(a) " + noOutput + "\n"},
		"nothing":            {want: "user " + noMessage + "\n"},
		"a picture, unseen":  {rows: []core.Message{shown}, want: "user what is it?\n[attached: photo cat.png, saved as media/cat.png]\n"},
		"turns: two persons": {alternate: true, rows: []core.Message{person("a"), person("b"), model("c"), model("d", "t"), result("t", "T"), person("e")}, want: "user a\n\nb\nassistant c\n\nd +t\ntool(t) T\nassistant " + interrupted + "\nuser e\n"},
		"turns: begins late": {alternate: true, rows: []core.Message{model("a"), person("b")}, want: "user " + earlier + "\nassistant a\nuser b\n"},
	} {
		t.Run(name, func(t *testing.T) {
			before := fmt.Sprintf("%#v", c.rows)
			got := Wire("sys", c.rows, WireOptions{Model: "m", Alternate: c.alternate})
			if diff := cmp.Diff(c.want, sketch(got)); diff != "" {
				t.Error(diff)
			}
			if err := providertest.Legal(got); err != nil {
				t.Error(err)
			}
			if fmt.Sprintf("%#v", c.rows) != before {
				t.Error("the rows were changed")
			}
		})
	}
}

func TestWirePictures(t *testing.T) {
	see := func(a core.Attachment) (provider.Image, bool) {
		return provider.Image{MIME: "image/png", Data: []byte(a.Name)}, a.Name != "lost"
	}
	var rows []core.Message
	for i := range 10 {
		m := person(fmt.Sprint("picture ", i))
		m.Attachment = []core.Attachment{{Kind: "photo", Name: fmt.Sprint(i)}}
		rows = append(rows, m)
	}
	rows[9].Attachment[0].Name = "lost"
	got := Wire("", rows, WireOptions{Model: "m", Image: see})
	var seen []int
	for i, m := range got.Messages {
		if len(m.Images) > 0 {
			seen = append(seen, i)
		} else if !strings.Contains(m.Text, "[attached: photo") {
			t.Errorf("message %d has neither picture nor note: %q", i, m.Text)
		}
	}
	if diff := cmp.Diff([]int{2, 3, 4, 5, 6, 7, 8}, seen); diff != "" {
		t.Error(diff)
	}
}

func TestWireCalls(t *testing.T) {
	for name, c := range map[string]struct {
		in         core.ToolCall
		name, args string
	}{
		"fine":                {core.ToolCall{Name: "read_file", Args: []byte(`{"a": 1}`)}, "read_file", `{"a": 1}`},
		"dots and blanks":     {core.ToolCall{Name: "functions.read file", Args: []byte(`{}`)}, "functions_read_file", `{}`},
		"no name, no args":    {core.ToolCall{}, "unknown", `{}`},
		"too long":            {core.ToolCall{Name: strings.Repeat("ä", 70)}, strings.Repeat("_", 64), `{}`},
		"the model's words":   {core.ToolCall{Name: "a", Args: []byte(`"{\"path\":"`)}, "a", `{"unreadable_arguments":"{\"path\":"}`},
		"broken JSON":         {core.ToolCall{Name: "a", Args: []byte(`{"path":`)}, "a", `{"unreadable_arguments":"{\"path\":"}`},
		"a list":              {core.ToolCall{Name: "a", Args: []byte(`[1]`)}, "a", `{"unreadable_arguments":"[1]"}`},
		"invalid UTF-8 in it": {core.ToolCall{Name: "a", Args: []byte("{\"a\":\"\xff\"}")}, "a", "{\"a\":\"\uFFFD\"}"},
	} {
		t.Run(name, func(t *testing.T) {
			got := legalCalls([]core.ToolCall{c.in})[0]
			if got.Name != c.name || string(got.Args) != c.args {
				t.Errorf("%q %s", got.Name, got.Args)
			}
		})
	}
}

// rows draws any sequence of rows, most of which no sound gateway would ever store.
func rows(t *rapid.T) []core.Message {
	text := rapid.OneOf(rapid.SampledFrom([]string{"", " ", "hi", "\xff", "\x00", "😀"}), rapid.String())
	id := rapid.SampledFrom([]string{"", "a", "b", "c", "a_2", "\xff"})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) core.Message {
		m := core.Message{
			Role:       rapid.SampledFrom([]core.Role{core.RoleUser, core.RoleAssistant, core.RoleAssistant, core.RoleTool, core.RoleTool, "system", ""}).Draw(t, "role"),
			Content:    text.Draw(t, "content"),
			APIContent: rapid.SampledFrom([]string{"", "", "api", "\xff"}).Draw(t, "api"),
			Reasoning:  text.Draw(t, "reasoning"),
			CallID:     id.Draw(t, "call id"),
			Synthetic:  rapid.Bool().Draw(t, "synthetic"),
			Superseded: rapid.IntRange(0, 9).Draw(t, "superseded") == 0,
		}
		for range rapid.IntRange(0, 3).Draw(t, "calls") {
			m.Calls = append(m.Calls, core.ToolCall{ID: id.Draw(t, "id"), Name: text.Draw(t, "name"), Args: []byte(text.Draw(t, "args"))})
		}
		if rapid.IntRange(0, 5).Draw(t, "attached") == 0 {
			m.Attachment = []core.Attachment{{Kind: "photo", Name: text.Draw(t, "file")}, {Kind: "document"}}
		}
		return m
	}), 0, 25).Draw(t, "rows")
}

// TestWireAnyRows is the promise of Wire: whatever the rows are, the strict server takes the request.
func TestWireAnyRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		history := rows(t)
		o := WireOptions{Model: "m", Alternate: rapid.Bool().Draw(t, "alternate"), Reasoning: rapid.Bool().Draw(t, "keep reasoning")}
		got := Wire("sys", history, o)
		if err := providertest.Legal(got); err != nil {
			t.Fatalf("%v\n%s", err, sketch(got))
		}
		if o.Alternate {
			if err := providertest.Alternates(got); err != nil {
				t.Fatalf("%v\n%s", err, sketch(got))
			}
		}
		lost(t, history, got)
	})
}

// lost checks that what people wrote is still there, in order.
func lost(t *rapid.T, history []core.Message, got provider.Request) {
	var all strings.Builder
	for _, m := range got.Messages {
		if m.Role == core.RoleUser {
			all.WriteString(m.Text)
		}
	}
	rest := all.String()
	for i, m := range history {
		if m.Role != core.RoleUser || m.Superseded {
			continue
		}
		_, after, ok := strings.Cut(rest, said(&m))
		if !ok {
			t.Fatalf("row %d of the person is missing: %q", i, said(&m))
		}
		rest = after
	}
}

// FuzzWire reads bytes as a transcript.
func FuzzWire(f *testing.F) {
	f.Add([]byte("ugo\x00aab\x00ta1\x00unext"), true)
	f.Add([]byte("t\x00ta\x00a\x00a\xff\xff\x00u"), false)
	f.Fuzz(func(t *testing.T, script []byte, alternate bool) {
		var history []core.Message
		for _, row := range strings.Split(string(script), "\x00") {
			if row == "" {
				continue
			}
			m := core.Message{Content: row[1:]}
			switch row[0] {
			case 'u':
				m.Role = core.RoleUser
			case 'a':
				m.Role = core.RoleAssistant
				for _, c := range row[1:] {
					m.Calls = append(m.Calls, core.ToolCall{ID: string(c), Name: row, Args: []byte(row)})
				}
			default:
				m.Role, m.CallID = core.RoleTool, row[1:]
			}
			history = append(history, m)
		}
		got := Wire(string(script), history, WireOptions{Model: "m", Alternate: alternate})
		if err := providertest.Legal(got); err != nil {
			t.Fatalf("%v\n%s", err, sketch(got))
		}
		if alternate {
			if err := providertest.Alternates(got); err != nil {
				t.Fatalf("%v\n%s", err, sketch(got))
			}
		}
	})
}

func BenchmarkWire(b *testing.B) {
	var history []core.Message
	for i := 0; len(history) < 200; i++ {
		id := fmt.Sprint("call_", i)
		history = append(history, person(strings.Repeat("Please look at it again. ", 8)), model("", id),
			result(id, strings.Repeat("line of output\n", 100)), model(strings.Repeat("It says what it said. ", 20)))
	}
	b.ReportAllocs()
	for b.Loop() {
		Wire("sys", history, WireOptions{Model: "m"})
	}
}
