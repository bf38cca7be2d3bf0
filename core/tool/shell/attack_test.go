package shell

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"bellhop/core/tool"
)

// attacks are lines that must not run without a person, however harmless they look.
var attacks = []string{
	// A value becomes an option, or the target of one that runs what stands in an index.
	`for x in -v; do printf $x 'a[$(touch pwned)]' hi; done`,
	`true -v; printf $_ 'a[$(touch pwned)]' x`,
	`printf -? 'a[$(touch p)]' hi`,
	`test -? 'a[$(touch p)]'`,
	`[ -? 'a[$(touch p)]' ]`,
	`[ -v 'a[$(touch p)]' ]`,
	`test ! -v 'a[$(touch p)]'`,
	`printf -v 'a[$(touch p)]' x`,
	`printf '-v' 'a[$(touch p)]' x`,
	`printf -va x`,
	`printf x%n PATH`,
	`printf '%5n' 'a[$(touch p)]'`,
	`printf "%%%n" PATH`,
	`printf {-v,'a[$(touch p)]',{1..70}}`,
	`printf {-v,'a[$(touch p)]'}`,
	`echo {a,b}`,
	`find . -maxdepth 0 -exe? touch pwned {} +`,
	`find . -maxdepth 0 -e"xe"? touch pwned {} +`,
	`find . -{exec,x} touch pwned {} +`,
	`find . ?exec touch pwned {} +`,
	`find ./* -exec touch pwned {} +`,
	`find -- -delete`,
	`git diff --no-index --o* a b`,
	`git diff --no-index --output=p a b`,
	`git diff -U --output=p a b`,
	`git diff --* a b`,
	`grep -n [-]f x`,
	`sort -* a`,
	`ls ?-`,
	`cat {a,-}`,
	`cd u && uniq ?.t`,
	`cd u && uniq ./?.t`,
	`uniq ./u/*`,
	`xxd ./u/*`,
	`uniq -f 1 a b`,
	// A variable of the environment changes what a command does.
	`for x in -vGIT_CONFIG_KEY_0; do printf $x diff.external; done; git diff --no-index a b`,
	`GIT_EXTERNAL_DIFF=./x git diff`,
	`LD_PRELOAD=./x.so ls`,
	`IFS=x ls`,
	`BASH_ENV=x true`,
	`LESSOPEN='|./x %s' cat a`,
	`export GIT_CONFIG_KEY_0=diff.external`,
	`declare -x GIT_PAGER=./x; git log`,
	`readonly PATH=.`,
	`typeset PATH=.`,
	`read PATH < a; ls`,
	`mapfile -C ./x a`,
	`getopts a PATH`,
	`unset PATH`,
	`unset 'a[$(touch p)]'`,
	`PATH=.`,
	`PATH+=:.`,
	`hash -p ./x ls; ls`,
	`enable -f ./x ls`,
	`shopt -s extglob`,
	`set -f; ls`,
	`for git in a; do ls; done`,
	`select x in a; do ls; done`,
	`{PATH}>/dev/null ls`,
	// Arithmetic runs what stands in an index.
	`let 'a[$(touch p)]'`,
	`(( a[$(touch p)] ))`,
	`echo $(( a[$(touch p)] ))`,
	`echo $[ a[1] ]`,
	`echo ${x[$(touch p)]}`,
	`echo ${x:$(touch p)}`,
	`echo ${#a[$(touch p)]}`,
	`echo ${!x}`,
	`echo ${x@P}`,
	`[[ -v a[$(touch p)] ]]`,
	`[[ -v 'a[$(touch p)]' ]]`,
	`[[ 'a[$(touch p)]' -eq 0 ]]`,
	`[[ ! -v 'a[0]' ]]`,
	`[[ $x == y ]]`,
	`[[ a =~ $x ]]`,
	`' '`,
	`'git status'`,
	`'git add' x`,
	`case $x in a) ls;; esac`,
	// Parsers disagree.
	"echo a \\\r\ntouch pwned",
	"ls\r\ntouch pwned",
	"ls\rtouch",
	"ls '\r'",
	"ls\vx",
	"ls\u00a0x",
	"ls\u0085x",
	"ls\u2028x",
	"ls \x7f",
	"ls \xff",
	`cat $'a\x41'`,
	`cat $"a"`,
	`cat ~root/x`,
	`cat ~+/x`,
	"cat <<\"a b\"\nx\na b",
	"cat <<X\n$x\nX",
	"cat <<< $x",
	`echo x > /dev/nul?`,
	`cat < ./x*`,
	// A file holds names of files, patterns, options or code.
	`sort --files0-from=list`,
	`sort --files0=list`,
	`strings @list`,
	`strings -a @list`,
	`strings -n @list a`,
	`strings -- @list`,
	`strings @d/*`,
	`wc --files0-from=list`,
	`du --files0-from=list`,
	`du -X list`,
	`file -f list`,
	`file --files-from=list`,
	`file -bflist`,
	`find -files0-from list`,
	`find . -newer x`,
	`grep -f list x`,
	`grep -nf list x`,
	`grep -n --file=list x`,
	`grep --exclude-from=list -r x .`,
	`diff --from-file a b`,
	`diff --to-file=a b`,
	`diff -x list a b`,
	`diff -X list a b`,
	`diff --exclude-from=list a b`,
	`jq -n -f prog.jq`,
	`jq -nf prog.jq`,
	`jq --from-file prog.jq`,
	`jq -L lib . a`,
	`jq -n 'import "a" as $a; $a'`,
	`jq -n 'include "a"; .'`,
	`jq -n '"a" | modulemeta'`,
	`jq --slurpfile a b . c`,
	`jq --rawfile a b . c`,
	`jq ./*.jq a`,
	`rg -f list x`,
	`rg --ignore-file=list x`,
	`md5sum -c list`,
	`sha256sum --check list`,
	`date -f list`,
	`date -r x`,
	`date --file=list`,
	`sed -f x a`,
	`sed -n -f x`,
	`sed -n 1p --file=x`,
	`git grep -f list`,
	`git blame --contents x a`,
	`git blame -S list a`,
	`git diff -Olist`,
	`git log --format=%G?`,
	`git log --show-signature`,
	`git cat-file --textconv a`,
	`git ls-files -X list`,
	`git --git-dir=x log`,
	`git -C x log`,
	`git -p log`,
	`git stash`,
	`git branch x`,
	`git reflog expire`,
	`hexdump -f x a`,
	`od --strings=a x`,
	`ls -L x`,
	`tree -o x`,
	`tree --fromfile x`,
	`ls --unknown`,
	`cat /dev/fd/3`,
	`cat /dev/stdin`,
	`cat /sys/kernel/x`,
	`cat /proc/cpuinfo`,
	`cat < /dev/tcp/127.0.0.1/80`,
}

