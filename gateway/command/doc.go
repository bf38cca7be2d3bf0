// Package command holds the slash commands: one table that every door reads, one file a topic.
//
//	door --> Find --> Run(Call) --> Answer: text, buttons, or a submission that becomes a turn
//	         Press(Call, data) ---> toast                      (a button stands for a command)
//
// Invariants. A command never waits for a turn, so /stop and /approve cannot dead-lock behind the one they are about. It
// never becomes text for the model: an unknown one is answered with a hint, one of a later version says that it is not
// here yet. What a person may do is checked here by their capabilities, and again by the desk that does it. Answers are
// Markdown, short, and in plain words; errors become words by their Kind in one table (words.go).
//
// The package does not decide whether a text is a command, does not dedupe (a command is an admission row born terminal;
// that is the gateway's), and sends nothing.
package command
