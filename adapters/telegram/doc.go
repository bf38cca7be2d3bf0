// Package telegram is the adapter of one Telegram bot account.
//
//	getUpdates --> decode one by one --> Inbox.Receive(batch, cursor) --> durable --> offset = last id + 1 --> getUpdates
//	webhook    --> secret, size      --> Inbox.Receive(one update)    --> durable --> 200
//	Send, Edit, Delete, Typing, Upload ... --> one call each --> *adapters.Error of a Kind, or nil
//
// Receiving. The offset that makes Telegram forget updates goes out only after they are durable, and a batch that could
// not be stored is offered again. Each update is decoded by itself; one that cannot be read is handed on raw and holds
// nothing up. Nothing here waits for a turn. The poll loop has three states:
//
//	probing --a short poll works--> sound (50 s polls) --any failure--> probing, after a pause that doubles up to 30 s
//	probing or sound --401, 404--> ended: Run returns the error
//
// so an outage is left within one short poll. 409 pauses 5 s at least: another program polls for this bot; where it is a
// forgotten webhook, that is deleted. How long polls have failed is said in every Health error. The bot's user name is
// asked for beside the first poll, and waited for only by updates that name somebody.
//
// Calls. Of go-telegram/bot the leaf types are used, and its multipart uploads. Its poller acknowledges before handling,
// its webhook handler always answers 200, its errors lose codes, and one union variant it does not know makes a whole
// update unreadable; so the loop, the handler, the envelope and the caller are ours. Calls go out as JSON: in
// BenchmarkCall a sendMessage costs about a third of what the library's form does. The library's calls run over the same
// caller, so there is one place that classifies (errors.go) and hides the token (call.go).
//
// A call without an answer is Temporary where nothing was sent, else Ambiguous: Telegram has no idempotency key. Sizes are
// UTF-16 units after parsing, inside both readings of the documentation. Markdown becomes Telegram's HTML.
//
// What it does not do: retry, split, fall back, queue or log what it returns; keep messages; serve channels, business
// chats, inline mode or guests (their updates are handed on as KindService). A forum's General topic is thread 1 here and
// no thread on the wire. Whoever writes as a chat, such as an anonymous admin, is that chat.
package telegram
