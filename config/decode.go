package config

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// decoder walks a YAML tree along a Go type and gathers every fault instead of stopping at the first.
type decoder struct {
	file   string
	env    func(string) (string, bool)
	faults []Fault
	warns  []string
	used   map[string]bool         // environment variables that values took
	holds  []string                // files that hold secrets
	places map[string]*token.Token // where each key's value stands, by dotted path
}

// nodeDecoder is a type that reads its own node, for unions such as limits: off.
type nodeDecoder interface {
	decodeNode(d *decoder, n ast.Node, path string)
}

func (d *decoder) fault(n ast.Node, format string, args ...any) {
	f := Fault{File: d.file, Text: fmt.Sprintf(format, args...)}
	if t := tokenOf(n); t != nil && t.Position != nil {
		f.Line, f.Col = t.Position.Line, t.Position.Column
	}
	d.faults = append(d.faults, f)
}

// tokenOf returns where a node begins; a mapping's own token is its colon, so its first key stands for it.
func tokenOf(n ast.Node) *token.Token {
	switch n := n.(type) {
	case nil:
		return nil
	case *ast.MappingNode:
		if len(n.Values) > 0 {
			return n.Values[0].Key.GetToken()
		}
	case *ast.MappingValueNode:
		return n.Key.GetToken()
	}
	return n.GetToken()
}

// value decodes n into v. A null keeps what v holds, so that an empty section means its defaults.
func (d *decoder) value(n ast.Node, v reflect.Value, path string) {
	if _, null := n.(*ast.NullNode); n == nil || null {
		return
	}
	switch n := n.(type) {
	case *ast.AliasNode, *ast.AnchorNode, *ast.TagNode:
		d.fault(n, "%s: anchors, aliases and tags are not supported; write the value out", path)
		return
	}
	if u, ok := v.Addr().Interface().(nodeDecoder); ok {
		u.decodeNode(d, n, path)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.mapping(n, v, path)
	case reflect.Map:
		d.table(n, v, path)
	case reflect.Slice:
		d.list(n, v, path)
	case reflect.Pointer:
		p := reflect.New(v.Type().Elem())
		d.value(n, p.Elem(), path)
		v.Set(p)
	default:
		d.scalar(n, v, path)
	}
}

func pairs(n ast.Node) ([]*ast.MappingValueNode, bool) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	}
	return nil, false
}

func (d *decoder) mapping(n ast.Node, v reflect.Value, path string) {
	kvs, ok := pairs(n)
	if !ok {
		d.fault(n, "%s: expected keys and values here", named(path))
		return
	}
	known := fields(v)
	seen := map[string]bool{}
	for _, kv := range kvs {
		key := kv.Key.GetToken().Value
		at := join(path, key)
		if seen[key] {
			d.fault(kv.Key, "%s is given twice", at)
			continue
		}
		seen[key] = true
		d.places[at] = kv.Key.GetToken()
		if f, ok := known[key]; ok {
			d.value(kv.Value, f, at)
			continue
		}
		if base, ok := strings.CutSuffix(key, "_file"); ok && isSecret(known[base]) {
			d.secretFile(kv.Value, known[base], at)
			continue
		}
		d.fault(kv.Key, "unknown key %s%s", at, didYouMean(key, known))
	}
	if s, ok := v.Addr().Interface().(interface{ noteSet(map[string]bool) }); ok {
		s.noteSet(written(n))
	}
}

// written lists the dotted paths of all keys below n.
func written(n ast.Node) map[string]bool {
	out := map[string]bool{}
	var walk func(ast.Node, string)
	walk = func(n ast.Node, path string) {
		kvs, _ := pairs(n)
		for _, kv := range kvs {
			at := join(path, kv.Key.GetToken().Value)
			out[at] = true
			walk(kv.Value, at)
		}
	}
	walk(n, "")
	return out
}

// fields maps YAML keys to the fields of a struct; inlined structs count as its own.
func fields(v reflect.Value) map[string]reflect.Value {
	out := map[string]reflect.Value{}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, opt, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case name == "-" || !f.IsExported():
		case opt == "inline":
			for k, w := range fields(v.Field(i)) {
				if _, shadowed := out[k]; !shadowed {
					out[k] = w
				}
			}
		case name != "":
			out[name] = v.Field(i)
		}
	}
	return out
}

func isSecret(v reflect.Value) bool {
	return v.IsValid() && v.Kind() == reflect.String && strings.Contains(v.Type().Name(), "Secret")
}

func (d *decoder) secretFile(n ast.Node, v reflect.Value, path string) {
	name, ok := d.text(n, path)
	if !ok {
		return
	}
	b, err := os.ReadFile(name)
	if err != nil {
		d.fault(n, "%s: cannot read the secret: %v", path, err)
		return
	}
	v.SetString(strings.TrimRight(string(b), "\r\n"))
	d.holds = append(d.holds, name)
}

