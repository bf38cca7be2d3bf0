package telegram

import (
	"encoding/json"
	"strconv"

	"github.com/go-telegram/bot/models"

	"bellhop/adapters"
)

// allowedUpdates is always sent: left out, whatever an earlier program asked for would still hold.
var allowedUpdates = []string{"message", "edited_message", "callback_query", "my_chat_member", "stopped_message_generation"}

// update is the envelope of one. The library's Update has ninety fields more, and one union variant it does not know
// makes a whole message unreadable; so the envelope names what is used, and the leaves are the library's. Kinds that are
// noticed but not read are kept raw.
type update struct {
	ID       int64            `json:"update_id"`
	Message  *message         `json:"message"`
	Edited   *message         `json:"edited_message"`
	Callback *callback        `json:"callback_query"`
	Member   *memberChange    `json:"my_chat_member"`
	Stopped  *stopped         `json:"stopped_message_generation"`
	Channel  *json.RawMessage `json:"channel_post"`
	Business *json.RawMessage `json:"business_message"`
}

type message struct {
	ID       int             `json:"message_id"`
	Thread   int             `json:"message_thread_id"`
	IsTopic  bool            `json:"is_topic_message"`
	From     *models.User    `json:"from"`
	Sender   *models.Chat    `json:"sender_chat"`
	Auto     bool            `json:"is_automatic_forward"`
	Chat     chat            `json:"chat"`
	Date     int64           `json:"date"`
	EditDate int64           `json:"edit_date"`
	Album    string          `json:"media_group_id"`
	Forward  json.RawMessage `json:"forward_origin"`
	ViaBot   *models.User    `json:"via_bot"`

	Text            string                 `json:"text"`
	Entities        []models.MessageEntity `json:"entities"`
	Caption         string                 `json:"caption"`
	CaptionEntities []models.MessageEntity `json:"caption_entities"`
	Rich            *richMessage           `json:"rich_message"`

	ReplyTo       *message          `json:"reply_to_message"`
	ExternalReply *struct{}         `json:"external_reply"`
	Quote         *models.TextQuote `json:"quote"`

	Photo     []models.PhotoSize `json:"photo"`
	Document  *models.Document   `json:"document"`
	Voice     *models.Voice      `json:"voice"`
	Audio     *models.Audio      `json:"audio"`
	Video     *models.Video      `json:"video"`
	VideoNote *models.VideoNote  `json:"video_note"`
	Animation *models.Animation  `json:"animation"`
	Sticker   *models.Sticker    `json:"sticker"`
	Contact   *models.Contact    `json:"contact"`
	Location  *models.Location   `json:"location"`
	Venue     *models.Venue      `json:"venue"`
	Dice      *models.Dice       `json:"dice"`
	Poll      *poll              `json:"poll"`

	TopicCreated *struct{} `json:"forum_topic_created"`
	MigrateTo    int64     `json:"migrate_to_chat_id"`
	MigrateFrom  int64     `json:"migrate_from_chat_id"`
}

type chat struct {
	ID      int64  `json:"id"`
	Type    string `json:"type"`
	Title   string `json:"title"`
	IsForum bool   `json:"is_forum"`
}

// poll names the two fields that are shown, whatever else polls learn.
type poll struct {
	Question string `json:"question"`
	Options  []struct {
		Text string `json:"text"`
	} `json:"options"`
}

// callback is a pressed button. Of a message too old to be shown only its ids are left.
type callback struct {
	ID      string      `json:"id"`
	From    models.User `json:"from"`
	Message *message    `json:"message"`
	Data    string      `json:"data"`
}

type memberChange struct {
	Chat chat        `json:"chat"`
	From models.User `json:"from"`
	Date int64       `json:"date"`
	New  struct {
		Status   string `json:"status"`
		IsMember *bool  `json:"is_member"`
	} `json:"new_chat_member"`
}

type stopped struct {
	Chat   chat  `json:"chat"`
	Thread int   `json:"message_thread_id"`
	Draft  int64 `json:"draft_id"`
}

// decode reads one update. One that cannot be read becomes KindRaw, so that it is stored and does not hold up the rest.
// id is 0 when not even that can be read.
func (a *Adapter) decode(raw json.RawMessage, me identity) (in adapters.Inbound, id int64) {
	var u update
	if err := json.Unmarshal(raw, &u); err != nil {
		var only struct {
			ID int64 `json:"update_id"`
		}
		if json.Unmarshal(raw, &only) != nil {
			only.ID = 0
		}
		return adapters.Inbound{Kind: adapters.KindRaw, ID: formatID(only.ID), Raw: raw}, only.ID
	}
	if m := u.Message; m != nil {
		a.places.note(m.Chat.ID, m.ID)
	}
	in = me.inbound(&u)
	in.ID = formatID(u.ID)
	return in, u.ID
}

func formatID(n int64) string { return strconv.FormatInt(n, 10) }

// needsName reports whether a batch can only be read by someone who knows the bot's user name.
func needsName(batch []json.RawMessage) bool {
	for _, raw := range batch {
		if namesSomebody(raw) {
			return true
		}
	}
	return false
}
