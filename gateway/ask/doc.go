// Package ask keeps the questions that turns put to people: may this command run, which of these, what is the password.
//
//	Ask --> open --Answer (any door, first wins)--> answered --+
//	         |  \--deadline-------------------> expired  ------+--> Ask returns, question.resolved is published
//	         |   \--turn stopped--------------> dropped  ------+
//	         +--process ends: the row stays open; the turn that goes on asks about the same call again and finds the same
//	            row with the time that is left
//
// A question is a row and is answered exactly once. What an expired question means depends on its kind: an approval is
// denied, a clarification leaves the decision to the agent, a sudo password is empty, a secret is skipped.
//
// Who may answer an approval or a sudo question: the turn's author if admin, and operators; nobody else in a group. Any
// other question: its author, and operators. Secret values and passwords pass through memory only: the row says that an
// answer was given, not which.
//
// Events are published after the row says so, at least once: a request is published again when its turn goes on after a
// restart, since the first publication may have died with the process. Who shows questions keys them by question id.
//
// Fate questions (what becomes of an unknown turn) are core/readback's. The package does not show anything.
package ask
