// Package ssrfguard keeps requests to addresses given by users (webhooks, documents of identity providers, cloud
// endpoints) away from the service's own network. It checks the resolved address of a name at each dial, so that a name
// that resolves differently after validation is refused.
package ssrfguard

import (
	"cmp"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/foundation/fault"
)

// Policy decides which addresses may be reached. The zero value is for production: public addresses, https, port 443.
type Policy struct {
	// Private also allows http, any port, loopback and private networks: for laptops, tests, and operators with private
	// clouds. Link-local and metadata addresses stay refused.
	Private bool
	// AnyPort allows ports other than 443, for Kubernetes and private clouds.
	AnyPort bool
	// Timeout limits a whole request of HTTPClient, from the DNS query to the last byte. The default is 10 seconds.
	Timeout time.Duration
	// AddressBytes is the most bytes of an address, with its query. The default is 2,048. Raise it for requests whose
	// query this service writes, and not for addresses as users give them.
	AddressBytes int

	resolver *net.Resolver // nil: the system's
}

const maxAddressBytes = 2048 // unless the policy says otherwise

// CheckAddress validates the form of an address when a user gives it. It returns fault.Invalid with the reason if the
// address is refused. It makes no DNS query; only the dialler of HTTPClient and Transport checks resolved addresses.
func (p Policy) CheckAddress(raw string) error {
	if most := cmp.Or(p.AddressBytes, maxAddressBytes); len(raw) > most {
		return errRefused("is longer than %d bytes", most)
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

// checkForm validates everything except the host.
func (p Policy) checkForm(u *url.URL) error {
	if err := p.checkScheme(u.Scheme); err != nil {
		return err
	}
	switch {
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

func (p Policy) checkScheme(scheme string) error {
	switch {
	case scheme == "https" || p.Private && scheme == "http":
		return nil
	case p.Private:
		return errRefused("must begin with https:// or http://")
	}
	return errRefused("must begin with https://")
}

func (p Policy) anyPort() bool { return p.Private || p.AnyPort }

// checkHost validates a host name or a literal address.
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

// endsInNumber reports whether name is an alternative form of an address, such as 127.1 or 0x7f000001. Some resolvers
// accept those.
func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	return strings.HasPrefix(last, "0x") || strings.Trim(last, "0123456789") == ""
}

// metadataNames are the host names of the services that give out a machine's credentials in a cloud, and of Lambda's
// runtime API.
var metadataNames = map[string]bool{
	"metadata": true, "metadata.google.internal": true, "metadata.goog": true, "metadata.tencentyun.com": true,
	"metadata.azure.internal": true, "instance-data": true, "instance-data.ec2.internal": true,
	"sandbox": true, "sandbox.localdomain": true, "sandbox.local": true,
}

// localDomains are the domains of local networks.
var localDomains = []string{"localhost", "local", "localdomain", "internal", "intranet", "lan", "home.arpa"}

func localName(name string) bool {
	return slices.ContainsFunc(localDomains, func(domain string) bool { return IsWithinDomain(name, domain) })
}

// IsWithinDomain reports whether host equals domain or is a subdomain: "eu.gcr.io" is within "gcr.io", "evilgcr.io" is
// not. It ignores case and a trailing dot. No host is within the empty domain.
func IsWithinDomain(host, domain string) bool {
	host, domain = normalizeHost(host), normalizeHost(domain)
	return domain != "" && (host == domain || strings.HasSuffix(host, "."+domain))
}

func normalizeHost(host string) string { return strings.TrimSuffix(strings.ToLower(host), ".") }

// errRefused returns the error for a refused address. The caller adds the name of the field.
func errRefused(format string, args ...any) error {
	return fault.New(fault.Invalid, "the address "+format, args...)
}
