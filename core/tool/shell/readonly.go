package shell

import "strings"

// reader says how a command is called when it has no effect: its harmless options, and nothing else. An option that is
// not listed here asks; so does the abbreviation of one. None of those listed runs a program, writes a file, or names a
// file, least of all one that holds names of files, patterns or code.
type reader struct {
	flags  string   // options of one letter without a value
	values string   // options of one letter with a value that is text
	long   []string // options by name; one that ends in = has a value behind it, which is text
	text   bool     // operands are text, else they are paths
	glob   bool     // operands may be patterns for file names: any number of them is the same
	max    int      // number of operands, 0: any. One more would be written to
	whole  bool     // options are not read letter by letter: check sees to all arguments
	check  func(args []word) (why string)
}

const notKnown = "uses a value that is not known before it runs"

// refuses says why the call does more than read, "" when it does not, and which arguments are paths.
func (r reader) refuses(args []word) (paths []word, why string) {
	for _, a := range args {
		switch {
		case a.glob && r.valued(a.text): // whatever it matches is the same option
		case a.glob && a.known && (!r.glob || !anchored(a.text)):
			return nil, "uses a pattern for file names that could become something else: " + a.text + " (./ before it helps)"
		case !a.known:
			return nil, notKnown
		}
	}
	paths = args
	if !r.whole {
		if paths, why = r.operands(args); why != "" {
			return nil, why
		}
	}
	if r.max > 0 && len(paths) > r.max {
		return nil, "writes to its last argument"
	}
	if r.check != nil {
		if why = r.check(args); why != "" {
			return nil, why
		}
	}
	if r.text {
		return nil, ""
	}
	return paths, ""
}

// valued reports whether a word, be it a pattern, is an option with a value.
func (r reader) valued(text string) bool {
	name, ok := strings.CutPrefix(text[:strings.Index(text, "=")+1], "--")
	return ok && !r.whole && contains(r.long, name)
}

// operands takes the options out of the arguments as getopt does, and refuses those that are not listed.
func (r reader) operands(args []word) (rest []word, why string) {
	for i := 0; i < len(args); i++ {
		switch text := args[i].text; {
		case text == "--":
			return append(rest, args[i+1:]...), ""
		case strings.HasPrefix(text, "--"):
			if !r.named(text[2:]) {
				return nil, unlisted(text)
			}
		case strings.HasPrefix(text, "-") && text != "-":
			more, ok := r.letters(text[1:])
			if !ok {
				return nil, unlisted(text)
			}
			if i += more; i >= len(args) || more > 0 && strings.HasPrefix(args[i].text, "-") {
				return nil, unlisted(text) // a value with a dash could be an option in truth
			}
		default:
			rest = append(rest, args[i])
		}
	}
	return rest, ""
}

// letters reads a cluster of options. more is 1 when the value of the last is the next argument.
func (r reader) letters(cluster string) (more int, ok bool) {
	for i := 0; i < len(cluster); i++ {
		switch {
		case strings.IndexByte(r.values, cluster[i]) >= 0:
			if i == len(cluster)-1 {
				more = 1
			}
			return more, true
		case strings.IndexByte(r.flags, cluster[i]) < 0:
			return 0, false
		}
	}
	return 0, true
}

func (r reader) named(option string) bool {
	name, _, value := strings.Cut(option, "=")
	if value {
		name += "="
	}
	return contains(r.long, name)
}

func unlisted(option string) string { return "uses an option that may do more than read: " + option }

func list(names string) []string { return strings.Fields(names) }

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

const digits = "0123456789"

var (
	words = reader{text: true, whole: true} // every argument is text
	sums  = reader{flags: "bt", glob: true}
	greps = reader{flags: "EFGPiwxvcnHhoqslabLZzTyrUI" + digits, values: "emABC", glob: true, long: list(`include= exclude= exclude-dir= color color=
		count ignore-case invert-match word-regexp line-regexp line-number files-with-matches files-without-match only-matching
		no-messages recursive extended-regexp fixed-strings perl-regexp regexp= max-count= context= after-context= before-context=
		no-filename with-filename quiet text null`)}
)

