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
// allowed names, and an empty standard input. When the command, its time, its context or the gateway itself ends, nothing
// of the call is left. Two nets:
//
//	gateway -- leash --> supervisor --> command --> descendants
//	                      (subreaper)
//
// The supervisor (process_supervisor_linux.go) is this program once more, for one call. A process that loses its parent
// becomes its child, so that all the command ever started stay its descendants, whatever session, group or environment
// they made for themselves (setsid env -i …); they are killed until there are none. The leash is a pipe: that it closes
// tells the supervisor to end the command, also when the gateway was killed. Beside that, and alone where there is no
// supervisor, the group is killed, and what left it is looked for by its session and by a mark in its environment.
//
// What is left to escape is a line that kills its supervisor and drops its mark too, or runs as another user; no such
// line runs without a person. Run the gateway in a service or a container, so that all of them end with it.
//
// Git looks for a repository in the workspace and below, not in the folders around it (GIT_CEILING_DIRECTORIES).
//
// It does not ask anybody, does not retry, and does not restrict what an approved command can do.
package shell
