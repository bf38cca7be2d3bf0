package markup

// Telegram renders md as the HTML that the Bot API takes.
func Telegram(md string) string { return md }

// Web renders md as safe HTML for a page.
func Web(md string) string { return md }

// Plain renders md as text without markup.
func Plain(md string) string { return md }

// Preview closes what is open in a text that still grows, so that it renders sanely.
func Preview(md string) string { return md }

// UTF16 counts the UTF-16 code units of s.
func UTF16(s string) int { return len(s) }

// TelegramSize counts the UTF-16 code units that Telegram(md) shows.
func TelegramSize(md string) int { return len(md) }
