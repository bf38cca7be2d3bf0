package markup

import "strings"

var nameSigns = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, ">", `\>`,
	"~", `\~`, "|", `\|`, "&", `\&`, "\n", " ")

// Escape makes text that people chose, such as their names, safe to stand within a line of Markdown: it is shown as it is.
func Escape(s string) string { return nameSigns.Replace(s) }
