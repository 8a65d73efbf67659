package sso

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/beevik/etree"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/ratelimit"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

const (
	requestPrefix = "SAMLREQ#"
	requestTTL    = 10 * time.Minute
)

// request is one that waits for its response.
type request struct {
	Org string `json:"org"`
}

// requestKey is where a request is found by its id, which is not in the key.
func (s service) requestKey(id string) table.Key {
	return table.Key{PK: requestPrefix + identity.Digest(s.Settings.Pepper, "saml-request", id), SK: "R"}
}

// perSource is how many requests one address can begin: an office, not a flood.
var perSource = ratelimit.Rule{Name: "saml", Max: 600, Per: 10 * time.Minute}

// SignOnRequest is the body of POST /auth/saml/initiate.
type SignOnRequest struct {
	Email  string `json:"email,omitempty" maxLength:"254" doc:"An address; only its domain counts" example:"ada@example.com"`
	Domain string `json:"domain,omitempty" maxLength:"254" doc:"Instead of email" example:"example.com"`
}

type initiateInput struct{ Body SignOnRequest }

// Initiated says where to go.
type Initiated struct {
	RedirectURL string `json:"redirectURL" doc:"Send the browser there"`
}

func (s service) initiate(ctx context.Context, in *initiateInput) (Initiated, error) {
	var out Initiated
	if err := s.reachable(); err != nil {
		return out, err
	}
	name, err := chosen(in.Body.Email, in.Body.Domain)
	if err != nil {
		return out, err
	}
	if err = s.paced(ctx); err != nil {
		return out, err
	}
	org, have, err := s.providerOf(ctx, name)
	if err != nil {
		return out, err
	}
	id, relay := "_"+strings.ToLower(rand.Text()), rand.Text()
	if err = s.await(ctx, id, org); err != nil {
		return out, err
	}
	out.RedirectURL, err = s.sendTo(have.SSOURL, id, relay)
	return out, err
}

// chosen is the domain that a request is about.
func chosen(email, domain string) (string, error) {
	if (email == "") == (domain == "") {
		return "", fault.New(fault.Invalid, "email, domain: send one of them")
	}
	if email == "" {
		email = "x@" + strings.TrimSuffix(strings.TrimSpace(domain), ".")
	}
	return domainOf(email)
}

// paced refuses one source that begins too often. A count that cannot be kept stops nobody.
func (s service) paced(ctx context.Context) error {
	ok, err := ratelimit.Take(ctx, s.Table, s.Clock.Now(), perSource, ratelimit.Source(rest.SourceIP(ctx)))
	if err != nil {
		s.Log.WarnContext(ctx, "sign-ons are not counted", "error", err.Error())
	}
	if !ok {
		return fault.New(fault.Denied, "too many sign-ons were begun from your address: try again in ten minutes")
	}
	return nil
}

// providerOf finds the organization that has proven a domain, with its provider.
func (s service) providerOf(ctx context.Context, name string) (string, setup, error) {
	none := fault.New(fault.Invalid, "there is no single sign-on for %s: log in with POST /auth/login", name)
	org, err := s.holder(ctx, name)
	if err != nil || org == "" {
		return "", setup{}, orElse(err, none)
	}
	have, err := s.read(ctx, org)
	if fault.Is(err, fault.NotFound) {
		return "", setup{}, none
	}
	if err != nil {
		return "", setup{}, err
	}
	over, err := s.gone(ctx, org)
	if err != nil || over || !have.proves(name) {
		return "", setup{}, orElse(err, none)
	}
	return org, have, nil
}

func orElse(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// await remembers a request for as long as it may be answered.
func (s service) await(ctx context.Context, id, org string) error {
	it, err := table.Row(s.requestKey(id), request{org})
	if err != nil {
		return err
	}
	it.Expires = s.Clock.Now().Add(requestTTL)
	_, err = s.Table.Write(table.Within(ctx, requestPrefix), table.Put(it, table.Absent()))
	return fault.Wrap("begin single sign-on of "+org, err)
}

// sendTo is the address of the provider with a request in it (HTTP-Redirect binding).
func (s service) sendTo(address, id, relay string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("parse the stored address of a provider: %w", err)
	}
	packed, err := deflate(s.authnRequest(address, id))
	if err != nil {
		return "", fmt.Errorf("pack a request: %w", err)
	}
	query := url.Values{"SAMLRequest": {base64.StdEncoding.EncodeToString(packed)}, "RelayState": {relay}}.Encode()
	if u.RawQuery != "" {
		query = u.RawQuery + "&" + query
	}
	u.RawQuery = query
	return u.String(), nil
}

// authnRequest asks the provider to sign somebody in.
func (s service) authnRequest(destination, id string) *etree.Document {
	doc := etree.NewDocument()
	r := doc.CreateElement("samlp:AuthnRequest")
	for _, a := range [][2]string{
		{"xmlns:samlp", protocolNS},
		{"xmlns:saml", assertionNS},
		{"ID", id},
		{"Version", "2.0"},
		{"IssueInstant", s.Clock.Now().UTC().Format(time.RFC3339)},
		{"Destination", destination},
		{"AssertionConsumerServiceURL", s.acs()},
		{"ProtocolBinding", postBinding},
	} {
		r.CreateAttr(a[0], a[1])
	}
	r.CreateElement("saml:Issuer").SetText(s.entity())
	policy := r.CreateElement("samlp:NameIDPolicy")
	policy.CreateAttr("Format", emailFormat)
	policy.CreateAttr("AllowCreate", "true")
	return doc
}

func deflate(doc *etree.Document) ([]byte, error) {
	var buf bytes.Buffer
	w, err := flate.NewWriter(&buf, flate.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err = doc.WriteTo(w); err != nil {
		return nil, err
	}
	err = w.Close()
	return buf.Bytes(), err
}

// describe is our metadata.
func (s service) describe(context.Context, *struct{}) (rest.Raw, error) {
	if err := s.reachable(); err != nil {
		return rest.Raw{}, err
	}
	doc := etree.NewDocument()
	doc.CreateProcInst("xml", `version="1.0" encoding="UTF-8"`)
	e := doc.CreateElement("md:EntityDescriptor")
	e.CreateAttr("xmlns:md", metadataNS)
	e.CreateAttr("entityID", s.entity())
	sp := e.CreateElement("md:SPSSODescriptor")
	sp.CreateAttr("AuthnRequestsSigned", "false")
	sp.CreateAttr("WantAssertionsSigned", "true")
	sp.CreateAttr("protocolSupportEnumeration", protocolNS)
	sp.CreateElement("md:NameIDFormat").SetText(emailFormat)
	acs := sp.CreateElement("md:AssertionConsumerService")
	for _, a := range [][2]string{{"Binding", postBinding}, {"Location", s.acs()}, {"index", "0"}, {"isDefault", "true"}} {
		acs.CreateAttr(a[0], a[1])
	}
	doc.Indent(2)
	b, err := doc.WriteToBytes()
	return rest.Raw{Body: b}, fault.Wrap("write metadata", err)
}
