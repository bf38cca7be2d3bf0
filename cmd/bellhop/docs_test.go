package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"bellhop/config"
)

// pages are what people read and copy from.
var pages = []string{"README.md", "CONTRIBUTING.md", "docs/kill-matrix.md", "docs/reliability.md", "deploy/config.example.yaml", "deploy/bellhop.service",
	"deploy/compose.yaml", "deploy/Dockerfile", "deploy/demo"}

func page(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var (
	// offered is a commented line of the example that is a setting: # key: value, where the key may be indented.
	offered = regexp.MustCompile(`(?m)^( *)# ?((?:  )* ?[a-z_]+:(?: .*)?)$`)
	yamls   = regexp.MustCompile("(?s)```yaml\n(.*?)```")
	heredoc = regexp.MustCompile(`(?s)<<YAML\n(.*?)\nYAML\n`)
	content = regexp.MustCompile(`(?s)content: \|\n(.*?)\n\S`)
)

// TestConfigExamplesAreGood: each configuration that people are shown passes bellhop config check, without a warning; the
// example's also with every setting that stands in a comment.
func TestConfigExamplesAreGood(t *testing.T) {
	example := page(t, "deploy/config.example.yaml")
	examples := map[string]string{"the example": example, "all of the example": offered.ReplaceAllString(example, "$1$2"),
		"compose": content.FindStringSubmatch(page(t, "deploy/compose.yaml"))[1], "the demo": heredoc.FindStringSubmatch(page(t, "deploy/demo"))[1]}
	for _, p := range pages {
		for n, m := range yamls.FindAllStringSubmatch(page(t, p), -1) {
			examples[fmt.Sprint(p, " ", n)] = m[1]
		}
	}
	for name, text := range examples {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Chmod(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, "bellhop.yaml")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			env := map[string]string{"HOME": dir, "TELEGRAM_BOT_TOKEN": "123456789:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "OPENAI_API_KEY": "sk-x",
				"BELLHOP_MODEL": "m", "BELLHOP_DATA": dir, "addr": "127.0.0.1:1"}
			var out, errs bytes.Buffer
			a := &app{out: &out, err: &errs, file: file, env: func(name string) (string, bool) { v, ok := env[name]; return v, ok }}
			err := a.configCheck()
			for line := range strings.Lines(errs.String()) {
				if !strings.Contains(line, "access.default is allow") { // on purpose, where nobody else can be
					t.Errorf("%s of\n%s", line, text)
				}
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// The example offers what it leaves out, so that nothing has to be looked up elsewhere.
func TestExampleOffersItsComments(t *testing.T) {
	all := offered.ReplaceAllString(page(t, "deploy/config.example.yaml"), "$1$2")
	for _, key := range []string{"data:", "model:", "providers:", "  local:", "  telegram:", "    token:", "    limits:", "  rate:", "  workspace:"} {
		if !regexp.MustCompile(`(?m)^` + key).MatchString(all) {
			t.Errorf("no %q in\n%s", key, all)
		}
	}
}

var (
	variable = regexp.MustCompile(`\b(?:BELLHOP|TELEGRAM|OPENAI)_[A-Z_]+\b`)
	filePath = regexp.MustCompile(`^[a-z_]+(/[A-Za-z0-9_.-]+)+$`)
)

// TestDocsNameWhatIsThere: each environment variable that a page names is read, each file of the source that it names exists.
func TestDocsNameWhatIsThere(t *testing.T) {
	read := map[string]bool{"BELLHOP_CONFIG": true}
	if _, err := config.Parse("", nil, func(name string) (string, bool) { read[name] = true; return "", false }); err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		text := page(t, p)
		for _, name := range variable.FindAllString(text, -1) {
			if !read[name] {
				t.Errorf("%s names %s, which nothing reads", p, name)
			}
		}
		for _, m := range inlined.FindAllStringSubmatch(text, -1) {
			if !filePath.MatchString(m[1]) {
				continue
			}
			if _, err := os.Stat(filepath.Join("..", "..", m[1])); err != nil && !strings.HasPrefix(m[1], "testing/") {
				t.Errorf("%s names %s: %v", p, m[1], err)
			}
		}
	}
}

// TestReadmeSaysWhereThingsAre: the folders that the README names are those of a person who has set nothing.
func TestReadmeSaysWhereThingsAre(t *testing.T) {
	c, err := config.Load("", func(name string) (string, bool) {
		if name == "HOME" {
			return "~", true
		}
		return "", false
	})
	if err != nil {
		t.Fatal(err)
	}
	readme := page(t, "README.md")
	for _, want := range []string{"`" + c.Data + "`", "`~/.config/bellhop/config.yaml`"} {
		if !strings.Contains(readme, want) {
			t.Errorf("the README does not say %s", want)
		}
	}
	if lines := strings.Count(readme, "\n"); lines > 60 {
		t.Errorf("the README has %d lines", lines)
	}
}

// TestUnitFitsTheProgram: what the service manager and the image call is there, and they wait for as long as a drain takes.
func TestUnitFitsTheProgram(t *testing.T) {
	unit, image, compose := page(t, "deploy/bellhop.service"), page(t, "deploy/Dockerfile"), page(t, "deploy/compose.yaml")
	exec := regexp.MustCompile(`(?m)^ExecStart=\S+/bellhop (\w+)$`).FindStringSubmatch(unit)
	served := regexp.MustCompile(`CMD \["(\w+)"\]\s*$`).FindStringSubmatch(image)
	if exec == nil || served == nil {
		t.Fatal("nothing is started")
	}
	for _, name := range []string{exec[1], served[1]} {
		if c, _, err := (&app{}).root().Find([]string{name}); err != nil || c.Name() != name {
			t.Errorf("%s is no command: %v", name, err)
		}
	}
	drain := config.Default().Turns.Drain
	for what, m := range map[string][]string{
		"the unit": regexp.MustCompile(`TimeoutStopSec=(\d+)\n`).FindStringSubmatch(unit),
		"compose":  regexp.MustCompile(`stop_grace_period: (\d+)s`).FindStringSubmatch(compose),
	} {
		if seconds, err := strconv.Atoi(slices.Concat(m, []string{"", ""})[1]); err != nil || time.Duration(seconds)*time.Second < drain+10*time.Second {
			t.Errorf("%s stops waiting after %v of a drain of %s", what, m, drain)
		}
	}
	if !strings.Contains(unit, "RestartPreventExitStatus="+strconv.Itoa(exitConfig)+"\n") {
		t.Errorf("the unit starts again after exit code %d", exitConfig)
	}
	if !strings.Contains(image, "GET /readyz ") {
		t.Error("the image does not ask whether it is ready")
	}
}
