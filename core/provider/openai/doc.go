// Package openai speaks the chat completions wire form.
package openai