// readers are the commands that can read and print without any other effect. Their links are not followed into folders
// that no argument names.
var readers = map[string]reader{
	"echo": words, "true": words, "false": words, ":": words, "sleep": words, "exit": words, "expr": words,
	"printf": {text: true, whole: true, check: formats},
	"test":   {whole: true, check: tests}, "[": {whole: true, check: tests},
	"seq": {text: true, flags: "w" + digits, values: "sf"}, "tr": {text: true, flags: "cCdst"},
	"ls": {flags: "aAbBcCdfFgGhiklmnNopqQrRsStuUvxXZ1", values: "wIT", glob: true, long: list(`all almost-all color color= full-time
		human-readable group-directories-first time= sort= reverse recursive size`)},
	"cat":  {flags: "AbeEnstTuv", glob: true},
	"head": {flags: "qvz" + digits, values: "nc", glob: true, long: list("lines= bytes= quiet verbose")},
	"tail": {flags: "qvz" + digits, values: "nc", glob: true, long: list("lines= bytes= quiet verbose")},
	"wc":   {flags: "clmLw", glob: true, long: list("lines words bytes chars max-line-length")},
	"stat": {flags: "ft", values: "c", glob: true, long: list("format= printf= terse")},
	"du":   {flags: "abchklmsx0S", values: "d", glob: true, long: list("max-depth= human-readable summarize apparent-size all total bytes")},
	"df":   {flags: "hikTaPlH"}, "pwd": {flags: "LP"},
	"basename": {text: true, flags: "az", values: "s"}, "dirname": {text: true, flags: "z"},
	"realpath": {flags: "emqsz", glob: true}, "readlink": {flags: "femnqsvz", glob: true},
	"uname": {flags: "amnrsvpio"}, "whoami": {}, "id": {flags: "gGnruz", text: true}, "groups": {text: true}, "nproc": {},
	"uptime": {flags: "ps"}, "free": {flags: "hbkmgtw"}, "hostname": {check: alone},
	"which": {text: true, flags: "a"}, "type": {text: true, flags: "atpPf"}, "command": {text: true, whole: true, check: asksWhere},
	"cut":  {flags: "nsz", values: "bcdf", glob: true, long: list("delimiter= fields= characters= complement output-delimiter= only-delimited")},
	"comm": {flags: "123z"}, "cmp": {flags: "bls", values: "in", max: 2}, "paste": {flags: "sz", values: "d", glob: true},
	"diff": {flags: "uqsyiwbBEZatcNedp" + digits, values: "UCW", max: 2, long: list("brief unified unified= color color= ignore-all-space " +
		"side-by-side ignore-case ignore-blank-lines")},
	"fold": {flags: "bs", values: "w", glob: true}, "column": {flags: "tx", values: "sN", glob: true}, "nl": {flags: "p", values: "bdfhilnsvw", glob: true},
	"tac": {flags: "br", values: "s", glob: true}, "rev": {glob: true}, "expand": {flags: "i", values: "t", glob: true},
	"md5sum": sums, "sha1sum": sums, "sha256sum": sums, "sha512sum": sums, "cksum": {glob: true},
	"od": {flags: "bcdfiloxsav", values: "ANjt", glob: true}, "hexdump": {flags: "bcCdovx", values: "ns", glob: true},
	"strings": {flags: "ao", values: "nt", glob: true, check: noLists},
	"grep":    greps, "egrep": greps, "fgrep": greps,
	"file": {flags: "bihN", glob: true, long: list("brief mime mime-type mime-encoding")},
	"date": {flags: "uR", values: "d", text: true, long: list("utc iso-8601 iso-8601= rfc-3339= date="), check: dates},
	"uniq": {flags: "cdDuiz", values: "fsw", max: 1, long: list("count repeated unique ignore-case")},
	"xxd":  {flags: "bEeiup", values: "clsg", max: 1, check: noDash},
	"sort": {flags: "bdfghinMrRsuVzcCm", values: "kt", glob: true, long: list("key= field-separator= numeric-sort reverse unique human-numeric-sort " +
		"version-sort general-numeric-sort ignore-case stable check")},
	"tree": {flags: "adfipsughDFnCrtJv", values: "LPI", glob: true, check: noDash, long: list("noreport dirsfirst du")},
	"rg": {flags: "nilcvwxHINUsSFoPq0ahu." + digits, values: "egtTABCmM", glob: true, long: list("files hidden no-ignore type= glob= count ignore-case " +
		"no-heading heading line-number files-with-matches fixed-strings max-count= context= color= no-config")},
	"jq":   {flags: "rncsCMSjae", check: jqs, long: list("raw-output compact-output null-input slurp sort-keys exit-status tab")},
	"find": {whole: true, check: finds},
	"sed":  {whole: true, check: seds},
	"git":  {whole: true, check: gits},
	"go":   {whole: true, text: true, check: goes},
}
