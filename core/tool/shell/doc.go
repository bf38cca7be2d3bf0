// Package shell is the tool that runs a command line in the workspace.
//
// Two halves. The judge (judge.go, words.go, commands.go, readonly.go, forbidden.go) reads a command line with a real parser
// and never runs anything:
//
//	line --> parse --> every command, word, redirection --> the worst of their verdicts
//
//	allow    only commands known to read, every word of them known, every option listed as harmless, every path inside
//	         the workspace                                                                       (ReadOnly)
//	ask      everything else: unknown commands and options, writes, other folders, code inside strings, expansions
//	forbid   what nobody may approve: destroying the machine, stopping the gateway, reading its process, data and secrets
//
// There are no exceptions to the rule of allow. A word is known when it is literal once its quotes are removed; the one
// expansion that may stay is a pattern behind a literal folder (./*.go), where any number of files means the same. Loops
// that set a variable, assignments, arithmetic, substitutions, and characters that parsers disagree about, ask.
//
// How far an approval may go (keys.go):
//
//	kind   git add, go build|vet|fmt, mkdir, touch with harmless options inside the workspace: the key names the kinds
//	line   reading elsewhere, writing into the workspace, commands whose line says all they do (rm, mv …): this very line
//	once   all else. What runs code, of the line or of files, depends on more than the line, and a hash of the files it
//	       names would not cover those they name in turn; so nothing beyond this call is ever offered
//
// Lists in the configuration know commands by their kinds, whatever the reach of an approval is.
//
// It sees through quotes, wrappers (sudo, env, xargs, find -exec), strings that are run (bash -c, eval, trap, heredocs and
// literal pipes into a shell) and substitutions; each of those asks at least, and is searched for what is forbidden. What
// it cannot decide it asks; what does not parse it asks. The judge is a help for the person who approves and a last line
// against accidents; it is not a sandbox.
//
// The runner (process.go) gives the command its own session and process group, an environment built from a list of
// allowed names, and an empty standard input. When the command, its time or its context ends, the group is killed, and
// then whatever of it left the group, found by its session and by a mark in its environment: nothing of a call outlives
// the call, unless it took pains to do so: a process that begins a session and drops its environment (setsid env -i …)
// has neither, and once its parent is gone nothing of the system's tells it from other processes of the user. Only a
// control group or a process namespace of its own would hold it, which the user of a gateway seldom may make; run the
// gateway in one (a service, a container) to have all of them end with it. No such line runs without a person.
//
// It does not ask anybody, does not retry, and does not restrict what an approved command can do.
package shell
