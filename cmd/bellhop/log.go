package main

import (
	"context"
	"io"
	"log/slog"
	"net/url"
	"os"
	"reflect"
	"strings"

	"github.com/lmittmann/tint"

	"bellhop/config"
)

// newLog makes the program's logger: for people on a terminal, else text or JSON lines. Secrets of the configuration are
// replaced wherever they appear. The level can be changed while it runs.
func newLog(w io.Writer, c config.Config, level *slog.LevelVar) *slog.Logger {
	setLevel(level, c.Log.Level)
	var h slog.Handler
	switch {
	case c.Log.Format == "json":
		h = slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level})
	case isTerminal(w):
		h = tint.NewTextHandler(w, &tint.Options{Level: level, TimeFormat: "15:04:05.000"})
	default:
		h = slog.NewTextHandler(w, &slog.HandlerOptions{Level: level})
	}
	return slog.New(&redactor{next: h, hide: replacer(secretsOf(reflect.ValueOf(c)))})
}

func setLevel(v *slog.LevelVar, name string) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(name)); err == nil { // the configuration was checked
		v.Set(l)
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// secretsOf gathers every secret value of a configuration, found by type.
func secretsOf(v reflect.Value) []string {
	var out []string
	switch v.Kind() {
	case reflect.String:
		if strings.Contains(v.Type().Name(), "Secret") && len(v.String()) >= 6 {
			out = append(out, v.String())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out = append(out, secretsOf(v.Field(i))...)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			out = append(out, secretsOf(v.Index(i))...)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			out = append(out, secretsOf(v.MapIndex(k))...)
		}
	}
	return out
}

// replacer hides each secret, also as it looks inside a URL.
func replacer(secrets []string) *strings.Replacer {
	var pairs []string
	for _, s := range secrets {
		for _, form := range []string{s, url.QueryEscape(s), url.PathEscape(s)} {
			pairs = append(pairs, form, "[secret]")
		}
	}
	return strings.NewReplacer(pairs...)
}

// redactor is a slog.Handler that hides secrets in messages, strings and errors.
type redactor struct {
	next slog.Handler
	hide *strings.Replacer
}

func (r *redactor) Enabled(ctx context.Context, l slog.Level) bool { return r.next.Enabled(ctx, l) }

func (r *redactor) Handle(ctx context.Context, rec slog.Record) error {
	out := slog.NewRecord(rec.Time, rec.Level, r.hide.Replace(rec.Message), rec.PC)
	rec.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(r.attr(a))
		return true
	})
	return r.next.Handle(ctx, out)
}

func (r *redactor) attr(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString:
		return slog.String(a.Key, r.hide.Replace(v.String()))
	case slog.KindAny:
		if err, ok := v.Any().(error); ok {
			return slog.String(a.Key, r.hide.Replace(err.Error()))
		}
	case slog.KindGroup:
		g := make([]slog.Attr, len(v.Group()))
		for i, m := range v.Group() {
			g[i] = r.attr(m)
		}
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(g...)}
	}
	return a
}

func (r *redactor) WithAttrs(as []slog.Attr) slog.Handler {
	hidden := make([]slog.Attr, len(as))
	for i, a := range as {
		hidden[i] = r.attr(a)
	}
	return &redactor{r.next.WithAttrs(hidden), r.hide}
}

func (r *redactor) WithGroup(name string) slog.Handler {
	return &redactor{r.next.WithGroup(name), r.hide}
}
