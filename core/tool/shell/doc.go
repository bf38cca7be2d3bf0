// Package shell is the tool that runs a command line in the workspace.
//
// Two halves. The judge (judge.go, words.go, commands.go, readonly.go, forbidden.go) reads a command line with a real parser
// and never runs anything:
//
//	line --> parse --> every command, word, redirection --> the worst of their verdicts
//
//	allow    only commands known to read, with literal arguments, inside the workspace      (ReadOnly)
//	ask      everything else: unknown commands, writes, other folders, code inside strings, anything not literal
//	forbid   what nobody may approve: destroying the machine, stopping the gateway, reading its data and secrets
//
// It sees through quotes, wrappers (sudo, env, xargs, find -exec), strings that are run (bash -c, eval, trap, heredocs and
// literal pipes into a shell) and substitutions; each of those asks at least, and is searched for what is forbidden. What
// it cannot decide it asks; what does not parse it asks. The judge is a help for the person who approves and a last line
// against accidents; it is not a sandbox.
//
// The runner (process.go) gives the command its own session and process group, an environment built from a list of
// allowed names, and an empty standard input. When the command, its time or its context ends, the group is killed, and
// then whatever of it left the group, found by its session and by a mark in its environment: nothing of a call outlives
// the call, unless it took pains to do so.
//
// It does not ask anybody, does not retry, and does not restrict what an approved command can do.
package shell
