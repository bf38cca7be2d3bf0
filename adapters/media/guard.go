package media

import (
	"net"
	"net/netip"
	"syscall"
)

// closed are the ranges that are not the public internet beyond what netip knows by itself: "this network", carrier NAT,
// IETF assignments, documentation, benchmarking, reserved, and IPv6 forms that carry an IPv4 address to a translator.
var closed = prefixes("0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
	"198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23",
	"2001:db8::/32", "2002::/16", "fec0::/10")

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, s := range list {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// public reports whether ip belongs to the public internet.
func public(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() {
		return false
	}
	for _, p := range closed {
		if p.Contains(ip) {
			return false
		}
	}
	return true
}

// control runs before every connect with the address that name resolution gave.
func (d *Downloader) control(_, address string, _ syscall.RawConn) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return &Error{Kind: Blocked, Text: "not an address"}
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || !d.allowed(ip) {
		return &Error{Kind: Blocked, Text: "not a public address"}
	}
	return nil
}

func (d *Downloader) allowed(ip netip.Addr) bool {
	return public(ip) || d.loopback && ip.Unmap().IsLoopback()
}
