package connection

import (
	"bytes"

	"lamplighter.dev/shared/foundation/fault"
)

// checkDestination returns fault.Invalid when a change sets another endpoint and keeps the stored credentials. The
// stored credentials were given for the previous endpoint, and every use of the account would send them to the new
// one.
func (c Change) checkDestination() error {
	moved := c.Before.EndpointURL != c.After.EndpointURL
	if !moved || c.Credentials != nil || !bytes.Equal(c.Before.Sealed, c.After.Sealed) {
		return nil
	}
	const why = "endpointURL: the stored credentials are not sent to another endpoint"
	if c.After.AuthMethod == OAuthMethod {
		return fault.New(fault.Invalid, why+"; credentials of authMethod %s cannot be sent: send another authMethod "+
			"with its credentials in this request, or delete the account and connect it again", OAuthMethod)
	}
	return fault.New(fault.Invalid, why+"; send credentials in this request too, or leave endpointURL as it is")
}
