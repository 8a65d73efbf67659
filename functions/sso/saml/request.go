package saml

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"fmt"
	"net/url"
	"time"

	"github.com/beevik/etree"

	"lamplighter.dev/shared/foundation/fault"
)

// AuthnRequest asks a provider to sign a person in. The response answers to its ID, so the ID must be unguessable.
// The relay state comes back beside the response.
type AuthnRequest struct {
	ID         string
	RelayState string
	IssuedAt   time.Time
}

// RedirectURL returns the address of the provider with the request in it, unsigned (HTTP-Redirect binding).
func (sp ServiceProvider) RedirectURL(p Provider, r AuthnRequest) (string, error) {
	u, err := url.Parse(p.SSOURL)
	if err != nil {
		return "", fmt.Errorf("parse the stored address of a provider: %w", err)
	}
	packed, err := deflate(sp.requestXML(p.SSOURL, r))
	if err != nil {
		return "", fmt.Errorf("pack a request: %w", err)
	}
	query := url.Values{
		"SAMLRequest": {base64.StdEncoding.EncodeToString(packed)},
		"RelayState":  {r.RelayState},
	}.Encode()
	if u.RawQuery != "" {
		query = u.RawQuery + "&" + query
	}
	u.RawQuery = query
	return u.String(), nil
}

func (sp ServiceProvider) requestXML(destination string, r AuthnRequest) *etree.Document {
	doc := etree.NewDocument()
	root := doc.CreateElement("samlp:AuthnRequest")
	for _, a := range [][2]string{
		{"xmlns:samlp", protocolNS},
		{"xmlns:saml", assertionNS},
		{"ID", r.ID},
		{"Version", "2.0"},
		{"IssueInstant", r.IssuedAt.UTC().Format(time.RFC3339)},
		{"Destination", destination},
		{"AssertionConsumerServiceURL", sp.ACSURL},
		{"ProtocolBinding", postBinding},
	} {
		root.CreateAttr(a[0], a[1])
	}
	root.CreateElement("saml:Issuer").SetText(sp.EntityID)
	policy := root.CreateElement("samlp:NameIDPolicy")
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

// Metadata returns this service's metadata for identity providers. Requests are not signed; assertions must be.
func (sp ServiceProvider) Metadata() ([]byte, error) {
	doc := etree.NewDocument()
	doc.CreateProcInst("xml", `version="1.0" encoding="UTF-8"`)
	e := doc.CreateElement("md:EntityDescriptor")
	e.CreateAttr("xmlns:md", metadataNS)
	e.CreateAttr("entityID", sp.EntityID)
	role := e.CreateElement("md:SPSSODescriptor")
	role.CreateAttr("AuthnRequestsSigned", "false")
	role.CreateAttr("WantAssertionsSigned", "true")
	role.CreateAttr("protocolSupportEnumeration", protocolNS)
	role.CreateElement("md:NameIDFormat").SetText(emailFormat)
	acs := role.CreateElement("md:AssertionConsumerService")
	for _, a := range [][2]string{
		{"Binding", postBinding},
		{"Location", sp.ACSURL},
		{"index", "0"},
		{"isDefault", "true"},
	} {
		acs.CreateAttr(a[0], a[1])
	}
	doc.Indent(2)
	b, err := doc.WriteToBytes()
	return b, fault.Wrap("write our metadata", err)
}
