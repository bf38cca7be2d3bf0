package providertest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

//go:embed testdata/chat.json
var chatJSON []byte

var chatDigest = mustDigest(chatJSON)

// Digest is the part of a vendor's description that a body can be checked against.
type Digest struct {
	Source string            `json:"source"`
	Types  map[string]*shape `json:"types"`
}

// shape is one JSON Schema, without prose: what fields there are, which are required, what values are allowed.
type shape struct {
	Ref      string            `json:"ref,omitempty"`
	Type     string            `json:"type,omitempty"`
	Fields   map[string]*shape `json:"fields,omitempty"`
	Required []string          `json:"required,omitempty"`
	Open     bool              `json:"open,omitempty"` // further fields are allowed
	Enum     []any             `json:"enum,omitempty"`
	Any      []*shape          `json:"any,omitempty"` // one of these fits
	Items    *shape            `json:"items,omitempty"`
	Null     bool              `json:"null,omitempty"`
	MinItems int               `json:"min_items,omitempty"`
}

func mustDigest(raw []byte) *Digest {
	d := new(Digest)
	if err := json.Unmarshal(raw, d); err != nil {
		panic(err) // the embedded file is ours
	}
	return d
}

// extensions are fields that compatible endpoints take beside the vendor's.
var extensions = []string{"reasoning_content", "reasoning"}

// Check reports how a body differs from a type of the description: unknown field, missing field, wrong type or value.
func (d *Digest) Check(typ string, body []byte) error {
	s := d.Types[typ]
	if s == nil {
		return fmt.Errorf("the digest has no type %s", typ)
	}
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return fmt.Errorf("we could not parse the JSON body of your request: %w", err)
	}
	if m := d.fit(s, v, ""); m != nil {
		return m
	}
	return nil
}

// misfit is a difference and the place of it.
type misfit struct{ at, text string }

func (m *misfit) Error() string { return strings.TrimPrefix(m.at, ".") + ": " + m.text }

func differs(at, format string, args ...any) *misfit {
	return &misfit{at, fmt.Sprintf(format, args...)}
}

func (d *Digest) fit(s *shape, v any, at string) *misfit {
	for s.Ref != "" {
		s = d.Types[s.Ref]
	}
	if v == nil {
		if s.Null || s.Type == "" && len(s.Any) == 0 || slices.ContainsFunc(s.Any, func(a *shape) bool { return d.fit(a, nil, at) == nil }) {
			return nil
		}
		return differs(at, "null is not allowed")
	}
	if len(s.Any) > 0 {
		return d.fitAny(s.Any, v, at)
	}
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, v) {
		return differs(at, "invalid value %v", v)
	}
	switch t := v.(type) {
	case map[string]any:
		if s.Type == "object" {
			return d.fitObject(s, t, at)
		}
	case []any:
		if s.Type == "array" {
			return d.fitList(s, t, at)
		}
	}
	if s.Type != "" && !scalar(s.Type, v) {
		return differs(at, "invalid type: expected %s, got %T", s.Type, v)
	}
	return nil
}

// scalar reports whether a value that is neither an object nor a list has a type.
func scalar(typ string, v any) bool {
	switch t := v.(type) {
	case string:
		return typ == "string"
	case bool:
		return typ == "boolean"
	case float64:
		return typ == "number" || typ == "integer" && t == float64(int64(t))
	}
	return false
}

func (d *Digest) fitList(s *shape, list []any, at string) *misfit {
	if len(list) < s.MinItems {
		return differs(at, "needs at least %d items", s.MinItems)
	}
	for i, x := range list {
		if err := d.fit(s.Items, x, fmt.Sprintf("%s[%d]", at, i)); err != nil {
			return err
		}
	}
	return nil
}

// fitAny tries the alternatives. The error is that of the one which came furthest.
func (d *Digest) fitAny(list []*shape, v any, at string) *misfit {
	var worst *misfit
	for _, a := range list {
		err := d.fit(a, v, at)
		if err == nil {
			return nil
		}
		if worst == nil || len(err.at) > len(worst.at) {
			worst = err
		}
	}
	return worst
}

func (d *Digest) fitObject(s *shape, o map[string]any, at string) *misfit {
	for _, r := range s.Required {
		if _, ok := o[r]; !ok {
			return differs(at, "missing required field %s", r)
		}
	}
	for k, x := range o {
		f := s.Fields[k]
		if f == nil {
			if s.Open || slices.Contains(extensions, k) {
				continue
			}
			return differs(at, "unrecognized request argument supplied: %s", k)
		}
		if err := d.fit(f, x, at+"."+k); err != nil {
			return err
		}
	}
	return nil
}
