// Package markup renders the Markdown of answers (CommonMark with tables, strikethrough and task lists) into the dialects of platforms, one file a dialect, on one parser.
package markup
