package rpc

import (
	"bufio"
	"encoding/hex"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
)

// peerIsSelf reports whether the client's end of a loopback connection belongs to the user that runs this process. The
// kernel lists the owner of every socket in /proc/net/tcp and tcp6 (proc(5)).
func peerIsSelf(client, server string) bool {
	from, err1 := netip.ParseAddrPort(client)
	to, err2 := netip.ParseAddrPort(server)
	if err1 != nil || err2 != nil || !from.Addr().Unmap().IsLoopback() || !to.Addr().Unmap().IsLoopback() {
		return false
	}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		if uid, ok := socketOwner(table, from, to); ok {
			return uid == os.Getuid()
		}
	}
	return false
}

// socketOwner finds the socket whose own address is local and whose other end is remote.
func socketOwner(table string, local, remote netip.AddrPort) (uid int, ok bool) {
	f, err := os.Open(table)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		// sl local_address rem_address st tx:rx tr:tm retrnsmt uid …
		cols := strings.Fields(lines.Text())
		if len(cols) < 8 {
			continue
		}
		if l, ok := procAddr(cols[1]); !ok || l != plain(local) {
			continue
		}
		if r, ok := procAddr(cols[2]); ok && r == plain(remote) {
			uid, err := strconv.Atoi(cols[7])
			return uid, err == nil
		}
	}
	return 0, false
}

func plain(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }

// procAddr reads the kernel's form of an address: words of four bytes, each in the byte order of the machine, here little
// endian; then the port.
func procAddr(s string) (netip.AddrPort, bool) {
	host, port, _ := strings.Cut(s, ":")
	raw, err := hex.DecodeString(host)
	p, err2 := strconv.ParseUint(port, 16, 16)
	if err != nil || err2 != nil || len(raw)%4 != 0 {
		return netip.AddrPort{}, false
	}
	for word := range slices.Chunk(raw, 4) {
		slices.Reverse(word)
	}
	addr, ok := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(addr.Unmap(), uint16(p)), ok
}
