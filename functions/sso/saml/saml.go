// Package saml is the service provider's part of SAML 2.0, apart from everything else: bytes, settings and a time come in,
// a subject or an error goes out. It reads no clock, no store and no network, so that it can be attacked and fuzzed alone.
//
// Signatures are checked by goxmldsig. What is read of a response is read from the bytes whose digest the provider signed,
// never from the document that came: whatever is wrapped around, beside or into a signed assertion is not seen. That a
// response is used once is its caller's to see to.
package saml

import "time"

// The names of SAML 2.0.
const (
	protocolNS      = "urn:oasis:names:tc:SAML:2.0:protocol"
	assertionNS     = "urn:oasis:names:tc:SAML:2.0:assertion"
	metadataNS      = "urn:oasis:names:tc:SAML:2.0:metadata"
	redirectBinding = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"
	postBinding     = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"
	emailFormat     = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"
	persistent      = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"
)

// MaxAge is how long after it was issued an assertion is taken.
const MaxAge = 10 * time.Minute

// leeway is by how much the provider's clock may be off.
const leeway = time.Minute

// ServiceProvider is what identity providers know us by.
type ServiceProvider struct {
	EntityID string // the audience of assertions
	ACSURL   string // where responses are sent (assertion consumer service)
}

// Expected is what a response must answer to.
type Expected struct {
	Provider  Provider // the only one that is believed
	Service   ServiceProvider
	RequestID string
	Now       time.Time
}
