package openai

import (
	"strings"
	"testing"
)

func tokenData() []byte {
	return []byte(strings.TrimSuffix(strings.TrimPrefix(tokenEvent, "data: "), "\n\n"))
}

func TestPlain(t *testing.T) {
	wrap := func(delta string) string {
		return `{"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]}`
	}
	for in, want := range map[string]struct {
		text, reasoning string
		ok              bool
	}{
		string(tokenData()):                       {" porter", "", true},
		wrap(`{"content":"a\n\"b\"\\\/\t😀"}`):     {"a\n\"b\"\\/\t😀", "", true},
		wrap(`{"role":"assistant","content":""}`): {"", "", true},
		wrap(`{}`): {"", "", true},
		wrap(`{"content":null,"reasoning":"hm"}`):                     {"", "hm", true},
		wrap(`{"reasoning_content":"hm","x":null}`):                   {"", "hm", true},
		wrap(`{"content":"\u00e4"}`):                                  {}, // left to the full decoder
		wrap(`{"content":["a"]}`):                                     {},
		wrap(`{"content":"a","content":"b"}`):                         {},
		wrap(`{"reasoning":"a","reasoning_content":"b"}`):             {},
		wrap(`{"content":"a","tool_calls":[]}`):                       {},
		wrap(`{"content":"a`):                                         {},
		wrap("{\"content\":\"\xff\"}"):                                {},
		wrap(`{"Content":"a"}`):                                       {},
		`{"choices":[]}`:                                              {},
		`{"choices":[{"index":1,"delta":{}}]}`:                        {},
		`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`: {},
		`{"choices":[{"delta":{}}],"usage":{}}`:                       {},
		`{"choices":[{"delta":{}}],"error":{}}`:                       {},
		`{"choices":[{"delta":{}}],"Error":"x"}`:                      {},
		`{"choices":[{"delta":{}}]} x`:                                {},
		`{"choices":[{"delta":{}},{"delta":{}}]}`:                     {},
		``: {},
	} {
		text, reasoning, ok := plain([]byte(in))
		if ok != want.ok || ok && (text != want.text || reasoning != want.reasoning) {
			t.Errorf("%s: %q %q %v", in, text, reasoning, ok)
		}
	}
}

// FuzzPlain checks the promise of plain: what it accepts, a full decode reads the same.
func FuzzPlain(f *testing.F) {
	f.Add(tokenData())
	f.Add([]byte(`{"choices":[{"index":0,"delta":{"reasoning":"a\n","role":"x"},"logprobs":null}],"usage":null}`))
	f.Add([]byte(`{ "model" : 12 , "choices" : [ { "delta" : { "content" : "\/" } } ] }`))
	f.Fuzz(func(t *testing.T, data []byte) {
		text, reasoning, ok := plain(data)
		if !ok {
			return
		}
		c, err := decode(data)
		if err != nil || c.failure() || c.Usage != nil || len(c.Choices) != 1 {
			t.Fatalf("%v %+v", err, c)
		}
		ch := c.Choices[0]
		fullText, typed := ch.Delta.said()
		if fullText != text || ch.Delta.thought()+typed != reasoning || ch.FinishReason != "" || ch.Index != 0 || len(ch.Delta.ToolCalls) > 0 ||
			ch.Delta.FunctionCall != nil || ch.Message != nil || isSet(ch.Error) {
			t.Fatalf("plain read %q %q, in full it is %+v", text, reasoning, ch)
		}
	})
}

func BenchmarkChunk(b *testing.B) {
	data := tokenData()
	b.Run("plain", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, _, ok := plain(data); !ok {
				b.Fatal("not plain")
			}
		}
	})
	b.Run("encoding/json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := decode(data); err != nil {
				b.Fatal(err)
			}
		}
	})
}
