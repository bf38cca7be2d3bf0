package config

import (
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// decodeNode reads one section, or a list of them.
func (m *Many[T]) decodeNode(d *decoder, n ast.Node, path string) {
	if seq, ok := n.(*ast.SequenceNode); ok {
		d.list(seq, reflect.ValueOf(m).Elem(), path)
		return
	}
	var one T
	d.value(n, reflect.ValueOf(&one).Elem(), path)
	*m = Many[T]{one}
}

// decodeNode accepts whatever is written for a platform that is not built.
func (u *Unbuilt) decodeNode(*decoder, ast.Node, string) { u.Any = true }

func (c *Common) noteSet(set map[string]bool) { c.Set = set }

// Rate is so many calls in a span; the zero Rate is not set.
type Rate struct {
	N   int
	Per time.Duration
}

// Every returns the time between two calls.
func (r Rate) Every() time.Duration {
	if r.N == 0 {
		return 0
	}
	return r.Per / time.Duration(r.N)
}

// Limits is the self-imposed budget of a platform; a zero field keeps the platform's published rate.
type Limits struct {
	Off   bool
	Chat  Rate
	Burst int
	Group Rate
	Bot   Rate
}

// decodeNode reads off, or a mapping of rates.
func (l *Limits) decodeNode(d *decoder, n ast.Node, path string) {
	switch n := n.(type) {
	case *ast.StringNode:
		if n.Value == "off" {
			l.Off = true
			return
		}
	case *ast.BoolNode: // YAML 1.1 readers take off for false
		if !n.Value {
			l.Off = true
			return
		}
	case *ast.MappingNode, *ast.MappingValueNode:
		var m struct {
			Chat  Rate `yaml:"chat"`
			Burst int  `yaml:"burst"`
			Group Rate `yaml:"group"`
			Bot   Rate `yaml:"bot"`
		}
		d.mapping(n, reflect.ValueOf(&m).Elem(), path)
		*l = Limits{Chat: m.Chat, Burst: m.Burst, Group: m.Group, Bot: m.Bot}
		return
	}
	d.fault(n, "%s: expected off, or rates such as {chat: 1/s, burst: 3, group: 20/min, bot: 30/s}", path)
}

var spans = map[string]time.Duration{"s": time.Second, "sec": time.Second, "m": time.Minute, "min": time.Minute,
	"h": time.Hour, "hour": time.Hour}

// decodeNode reads 20/min.
func (r *Rate) decodeNode(d *decoder, n ast.Node, path string) {
	s, ok := d.text(n, path)
	if !ok {
		return
	}
	num, unit, _ := strings.Cut(s, "/")
	v, err := strconv.Atoi(strings.TrimSpace(num))
	per, known := spans[strings.TrimSpace(unit)]
	if err != nil || v <= 0 || !known {
		d.fault(n, "%s: %q is not a rate such as 1/s or 20/min", path, s)
		return
	}
	*r = Rate{N: v, Per: per}
}
