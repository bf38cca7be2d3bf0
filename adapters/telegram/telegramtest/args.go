package telegramtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
)

// args are a call's parameters, whatever way they came: query, form, JSON or multipart.
type args struct {
	raw   map[string]json.RawMessage // as JSON; a form's values are JSON strings unless they are structured
	form  bool                       // came as a form, where everything is text
	files map[string]*File
}

// call is one request while it is carried out.
type call struct {
	Call
	args args
	ctx  context.Context
}

const maxRequest = 52 << 20

func readArgs(r *http.Request) (args, error) {
	a := args{raw: map[string]json.RawMessage{}, files: map[string]*File{}}
	for k, v := range r.URL.Query() {
		a.text(k, v[0])
	}
	kind, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	body := http.MaxBytesReader(nil, r.Body, maxRequest)
	switch kind {
	case "application/json":
		return a, a.readJSON(body)
	case "multipart/form-data":
		a.form = true
		return a, a.readMultipart(multipart.NewReader(body, params["boundary"]))
	case "application/x-www-form-urlencoded":
		a.form = true
		r.Body = body
		if err := r.ParseForm(); err != nil {
			return a, err
		}
		for k, v := range r.PostForm {
			a.text(k, v[0])
		}
	}
	return a, nil
}

func (a *args) text(k, v string) { a.raw[k], _ = json.Marshal(v) }

func (a *args) readJSON(r io.Reader) error {
	b, err := io.ReadAll(r)
	if err != nil || len(bytes.TrimSpace(b)) == 0 {
		return err
	}
	if json.Unmarshal(b, &a.raw) != nil {
		return errors.New("can't parse request: JSON object expected")
	}
	return nil
}

// readMultipart bears a form without parts, as the library sends for a call without parameters.
func (a *args) readMultipart(r *multipart.Reader) error {
	for {
		p, err := r.NextPart()
		if errors.Is(err, io.EOF) || err != nil && len(a.raw) == 0 && strings.HasSuffix(err.Error(), "EOF") {
			return nil
		}
		if err != nil {
			return err
		}
		b, err := io.ReadAll(p)
		if err != nil {
			return err
		}
		if p.FileName() == "" {
			a.text(p.FormName(), string(b))
			continue
		}
		a.files[p.FormName()] = &File{Name: p.FileName(), Data: b, Size: int64(len(b))}
	}
}

// str returns a parameter as text, whatever scalar it was sent as.
func (a args) str(k string) string {
	var s string
	if json.Unmarshal(a.raw[k], &s) == nil {
		return s
	}
	return string(a.raw[k])
}

func (a args) has(k string) bool { _, ok := a.raw[k]; return ok }

func (a args) int(k string) int64 {
	n, _ := strconv.ParseInt(a.str(k), 10, 64)
	return n
}

func (a args) bool(k string) bool {
	s := strings.ToLower(a.str(k))
	return s == "true" || s == "1" || s == "yes" || s == "t" || s == "y"
}

// object decodes a structured parameter, which a form carries as JSON text. It reports whether there was a good one.
func (a args) object(k string, into any) bool {
	return a.has(k) && json.Unmarshal([]byte(a.str(k)), into) == nil
}

// plain returns all parameters as text.
func (a args) plain() map[string]string {
	m := make(map[string]string, len(a.raw))
	for k := range a.raw {
		m[k] = a.str(k)
	}
	return m
}
