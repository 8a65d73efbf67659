package ratelimit

import "net/netip"

// SourceOf returns whom to count for what comes from a network address: the address, or the /64 of an IPv6 one, of which anybody
// has as many addresses as they like.
func SourceOf(ip string) string {
	a, err := netip.ParseAddr(ip)
	if a = a.Unmap(); err != nil || !a.Is6() {
		return ip
	}
	net, err := a.WithZone("").Prefix(64)
	if err != nil {
		return ip
	}
	return net.String()
}
