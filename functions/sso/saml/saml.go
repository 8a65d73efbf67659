// Package saml implements the service provider's part of SAML 2.0 without side effects: its inputs are bytes, settings
// and a time, its results are subjects and errors. It uses no clock, store or network, so that it can be attacked and
// fuzzed separately.
//
// goxmldsig verifies signatures. Responses are only read from the bytes whose digest the provider signed, never from
// the received document, so that elements around, next to or inside a signed assertion have no effect. Callers must
// ensure that a response is used once.
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

// MaxAge is how long an assertion is accepted after it was issued.
const MaxAge = 10 * time.Minute

// leeway is how much the provider's clock may differ.
const leeway = time.Minute

// ServiceProvider is this service's registration at identity providers.
type ServiceProvider struct {
	EntityID string // the audience of assertions
	ACSURL   string // address for responses (assertion consumer service)
}

// Expected holds the values that a response must match.
type Expected struct {
	Provider  Provider // the only accepted provider
	Service   ServiceProvider
	RequestID string
	Now       time.Time
}
