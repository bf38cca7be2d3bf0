package shell

import (
	"regexp"
	"strings"
)

// The checks below see to what a list of options cannot say. Each gets all arguments, whose values are known.

// conversion is what printf makes of an argument without an effect; %n sets a variable.
var conversion = regexp.MustCompile(`%(%|[-+ #0]*[0-9]*(\.[0-9]*)?[sbcqdiuoxXeEfFgG])`)

// formats allows printf without options: -v sets a variable, and runs what stands in its index.
func formats(args []word) string {
	switch {
	case len(args) > 0 && strings.HasPrefix(args[0].text, "-"):
		return unlisted(args[0].text)
	case len(args) > 0 && strings.Contains(conversion.ReplaceAllString(args[0].text, ""), "%"):
		return "uses a format that may set a variable"
	}
	return ""
}

// testOps are the operators of test that look at files and text; -v and -R look at variables and run what stands in an index.
var testOps = list("-b -c -d -e -f -g -h -L -n -p -r -s -S -t -u -w -x -z -a -o -eq -ne -lt -le -gt -ge -nt -ot -ef")

func tests(args []word) string {
	for _, a := range args {
		if strings.HasPrefix(a.text, "-") && !contains(testOps, a.text) {
			return unlisted(a.text)
		}
	}
	return ""
}

func alone(args []word) string {
	if len(args) > 0 {
		return "may change the host's name"
	}
	return ""
}

// asksWhere allows command -v NAME; without it, command runs NAME.
func asksWhere(args []word) string {
	if len(args) != 2 || args[0].text != "-v" && args[0].text != "-V" {
		return "runs another command"
	}
	return ""
}

// dates allows date to print: an operand that is no format would set the clock.
func dates(args []word) string {
	value := false
	for _, a := range args {
		if !value && !strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "+") || a.text == "--" {
			return "may set the clock"
		}
		value = a.text == "-d"
	}
	return ""
}

// noDash is for commands that do not end their options at --.
func noDash(args []word) string {
	for _, a := range args {
		if a.text == "--" {
			return unlisted(a.text)
		}
	}
	return ""
}

// noLists refuses @FILE, which binutils replace by what stands in the file, wherever it is.
func noLists(args []word) string {
	for _, a := range args {
		if strings.HasPrefix(a.text, "@") {
			return "reads its arguments from a file: " + a.text
		}
	}
	return ""
}

// jqs allows jq but its modules, which are files that no argument names.
func jqs(args []word) string {
	for _, a := range args {
		for _, w := range []string{"import", "include", "modulemeta"} {
			if strings.Contains(a.text, w) {
				return "reads modules"
			}
		}
	}
	return noDash(args)
}

var sedPrint = regexp.MustCompile(`^([0-9]+|\$)(,([0-9]+|\$))?p$`)

// seds allows sed -n 'A,Bp' FILE, and nothing else of sed.
func seds(args []word) string {
	if len(args) < 2 || args[0].text != "-n" || !sedPrint.MatchString(args[1].text) {
		return "may change files or run commands: sed"
	}
	for _, a := range args[2:] {
		if strings.HasPrefix(a.text, "-") {
			return unlisted(a.text)
		}
	}
	return ""
}

func goes(args []word) string {
	if len(args) == 1 && args[0].text == "version" {
		return ""
	}
	return "may build and run code: go"
}

var (
	findTests  = list("-print -print0 -ls -depth -mount -xdev -empty -not -a -and -o -or -prune -true -false -daystart -executable -readable -writable -quit -P")
	findValues = list(`-name -iname -path -ipath -wholename -regex -iregex -regextype -type -size -mtime -mmin -ctime -cmin -atime -amin
		-maxdepth -mindepth -perm -user -group -links -printf`)
)

// finds allows the tests of find that look and print. Any other word with a dash may run, delete, write or follow.
func finds(args []word) string {
	for i := 0; i < len(args); i++ {
		switch text := args[i].text; {
		case contains(findValues, text):
			i++
		case strings.HasPrefix(text, "-") && !contains(findTests, text):
			return unlisted(text)
		}
	}
	return ""
}
