// Package telegramtest is Telegram's Bot API server as a strict fake, with the people who use it.
//
//	person --Say, Edit, Press--> chat --update--> queue --getUpdates or webhook--> bot
//	bot --sendMessage, editMessageText ...--> chat --Visible--> what the person sees now
//
// It is one bot account. It refuses what the real server refuses, with the same sentences: markup that does not parse,
// texts that are empty or too long once the markup is out, edits that change nothing, chats and messages that are not
// there, buttons whose data is too long, and calls above the published rates. Updates follow the real offset rules: what
// a later offset does not confirm comes again, for 24 hours; a second poll ends the first with a conflict.
//
// Every request is also held against a digest of the vendor's description (testdata/api.txt): a method, parameter or
// field that is not there, a missing required one, or one of the wrong type is a violation, and fails the test that
// started the server. Lengths are counted in UTF-16 units, the stricter of the two readings of the documentation.
//
// What it does not do: inline mode, payments, business accounts, polls, MarkdownV2.
package telegramtest
