package secondfactor

import (
	"net"
	"net/netip"
	"net/url"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"lamplighter.dev/shared/foundation/fault"
)

// relyingParty returns the verifier for the service at an address: its host is the ID that passkeys are bound to, and
// pages of other origins cannot use them. WebAuthn knows no IP addresses, so a service at a loopback address is used at
// localhost.
func relyingParty(base string) (*webauthn.WebAuthn, error) {
	host, origin, err := Origin(base)
	if err != nil {
		return nil, err
	}
	rp, err := webauthn.New(&webauthn.Config{
		RPID: host, RPDisplayName: issuer, RPOrigins: []string{origin},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, RequireResidentKey: protocol.ResidentKeyRequired(),
			UserVerification: protocol.VerificationRequired,
		},
		Timeouts: webauthn.TimeoutsConfig{
			Login:        webauthn.TimeoutConfig{Timeout: challengeTTL, TimeoutUVD: challengeTTL},
			Registration: webauthn.TimeoutConfig{Timeout: challengeTTL, TimeoutUVD: challengeTTL},
		},
		// no extension is asked for, and results of others change nothing
		ExtensionsUnsolicitedOutputPolicy: protocol.UnsolicitedOutputPolicyIgnore,
	})
	if err != nil {
		return nil, fault.NewWithCause(fault.Invalid, err, "passkeys are not possible at the address %s of this service", base)
	}
	return rp, nil
}

// Origin returns the host and the origin of the service's address.
func Origin(base string) (host, origin string, err error) {
	u, err := url.Parse(base)
	if err != nil || u.Hostname() == "" {
		return "", "", fault.New(fault.Invalid, "passkeys are not possible here yet: the operator of this deployment has to "+
			"set its base URL")
	}
	host, port := u.Hostname(), u.Port()
	if ip, err := netip.ParseAddr(host); err == nil {
		if !ip.IsLoopback() {
			return "", "", fault.New(fault.Invalid, "passkeys are not possible at the IP address %s: the operator of this "+
				"deployment has to give it a name", host)
		}
		host = "localhost"
	}
	name := host
	if port != "" {
		name = net.JoinHostPort(host, port)
	}
	return host, u.Scheme + "://" + name, nil
}
