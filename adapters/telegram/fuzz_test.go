package telegram

import (
	"fmt"
	"testing"
	"unicode/utf8"

	"bellhop/adapters"
)

// FuzzDecode: no update makes the decoder panic, and whatever it reads is text.
func FuzzDecode(f *testing.F) {
	f.Add(`{"update_id":1,` + inGroup(`"text":"/a@my_bot 😀 @my_bot","entities":[`+entity("mention", 13, 7)+`]`) + `}`)
	f.Add(`{"update_id":1,` + inDM(`"rich_message":{"blocks":[{"text":[["a"]]}]}`) + `}`)
	f.Add(`{"update_id":1,"callback_query":{"id":"q","data":"x"}}`)
	f.Add(`{"update_id":1,"my_chat_member":{}}`)
	f.Add(`{"update_id":1,"stopped_message_generation":{}}`)
	f.Add(`{"update_id":-1,"message":{}}`)
	f.Fuzz(func(t *testing.T, raw string) {
		in, id := (&Adapter{}).decode([]byte(raw), bell)
		if in.Kind == "" {
			t.Error("no kind")
		}
		if in.ID != fmt.Sprint(id) {
			t.Errorf("id is %q, want %d", in.ID, id)
		}
		if in.Kind != adapters.KindRaw && (!utf8.ValidString(in.Text) || !utf8.ValidString(in.Args)) {
			t.Errorf("text is not UTF-8: %q", in.Text)
		}
	})
}
