package sso

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"lamplighter.dev/functions/sso/saml"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/ratelimit"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/consolesession"
)

const (
	requestPrefix = "SAMLREQ#"
	requestTTL    = saml.MaxAge
)

// request is a request that waits for its response.
type request struct {
	Org string `json:"org"`
	// Browser is the hash of the state cookie of the browser that began in the web console; "" without the console.
	Browser string `json:"browser,omitempty"`
}

// requestKey returns the key of a request by its ID. The key does not contain the ID itself.
func (s service) requestKey(id string) table.Key {
	return table.Key{PK: requestPrefix + identity.Digest(s.Settings.CodeKey(), "saml-request", id), SK: "R"}
}

// sourceRateLimit limits the requests that one address can begin. It is enough for an office.
var sourceRateLimit = ratelimit.Rule{Name: "saml", Max: 600, Per: 10 * time.Minute}

// SignOnRequest is the body of POST /auth/saml/initiate.
type SignOnRequest struct {
	Email  string `json:"email,omitempty" maxLength:"254" doc:"An address; only its domain counts" example:"ada@example.com"`
	Domain string `json:"domain,omitempty" maxLength:"254" doc:"Instead of email" example:"example.com"`
	For    string `json:"for,omitempty" enum:"console" doc:"console: the browser gets the cookie of the web console and comes to it in the end; only with X-Lamplighter-Console: 1"`
}

type initiateInput struct{ Body SignOnRequest }

// Initiated is the address to continue at.
type Initiated struct {
	RedirectURL string `json:"redirectURL" doc:"Send the browser there"`
}

func (s service) initiateLogin(ctx context.Context, in *initiateInput) (Initiated, error) {
	var out Initiated
	if err := s.requireBaseURL(); err != nil {
		return out, err
	}
	name, err := requestedDomain(in.Body.Email, in.Body.Domain)
	if err != nil {
		return out, err
	}
	if err = s.checkRateLimit(ctx); err != nil {
		return out, err
	}
	org, have, err := s.findProvider(ctx, name)
	if err != nil {
		return out, err
	}
	r := saml.AuthnRequest{ID: "_" + strings.ToLower(rand.Text()), RelayState: rand.Text(), IssuedAt: s.Clock.Now()}
	open := request{Org: org}
	if in.Body.For == consolesession.Console {
		r.ID = consoleRequest + r.ID
		if open.Browser, err = s.cookies().Bind(ctx, consolesession.ByForm); err != nil {
			return out, err
		}
	}
	if err = s.storeRequest(ctx, r.ID, open); err != nil {
		return out, err
	}
	out.RedirectURL, err = s.serviceProvider().RedirectURL(have.Provider, r)
	return out, err
}

// requestedDomain returns the domain of a request.
func requestedDomain(email, domain string) (string, error) {
	if (email == "") == (domain == "") {
		return "", fault.New(fault.Invalid, "email, domain: send one of them")
	}
	if email == "" {
		email = "x@" + strings.TrimSuffix(strings.TrimSpace(domain), ".")
	}
	return emailDomain(email)
}

// checkRateLimit refuses a source that begins too many requests. A failing counter refuses no request.
func (s service) checkRateLimit(ctx context.Context) error {
	ok, err := ratelimit.TakeUse(ctx, s.Table, s.Clock.Now(), sourceRateLimit, ratelimit.SourceOf(rest.SourceIP(ctx)))
	if err != nil {
		s.Log.WarnContext(ctx, "sign-ons are not counted", "error", err.Error())
	}
	if !ok {
		return fault.New(fault.Denied, "too many sign-ons were begun from your address: try again in ten minutes")
	}
	return nil
}

// findProvider finds the organization that has proven a domain, with its provider.
func (s service) findProvider(ctx context.Context, name string) (string, setup, error) {
	none := fault.New(fault.Invalid, "there is no single sign-on for %s: log in with POST /auth/login", name)
	org, err := s.findDomainHolder(ctx, name)
	if err != nil || org == "" {
		return "", setup{}, firstError(err, none)
	}
	have, err := s.readSetup(ctx, org)
	if fault.Is(err, fault.NotFound) {
		return "", setup{}, none
	}
	if err != nil {
		return "", setup{}, err
	}
	over, err := s.hasEnded(ctx, org)
	if err != nil || over || !have.hasVerified(name) {
		return "", setup{}, firstError(err, none)
	}
	return org, have, nil
}

func firstError(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// storeRequest stores a request for as long as it may be answered.
func (s service) storeRequest(ctx context.Context, id string, open request) error {
	it, err := table.NewItem(s.requestKey(id), open)
	if err != nil {
		return err
	}
	it.Expires = s.Clock.Now().Add(requestTTL)
	_, err = s.Table.Write(table.Within(ctx, requestPrefix), table.Put(it, table.Absent()))
	return fault.Wrap("begin single sign-on of "+open.Org, err)
}

// getMetadata returns the metadata of this service for identity providers.
func (s service) getMetadata(context.Context, *struct{}) (rest.Raw, error) {
	if err := s.requireBaseURL(); err != nil {
		return rest.Raw{}, err
	}
	b, err := s.serviceProvider().Metadata()
	return rest.Raw{Body: b}, err
}
