// Package telegram is the adapter of one Telegram bot account.
package telegram
