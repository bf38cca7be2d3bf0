package telegram

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bellhop/adapters"
)

// bell is the bot of these tests.
var bell = identity{id: 999, name: "My_Bot"}

// in decodes one update given by what follows its id.
func in(t *testing.T, fields string) adapters.Inbound {
	t.Helper()
	a := &Adapter{}
	got, id := a.decode([]byte(`{"update_id":501,`+fields+`}`), bell)
	if id != 501 || got.ID != "501" {
		t.Fatalf("id is %d and %q, want 501", id, got.ID)
	}
	return got
}

const (
	ann     = `"from":{"id":111,"is_bot":false,"first_name":"Ann","last_name":"Lee","username":"ann","language_code":"en"}`
	private = `"chat":{"id":111,"type":"private","first_name":"Ann"},"date":1790000000`
	group   = `"chat":{"id":-1001234567890,"type":"supergroup","title":"Ops"},"date":1790000000`
	forum   = `"chat":{"id":-1001234567890,"type":"supergroup","title":"Ops","is_forum":true},"date":1790000000`
)

func inGroup(fields string) string {
	return `"message":{"message_id":77,` + ann + `,` + group + `,` + fields + `}`
}

func inDM(fields string) string {
	return `"message":{"message_id":77,` + ann + `,` + private + `,` + fields + `}`
}

