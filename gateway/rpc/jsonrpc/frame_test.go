package jsonrpc_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"bellhop/gateway/rpc/jsonrpc"
)

// answer decodes a frame and answers its calls like a server with one method, "add", that says 1.
func answer(in string) string {
	f := jsonrpc.Decode([]byte(in))
	var replies [][]byte
	for _, c := range f.Calls {
		var e *jsonrpc.Error
		switch {
		case c.Err != nil:
			e = c.Err
		case c.Method != "add":
			e = &jsonrpc.Error{Code: jsonrpc.MethodNotFound, Message: "no such method"}
		}
		if !c.Notification() {
			replies = append(replies, jsonrpc.Reply(c.ID, 1, e))
		}
	}
	if f.Batch {
		return string(jsonrpc.Batch(replies))
	}
	return string(bytes.Join(replies, nil))
}

func TestDecode(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"positional params", `{"jsonrpc":"2.0","method":"add","params":[42,23],"id":1}`, `{"jsonrpc":"2.0","id":1,"result":1}`},
		{"named params", `{"jsonrpc":"2.0","method":"add","params":{"a":1},"id":3}`, `{"jsonrpc":"2.0","id":3,"result":1}`},
		{"no params", `{"jsonrpc":"2.0","method":"add","id":3}`, `{"jsonrpc":"2.0","id":3,"result":1}`},
		{"null params", `{"jsonrpc":"2.0","method":"add","params":null,"id":3}`, `{"jsonrpc":"2.0","id":3,"result":1}`},
		{"id keeps its type and form", `{"jsonrpc":"2.0","method":"add","id":"1"}`, `{"jsonrpc":"2.0","id":"1","result":1}`},
		{"big number id", `{"jsonrpc":"2.0","method":"add","id":12345678901234567890}`, `{"jsonrpc":"2.0","id":12345678901234567890,"result":1}`},
		{"null id is a request", `{"jsonrpc":"2.0","method":"add","id":null}`, `{"jsonrpc":"2.0","id":null,"result":1}`},
		{"notification", `{"jsonrpc":"2.0","method":"add","params":[1]}`, ``},
		{"notification of an unknown method", `{"jsonrpc":"2.0","method":"foobar"}`, ``},
		{"unknown method", `{"jsonrpc":"2.0","method":"foobar","id":"1"}`, `{"jsonrpc":"2.0","id":"1","error":{"code":-32601,"message":"no such method"}}`},
		{"unknown members are ignored", `{"jsonrpc":"2.0","method":"add","id":1,"trace":{"a":[]}}`, `{"jsonrpc":"2.0","id":1,"result":1}`},
		{"not JSON", `{"jsonrpc":"2.0","method":"foobar,"params":"bar","baz]`, `-32700 null`},
		{"nothing", ``, `-32700 null`},
		{"not UTF-8", "{\"jsonrpc\":\"2.0\",\"method\":\"a\xff\",\"id\":1}", `-32700 null`},
		{"method is a number", `{"jsonrpc":"2.0","method":1,"params":"bar"}`, `-32600 null`},
		{"method is missing", `{"jsonrpc":"2.0","id":7}`, `-32600 7`},
		{"method is null", `{"jsonrpc":"2.0","method":null,"id":7}`, `-32600 7`},
		{"params are a string", `{"jsonrpc":"2.0","method":"add","params":"bar","id":7}`, `-32600 7`},
		{"version is missing", `{"method":"add","id":7}`, `-32600 7`},
		{"version is another", `{"jsonrpc":"1.0","method":"add","id":7}`, `-32600 7`},
		{"version is a number", `{"jsonrpc":2.0,"method":"add","id":7}`, `-32600 7`},
		{"id is an object", `{"jsonrpc":"2.0","method":"add","id":{}}`, `-32600 null`},
		{"id is a boolean", `{"jsonrpc":"2.0","method":"add","id":true}`, `-32600 null`},
		{"a string", `"hello"`, `-32600 null`},
		{"empty batch", `[]`, `-32600 null`},
		{"broken batch", `[{"jsonrpc":"2.0","method":"add","id":"1"},{"jsonrpc":"2.0","method"]`, `-32700 null`},
		{"batch of no requests", `[1,2]`, `[-32600 null,-32600 null]`},
		{"batch of notifications", `[{"jsonrpc":"2.0","method":"add"},{"jsonrpc":"2.0","method":"b"}]`, ``},
		{"mixed batch", `[{"jsonrpc":"2.0","method":"add","id":"1"},{"jsonrpc":"2.0","method":"note"},{"foo":1},{"jsonrpc":"2.0","method":"add","id":9}]`,
			`[{"jsonrpc":"2.0","id":"1","result":1},-32600 null,{"jsonrpc":"2.0","id":9,"result":1}]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := shorten(t, answer(tt.in)); got != tt.want {
				t.Errorf("answer to %s\n got %s\nwant %s", tt.in, got, tt.want)
			}
		})
	}
}

// shorten writes the errors that the decoder found as "code id".
func shorten(t *testing.T, out string) string {
	t.Helper()
	if !strings.Contains(out, "-32600") && !strings.Contains(out, "-32700") {
		return out
	}
	short := func(raw json.RawMessage) string {
		var m jsonrpc.Message
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if m.Error == nil {
			return string(raw)
		}
		if m.Error.Message == "" {
			t.Errorf("%s has no message", raw)
		}
		code, _ := json.Marshal(m.Error.Code)
		return string(code) + " " + string(rawOr(m.ID, "null"))
	}
	var many []json.RawMessage
	if json.Unmarshal([]byte(out), &many) != nil {
		return short(json.RawMessage(out))
	}
	var parts []string
	for _, m := range many {
		parts = append(parts, short(m))
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func rawOr(raw json.RawMessage, other string) json.RawMessage {
	if raw == nil {
		return json.RawMessage(other)
	}
	return raw
}

func TestDecodeRefusesALongBatch(t *testing.T) {
	one := `{"jsonrpc":"2.0","method":"add","id":1}`
	in := "[" + strings.Repeat(one+",", jsonrpc.MaxBatch) + one + "]"
	if f := jsonrpc.Decode([]byte(in)); len(f.Calls) != 1 || f.Calls[0].Err == nil {
		t.Errorf("a batch of %d gave %d calls", jsonrpc.MaxBatch+1, len(f.Calls))
	}
}

func TestReplyOfNothing(t *testing.T) {
	if got := string(jsonrpc.Reply("1", nil, nil)); got != `{"jsonrpc":"2.0","id":1,"result":null}` {
		t.Errorf("got %s", got)
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"jsonrpc":"2.0","method":"a","id":1}`, `[1,{"jsonrpc":"2.0","method":"a"}]`, `[]`, `{}`, "[", "\xff",
		`{"jsonrpc":"2.0","method":"a","id":"\ud800","params":[{}]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		frame := jsonrpc.Decode(in)
		if len(frame.Calls) == 0 || len(frame.Calls) > jsonrpc.MaxBatch {
			t.Fatalf("%d calls", len(frame.Calls))
		}
		for _, c := range frame.Calls {
			if c.Err == nil && c.ID == "" {
				continue
			}
			reply := jsonrpc.Reply(c.ID, map[string]int{"a": 1}, c.Err)
			m, err := jsonrpc.Parse(reply)
			if err != nil || bytes.ContainsRune(reply, '\n') {
				t.Fatalf("reply %q: %v", reply, err)
			}
			if (m.Error == nil) == (m.Result == nil) {
				t.Fatalf("reply %s has not exactly one of result and error", reply)
			}
		}
	})
}
