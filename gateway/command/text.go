package command

import "strings"

// Parse reads "/name rest" and returns the name in lower case. A path (/etc/hosts) is no command; whether the table knows
// the name is not asked.
func Parse(text string) (name, args string, ok bool) {
	rest, ok := strings.CutPrefix(text, "/")
	if !ok {
		return "", "", false
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return !isNameRune(r) })
	if end < 0 {
		end = len(rest)
	}
	name, args = rest[:end], rest[end:]
	if name == "" || name[0] >= '0' && name[0] <= '9' || args != "" && !strings.ContainsRune(" \n\t", rune(args[0])) {
		return "", "", false
	}
	return strings.ToLower(name), strings.TrimSpace(args), true
}

func isNameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
}
