// Package ssrfguard keeps requests to addresses that users give away from our own network: webhooks, documents of identity
// providers, endpoints of clouds. What a name leads to is looked at when it is dialled, each time, so that a name that
// changes its mind between check and use gains nothing.
package ssrfguard

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/foundation/fault"
)

// Policy says which addresses may be reached. The zero value is the one for production: public addresses, by https, on
// port 443.
type Policy struct {
	// Private allows, besides, http, any port, the loopback and private networks: for a laptop, tests, and operators
	// whose clouds are private. Link-local and metadata addresses stay refused.
	Private bool
	// AnyPort allows ports other than 443, for what usually answers elsewhere: Kubernetes, private clouds.
	AnyPort bool
	// Timeout bounds a whole exchange of Client, from the look-up of the name to the last byte; 0 is 10 seconds.
	Timeout time.Duration

	resolver *net.Resolver // nil: the system's
}

const longest = 2048 // bytes of an address

// CheckAddress looks at how an address is spelled, when it is given: fault.Invalid tells what is wrong with it. It asks nobody
// what a name leads to; only dialling through Client or Transport decides that.
func (p Policy) CheckAddress(raw string) error {
	if len(raw) > longest {
		return errRefused("is longer than %d bytes", longest)
	}
	if strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r == '\\' || r == 0x7f }) {
		return errRefused("has a blank, a control character or a backslash in it")
	}
	u, err := url.Parse(raw)
	if err != nil {
		return fault.NewWithCause(fault.Invalid, err, "the address cannot be read")
	}
	if err := p.checkForm(u); err != nil {
		return err
	}
	return p.checkHost(u.Hostname())
}

// checkForm looks at everything but the host.
func (p Policy) checkForm(u *url.URL) error {
	switch {
	case u.Scheme != "https" && (u.Scheme != "http" || !p.Private):
		return errRefused("must begin with https://")
	case u.Opaque != "" || u.Hostname() == "":
		return errRefused("names no host")
	case u.User != nil:
		return errRefused("must not hold a user or a password")
	case u.Fragment != "" || strings.HasSuffix(u.Host, ":"):
		return errRefused("must end with its path or query, and its host with no colon")
	case u.Port() != "" && u.Port() != "443" && !p.anyPort():
		return errRefused("names port %s, where only 443 may be reached", u.Port())
	}
	return nil
}

func (p Policy) anyPort() bool { return p.Private || p.AnyPort }

// checkHost looks at a name or a literal address.
func (p Policy) checkHost(host string) error {
	if a, err := netip.ParseAddr(host); err == nil {
		return p.permitAddress(a)
	}
	name := normalizeHost(host)
	if strings.ContainsFunc(name, notInName) {
		return errRefused(
			"has a host with characters that no host has: spell it with letters, digits, hyphens and dots")
	}
	if endsInNumber(name) {
		return errRefused("has a number for a host: spell an address as four decimal numbers")
	}
	if metadataNames[name] {
		return errRefused("leads to metadata of the machine, which is never allowed")
	}
	if !p.Private && (!strings.Contains(name, ".") || localName(name)) {
		return errRefused("names a host of a local network, which is not allowed here")
	}
	return nil
}

func notInName(r rune) bool {
	return r != '-' && r != '_' && r != '.' && (r < '0' || r > '9') && (r < 'a' || r > 'z')
}

// endsInNumber finds the other spellings of addresses, 127.1 and 0x7f000001, which some resolvers understand.
func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	return strings.HasPrefix(last, "0x") || strings.Trim(last, "0123456789") == ""
}

// metadataNames are the names under which clouds hand out the credentials of a machine, and Lambda its own interface.
var metadataNames = map[string]bool{
	"metadata": true, "metadata.google.internal": true, "metadata.goog": true, "metadata.tencentyun.com": true,
	"metadata.azure.internal": true, "instance-data": true, "instance-data.ec2.internal": true,
	"sandbox": true, "sandbox.localdomain": true, "sandbox.local": true,
}

// localDomains are the domains whose names lead into the local network.
var localDomains = []string{"localhost", "local", "localdomain", "internal", "intranet", "lan", "home.arpa"}

func localName(name string) bool {
	return slices.ContainsFunc(localDomains, func(domain string) bool { return IsWithinDomain(name, domain) })
}

// IsWithinDomain reports whether host is domain or a host below it: "eu.gcr.io" is within "gcr.io", "evilgcr.io" is not. Case does not
// matter, nor does the dot that ends a fully qualified name. An empty domain has no hosts.
func IsWithinDomain(host, domain string) bool {
	host, domain = normalizeHost(host), normalizeHost(domain)
	return domain != "" && (host == domain || strings.HasSuffix(host, "."+domain))
}

func normalizeHost(host string) string { return strings.TrimSuffix(strings.ToLower(host), ".") }

// errRefused returns about the address as the client gave it; the caller names the field.
func errRefused(format string, args ...any) error {
	return fault.New(fault.Invalid, "the address "+format, args...)
}
