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
	return d.fit(s, v, "")
}

func (d *Digest) fit(s *shape, v any, at string) error {
	for s.Ref != "" {
		s = d.Types[s.Ref]
	}
	if v == nil {
		if s.Null || s.Type == "" && len(s.Any) == 0 || slices.ContainsFunc(s.Any, func(a *shape) bool { return d.fit(a, nil, at) == nil }) {
			return nil
		}
		return fmt.Errorf("%s: null is not allowed", at)
	}
	if len(s.Any) > 0 {
		return d.fitAny(s.Any, v, at)
	}
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, v) {
		return fmt.Errorf("%s: invalid value %v", at, v)
	}
	switch t := v.(type) {
	case map[string]any:
		if s.Type != "object" {
			break
		}
		return d.fitObject(s, t, at)
	case []any:
		if s.Type != "array" {
			break
		}
		if len(t) < s.MinItems {
			return fmt.Errorf("%s: needs at least %d items", at, s.MinItems)
		}
		for i, x := range t {
			if err := d.fit(s.Items, x, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
		return nil
	case string:
		if s.Type == "string" {
			return nil
		}
	case bool:
		if s.Type == "boolean" {
			return nil
		}
	case float64:
		if s.Type == "number" || s.Type == "integer" && t == float64(int64(t)) {
			return nil
		}
	}
	if s.Type == "" {
		return nil
	}
	return fmt.Errorf("%s: invalid type: expected %s, got %T", at, s.Type, v)
}

// fitAny tries the alternatives. The error is that of the one which came furthest.
func (d *Digest) fitAny(list []*shape, v any, at string) error {
	var worst error
	for _, a := range list {
		err := d.fit(a, v, at)
		if err == nil {
			return nil
		}
		if worst == nil || depth(err) > depth(worst) {
			worst = err
		}
	}
	return worst
}

func depth(err error) int {
	path, _, _ := strings.Cut(err.Error(), ":")
	return len(path)
}

func (d *Digest) fitObject(s *shape, o map[string]any, at string) error {
	for _, r := range s.Required {
		if _, ok := o[r]; !ok {
			return fmt.Errorf("%s: missing required field %s", at, r)
		}
	}
	for k, x := range o {
		f := s.Fields[k]
		if f == nil {
			if s.Open || slices.Contains(extensions, k) {
				continue
			}
			return fmt.Errorf("unrecognized request argument supplied: %s.%s", at, k)
		}
		if err := d.fit(f, x, at+"."+k); err != nil {
			return err
		}
	}
	return nil
}