func TestMessage(t *testing.T) {
	got := in(t, `"message":{"message_id":77,"message_thread_id":12,"is_topic_message":true,`+ann+`,`+forum+`,
		"media_group_id":"139","text":"/ask@my_bot hi 😀 @my_bot","entities":[{"type":"bot_command","offset":0,"length":11},{"type":"mention","offset":18,"length":7}],
		"reply_to_message":{"message_id":70,"from":{"id":999,"is_bot":true,"first_name":"Bell"},`+forum+`,"text":"the whole list"},
		"quote":{"text":"item 2","position":4,"is_manual":true}}`)
	want := adapters.Inbound{Kind: adapters.KindMessage, ID: "501", Message: "77", Group: true, Mentioned: true, Album: "139",
		Target: adapters.Target{Chat: "-1001234567890", Thread: "12", Group: true},
		From:   adapters.Person{ID: "111", Name: "Ann Lee", User: "ann", Lang: "en"},
		Text:   "/ask hi 😀", Command: "ask", Args: "hi 😀", Sent: when(1790000000),
		Reply: &adapters.Reply{Message: "70", Author: "Bell", Text: "the whole list", Quote: "item 2", Own: true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func entity(kind string, offset, length int) string {
	return fmt.Sprintf(`{"type":%q,"offset":%d,"length":%d}`, kind, offset, length)
}

// Commands in a group come as one entity over the whole word, without a mention (C074).
func TestGroupCommands(t *testing.T) {
	for _, tt := range []struct {
		name, text, entities string
		command, args        string
		mentioned, other     bool
	}{
		{"menu form", "/new@My_Bot", entity("bot_command", 0, 11), "new", "", true, false},
		{"any case", "/NEW@my_bot now", entity("bot_command", 0, 11), "new", "now", true, false},
		{"another bot's", "/new@other_bot", entity("bot_command", 0, 14), "", "", false, true},
		{"bare", "/new", entity("bot_command", 0, 4), "new", "", false, false},
		{"without entity", "/new", "", "new", "", false, false},
		{"named, without entity", "/new@my_bot x", "", "new", "x", true, false},
		{"in a quotation", "/new@My_Bot", entity("bot_command", 0, 11) + "," + entity("blockquote", 0, 11), "", "", false, false},
		{"in code", "/new", entity("code", 0, 4), "", "", false, false},
		{"further down", "hey /new@my_bot", entity("bot_command", 4, 11), "", "", true, false},
		{"after wide characters", "你好 /start@my_bot", entity("bot_command", 3, 13), "", "", true, false},
		{"emoji before a mention", "😀😀 @my_bot /new", entity("mention", 5, 7) + "," + entity("bot_command", 13, 4), "", "", true, false},
		{"mention, then command", "@my_bot /new x", entity("mention", 0, 7) + "," + entity("bot_command", 8, 4), "new", "x", true, false},
		{"a path", "/etc/passwd", entity("bot_command", 0, 4), "", "", false, false},
		{"33 letters", "/" + strings.Repeat("a", 33), "", "", "", false, false},
		{"entity past the end", "hi", entity("mention", 1, 40), "", "", false, false},
		{"entity before the start", "hi", entity("mention", -1, 2), "", "", false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := in(t, inGroup(fmt.Sprintf(`"text":%q,"entities":[%s]`, tt.text, tt.entities)))
			if got.Command != tt.command || got.Args != tt.args || got.Mentioned != tt.mentioned || got.Other != tt.other {
				t.Errorf("command %q args %q mentioned %v other %v, want %q %q %v %v", got.Command, got.Args, got.Mentioned, got.Other,
					tt.command, tt.args, tt.mentioned, tt.other)
			}
		})
	}
}

func TestForwardedDoesNotSpeakToTheBot(t *testing.T) {
	got := in(t, inGroup(`"forward_origin":{"type":"hidden_user","date":1,"sender_user_name":"x"},"text":"/new@my_bot @my_bot",
		"entities":[`+entity("bot_command", 0, 11)+`,`+entity("mention", 12, 7)+`]`))
	if got.Mentioned || got.Command != "" || got.Text != "/new@my_bot @my_bot" {
		t.Errorf("got %+v", got)
	}
}

func TestMentionOfOneWithoutName(t *testing.T) {
	got := in(t, inGroup(`"text":"Bell please","entities":[{"type":"text_mention","offset":0,"length":4,"user":{"id":999,"is_bot":true,"first_name":"Bell"}}]`))
	if !got.Mentioned || got.Text != "please" {
		t.Errorf("mentioned %v text %q", got.Mentioned, got.Text)
	}
}

// A command in the caption of an album's first picture works, and captions are kept apart (C071).
func TestAlbum(t *testing.T) {
	got := in(t, inDM(`"media_group_id":"5","caption":"/describe before","caption_entities":[`+entity("bot_command", 0, 9)+`],
		"photo":[{"file_id":"s","width":90,"height":60,"file_size":100},{"file_id":"L","width":1280,"height":853,"file_size":9000},{"file_id":"m","width":320,"height":200}]`))
	want := []adapters.File{{Kind: "photo", Ref: "L", MIME: "image/jpeg", Size: 9000}}
	if got.Command != "describe" || got.Args != "before" || got.Album != "5" || !cmp.Equal(got.Files, want) {
		t.Errorf("got %+v", got)
	}
}

func TestFiles(t *testing.T) {
	for fields, want := range map[string]adapters.File{
		`"document":{"file_id":"d","file_name":"a.pdf","mime_type":"application/pdf","file_size":12}`: {Kind: "document", Ref: "d", Name: "a.pdf", MIME: "application/pdf", Size: 12},
		`"voice":{"file_id":"v","duration":3,"file_size":7}`:                                          {Kind: "voice", Ref: "v", MIME: "audio/ogg", Size: 7},
		`"audio":{"file_id":"a","duration":3,"file_name":"s.mp3","mime_type":"audio/mpeg"}`:           {Kind: "audio", Ref: "a", Name: "s.mp3", MIME: "audio/mpeg"},
		`"video":{"file_id":"v","width":1,"height":1,"duration":1,"mime_type":"video/mp4"}`:           {Kind: "video", Ref: "v", MIME: "video/mp4"},
		`"video_note":{"file_id":"n","length":240,"duration":3}`:                                      {Kind: "video_note", Ref: "n", MIME: "video/mp4"},
		`"sticker":{"file_id":"s","type":"regular","emoji":"👍","is_video":true}`:                      {Kind: "sticker", Ref: "s", Name: "👍", MIME: "video/webm"},
		`"animation":{"file_id":"g","file_name":"x.mp4"},"document":{"file_id":"g"}`:                  {Kind: "video", Ref: "g", Name: "x.mp4"},
	} {
		got := in(t, inDM(fields))
		if diff := cmp.Diff([]adapters.File{want}, got.Files); diff != "" || got.Kind != adapters.KindMessage {
			t.Errorf("%s is %s (-want +got)\n%s", fields, got.Kind, diff)
		}
	}
}

// The General topic is told apart; plain reply threads are no topics (C075).
func TestThreads(t *testing.T) {
	for name, tt := range map[string]struct{ fields, want string }{
		"General":             {`"message":{"message_id":1,` + ann + `,` + forum + `,"text":"x"}`, "1"},
		"a reply in General":  {`"message":{"message_id":1,"message_thread_id":44,` + ann + `,` + forum + `,"text":"x"}`, "1"},
		"a topic":             {`"message":{"message_id":1,"message_thread_id":44,"is_topic_message":true,` + ann + `,` + forum + `,"text":"x"}`, "44"},
		"a plain reply":       {`"message":{"message_id":1,"message_thread_id":44,` + ann + `,` + group + `,"text":"x"}`, ""},
		"a topic in a DM":     {`"message":{"message_id":1,"message_thread_id":9,"is_topic_message":true,` + ann + `,` + private + `,"text":"x"}`, "9"},
		"a DM without topics": {`"message":{"message_id":1,` + ann + `,` + private + `,"text":"x"}`, ""},
	} {
		if got := in(t, tt.fields).Target.Thread; got != tt.want {
			t.Errorf("%s: thread %q, want %q", name, got, tt.want)
		}
	}
}

// Everything in a topic answers the message that made it: that is no reply, and not one to the bot.
func TestTopicServiceMessageIsNoReply(t *testing.T) {
	got := in(t, `"message":{"message_id":5,"message_thread_id":44,"is_topic_message":true,`+ann+`,`+forum+`,"text":"x",
		"reply_to_message":{"message_id":44,"from":{"id":999,"is_bot":true,"first_name":"Bell"},`+forum+`,"forum_topic_created":{"name":"b","icon_color":1}}}`)
	if got.Reply != nil || got.Mentioned {
		t.Errorf("reply %+v mentioned %v", got.Reply, got.Mentioned)
	}
}

// C078 begins here; package prompt makes the context of it.
func TestReplies(t *testing.T) {
	for name, tt := range map[string]struct {
		fields string
		want   *adapters.Reply
	}{
		"whole":       {`"reply_to_message":{"message_id":7,` + ann + `,` + group + `,"text":"ten items"}`, &adapters.Reply{Message: "7", Author: "Ann Lee", Text: "ten items"}},
		"caption":     {`"reply_to_message":{"message_id":7,` + ann + `,` + group + `,"caption":"cap","photo":[{"file_id":"p"}]}`, &adapters.Reply{Message: "7", Author: "Ann Lee", Text: "cap"}},
		"media":       {`"reply_to_message":{"message_id":7,` + ann + `,` + group + `,"voice":{"file_id":"v"}}`, &adapters.Reply{Message: "7", Author: "Ann Lee", Text: "[voice]"}},
		"elsewhere":   {`"external_reply":{"origin":{"type":"something_new"}},"quote":{"text":"part","position":0}`, &adapters.Reply{Quote: "part"}},
		"no quote":    {`"external_reply":{"origin":{"type":"user"}}`, nil},
		"not a reply": {`"date":1`, nil},
	} {
		if diff := cmp.Diff(tt.want, in(t, inGroup(`"text":"x",`+tt.fields)).Reply); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

func TestWhoWrites(t *testing.T) {
	for name, tt := range map[string]struct {
		fields string
		want   adapters.Person
	}{
		"a person":           {ann, adapters.Person{ID: "111", Name: "Ann Lee", User: "ann", Lang: "en"}},
		"a bot":              {`"from":{"id":5,"is_bot":true,"first_name":"Robo","username":"robo_bot"}`, adapters.Person{ID: "5", Name: "Robo", User: "robo_bot", Bot: true}},
		"an anonymous admin": {`"from":{"id":1087968824,"is_bot":true,"first_name":"Group","username":"GroupAnonymousBot"},"sender_chat":{"id":-1001234567890,"type":"supergroup","title":"Ops"}`, adapters.Person{ID: "-1001234567890", Name: "Ops"}},
		"as a channel":       {`"from":{"id":136817688,"is_bot":true,"first_name":"Channel"},"sender_chat":{"id":-1002,"type":"channel","title":"News","username":"news"}`, adapters.Person{ID: "-1002", Name: "News", User: "news"}},
	} {
		got := in(t, `"message":{"message_id":1,`+tt.fields+`,`+group+`,"text":"x"}`)
		if diff := cmp.Diff(tt.want, got.From); diff != "" || got.Kind != adapters.KindMessage {
			t.Errorf("%s: %s (-want +got)\n%s", name, got.Kind, diff)
		}
	}
}

// The rest of a long paste may still come (C072): decided in UTF-16 units, before anything is taken out of the text.
func TestNear(t *testing.T) {
	for text, want := range map[string]bool{
		strings.Repeat("a", 3999): false, strings.Repeat("a", 4000): true, strings.Repeat("😀", 2000): true,
		strings.Repeat("字", 3999): false, "": false, "hi": false,
	} {
		if got := in(t, inDM(fmt.Sprintf(`"text":%q`, text))); got.Near != want {
			t.Errorf("near is %v for %d units", got.Near, utf16Len(text))
		}
	}
}

// An old command that comes again as an edit is not a command (C069).
func TestEdit(t *testing.T) {
	got := in(t, `"edited_message":{"message_id":77,`+ann+`,`+private+`,"edit_date":1790000050,"text":"/stop","entities":[`+entity("bot_command", 0, 5)+`]}`)
	if got.Kind != adapters.KindEdit || got.Command != "" || got.Text != "/stop" || got.Message != "77" || !got.Edited.Equal(when(1790000050)) {
		t.Errorf("got %+v", got)
	}
}

func TestService(t *testing.T) {
	for name, tt := range map[string]struct {
		fields string
		want   adapters.Inbound
	}{
		"migration":                       {inGroup(`"migrate_to_chat_id":-1001557912345`), adapters.Inbound{Migrate: "-1001557912345"}},
		"migration, told in the new chat": {inGroup(`"migrate_from_chat_id":-42`), adapters.Inbound{Target: adapters.Target{Chat: "-42"}, Migrate: "-1001234567890"}},
		"joined":                          {inGroup(`"new_chat_members":[{"id":1,"is_bot":false,"first_name":"x"}]`), adapters.Inbound{}},
		"linked channel":                  {inGroup(`"is_automatic_forward":true,"text":"post"`), adapters.Inbound{}},
		"channel post":                    {`"channel_post":{"message_id":1,"text":"x"}`, adapters.Inbound{}},
		"business message":                {`"business_message":{"message_id":1,"text":"x"}`, adapters.Inbound{}},
		"kinds to come":                   {`"telepathy":{"thought":1}`, adapters.Inbound{}},
		"blocked":                         {`"my_chat_member":{` + ann + `,` + private + `,"old_chat_member":{"status":"member"},"new_chat_member":{"status":"kicked","until_date":0}}`, adapters.Inbound{Unreachable: true}},
		"left":                            {`"my_chat_member":{` + ann + `,` + group + `,"new_chat_member":{"status":"left"}}`, adapters.Inbound{Unreachable: true}},
		"back":                            {`"my_chat_member":{` + ann + `,` + private + `,"new_chat_member":{"status":"member"}}`, adapters.Inbound{}},
		"unknown status":                  {`"my_chat_member":{` + ann + `,` + private + `,"new_chat_member":{"status":"hologram","shape":7}}`, adapters.Inbound{}},
	} {
		got := in(t, tt.fields)
		if got.Kind != adapters.KindService || got.Migrate != tt.want.Migrate || got.Unreachable != tt.want.Unreachable ||
			tt.want.Target.Chat != "" && got.Target.Chat != tt.want.Target.Chat {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

func TestPressAndStop(t *testing.T) {
	got := in(t, `"callback_query":{"id":"q1",`+ann+`,"message":{"message_id":70,"from":{"id":999,"is_bot":true,"first_name":"Bell"},`+group+`,"text":"x"},"chat_instance":"1","data":"stop:1"}`)
	want := adapters.Inbound{Kind: adapters.KindPress, ID: "501", Message: "70", Group: true, Mentioned: true, Data: "stop:1", PressID: "q1",
		Target: adapters.Target{Chat: "-1001234567890", Group: true}, From: adapters.Person{ID: "111", Name: "Ann Lee", User: "ann", Lang: "en"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("press (-want +got)\n%s", diff)
	}
	got = in(t, `"callback_query":{"id":"q2",`+ann+`,"message":{"message_id":70,"chat":{"id":111,"type":"private"},"date":0},"chat_instance":"1","data":"a"}`)
	if got.Kind != adapters.KindPress || got.Message != "70" || got.Target.Chat != "111" {
		t.Errorf("press of an old message: %+v", got)
	}
	got = in(t, `"stopped_message_generation":{"chat":{"id":111,"type":"private"},"message_thread_id":3,"draft_id":42}`)
	if got.Kind != adapters.KindStop || got.Target.Chat != "111" || got.Target.Thread != "3" || got.Data != "42" || got.From.ID != "111" {
		t.Errorf("stop: %+v", got)
	}
}

// What the decoder does not know must not cost what it does (the poison kinds).
func TestPoison(t *testing.T) {
	got := in(t, inDM(`"text":"still read","paid_media":{"star_count":1,"paid_media":[{"type":"live_photo"}]},"reply_markup":7`))
	if got.Kind != adapters.KindMessage || got.Text != "still read" {
		t.Errorf("unknown fields: %+v", got)
	}
	got = in(t, `"message":{"message_id":"not a number"}`)
	if got.Kind != adapters.KindRaw || !strings.Contains(string(got.Raw), "not a number") {
		t.Errorf("unreadable: %+v", got)
	}
	if got, id := (&Adapter{}).decode([]byte(`[1,2]`), bell); got.Kind != adapters.KindRaw || id != 0 {
		t.Errorf("no update at all: %+v, %d", got, id)
	}
}

func TestSaidOtherwise(t *testing.T) {
	for fields, want := range map[string]string{
		`"location":{"latitude":1.5,"longitude":-2}`:                                                       "Location: 1.5, -2",
		`"venue":{"location":{"latitude":1,"longitude":2},"title":"Bar","address":"Main St"}`:              "Place: Bar, Main St (1, 2)",
		`"contact":{"phone_number":"+1","first_name":"Bo"}`:                                                "Contact: Bo, +1",
		`"dice":{"emoji":"🎲","value":6}`:                                                                   "🎲 6",
		`"poll":{"id":"1","question":"Lunch?","options":[{"text":"yes"},{"text":"no"}],"type":"new kind"}`: "Poll: Lunch?\n- yes\n- no",
	} {
		if got := in(t, inDM(fields)); got.Text != want || got.Kind != adapters.KindMessage {
			t.Errorf("%s: %s %q", fields, got.Kind, got.Text)
		}
	}
}

func TestRichMessage(t *testing.T) {
	got := in(t, inDM(`"rich_message":{"blocks":[
		{"type":"heading","size":1,"text":"Title"},
		{"type":"paragraph","text":["plain ",{"type":"bold","text":["very ",{"type":"italic","text":"bold"}]},{"type":"custom_emoji","custom_emoji_id":"1","alternative_text":"😀"}]},
		{"type":"list","items":[{"label":"1.","blocks":[{"type":"paragraph","text":"first"}]},{"label":"2.","blocks":[{"type":"paragraph","text":"second"}]}]},
		{"type":"table","cells":[[{"text":"a","align":"left","valign":"top"},{"text":"b","align":"left","valign":"top"}]]},
		{"type":"mathematical_expression","expression":"x^2"},
		{"type":"from the future","text":"kept"}]}`))
	want := "Title\nplain very bold😀\n1. first\n2. second\na | b\nx^2\nkept"
	if got.Text != want {
		t.Errorf("text is %q, want %q", got.Text, want)
	}
}

func TestNameIsNeededOnlyByThoseWhoNameSomebody(t *testing.T) {
	if namesSomebody([]byte(inDM(`"text":"hello"`))) || !namesSomebody([]byte(inGroup(`"text":"@my_bot"`))) {
		t.Error("the name's need is misjudged")
	}
}
