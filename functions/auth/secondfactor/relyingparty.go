package secondfactor

import (
	"net"
	"net/netip"
	"net/url"

	"lamplighter.dev/shared/foundation/fault"
)

// relyingParty is the service as authenticators know it: passkeys are bound to its host, and pages of other origins
// cannot use them.
type relyingParty struct {
	ID     string // the host
	Origin string
}

// findRelyingParty returns the service at an address. WebAuthn knows no IP addresses, so a service at a loopback
// address is used at localhost.
func findRelyingParty(base string) (relyingParty, error) {
	u, err := url.Parse(base)
	if err != nil || u.Hostname() == "" {
		return relyingParty{},
			fault.New(fault.Invalid, "passkeys are not possible here yet: the operator of this deployment "+
				"has to set its base URL")
	}
	host, port := u.Hostname(), u.Port()
	if ip, err := netip.ParseAddr(host); err == nil {
		if !ip.IsLoopback() {
			return relyingParty{},
				fault.New(fault.Invalid, "passkeys are not possible at the IP address %s: the operator of "+
					"this deployment has to give it a name", host)
		}
		host = "localhost"
	}
	name := host
	if port != "" {
		name = net.JoinHostPort(host, port)
	}
	return relyingParty{host, u.Scheme + "://" + name}, nil
}
