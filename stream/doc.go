// Package stream carries the news of turns to those who watch: the Hub numbers, keeps and fans out events, a Consumer
// paints one turn onto one chat, and Split cuts Markdown into messages.
package stream
