package providertest

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/chat.json anew from the vendor's description")

// roots are the types that a client and a server of chat completions exchange.
var roots = []string{"CreateChatCompletionRequest", "CreateChatCompletionStreamResponse", "CreateChatCompletionResponse",
	"ErrorResponse", "ListModelsResponse", "Model"}

// TestDigest checks the committed digest against the vendor's description, where that is at hand.
func TestDigest(t *testing.T) {
	source, err := filepath.Abs("../../../../shared/specs/openai.json")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(source)
	if err != nil {
		t.Skip("the vendor's description is not here; the digest stays as it is")
	}
	got := generate(t, raw)
	path := filepath.Join("testdata", "chat.json")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("the description has changed; run with -update (-committed +now):\n%s", diff)
	}
}

type schema struct {
	Ref        string             `json:"$ref"`
	Type       string             `json:"type"`
	Properties map[string]*schema `json:"properties"`
	Required   []string           `json:"required"`
	Additional json.RawMessage    `json:"additionalProperties"`
	Enum       []any              `json:"enum"`
	AllOf      []*schema          `json:"allOf"`
	AnyOf      []*schema          `json:"anyOf"`
	OneOf      []*schema          `json:"oneOf"`
	Items      *schema            `json:"items"`
	Nullable   bool               `json:"nullable"`
	MinItems   int                `json:"minItems"`
}

type generator struct {
	all map[string]*schema
	out map[string]*shape
}

func generate(t *testing.T, raw []byte) []byte {
	t.Helper()
	var doc struct {
		Info       struct{ Title, Version string }
		Components struct{ Schemas map[string]*schema }
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	g := &generator{doc.Components.Schemas, map[string]*shape{}}
	for _, r := range roots {
		g.named(r)
	}
	out, err := json.MarshalIndent(Digest{doc.Info.Title + " " + doc.Info.Version, g.out}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return append(out, '\n')
}

func (g *generator) named(name string) *shape {
	if g.out[name] == nil {
		g.out[name] = new(shape) // ends a recursion
		*g.out[name] = *g.shape(g.all[name])
	}
	return &shape{Ref: name}
}

func (g *generator) shape(s *schema) *shape {
	switch {
	case s == nil:
		return new(shape)
	case s.Ref != "" && s.Nullable:
		plain := *s
		plain.Nullable = false
		return &shape{Any: []*shape{g.shape(&plain)}, Null: true}
	case s.Ref != "":
		return g.named(s.Ref[strings.LastIndexByte(s.Ref, '/')+1:])
	case len(s.AllOf) > 0:
		return g.merged(s)
	}
	out := &shape{Type: s.Type, Required: slices.Sorted(slices.Values(s.Required)), Null: s.Nullable || s.Type == "null",
		MinItems: s.MinItems, Enum: s.Enum}
	for _, a := range append(append([]*schema{}, s.AnyOf...), s.OneOf...) {
		out.Any = append(out.Any, g.shape(a))
	}
	if s.Items != nil || s.Type == "array" {
		out.Items = g.shape(s.Items)
	}
	for name, p := range s.Properties {
		if out.Fields == nil {
			out.Fields = map[string]*shape{}
		}
		out.Fields[name] = g.shape(p)
	}
	closed := len(s.Additional) == 0 || string(s.Additional) == "false"
	out.Open = s.Type == "object" && (len(s.Properties) == 0 || !closed)
	return out
}

// merged lays the parts of an allOf over each other.
func (g *generator) merged(s *schema) *shape {
	out := &shape{Type: "object", Fields: map[string]*shape{}, Null: s.Nullable}
	own := *s
	own.AllOf = nil
	for _, a := range append(slices.Clone(s.AllOf), &own) {
		p := g.shape(a)
		for p.Ref != "" {
			p = g.out[p.Ref]
		}
		if p.Type != "object" && p.Type != "" || len(p.Any) > 0 || len(p.Enum) > 0 {
			return p // a single type with a description of its own
		}
		for k, f := range p.Fields {
			out.Fields[k] = f
		}
		out.Required = append(out.Required, p.Required...)
	}
	slices.Sort(out.Required)
	out.Required = slices.Compact(out.Required)
	return out
}
