//go:build !linux

package rpc

// peerIsSelf: only Linux tells whose socket the other end is. Elsewhere everybody shows a key.
func peerIsSelf(client, server string) bool { return false }
