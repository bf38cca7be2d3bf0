package store

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/oklog/ulid/v2"

	"bellhop/core"
)

// ms is a time as it is stored: unix milliseconds, 0 for the zero time.
func ms(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// at is the inverse of ms.
func at(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// text is a structure as it is stored: JSON, or "" for an empty list.
func text[T any](v T) (string, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return "", core.E("encode", core.Invalid, err)
	}
	if s := string(b); s != "null" && s != "[]" && s != "{}" {
		return s, nil
	}
	return "", nil
}

// structure is the inverse of text.
func structure[T any](s string, v *T) error {
	if s == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(s), v); err != nil {
		return core.E("decode a stored row", core.Corrupt, err)
	}
	return nil
}

// newID returns a ULID.
func newID() string { return ulid.Make().String() }

// newConversation returns an id in the form people are shown: YYYYMMDD_HHMMSS_XXXXXX.
func newConversation(now time.Time) core.ConversationID {
	var b [3]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return core.ConversationID(now.UTC().Format("20060102_150405_") + hex.EncodeToString(b[:]))
}
