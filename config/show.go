package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
)

// Show returns the configuration in force as YAML, with every secret hidden.
func Show(c Config) (string, error) {
	b, err := yaml.MarshalWithOptions(plain(reflect.ValueOf(c)), yaml.Indent(2), yaml.IndentSequence(true))
	if err != nil {
		return "", fmt.Errorf("show configuration: %w", err)
	}
	return string(b), nil
}

// plain turns a value into maps and lists in the order of the struct's fields, leaving out what is empty.
func plain(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return plain(v.Elem())
	case reflect.Struct:
		if r, ok := v.Interface().(Rate); ok {
			return fmt.Sprintf("%d/%s", r.N, r.Per)
		}
		return plainStruct(v)
	case reflect.Map:
		out := yaml.MapSlice{}
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range keys {
			out = append(out, yaml.MapItem{Key: k.String(), Value: plain(v.MapIndex(k))})
		}
		return out
	case reflect.Slice:
		out := make([]any, v.Len())
		for i := range out {
			out[i] = plain(v.Index(i))
		}
		return out
	}
	if isSecret(v) {
		return hidden
	}
	if d, ok := v.Interface().(time.Duration); ok {
		return d.String()
	}
	return v.Interface()
}

func plainStruct(v reflect.Value) yaml.MapSlice {
	out := yaml.MapSlice{}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, opt, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if !f.IsExported() || name == "-" || empty(v.Field(i)) {
			continue
		}
		if opt == "inline" {
			out = append(out, plainStruct(v.Field(i))...)
			continue
		}
		out = append(out, yaml.MapItem{Key: name, Value: plain(v.Field(i))})
	}
	return out
}

func empty(v reflect.Value) bool {
	if k := v.Kind(); k == reflect.Slice || k == reflect.Map {
		return v.Len() == 0
	}
	return v.IsZero()
}

// Schema returns a JSON Schema of the file, for editors.
func Schema() map[string]any {
	s := schemaOf(reflect.TypeFor[Config](), "")
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "bellhop configuration"
	return s
}

func schemaOf(t reflect.Type, enum string) map[string]any {
	switch {
	case t == durationType:
		return map[string]any{"type": "string", "pattern": `^([0-9.]+(ns|us|µs|ms|s|m|h))+$`}
	case t == reflect.TypeFor[Rate]():
		return map[string]any{"type": "string", "pattern": `^[0-9]+/(s|sec|m|min|h|hour)$`}
	case t == reflect.TypeFor[Unbuilt]():
		return map[string]any{}
	case t == reflect.TypeFor[Limits]():
		rate := schemaOf(reflect.TypeFor[Rate](), "")
		return map[string]any{"anyOf": []any{map[string]any{"const": "off"}, map[string]any{"type": "object",
			"additionalProperties": false, "properties": map[string]any{"chat": rate, "burst": map[string]any{"type": "integer"}, "group": rate, "bot": rate}}}}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem(), enum)
	case reflect.Struct:
		props := map[string]any{}
		addProperties(t, props)
		return map[string]any{"type": "object", "additionalProperties": false, "properties": props}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": schemaOf(t.Elem(), "")}
	case reflect.Slice:
		list := map[string]any{"type": "array", "items": schemaOf(t.Elem(), "")}
		if strings.HasPrefix(t.Name(), "Many[") {
			return map[string]any{"anyOf": []any{schemaOf(t.Elem(), ""), list}}
		}
		return list
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return map[string]any{"type": "integer"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	}
	if enum != "" {
		return map[string]any{"enum": strings.Split(enum, ",")}
	}
	return map[string]any{"type": []string{"string", "integer"}}
}

func addProperties(t reflect.Type, props map[string]any) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, opt, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case !f.IsExported() || name == "-":
		case opt == "inline":
			addProperties(f.Type, props)
		default:
			props[name] = schemaOf(f.Type, f.Tag.Get("enum"))
			if strings.Contains(f.Type.Name(), "Secret") {
				props[name+"_file"] = map[string]any{"type": "string"}
			}
		}
	}
}
