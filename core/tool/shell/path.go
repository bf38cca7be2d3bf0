package shell

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// resolve returns every absolute path that a name could mean, depending on the current folder.
func (j *judging) resolve(name string) []string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		name = filepath.Join(j.home, rest)
	}
	if name == "~" {
		name = j.home
	}
	if filepath.IsAbs(name) {
		return []string{walk("/", name)}
	}
	out := make([]string, 0, len(j.cwds))
	for _, c := range j.cwds {
		out = append(out, walk(c, name))
	}
	return out
}

// walk goes from a folder along a path as the kernel does: ".." behind a link leaves what the link points to. Links are
// looked for only in what exists, and not in a path that the kernel would not take.
func walk(dir, name string) string {
	if len(name) > maxPath {
		return filepath.Join(dir, name)
	}
	missing := false
	for part := range strings.SplitSeq(name, "/") {
		switch part {
		case "", ".":
		case "..":
			dir, missing = filepath.Dir(dir), false
		default:
			dir = filepath.Join(dir, part)
			if missing || alien(dir) { // links of the latter lead elsewhere for each process
				continue
			}
			dir = follow(dir)
			_, err := os.Lstat(dir)
			missing = err != nil
		}
	}
	return dir
}

const maxPath = 4096 // bytes, PATH_MAX of Linux

// alien reports whether a path is among what the kernel shows as files.
func alien(abs string) bool {
	return within("/proc", abs) || within("/sys", abs) || within("/dev", abs)
}

var procSecret = regexp.MustCompile(`^/proc/[^/]+/(task/[^/]+/)?(environ|mem|maps|fd|root|cwd|auxv)(/|$)`)

// path judges a name that a command may read or write: free inside the workspace, asks outside, forbidden where the
// gateway keeps its data and secrets.
func (j *judging) path(name string) {
	if name == "/dev/null" || name == "-" {
		return
	}
	for _, abs := range j.resolve(name) {
		switch {
		case procSecret.MatchString(abs) || j.isGateway(abs):
			j.forbid("looks into a process: " + name)
		case j.isSecret(abs):
			j.forbid("reaches into the gateway's own files: " + name)
		case !j.inWorkspace(abs) || alien(abs) || strings.HasPrefix(name, "~"):
			j.ask(line, "leaves the workspace: "+name)
		}
	}
}

// isGateway reports whether a path shows the gateway's own process.
func (j *judging) isGateway(abs string) bool {
	for _, pid := range j.gateway {
		if within("/proc/"+strconv.Itoa(pid), abs) {
			return true
		}
	}
	return false
}

func (j *judging) inWorkspace(abs string) bool {
	return within(j.workspace, abs) || within(j.spill, abs)
}

func (j *judging) isSecret(abs string) bool {
	if j.inWorkspace(abs) {
		return false
	}
	for _, s := range j.secret {
		if s = follow(s); within(s, abs) || s != "" && strings.HasPrefix(abs, s+"-") { // a database has files beside it: -wal, -shm
			return true
		}
	}
	return false
}

func isFolder(abs string) bool {
	info, err := os.Stat(abs)
	return err == nil && info.IsDir()
}

// follow resolves the links in a path, as far as it exists; also one that leads nowhere yet.
func follow(abs string) string {
	for range maxLinks {
		next := followOnce(abs)
		if next == abs {
			break
		}
		abs = next
	}
	return abs
}

const maxLinks = 16

func followOnce(abs string) string {
	rest := ""
	for dir := abs; dir != ""; {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		if to, err := os.Readlink(dir); err == nil {
			if !filepath.IsAbs(to) {
				to = filepath.Join(filepath.Dir(dir), to)
			}
			return filepath.Join(to, rest)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return abs
		}
		rest = filepath.Join(filepath.Base(dir), rest)
		dir = up
	}
	return abs
}

// within reports whether abs is dir or lies below it.
func within(dir, abs string) bool {
	if dir == "" {
		return false
	}
	rel, err := filepath.Rel(dir, abs)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

var pathStart = regexp.MustCompile(`/|~|\.\.`)

// matches judges what a pattern for file names matches now, as far as that can be told.
func (j *judging) matches(pattern string) {
	for _, abs := range j.resolve(pattern) {
		if j.mayBeSecret(abs) {
			j.forbid("reaches into the gateway's own files: " + pattern)
			return
		}
		if strings.Contains(pattern, "[") || !j.inWorkspace(globRoot(abs)) || wild(abs) > maxWild {
			j.ask(once, "uses a pattern for file names that cannot be looked through: "+pattern)
			return
		}
		found, err := filepath.Glob(abs)
		if err != nil || len(found) > maxMatches {
			j.ask(once, "uses a pattern that matches too much to look at: "+pattern)
			return
		}
		for _, f := range found {
			j.path(f)
		}
	}
}

// wild counts the folders of a path that are patterns.
func wild(abs string) (n int) {
	for part := range strings.SplitSeq(abs, "/") {
		if strings.ContainsAny(part, "*?[") {
			n++
		}
	}
	return n
}

// mayBeSecret reports whether a pattern that begins outside the workspace can match something of the gateway's.
func (j *judging) mayBeSecret(abs string) bool {
	if j.inWorkspace(globRoot(abs)) {
		return false
	}
	parts := strings.Split(abs, "/")
	for _, s := range j.secret {
		s := strings.Split(follow(s), "/")
		hit := len(s) > 1 && len(s) <= len(parts)
		for i := 0; hit && i < len(s); i++ {
			ok, err := filepath.Match(parts[i], s[i])
			hit = ok || err != nil
		}
		if hit {
			return true
		}
	}
	return false
}

const maxWild = 3 // folders of a pattern that are patterns themselves

const maxMatches = 500

// pathIn returns the part of an argument that may be a path, "" when there is none: the value of an option, what stands
// behind a one-letter option, or the argument itself.
func pathIn(arg string) string {
	switch {
	case strings.HasPrefix(arg, "--"):
		_, value, _ := strings.Cut(arg, "=")
		return value
	case strings.HasPrefix(arg, "-") && arg != "-":
		if loc := pathStart.FindStringIndex(arg); loc != nil {
			return arg[loc[0]:]
		}
		return ""
	}
	return arg
}

var diskName = regexp.MustCompile(`^/dev/(sd|hd|vd|xvd|nvme|mmcblk|md|dm-|loop|mapper/|disk/|mem$|kmem$|port$|fb)`)

// disk reports whether a path is a device whose content must not be overwritten.
func disk(path string) bool { return diskName.MatchString(filepath.Clean(path)) }
