package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"bellhop/adapters/telegram"
)

// Environment gives the value of an environment variable, as os.LookupEnv does.
type Environment func(string) (string, bool)

// Load finds and reads the configuration. path is what --config says, "" when it says nothing; then $BELLHOP_CONFIG, then
// $XDG_CONFIG_HOME/bellhop/config.yaml, which may be absent. The error is Faults, of Kind Invalid: every fault at once.
func Load(path string, env Environment) (Config, error) {
	path, must := find(path, env)
	var text []byte
	if path != "" {
		b, err := os.ReadFile(path)
		switch {
		case errors.Is(err, fs.ErrNotExist) && !must:
			path = ""
		case err != nil:
			return Config{}, Faults{{File: path, Text: "cannot be read: " + errText(err)}}
		}
		text = b
	}
	return Parse(path, text, env)
}

func errText(err error) string {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

func find(path string, env Environment) (file string, must bool) {
	if path != "" {
		return path, true
	}
	if p, ok := env("BELLHOP_CONFIG"); ok && p != "" {
		return p, true
	}
	base, _ := env("XDG_CONFIG_HOME")
	if base == "" {
		home, _ := env("HOME")
		if home == "" {
			return "", false
		}
		base = filepath.Join(home, ".config")
	}
	return filepath.Join(base, "bellhop", "config.yaml"), false
}

// Parse reads the text of a configuration file over the defaults, applies the environment and checks the whole.
func Parse(file string, text []byte, env Environment) (Config, error) {
	c := Default()
	c.File = file
	d := &decoder{file: file, env: env, used: map[string]bool{}, places: map[string]*token.Token{}}
	tree, err := parser.ParseBytes(shielded(text), 0)
	if err != nil {
		return Config{}, Faults{syntaxFault(file, err)}
	}
	for i, doc := range tree.Docs {
		if i > 0 && doc.Body != nil {
			d.fault(doc.Body, "only one document is read")
			break
		}
		if doc.Body != nil {
			d.value(doc.Body, reflect.ValueOf(&c).Elem(), "")
		}
	}
	slices.Sort(d.holds)
	c.Secrets = slices.Compact(d.holds)
	overlay(&c, env)
	c.Warnings = append(d.warns, c.Warnings...)
	faults := append(Faults(d.faults), d.located(check(&c))...)
	if len(faults) > 0 {
		return Config{}, faults
	}
	return c, nil
}

// reference is ${NAME} as people write it.
var reference = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// The shield stands for the signs of a reference while YAML is read, in as many columns: inside { } an unquoted brace would
// end the mapping. Both are characters of private use, which no configuration holds by chance.
const shieldOpen, shieldClose = "\ue000\ue000", "\ue001"

func shielded(text []byte) []byte {
	return reference.ReplaceAll(text, []byte(shieldOpen+"${1}"+shieldClose))
}

func unshielded(s string) string {
	return strings.NewReplacer(shieldOpen, "${", shieldClose, "}").Replace(s)
}

// located gives faults of values the place of the key that they begin with, or of the nearest one above it.
func (d *decoder) located(faults Faults) Faults {
	for i := range faults {
		path, _, _ := strings.Cut(faults[i].Text, ":")
		path, _, _ = strings.Cut(path, " ")
		for path != "" {
			if t := d.places[path]; t != nil {
				faults[i].Line, faults[i].Col = t.Position.Line, t.Position.Column
				break
			}
			path = path[:max(0, strings.LastIndexByte(path, '.'))]
		}
	}
	return faults
}

func syntaxFault(file string, err error) Fault {
	f := Fault{File: file, Text: err.Error()}
	var ye yaml.Error
	if errors.As(err, &ye) {
		f.Text = ye.GetMessage()
		if t := ye.GetToken(); t != nil && t.Position != nil {
			f.Line, f.Col = t.Position.Line, t.Position.Column
		}
	}
	return f
}

// overlay takes from the environment what the file leaves open.
func overlay(c *Config, env Environment) {
	get := func(name string) string { v, _ := env(name); return v }
	if v := get("BELLHOP_DATA"); v != "" && c.Data == "" {
		c.Data = v
	}
	if c.Data == "" {
		base := get("XDG_DATA_HOME")
		if base == "" {
			base = filepath.Join(get("HOME"), ".local", "share")
		}
		c.Data = filepath.Join(base, "bellhop")
	}
	if v := get("BELLHOP_LISTEN"); v != "" && c.Listen == Default().Listen {
		c.Listen = v
	}
	if v := get("BELLHOP_STORE_DSN"); v != "" && c.Store.DSN == "" {
		c.Store.DSN = Secret(v)
	}
	if c.Agent.Workspace == "" {
		c.Agent.Workspace = filepath.Join(c.Data, "workspace")
	}
	overlayModel(c, get)
	overlayPlatforms(c, get)
}

// overlayModel makes a provider of OPENAI_API_KEY or OPENAI_BASE_URL when the file names none, and falls to the practice
// model when nothing else is there.
func overlayModel(c *Config, get func(string) string) {
	key, base, model := get("OPENAI_API_KEY"), get("OPENAI_BASE_URL"), get("BELLHOP_MODEL")
	if c.Providers == nil {
		c.Providers = map[string]Provider{}
	}
	if _, ok := c.Providers["practice"]; !ok {
		c.Providers["practice"] = Provider{Kind: "practice"}
	}
	if _, ok := c.Providers["openai"]; !ok && (key != "" || base != "") {
		c.Providers["openai"] = Provider{Kind: "openai", BaseURL: base, APIKey: Secret(key)}
		if c.Model.Provider == "" {
			c.Model.Provider = "openai"
		}
	}
	if c.Model.Provider == "" && c.Model.Name == "" && len(c.Providers) == 1 {
		c.Model = Model{Provider: "practice", Name: "practice"}
	}
	if c.Model.Name == "" {
		c.Model.Name = model
	}
	if c.Model.Provider == "practice" && c.Model.Name == "" {
		c.Model.Name = "practice"
	}
}

func overlayPlatforms(c *Config, get func(string) string) {
	token := get("TELEGRAM_BOT_TOKEN")
	if token == "" {
		return
	}
	if len(c.Platforms.Telegram) == 0 {
		c.Platforms.Telegram = Many[Telegram]{{}}
	}
	if t := &c.Platforms.Telegram[0]; len(c.Platforms.Telegram) == 1 && t.Token == "" {
		t.Token = telegram.Secret(token)
	}
}
