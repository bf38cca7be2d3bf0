// Package provider is the contract with a model endpoint. One folder below per wire form implements it: openai (chat
// completions and everything compatible), practice (deterministic, offline). providertest is the suite they all pass.
//
//	Request --> Stream --> Part, Part, ... --> Done
//
// A provider translates and classifies. It makes exactly one HTTP call per Stream, never retries and never falls back;
// the retry table is core/turn's. A stream that ends without a Done part carries an error: a cut stream is never a
// success. Reasoning, in whatever dialect it comes (its own field, think tags at the head of the text), is never text.
// Calls are whole when they are handed out: deltas of every dialect are assembled inside.
package provider