func TestAttacksAsk(t *testing.T) {
	for _, text := range attacks {
		if o := judge(text, testPlace()); o.verdict == tool.Allow {
			t.Errorf("%q runs without approval", text)
		} else if len(o.why) < 10 {
			t.Errorf("%q: reason %q", text, o.why)
		}
	}
}

// The lines people need all day are not in the way of all this.
func TestEverydayLinesRun(t *testing.T) {
	for _, text := range []string{
		`grep -rn "func main" --include=*.go --exclude-dir='.git' .`, `grep -c '[a-z]*' a.txt`, `ls -la ./src/*.go`, `cat src/*.go`,
		`head -5 a; tail -n 3 b; sed -n 5p a`, `find . -type f \( -name '*.go' -o -name '*.md' \) -not -path './x/*'`,
		`git log --oneline -5 --stat`, `git diff --stat HEAD~1`, `git show HEAD:a.go`, `git log -n 3 --format=%H`, `git branch -vv`,
		`[ -f a ] && echo yes`, `sort -t, -k2 -rn a | uniq -c | cut -d/ -f1`, `printf '%-5s|%05d|%%\n' a 7`, `echo "it's \"fine\"" a\ b`,
		`jq -r '.a[] | select(.b == "c")' a.json`, `date +%F`, `date -d '1 day ago' +%s`, `wc -l < a`, "cat <<X\nplain\nX", `echo 'a{b,c}' '$x' '*'`,
		`rg -n TODO --type=go src`, `du -sh .`, `cd src && ls ./*.go`, `git stash list`, `xxd -l 16 a`,
	} {
		if o := judge(text, testPlace()); o.verdict != tool.Allow {
			t.Errorf("%q: %s", text, o.why)
		}
	}
}

