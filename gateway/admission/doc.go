// Package admission is the one door for input: chats, programs, webhooks, timers, background processes and sub-agents all
// pass it. What comes back is a receipt that was durable before it was returned.
//
//	Principal + Submission --> authorize --> normalize --> digest --> Admit (one commit) --> Woken --> dispatch
//	                              |                                     |
//	                              +-- Denied                            +-- Conflict, Busy, Full: nothing was stored
//
// Invariants. Default deny: a principal without CanSubmit stores nothing that runs, and a local conversation (one that no
// platform's membership guards) takes input of its owner and of operators only. That is checked before the commit and
// again after it when the row landed in another conversation than the one that was checked. What is stored is what the
// server understood: valid UTF-8 without NUL. Nothing is woken before its commit. A refusal is an error with a Kind and
// leaves no row, so a producer of internal events still has what it offered.
//
// What is stored but not yet claimed can be cancelled, edited, moved and cleared by its author or by who has control over
// the conversation; a row that was claimed meanwhile is a Conflict.
//
// Merging (albums, pieces of a paste), dedupe and holds are the store's, in its transaction. The package runs nothing.
package admission
