// Package sso lets the people of an organization sign in at its own identity provider, by SAML 2.0: what the organization
// says of that provider, the mail domains that it has proven to be its own, and the sign-in itself.
//
// Responses and metadata are judged by functions/sso/saml, which knows no store; this package knows the organization, the request
// and what was used already.
package sso

import (
	"net/http"

	"lamplighter.dev/functions/sso/saml"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/accounts"
	"lamplighter.dev/shared/people/membership"
	"lamplighter.dev/shared/people/sessions"
)

// The paths that identity providers know us by.
const (
	acsPath      = "/auth/saml/acs"
	metadataPath = "/auth/saml/metadata"
)

// service answers the operations. It remembers nothing between them.
type service struct {
	*platform.Platform
	accounts accounts.Accounts
	people   membership.People
	sessions sessions.Sessions
}

func newService(p *platform.Platform) service {
	return service{p, accounts.New(p), membership.New(p), sessions.New(p)}
}

// serviceProvider returns what providers know us by. Our entity id is the address of our metadata.
func (s service) serviceProvider() saml.ServiceProvider {
	return saml.ServiceProvider{EntityID: s.Settings.BaseURL + metadataPath, ACSURL: s.Settings.BaseURL + acsPath}
}

// requireBaseURL refuses where this deployment does not know its own address, under which providers would send responses.
func (s service) requireBaseURL() error {
	if s.Settings.BaseURL == "" {
		return fault.New(fault.Invalid,
			"single sign-on is not possible here yet: the operator of this deployment has to set its base URL")
	}
	return nil
}

// SignIn returns what single sign-on adds to the group "Authentication".
func SignIn(p *platform.Platform) *rest.Group {
	g := rest.NewGroup("Authentication")
	s := newService(p)
	refusals := []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden}
	rest.Handle(g, rest.Op{
		ID: "initiateSAML", Method: http.MethodPost, Path: "/auth/saml/initiate", Public: true, Reads: true,
		Statuses: refusals,
		Summary:  "Begin single sign-on",
		Description: "Send the browser to redirectURL within ten minutes; the identity provider sends it on to POST " +
			"/auth/saml/acs. " +
			"Only the domain counts, so that the answer tells nothing of who has an account. 403: too many of these " +
			"from one address.",
	}, s.initiateLogin)
	rest.Handle(g, rest.Op{
		ID: "completeSAML", Method: http.MethodPost, Path: acsPath, Public: true, Credentials: true, Statuses: refusals,
		Summary: "Complete single sign-on",
		Description: "Where identity providers send their response, as a form of a browser (HTTP-POST binding). The " +
			"answer is JSON also for a browser. " +
			"At first sight the person becomes a member of the organization, with the role of an invitation or else " +
			"the default one; who was removed and still may sign in at the provider does so again, " +
			"and who is disabled stays out. The session works in this organization only. " +
			"A response that answers no request of ours is refused, and so is one that was used before; RelayState " +
			"is not looked at, and nothing is ever redirected. 400: no response of SAML; 401: one that is not " +
			"believed; " +
			"403: a person who may not come in, or whose address has a domain that the organization has not proven.",
	}, s.completeLogin)
	rest.Handle(g, rest.Op{
		ID: "getSAMLMetadata", Method: http.MethodGet, Path: metadataPath, Public: true,
		Statuses: []int{http.StatusBadRequest},
		Summary:  "What identity providers have to know of us",
		Description: "Our entity id is the address of this document. Requests are not signed; responses or " +
			"assertions must be, by RSA with SHA-256 or better, and must not be encrypted.",
		Produces: "application/samlmetadata+xml",
	}, s.getMetadata)
	return g
}

// Settings returns what single sign-on adds to the group "Organizations".
func Settings(p *platform.Platform) *rest.Group {
	const path = "/organisation/saml"
	g := rest.NewGroup("Organizations")
	s := newService(p)
	rest.Handle(g, rest.Op{
		ID: "getSAMLSettings", Method: http.MethodGet, Path: path, Policy: "organisation:read",
		Statuses:    []int{http.StatusNotFound},
		Summary:     "Read the settings of single sign-on",
		Description: "With the TXT record that proves each domain. 404 while there are no settings.",
	}, s.getSettings)
	rest.Handle(g, rest.Op{
		ID: "setSAMLSettings", Method: http.MethodPut, Path: path, Policy: "organisation:write",
		Statuses: []int{http.StatusBadRequest, http.StatusConflict},
		Summary:  "Set up single sign-on, or check domains again",
		Description: "Changes only the fields present; the first time, metadataXML or metadataURL is needed. Domains " +
			"that are not proven yet are looked up in DNS each time, " +
			"so that PUT {} checks again. A domain belongs to the one organization that has proven it. " +
			"Whoever names the identity provider decides who can sign in as whom: only a caller who holds every " +
			"policy may set or change it. Nobody sets a default role that they could not assign. " +
			"While enforced, a member with an address of a proven domain gets into the organization by single " +
			"sign-on only; its owners may use their passwords still.",
	}, s.setSettings)
	rest.Handle(g, rest.Op{
		ID: "deleteSAMLSettings", Method: http.MethodDelete, Path: path, Policy: "organisation:write",
		Statuses: []int{http.StatusNotFound, http.StatusConflict},
		Summary:  "End single sign-on",
		Description: "Gives the domains back. Members stay members, and use their passwords; who has none resets it " +
			"with POST /auth/password/forget.",
	}, s.deleteSettings)
	return g
}
