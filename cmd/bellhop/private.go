package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"bellhop/config"
)

// exposure is a file or folder with secrets that others than its owner may read.
type exposure struct {
	path string
	what string // what is in it
	mode fs.FileMode
	want fs.FileMode
}

func (e exposure) String() string {
	return fmt.Sprintf("%s can be read by others (%04o), and %s", e.path, e.mode, e.what)
}

func (e exposure) remedy() string { return fmt.Sprintf("chmod %o %s", e.want, quoted(e.path)) }

func (e exposure) mend() error { return os.Chmod(e.path, e.want) }

// exposed looks at the files that hold secrets, at .env files where people keep them, and at the data folder.
func exposed(c config.Config) []exposure {
	var found []exposure
	look := func(path, what string, want fs.FileMode) {
		info, err := os.Stat(path)
		if err == nil && info.Mode().Perm()&0o077 != 0 && !handedOver(path) {
			found = append(found, exposure{path, what, info.Mode().Perm(), want})
		}
	}
	for _, f := range c.Secrets {
		look(f, "holds secrets", 0o600)
	}
	for _, f := range dotEnvs(c) {
		look(f, "holds secrets", 0o600)
	}
	look(c.Data, "holds all that was said", 0o700)
	return found
}

// exposures are warnings about what is exposed.
func exposures(c config.Config) []string {
	var out []string
	for _, e := range exposed(c) {
		out = append(out, e.String()+"; mend it: "+e.remedy())
	}
	return out
}

// handedOver reports whether a file comes from systemd, which guards its folder and sets modes of its own.
func handedOver(path string) bool {
	dir := os.Getenv("CREDENTIALS_DIRECTORY")
	return dir != "" && strings.HasPrefix(path, dir+string(filepath.Separator))
}

// dotEnvs lists the .env files with secrets where this program is started, and beside its configuration and data. It does
// not read them itself; what starts it may.
func dotEnvs(c config.Config) []string {
	var found []string
	for _, dir := range []string{".", filepath.Dir(c.File), c.Data} {
		path, err := filepath.Abs(filepath.Join(dir, ".env"))
		if err != nil || slices.Contains(found, path) {
			continue
		}
		if text, err := os.ReadFile(path); err == nil && envSecret.Match(text) {
			found = append(found, path)
		}
	}
	return found
}

// envSecret is a line that gives a variable with a telling name a value.
var envSecret = regexp.MustCompile(`(?m)^[ \t]*(export[ \t]+)?[A-Za-z0-9_]*(TOKEN|KEY|SECRET|PASSWORD|DSN)[ \t]*=[ \t]*["']?[^\s"'#]`)

// quoted is a path as a shell takes it.
func quoted(path string) string {
	if regexp.MustCompile(`^[A-Za-z0-9_./-]+$`).MatchString(path) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
