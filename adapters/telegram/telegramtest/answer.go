package telegramtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// refusal is an answer that is not ok.
type refusal struct {
	code    int
	text    string
	retry   int   // seconds
	migrate int64 // the chat's new id
}

// brokenOff stands for no answer at all: the connection breaks.
var brokenOff = &refusal{}

func bad(format string, args ...any) *refusal {
	return &refusal{code: http.StatusBadRequest, text: "Bad Request: " + fmt.Sprintf(format, args...)}
}

func forbidden(text string) *refusal {
	return &refusal{code: http.StatusForbidden, text: "Forbidden: " + text}
}

func conflict(text string) *refusal {
	return &refusal{code: http.StatusConflict, text: "Conflict: " + text}
}

func flood(seconds int) *refusal {
	return &refusal{code: http.StatusTooManyRequests, text: "Too Many Requests: retry after " + strconv.Itoa(seconds), retry: seconds}
}

func (f *refusal) write(w http.ResponseWriter) {
	m := map[string]any{"ok": false, "error_code": f.code, "description": f.text}
	p := map[string]any{}
	if f.retry > 0 {
		p["retry_after"] = f.retry
		w.Header().Set("Retry-After", strconv.Itoa(f.retry))
	}
	if f.migrate != 0 {
		p["migrate_to_chat_id"] = f.migrate
	}
	if len(p) > 0 {
		m["parameters"] = p
	}
	writeJSON(w, f.code, m)
}

func writeResult(w http.ResponseWriter, v any) {
	writeJSON(w, http.StatusOK, map[string]any{"ok": true, "result": v})
}

func writeJSON(w http.ResponseWriter, code int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // a fault of this package: it only ever marshals what it built
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(code)
	w.Write(b)
}
