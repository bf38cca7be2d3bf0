// Package media brings in files that people send, and keeps them for a while.
//
//	URL --Downloader.Get--> capped, sniffed body --Cache.Put--> key --Cache.Open--> file
//
// A Downloader follows addresses that strangers may have chosen, so it must not be led into the machine's own network:
// every connection is checked against the address that is really dialled, after name resolution and after every
// redirect, which also defeats names that change their address between check and use. Loopback is open only to tests
// that say so, and one configured server can be trusted by its host and port. Sizes and times are bounded. Errors never hold the address, because
// addresses hold credentials.
//
// A Cache names its files by the hash of their content, appears with a rename, and is bounded by bytes and by age.
//
// What it does not do: retry, decode, convert, or know any platform.
package media
