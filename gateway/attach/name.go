package attach

import (
	"cmp"
	"path"
	"strconv"
	"strings"
	"unicode"

	"bellhop/core"
)

// longestName bounds a name in bytes: file systems take 255, and a number may come in front of the extension.
const longestName = 200

// names gives each file of one message a name of its own, in order: the same message gets the same names again.
func names(files []core.Attachment) []string {
	out := make([]string, len(files))
	taken := map[string]bool{}
	for i, a := range files {
		name := safeName(a)
		ext := path.Ext(name)
		for n := 2; taken[strings.ToLower(name)]; n++ {
			name = strings.TrimSuffix(safeName(a), ext) + "-" + strconv.Itoa(n) + ext
		}
		taken[strings.ToLower(name)] = true
		out[i] = name
	}
	return out
}

// safeName is a file name without folders, signs that cannot be seen or that turn the writing around, signs with a meaning
// in shells and file systems, and a dot or dash in front. A file without a name is named after its kind.
func safeName(a core.Attachment) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp): // also those that reverse what follows
			return -1
		case unicode.IsControl(r), r == unicode.ReplacementChar, strings.ContainsRune(`\:*?"'<>|$`+"`", r):
			return '_'
		}
		return r
	}, path.Base(path.Clean("/"+strings.ReplaceAll(a.Name, `\`, "/"))))
	name = strings.TrimRight(strings.TrimLeft(name, "./- "), " .")
	if over := len(name) - longestName; over > 0 { // the end holds the extension
		name = strings.TrimLeftFunc(strings.ToValidUTF8(name[over:], ""), func(r rune) bool {
			return unicode.Is(unicode.M, r) || strings.ContainsRune(".- ", r)
		})
	}
	if name == "" {
		name = cmp.Or(a.Kind, "file") + extensions[a.MIME]
		if a.Kind == "photo" && a.MIME == "" {
			name += ".jpg"
		}
	}
	return name
}

// extensions are the usual ones of what people send without a name. The system's own table differs from one to the next.
var extensions = map[string]string{"image/jpeg": ".jpg", "image/png": ".png", "image/gif": ".gif", "image/webp": ".webp",
	"video/mp4": ".mp4", "video/webm": ".webm", "application/pdf": ".pdf", "text/plain": ".txt", "application/json": ".json",
	"application/zip": ".zip", "text/csv": ".csv", "text/html": ".html"}