func (d *decoder) table(n ast.Node, v reflect.Value, path string) {
	kvs, ok := pairs(n)
	if !ok {
		d.fault(n, "%s: expected keys and values here", named(path))
		return
	}
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	for _, kv := range kvs {
		key := kv.Key.GetToken().Value
		d.places[join(path, key)] = kv.Key.GetToken()
		e := reflect.New(v.Type().Elem()).Elem()
		d.value(kv.Value, e, join(path, key))
		v.SetMapIndex(reflect.ValueOf(key), e)
	}
}

func (d *decoder) list(n ast.Node, v reflect.Value, path string) {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		d.fault(n, "%s: expected a list, for example [a, b]", named(path))
		return
	}
	out := reflect.MakeSlice(v.Type(), 0, len(seq.Values))
	for i, e := range seq.Values {
		w := reflect.New(v.Type().Elem()).Elem()
		d.value(e, w, fmt.Sprintf("%s[%d]", path, i))
		out = reflect.Append(out, w)
	}
	v.Set(out)
}

var durationType = reflect.TypeFor[time.Duration]()

func (d *decoder) scalar(n ast.Node, v reflect.Value, path string) {
	s, ok := d.text(n, path)
	if !ok {
		return
	}
	switch {
	case v.Type() == durationType:
		x, err := time.ParseDuration(s)
		if err != nil || x < 0 {
			d.fault(n, "%s: %q is not a duration such as 30s, 5m or 1h30m", path, s)
			return
		}
		v.SetInt(int64(x))
	case v.Kind() == reflect.String:
		if f, isFloat := n.(*ast.FloatNode); isFloat && strings.ContainsAny(f.GetToken().Value, "eE") {
			d.fault(n, "%s: %s has lost digits; write ids in quotes", path, s)
			return
		}
		v.SetString(s)
		if isSecret(v) && s != "" && !refers(n) {
			d.holds = append(d.holds, d.file)
		}
	case v.Kind() == reflect.Bool:
		x, err := strconv.ParseBool(s)
		if err != nil {
			d.fault(n, "%s: %q is neither true nor false", path, s)
			return
		}
		v.SetBool(x)
	case v.CanInt():
		x, err := strconv.ParseInt(strings.ReplaceAll(s, "_", ""), 10, 64)
		if err != nil {
			d.fault(n, "%s: %q is not a whole number", path, s)
			return
		}
		v.SetInt(x)
	case v.CanFloat():
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			d.fault(n, "%s: %q is not a number", path, s)
			return
		}
		v.SetFloat(x)
	default:
		panic("config: no rule for " + v.Type().String())
	}
}

// text returns a scalar as it was written, with ${ENV} replaced.
func (d *decoder) text(n ast.Node, path string) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return d.expand(n, n.Value, path)
	case *ast.LiteralNode:
		return d.expand(n, n.Value.Value, path)
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	if kvs, ok := pairs(n); ok && len(kvs) == 1 {
		if s, ok := tight(kvs[0]); ok {
			return d.expand(n, s, path)
		}
	}
	d.fault(n, "%s: expected a single value here", named(path))
	return "", false
}

// refers reports whether a scalar takes its value from the environment.
func refers(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.StringNode:
		return strings.Contains(n.Value, shieldOpen)
	case *ast.LiteralNode:
		return strings.Contains(n.Value.Value, shieldOpen)
	}
	return false
}

// tight returns key:value as one scalar when nothing stands between them: inside [ ] the parser takes telegram:9 for a
// mapping, which YAML does not.
func tight(kv *ast.MappingValueNode) (string, bool) {
	k, v := kv.Key.GetToken(), kv.Value.GetToken()
	if k == nil || v == nil || k.Position.Line != v.Position.Line || v.Position.Column != k.Position.Column+len([]rune(k.Value))+1 {
		return "", false
	}
	return k.Value + ":" + v.Value, true
}

func (d *decoder) expand(n ast.Node, s, path string) (string, bool) {
	s = unshielded(s)
	var out strings.Builder
	for {
		i := strings.Index(s, "${")
		if i < 0 {
			out.WriteString(s)
			return out.String(), true
		}
		j := strings.IndexByte(s[i:], '}')
		if j < 0 {
			d.fault(n, "%s: ${ without its closing }", path)
			return "", false
		}
		name := s[i+2 : i+j]
		val, ok := d.env(name)
		if !ok {
			d.warns = append(d.warns, fmt.Sprintf("%s: the environment variable %s is not set; its value counts as empty", path, name))
		}
		d.used[name] = true
		out.WriteString(s[:i] + val)
		s = s[i+j+1:]
	}
}

func named(path string) string {
	if path == "" {
		return "the file"
	}
	return path
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// didYouMean names the known key nearest to a mistyped one, if one is near.
func didYouMean(key string, known map[string]reflect.Value) string {
	best, dist := "", 3
	for _, k := range slices.Sorted(maps.Keys(known)) {
		if n := distance(key, k); n < dist && n < len(k) {
			best, dist = k, n
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", best)
}
