package openai

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

// assemble plays deltas, each the JSON of one chunk's delta, and writes the calls one a line.
func assemble(t testing.TB, deltas ...string) (ids []string, out string, err error) {
	t.Helper()
	var c calls
	for _, raw := range deltas {
		var d delta
		if err := json.Unmarshal([]byte(raw), &d); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		for _, x := range d.ToolCalls {
			if _, err := c.add(x); err != nil {
				return nil, "", err
			}
		}
		if d.FunctionCall != nil {
			if _, err := c.add(callDelta{Function: *d.FunctionCall}); err != nil {
				return nil, "", err
			}
		}
	}
	var b strings.Builder
	for _, x := range c.done() {
		ids = append(ids, x.ID)
		b.WriteString(x.Name + " " + string(x.Args) + "\n")
	}
	return ids, b.String(), nil
}

func TestCalls(t *testing.T) {
	for name, c := range map[string]struct {
		deltas []string
		want   string
	}{
		"by index, interleaved": {[]string{
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}},{"index":1,"id":"b","function":{"name":"g","arguments":""}}]}`,
			`{"tool_calls":[{"index":1,"function":{"arguments":"{\"x\""}}]}`, `{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}`,
			`{"tool_calls":[{"index":1,"function":{"arguments":":1}"}}]}`}, "f {}\ng {\"x\":1}\n"},
		"index 0 for both": {[]string{
			`{"tool_calls":[{"index":0,"id":"call_a","function":{"name":"read_file","arguments":"{\"path\":\"a\"}"}}]}`,
			`{"tool_calls":[{"index":0,"id":"call_b","function":{"name":"read_file","arguments":"{\"path\":\"b\"}"}}]}`},
			"read_file {\"path\":\"a\"}\nread_file {\"path\":\"b\"}\n"},
		"index 0 for both, in pieces": {[]string{
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}}]}`, `{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}`,
			`{"tool_calls":[{"index":0,"id":"b","function":{"name":"f","arguments":"{\"x\":"}}]}`, `{"tool_calls":[{"index":0,"function":{"arguments":"2}"}}]}`},
			"f {\"x\":1}\nf {\"x\":2}\n"},
		"id in every delta": {[]string{
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}}]}`,
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"1}"}}]}`}, "f {\"x\":1}\n"},
		"name in every delta, no id": {[]string{
			`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{\"x\":"}}]}`,
			`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"1}"}}]}`}, "f {\"x\":1}\n"},
		"neither index nor id": {[]string{`{"tool_calls":[{"function":{"name":"f","arguments":"{}"}},{"function":{"name":"f","arguments":"{\"x\":1}"}}]}`},
			"f {}\nf {\"x\":1}\n"},
		"no index, id first": {[]string{`{"tool_calls":[{"id":"a","function":{"name":"f"}}]}`, `{"tool_calls":[{"function":{"arguments":"{}"}}]}`,
			`{"tool_calls":[{"id":"b","function":{"name":"g"}}]}`, `{"tool_calls":[{"function":{"arguments":"{\"x\":1}"}}]}`}, "f {}\ng {\"x\":1}\n"},
		"an object":              {[]string{`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":{"x":1}}}]}`}, "f {\"x\":1}\n"},
		"null arguments":         {[]string{`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":null}}]}`}, "f {}\n"},
		"function_call":          {[]string{`{"function_call":{"name":"f","arguments":""}}`, `{"function_call":{"arguments":"{\"x\":"}}`, `{"function_call":{"arguments":"1}"}}`}, "f {\"x\":1}\n"},
		"id after the name":      {[]string{`{"tool_calls":[{"index":0,"function":{"name":"f"}}]}`, `{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"{}"}}]}`}, "f {}\n"},
		"an empty call":          {[]string{`{"tool_calls":[{"index":0,"function":{}}]}`}, ""},
		"blanks in the name":     {[]string{`{"tool_calls":[{"index":0,"id":"a","function":{"name":" f\n"}}]}`}, "f {}\n"},
		"arguments cut short":    {[]string{`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}}]}`}, "f \"{\\\"x\\\":\"\n"},
		"indexes begin at 1":     {[]string{`{"tool_calls":[{"index":1,"id":"a","function":{"name":"f","arguments":"{}"}}]}`}, "f {}\n"},
		"blanks after an object": {[]string{`{"tool_calls":[{"id":"a","function":{"name":"f","arguments":" {} \n"}}]}`}, "f {}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			ids, got, err := assemble(t, c.deltas...)
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("%v %s", err, diff)
			}
			seen := map[string]bool{}
			for _, id := range ids {
				if id == "" || seen[id] {
					t.Errorf("ids %q", ids)
				}
				seen[id] = true
			}
		})
	}
}

func TestCallsAreBounded(t *testing.T) {
	var c calls
	big := callDelta{ID: "a", Function: functionDelta{Name: "f", Arguments: json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`)}}
	var err error
	for n := 0; err == nil; n++ {
		if _, err = c.add(big); n > 100 {
			t.Fatal("arguments without end")
		}
	}
	if !errors.Is(err, errTooMuch) {
		t.Error(err)
	}
	var many calls
	err = nil
	for n := 0; err == nil; n++ {
		if _, err = many.add(callDelta{ID: strings.Repeat("x", n+1)}); n > 1000 {
			t.Fatal("calls without end")
		}
	}
}

// FuzzCalls plays any deltas: nothing panics, ids are there, arguments are an object or a string, and nothing that a
// standard stream says is lost.
func FuzzCalls(f *testing.F) {
	f.Add(`[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}},{"index":0,"id":"b","function":{"name":"f","arguments":{"x":1}}}]`)
	f.Add(`[{"function":{"name":"f"}},{"id":"a"},{"index":3,"function":{"arguments":"{"}}]`)
	f.Fuzz(func(t *testing.T, raw string) {
		var deltas []callDelta
		if json.Unmarshal([]byte(raw), &deltas) != nil {
			return
		}
		var c calls
		size := 0
		for _, d := range deltas {
			size += len(arguments(d.Function.Arguments))
			if _, err := c.add(d); err != nil {
				return
			}
		}
		kept := 0
		for _, b := range c.list {
			kept += len(b.args)
		}
		if kept != size {
			t.Errorf("%d bytes of arguments came, %d were kept", size, kept)
		}
		for _, call := range c.done() {
			checkCall(t, call)
		}
	})
}

func checkCall(t *testing.T, call core.ToolCall) {
	t.Helper()
	if call.ID == "" || !json.Valid(call.Args) || call.Args[0] != '{' && call.Args[0] != '"' {
		t.Errorf("%+v", call)
	}
	if _, err := json.Marshal(call); err != nil {
		t.Errorf("it cannot be stored: %v", err)
	}
}
