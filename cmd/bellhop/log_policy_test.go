package main

import (
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// logKeys are all keys a log line may have, so that one word finds everything about one thing. A new one is added here,
// and only for what people filter by; what they only read belongs into the message.
var logKeys = []string{
	"session", "turn", "admission", "request", "platform", "target", "call", "model", "attempt", "err",
	"person",   // who did it
	"question", // its id
	"delivery", // its id, a row of the outbox
	"problem",  // its id in the register
	"reason",   // why a turn or a row ended, or a model was left
	"ref",      // the short reference that was shown to a person
	"count",    // how many were lost or put off
	"stack",    // of a panic
}

// keyArgs are the arguments of a log call that must be keys; nil when the call is none.
func keyArgs(call *ast.CallExpr) (keys []ast.Expr) {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	var on strings.Builder
	if err := printer.Fprint(&on, token.NewFileSet(), sel.X); err != nil || !strings.HasSuffix(strings.ToLower(on.String()), "log") {
		return nil
	}
	args := call.Args
	switch sel.Sel.Name {
	case "With":
	case "Debug", "Info", "Warn", "Error":
		args = args[1:]
	default:
		return nil
	}
	for i := 0; i < len(args); i += 2 {
		keys = append(keys, args[i])
	}
	return keys
}

func TestLogKeysAreOfOneList(t *testing.T) {
	lines := 0
	for _, files := range packages(t) {
		for _, file := range files {
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				for _, k := range keyArgs(call) {
					lines++
					lit, ok := k.(*ast.BasicLit)
					if !ok {
						t.Errorf("%s: a key must be written out", fset.Position(k.Pos()))
						continue
					}
					if key, err := strconv.Unquote(lit.Value); err != nil || !slices.Contains(logKeys, key) {
						t.Errorf("%s: the log key %s is not on the list", fset.Position(k.Pos()), lit.Value)
					}
				}
				return true
			})
		}
	}
	if lines < 50 {
		t.Errorf("only %d keys were found: the test looks for log calls in the wrong way", lines)
	}
}
