// Package prompt decides what a model sees: the system prompt and the wire copy of a transcript.
package prompt