func TestGatewaysOwnProcessIsForbidden(t *testing.T) {
	for _, text := range []string{`cat /proc/4242/status`, `ls /proc/4242`, `cat /proc/4242/task/1/comm`, `cat /proc/7/environ`, `cat /proc/self/environ`,
		`cat /proc/self/cwd/x`, `cat /proc/1/root/data/x`, `cp /proc/4241/cmdline x`, `python3 /proc/4242/fd/3`, `sort --files0-from=/data/list`,
		`grep -f/data/x y`, `strings @/data/x`} {
		if o := judge(text, testPlace()); o.verdict != tool.Forbid {
			t.Errorf("%q: %s (%s)", text, o.verdict, o.why)
		}
	}
}

// What is allowed is run here by bash, in a folder full of file names that want to be options. Nothing may change.
func TestAllowedLinesLeaveNoTrace(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	ws := t.TempDir()
	for _, name := range []string{"-exec: x", "-v: x", "-delete", "--output=p: x", "a", "b", "u/a.t", "u/b.t", "list"} {
		file := filepath.Join(ws, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(name+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := tree(t, ws)
	lines := append([]string{}, attacks...)
	for _, c := range corpus {
		if c.want == tool.Allow { // what is worse than an attack of ours must not even run by mistake
			lines = append(lines, c.line)
		}
	}
	ran := 0
	for _, text := range lines {
		p := testPlace()
		if p.workspace = ws; judge(text, p).verdict != tool.Allow || strings.Contains(text, "/data") {
			continue
		}
		cmd := exec.Command(bash, "-c", text)
		cmd.Dir = ws
		_ = cmd.Run() // that it fails is fine, that it changes something is not
		if ran++; tree(t, ws) != before {
			t.Fatalf("%q changed the workspace", text)
		}
	}
	if ran < 30 {
		t.Errorf("only %d lines ran", ran)
	}
}

// tree is the names and contents of all files below a folder.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		b.WriteString(path + "\x00" + string(content) + "\x00")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPeopleReadTheLine(t *testing.T) {
	text := "echo 'a & b' > x\nrm y"
	raw, err := json.Marshal(map[string]string{"command": text})
	if err != nil {
		t.Fatal(err)
	}
	env := testEnv(t)
	r, err := New(Options{}).Assess(t.Context(), env, raw)
	if err != nil || r.Detail != text || strings.Contains(r.Summary, `\u00`) || r.Once {
		t.Errorf("%+v %v", r, err)
	}
	for text, want := range map[string]string{
		"frobnicate x": "may change something: frobnicate",
		"echo $x":      "uses a value that is not known before it runs",
		"ls 'a":        "cannot be read as a command line",
	} {
		if o := judge(text, testPlace()); o.why != want {
			t.Errorf("%s: why %q, want %q", text, o.why, want)
		}
	}
}

// An approval of what depends on more than the line is for one call: the key of the next is another.
func TestOnceIsOnce(t *testing.T) {
	env, sh := testEnv(t), New(Options{})
	key := func(id, command string) tool.Risk {
		env.CallID = id
		r, err := sh.Assess(t.Context(), env, json.RawMessage(`{"command":"`+command+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if a, b := key("1", "bash x.sh"), key("2", "bash x.sh"); a.Key == b.Key || !a.Once {
		t.Errorf("%+v and %+v", a, b)
	}
	if a, b := key("1", "rm x"), key("2", "rm x"); a.Key != b.Key || a.Once {
		t.Errorf("%+v and %+v", a, b)
	}
}
