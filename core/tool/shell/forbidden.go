package shell

import (
	"path/filepath"
	"strconv"
	"strings"
)

// wreckers are commands with one purpose: to make a disk or a machine unusable, or to stop it.
var wreckers = map[string]string{
	"mkfs": "formats a disk", "mke2fs": "formats a disk", "wipefs": "erases a disk", "blkdiscard": "erases a disk",
	"mkswap": "formats a disk", "sfdisk": "repartitions a disk", "sgdisk": "repartitions a disk",
	"shutdown": "stops the machine", "reboot": "stops the machine", "halt": "stops the machine", "poweroff": "stops the machine",
	"telinit": "stops the machine", "kexec": "stops the machine", "killall5": "stops every process",
}

// destroys looks for what nobody may approve.
func (j *judging) destroys(name string, args []word) {
	if why, ok := wreckers[name]; ok {
		j.forbid(why)
	}
	if strings.HasPrefix(name, "mkfs.") {
		j.forbid("formats a disk")
	}
	switch name {
	case "rm":
		if has(args, "rR", "--recursive") || has(args, "", "--no-preserve-root") {
			j.spare(args, "deletes")
		}
	case "chmod", "chown", "chgrp", "setfacl":
		if has(args, "R", "--recursive") {
			j.spare(args, "changes the rights of")
		}
	case "mv":
		j.spare(args[:max(len(args)-1, 0)], "moves away")
	case "shred":
		j.spare(args, "destroys")
	case "find":
		if runsOn(args) {
			j.spare(args, "deletes or changes")
		}
	case "init":
		if len(args) > 0 && (args[0].text == "0" || args[0].text == "6") {
			j.forbid("stops the machine")
		}
	case "systemctl":
		j.systemctl(args)
	case "kill":
		j.kill(args)
	case "pkill", "killall":
		for _, a := range args {
			if a.lit && strings.Contains(a.text, "bellhop") {
				j.forbid("stops the gateway")
			}
		}
	}
	switch name {
	case "dd", "tee", "cp", "mv", "shred", "install", "rsync", "truncate", "badblocks", "ln":
		for _, a := range args {
			if p := strings.TrimPrefix(a.text, "of="); a.lit && disk(p) {
				j.forbid("writes to the device " + p)
			}
		}
	}
}

// has reports whether an option is among the arguments, by letter in a cluster or by name or an abbreviation of it.
func has(args []word, letters, long string) bool {
	for _, a := range args {
		switch {
		case !a.lit || !strings.HasPrefix(a.text, "-"):
		case a.text == "--":
			return false
		case strings.HasPrefix(a.text, "--"):
			if len(a.text) > 3 && strings.HasPrefix(long, a.text) {
				return true
			}
		case letters != "" && strings.ContainsAny(a.text, letters):
			return true
		}
	}
	return false
}

func runsOn(args []word) bool {
	for _, a := range args {
		switch a.text {
		case "-delete", "-exec", "-execdir", "-ok", "-okdir":
			return true
		}
	}
	return false
}

// spare forbids a command that would hit the system, a home folder, or what contains the workspace.
func (j *judging) spare(args []word, does string) {
	for _, a := range args {
		if !a.lit || strings.HasPrefix(a.text, "-") {
			continue
		}
		for _, abs := range j.resolve(a.text) {
			if a.glob { // what a pattern matches counts as its folder
				abs = globRoot(abs)
			}
			if j.precious(abs) {
				j.forbid(does + " " + a.text)
			}
		}
	}
}

// globRoot returns the folder in which a pattern begins to match.
func globRoot(abs string) string {
	if i := strings.IndexAny(abs, "*?["); i >= 0 {
		return filepath.Dir(abs[:i] + "x")
	}
	return abs
}

var system = set("/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib32", "/lib64", "/usr/lib32", "/usr/lib64", "/opt", "/proc", "/root", "/run",
	"/sbin", "/srv", "/sys", "/usr", "/usr/bin", "/usr/lib", "/usr/local", "/usr/sbin", "/var", "/var/lib", "/var/log")

// precious reports whether losing a folder would be a disaster: part of the system, a home, or above the workspace.
func (j *judging) precious(abs string) bool {
	if system[abs] || abs == j.home || filepath.Dir(abs) == "/home" {
		return true
	}
	return abs != j.workspace && within(abs, j.workspace)
}

func (j *judging) systemctl(args []word) {
	for _, a := range args {
		switch a.text {
		case "poweroff", "reboot", "halt", "kexec", "emergency", "rescue", "suspend", "hibernate", "soft-reboot":
			j.forbid("stops the machine")
		}
		if strings.HasPrefix(a.text, "bellhop") && runsAgainst(args) {
			j.forbid("stops the gateway")
		}
	}
}

func runsAgainst(args []word) bool {
	for _, a := range args {
		switch a.text {
		case "stop", "kill", "restart", "disable", "mask":
			return true
		}
	}
	return false
}

// kill forbids signals to init, to everybody and to the gateway.
func (j *judging) kill(args []word) {
	for i, a := range args {
		if !a.lit || i == 0 && strings.HasPrefix(a.text, "-") {
			continue // the signal
		}
		n, err := strconv.Atoi(strings.TrimPrefix(a.text, "-"))
		if err != nil {
			continue
		}
		if n == 1 || n == 0 && strings.HasPrefix(a.text, "-") {
			j.forbid("signals every process or the first one")
		}
		for _, own := range j.gateway {
			if n == own {
				j.forbid("signals the gateway")
			}
		}
	}
}
