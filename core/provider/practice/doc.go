// Package practice is a model that works offline: it streams, reasons, calls tools and fails on request, so that every part
// of the gateway can be tried without a key. It answers the last message of the person:
//
//	run: CMD              calls the tool shell              count N         numbers from 1 to N
//	read PATH             calls the tool read_file          long N          an answer of N characters
//	write PATH: TEXT      calls the tool write_file         slow: N TEXT    TEXT, spread over N seconds
//	A then: B             A, and B when its result is in    table, code     Markdown
//	fail: KIND            fails as a call of that kind      think           reasons, then answers
//	anything else         a friendly echo that tells what can be tried
//
// After tool results it goes on with the next step, or says what the last tool returned. It keeps no state: where it is in
// a list of steps follows from the messages, so a retried or resumed turn goes on correctly.
//
// Everything but the ids of calls follows from the request. Text comes in pieces of about a word at Options.Rate; the end
// of the context ends a reply at once. Usage is an estimate of four bytes a token.
//
// What it does not do: understand, or ask the network for anything.
package practice
