// Command simulator serves a fake Telegram, the chats of the people who use it, and a scripted model, all on one loopback
// port. A gateway that is pointed at it can be tried, and broken, by hand and without any account.
//
//	/bot<token>/<method>, /file/bot<token>/...   Telegram's Bot API (adapters/telegram/telegramtest)
//	/v1/...                                      an OpenAI-compatible model (core/provider/providertest)
//	/                                            the page: what the people see, live, and what they can do
//	/events?chat=ID                              server-sent events: the whole state of a chat at every change
//	POST /do/...                                 what the page's buttons do
//
// Nothing is stored, and nothing is fetched from anywhere else.
package main
