package ssrfguard

import (
	"context"
	"net/netip"
	"os"
	"strings"
	"syscall"

	"code.dny.dev/ssrf"

	"lamplighter.dev/shared/foundation/fault"
)

// forbidden are the networks that no policy allows: the metadata services of machines in all clouds, and link-local
// networks, where Lambda has its runtime API.
var forbidden = parsePrefixes(
	"169.254.0.0/16", "fe80::/10", // link-local: AWS, Azure, Google; ECS; Lambda
	"fd00:ec2::/32",      // AWS, by IPv6
	"fd20:ce::/32",       // Google, by IPv6
	"100.100.100.200/32", // Alibaba
	"168.63.129.16/32",   // Azure's wire server: a public address that reaches the host of the machine
	"192.0.0.192/32",     // Oracle
)

// inside4 and inside6 are the networks that Policy.Private adds.
var (
	inside4 = parsePrefixes("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")
	inside6 = parsePrefixes("::1/128", "fc00::/7")
)

func parsePrefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, s := range list {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// The guardians know the special-purpose networks of the IANA registries.
var (
	public  = ssrf.New(ssrf.WithPorts(443))
	anyPort = ssrf.New(ssrf.WithAnyPort())
	private = ssrf.New(ssrf.WithAnyPort(), ssrf.WithAllowedV4Prefixes(inside4...),
		ssrf.WithAllowedV6Prefixes(inside6...))
)

func (p Policy) guardian() *ssrf.Guardian {
	switch {
	case p.Private:
		return private
	case p.AnyPort:
		return anyPort
	default:
		return public
	}
}

// permitAddress returns an error if a, from a URL or from DNS, may not be reached.
func (p Policy) permitAddress(a netip.Addr) error {
	plain := a.Unmap()
	if a.Zone() != "" {
		return errRefused("names a zone of a network, which is never allowed")
	}
	for _, n := range forbidden {
		if n.Contains(plain) {
			return errRefused("leads to a link-local or metadata address, which is never allowed")
		}
	}
	if err := p.guardian().SafeAddr(plain); err != nil {
		return fault.NewWithCause(fault.Invalid, err,
			"the address leads into a private or special network, which is not allowed here")
	}
	return nil
}

// checkDial is called before each attempt to connect, with the resolved address.
func (p Policy) checkDial(_ context.Context, network, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fault.NewWithCause(fault.Invalid, err, "the address cannot be reached")
	}
	if err := p.permitAddress(at.Addr()); err != nil {
		return err
	}
	if at.Addr().Unmap().IsLoopback() && runtimePort(at.Port()) {
		return errRefused("leads to the runtime of this process, which is never allowed")
	}
	if err := p.guardian().Safe(network, netip.AddrPortFrom(at.Addr().Unmap(), at.Port()).String(), nil); err != nil {
		return fault.NewWithCause(fault.Invalid, err, "the address leads to a port or network that is not allowed here")
	}
	return nil
}

// runtimePort reports whether port is that of the Lambda runtime API, which returns the events of other invocations.
func runtimePort(port uint16) bool {
	const usual = 9001
	at, err := netip.ParseAddrPort(strings.TrimPrefix(os.Getenv("AWS_LAMBDA_RUNTIME_API"), "http://"))
	return port == usual || (err == nil && port == at.Port())
}
