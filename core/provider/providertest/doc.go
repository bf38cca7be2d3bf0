// Package providertest is the suite that every provider passes, and the scripted model server that the suite, other
// packages' tests, test scripts and the simulator talk to.
//
//	Reply (steps) <-- Script (a queue), else Rule, else an echo
//	     |
//	  Server --wire--> HTTP, as strict as the real endpoint:
//	                    the body against a digest of the vendor's description, then Legal: roles, pairing, names, ids
//
// A Server is an http.Handler: Listen serves it on a loopback port, Pipe over net.Pipe, for synctest bubbles. Replies say
// what a model does, not how it looks on the wire; the wire (chat completions today) and a dialect decide that, so that the
// same suite runs against any wire form.
//
// testdata/chat.json is generated from the vendor's description by TestDigest -update; it holds types, fields, which of
// them are required, and enumerations, no prose.
//
// What it does not do: tokenise, think, keep state between calls.
package providertest
