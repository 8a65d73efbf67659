// Package sso lets the people of an organization sign in at its own identity provider, by SAML 2.0. It contains the
// settings of the provider, the mail domains that the organization has proven, and the sign-in itself.
//
// Package functions/sso/saml checks responses and metadata without a store; this package checks them against the
// organization, the open requests and the used assertions.
package sso

import (
	"net/http"

	"lamplighter.dev/functions/sso/saml"
	"lamplighter.dev/shared/api/htmlpage"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/accounts"
	"lamplighter.dev/shared/people/membership"
	"lamplighter.dev/shared/people/sessions"
)

// These paths are known to identity providers.
const (
	acsPath      = "/auth/saml/acs"
	metadataPath = "/auth/saml/metadata"
)

// service answers the operations. It has no state between them.
type service struct {
	*platform.Platform
	accounts accounts.Accounts
	people   membership.People
	sessions sessions.Sessions
}

func newService(p *platform.Platform) service {
	return service{p, accounts.New(p), membership.New(p), sessions.New(p)}
}

// serviceProvider returns this service's SAML identity. The entity ID is the address of the metadata.
func (s service) serviceProvider() saml.ServiceProvider {
	return saml.ServiceProvider{EntityID: s.Settings.BaseURL + metadataPath, ACSURL: s.Settings.BaseURL + acsPath}
}

// requireBaseURL refuses single sign-on if this deployment does not know its own address, which providers need for
// their responses.
func (s service) requireBaseURL() error {
	if s.Settings.BaseURL == "" {
		return fault.New(fault.Invalid,
			"single sign-on is not possible here yet: the operator of this deployment has to set its base URL")
	}
	return nil
}

// SignIn returns the operations of single sign-on in the group "Authentication".
func SignIn(p *platform.Platform) *rest.Group {
	g := rest.NewGroup("Authentication")
	s := newService(p)
	refusals := []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden}
	rest.Handle(g, rest.Op{
		ID: "initiateSAML", Method: http.MethodPost, Path: "/auth/saml/initiate", Public: true, Reads: true,
		Statuses: refusals,
		Summary:  "Begin single sign-on",
		Description: "Send the browser to redirectURL within ten minutes; the identity provider sends it on to POST " +
			"/auth/saml/acs. Only the domain matters, so the answer does not reveal accounts. 403: too many requests " +
			"from one address. With for \"console\", which only a page of the service's own origin can send (else " +
			"403), a cookie binds the sign-in to the browser, which comes to the web console in the end.",
	}, s.initiateLogin)
	rest.Handle(g, rest.Op{
		ID: "completeSAML", Method: http.MethodPost, Path: acsPath, Public: true, Credentials: true, Statuses: refusals,
		Produces: htmlpage.ContentType,
		Summary:  "Complete single sign-on",
		Description: "Identity providers send their response here, as a form of the browser (HTTP-POST binding). " +
			"The answer is JSON, also for a browser, unless the web console began: then the browser gets its cookie " +
			"and 303 to it, or the console tells why not. A browser that did not send the state cookie gets a page " +
			"whose button continues (POST /auth/saml/continue). At the first sign-in the person becomes a member " +
			"of the organization, with the role of an invitation or else the default role. A removed member who can " +
			"still " +
			"sign in at the provider becomes a member again; a disabled member stays out. The session works in " +
			"this organization only. A response to no request of this service is refused, and so is a used one. " +
			"RelayState is ignored, and the service redirects to its own console only. 400: not a SAML response. " +
			"401: the response is not accepted. 403: the person may not come in, or the address has a domain that " +
			"the organization has not proven.",
	}, s.completeLogin)
	rest.Handle(g, rest.Op{
		ID: "continueSAML", Method: http.MethodPost, Path: continuePath, Public: true, Credentials: true,
		Status: http.StatusSeeOther, Statuses: refusals, Summary: "Continue single sign-on in the web console",
		Description: "The button of the page that POST /auth/saml/acs shows to a browser without the state cookie. " +
			"The browser gets the cookie of the console and comes to it. 403: not a page of the service's own origin.",
	}, s.continueLogin)
	rest.Handle(g, rest.Op{
		ID: "getSAMLMetadata", Method: http.MethodGet, Path: metadataPath, Public: true,
		Statuses: []int{http.StatusBadRequest},
		Summary:  "Get the metadata for identity providers",
		Description: "The service's entity id is the address of this document. Requests are not signed. Responses or " +
			"assertions must be, by RSA with SHA-256 or better, and must not be encrypted.",
		Produces: "application/samlmetadata+xml",
	}, s.getMetadata)
	return g
}

// Settings returns the operations of single sign-on in the group "Organizations".
func Settings(p *platform.Platform) *rest.Group {
	const path = "/organisation/saml"
	g := rest.NewGroup("Organizations")
	s := newService(p)
	rest.Handle(g, rest.Op{
		ID: "getSAMLSettings", Method: http.MethodGet, Path: path, Policy: "organisation:read",
		Statuses:    []int{http.StatusNotFound},
		Summary:     "Read the settings of single sign-on",
		Description: "Includes the TXT record that proves each domain. 404 if there are no settings.",
	}, s.getSettings)
	rest.Handle(g, rest.Op{
		ID: "setSAMLSettings", Method: http.MethodPut, Path: path, Policy: "organisation:write", StepUp: true,
		Statuses: []int{http.StatusBadRequest, http.StatusConflict},
		Summary:  "Set up single sign-on, or check domains again",
		Description: "Changes only the fields present. The first time, metadataXML or metadataURL is required. " +
			"Each request looks up unproven domains in DNS, so PUT {} checks them again. A domain belongs to the " +
			"one organization that has proven it. The identity provider decides who can sign in as which member, " +
			"so only a caller who holds every policy may set or change it. A caller can set only a default role " +
			"that they could assign. While enforced, a member with an address of a proven domain can enter the " +
			"organization only by single sign-on; its owners may still use passwords.",
	}, s.setSettings)
	rest.Handle(g, rest.Op{
		ID: "deleteSAMLSettings", Method: http.MethodDelete, Path: path, Policy: "organisation:write", StepUp: true,
		Statuses: []int{http.StatusNotFound, http.StatusConflict},
		Summary:  "End single sign-on",
		Description: "Releases the domains. Members stay members and use their passwords; a member without a " +
			"password sets one with POST /auth/password/forget.",
	}, s.deleteSettings)
	return g
}
