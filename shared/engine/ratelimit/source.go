package ratelimit

import "net/netip"

// SourceOf returns the counting key of a network address: the address itself, or the /64 network of an IPv6 address,
// because one client can use all addresses of it.
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
