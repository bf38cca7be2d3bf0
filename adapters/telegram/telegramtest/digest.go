package telegramtest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// api.txt is made from the vendor's description by TestDigest:
//
//	method NAME | type NAME | union NAME = A | B
//	  field[!] TYPE|TYPE        ! marks a required one
//
//go:embed testdata/api.txt
var apiText string

// digest is what the description says of requests.
type digest struct {
	methods map[string]map[string]field
	types   map[string]map[string]field
	unions  map[string][]string
}

type field struct {
	types    []string
	required bool
}

var loadDigest = sync.OnceValue(func() *digest { return parseDigest(apiText) })

func parseDigest(text string) *digest {
	d := &digest{methods: map[string]map[string]field{}, types: map[string]map[string]field{}, unions: map[string][]string{}}
	var into map[string]field
	for line := range strings.Lines(text) {
		w := strings.Fields(line)
		switch {
		case len(w) == 0 || w[0] == "#":
		case w[0] == "method":
			into = map[string]field{}
			d.methods[w[1]] = into
		case w[0] == "type":
			into = map[string]field{}
			d.types[w[1]] = into
		case w[0] == "union":
			d.unions[w[1]] = strings.Split(w[2], "|")
		default:
			name, required := strings.CutSuffix(w[0], "!")
			into[name] = field{strings.Split(w[1], "|"), required}
		}
	}
	return d
}

// check returns how a call differs from the description.
func (d *digest) check(method string, a args) []string {
	fields, ok := d.methods[method]
	if !ok {
		return []string{"not in the description"}
	}
	var out []string
	for name, f := range fields {
		_, file := a.files[name]
		if f.required && !a.has(name) && !file {
			out = append(out, name+" is required")
		}
	}
	for name, raw := range a.raw {
		f, ok := fields[name]
		if !ok {
			out = append(out, "unknown parameter "+name)
			continue
		}
		if a.form {
			raw = formValue(raw, f)
		}
		if why := d.fits(raw, f.types); why != "" {
			out = append(out, name+": "+why)
		}
	}
	slices.Sort(out)
	return out
}

// formValue takes a value of a form, where all is text, for what the description says it is.
func formValue(raw json.RawMessage, f field) json.RawMessage {
	var s string
	if json.Unmarshal(raw, &s) != nil || slices.Contains(f.types, "String") || slices.Contains(f.types, "InputFile") {
		return raw
	}
	if json.Valid([]byte(s)) {
		return json.RawMessage(s)
	}
	return raw
}

// fits returns why a value is of none of the types, or "".
func (d *digest) fits(raw json.RawMessage, types []string) string {
	why := ""
	for _, t := range types {
		if why = d.is(raw, t); why == "" {
			return ""
		}
	}
	return why
}

func (d *digest) is(raw json.RawMessage, t string) string {
	raw = bytes.TrimSpace(raw)
	if elem, ok := strings.CutPrefix(t, "[]"); ok {
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil {
			return "not a list"
		}
		for i, e := range list {
			if why := d.is(e, elem); why != "" {
				return fmt.Sprintf("[%d]: %s", i, why)
			}
		}
		return ""
	}
	switch t {
	case "String", "InputFile":
		return unless(json.Unmarshal(raw, new(string)) == nil, "not a string")
	case "Integer":
		var s string
		if json.Unmarshal(raw, &s) == nil {
			raw = []byte(s)
		}
		_, err := strconv.ParseInt(string(raw), 10, 64)
		return unless(err == nil, "not an integer")
	case "Float":
		return unless(json.Unmarshal(raw, new(float64)) == nil, "not a number")
	case "Boolean", "True":
		return unless(json.Unmarshal(raw, new(bool)) == nil, "not true or false")
	}
	if members, ok := d.unions[t]; ok {
		return d.fits(raw, members)
	}
	return d.object(raw, t)
}

func unless(ok bool, why string) string {
	if ok {
		return ""
	}
	return why
}

func (d *digest) object(raw json.RawMessage, t string) string {
	fields, ok := d.types[t]
	var m map[string]json.RawMessage
	if !ok || json.Unmarshal(raw, &m) != nil {
		return "not a " + t
	}
	for name, f := range fields {
		if _, has := m[name]; f.required && !has {
			return t + "." + name + " is required"
		}
	}
	for name, v := range m {
		f, ok := fields[name]
		if !ok {
			return "unknown field " + t + "." + name
		}
		if why := d.fits(v, f.types); why != "" {
			return t + "." + name + ": " + why
		}
	}
	return ""
}
