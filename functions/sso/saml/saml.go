// Package saml is the service provider's part of SAML 2.0 in isolation: its input is bytes, settings and a time, its
// output a subject or an error. It uses no clock, store or network, so it can be attacked and fuzzed alone.
//
// goxmldsig checks the signatures. The contents of a response are read from the bytes whose digest the provider
// signed, never from the received document: anything wrapped around, beside or into a signed assertion is ignored.
// The caller makes sure that a response is used once.
package saml

import "time"

// These are the names of SAML 2.0.
const (
	protocolNS      = "urn:oasis:names:tc:SAML:2.0:protocol"
	assertionNS     = "urn:oasis:names:tc:SAML:2.0:assertion"
	metadataNS      = "urn:oasis:names:tc:SAML:2.0:metadata"
	redirectBinding = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"
	postBinding     = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"
	emailFormat     = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"
	persistent      = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"
)

// MaxAge is how long after its issue an assertion is accepted.
const MaxAge = 10 * time.Minute

// leeway is the accepted difference of the provider's clock.
const leeway = time.Minute

// ServiceProvider is this service as identity providers know it.
type ServiceProvider struct {
	EntityID string // the audience of assertions
	ACSURL   string // where responses are sent (assertion consumer service)
}

// Expected are the expected properties of a response.
type Expected struct {
	Provider  Provider // the only one that is believed
	Service   ServiceProvider
	RequestID string
	Now       time.Time
}
