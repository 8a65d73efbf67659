package sso

import (
	"bytes"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/foundation/fault"
)

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

// entities are metadata: one entity, or a list of them.
type entities struct {
	XMLName xml.Name
	entity
	Entities []entity `xml:"urn:oasis:names:tc:SAML:2.0:metadata EntityDescriptor"`
}

type entity struct {
	EntityID   string  `xml:"entityID,attr"`
	ValidUntil string  `xml:"validUntil,attr"`
	Methods    methods `xml:"Extensions"`
	Roles      []role  `xml:"urn:oasis:names:tc:SAML:2.0:metadata IDPSSODescriptor"`
}

type role struct {
	Protocols   string     `xml:"protocolSupportEnumeration,attr"`
	ValidUntil  string     `xml:"validUntil,attr"`
	WantsSigned string     `xml:"WantAuthnRequestsSigned,attr"`
	Methods     methods    `xml:"Extensions"`
	Keys        []key      `xml:"urn:oasis:names:tc:SAML:2.0:metadata KeyDescriptor"`
	Doors       []endpoint `xml:"urn:oasis:names:tc:SAML:2.0:metadata SingleSignOnService"`
}

// methods are the algorithms that a provider says it signs by (Metadata Profile for Algorithm Support).
type methods struct {
	Signing []struct {
		Algorithm string `xml:"Algorithm,attr"`
	} `xml:"urn:oasis:names:tc:SAML:metadata:algsupport SigningMethod"`
}

type key struct {
	Use          string   `xml:"use,attr"`
	Certificates []string `xml:"KeyInfo>X509Data>X509Certificate"`
}

type endpoint struct {
	Binding  string `xml:"Binding,attr"`
	Location string `xml:"Location,attr"`
}

const (
	maxMetadata     = 1 << 20 // bytes
	maxCertificates = 10
	maxEntityID     = 1024 // characters, as the standard has it
)

// understand reads the provider out of metadata. Field is where they came from, for messages.
func (s service) understand(field string, b []byte) (*provider, error) {
	wrong := func(format string, args ...any) error {
		return fault.New(fault.Invalid, "%s: %s", field, fmt.Sprintf(format, args...))
	}
	if err := level(b, true); err != nil {
		return nil, wrong("%s", err)
	}
	var all entities
	if err := xml.Unmarshal(b, &all); err != nil {
		return nil, fault.Cause(fault.Invalid, err, "%s: not XML", field)
	}
	e, err := all.provider()
	if err != nil {
		return nil, wrong("%s", err)
	}
	out, err := s.accept(e)
	if err != nil {
		return nil, wrong("%s", err)
	}
	return out, nil
}

// provider picks the one identity provider out of metadata.
func (all *entities) provider() (*entity, error) {
	if all.XMLName.Space != metadataNS {
		return nil, fmt.Errorf("the document is <%.40s>, not metadata of SAML 2.0", all.XMLName.Local)
	}
	found := slices.DeleteFunc(slices.Concat(all.Entities, []entity{all.entity}), func(e entity) bool { return len(e.Roles) == 0 })
	if len(found) != 1 {
		return nil, fmt.Errorf("they describe %d identity providers (IDPSSODescriptor), where one is needed", len(found))
	}
	if found[0].ValidUntil == "" {
		found[0].ValidUntil = all.ValidUntil
	}
	return &found[0], nil
}

// accept checks an identity provider, and keeps what is needed of it.
func (s service) accept(e *entity) (*provider, error) {
	r := e.Roles[0]
	switch {
	case len(e.Roles) != 1 || !strings.Contains(r.Protocols, protocolNS):
		return nil, errors.New("they describe no identity provider of SAML 2.0")
	case e.EntityID == "" || len(e.EntityID) > maxEntityID || strings.ContainsFunc(e.EntityID, func(c rune) bool { return c < ' ' }):
		return nil, errors.New("entityID is missing, or no name")
	case r.WantsSigned == "true" || r.WantsSigned == "1":
		return nil, errors.New("the identity provider wants signed requests (WantAuthnRequestsSigned), which are not supported: switch that off there")
	}
	for _, until := range []string{e.ValidUntil, r.ValidUntil} {
		if err := s.current(until); err != nil {
			return nil, err
		}
	}
	if err := errOldMethods(e.Methods, r.Methods); err != nil {
		return nil, err
	}
	door, err := s.door(r.Doors)
	if err != nil {
		return nil, err
	}
	certs, err := s.signing(r.Keys)
	return &provider{EntityID: e.EntityID, SSOURL: door, Certificates: certs}, err
}

// current refuses metadata that have expired.
func (s service) current(until string) error {
	if until == "" {
		return nil
	}
	at, err := instant(until)
	if err != nil {
		return fmt.Errorf("validUntil %.40q is not a time", until)
	}
	if !s.Clock.Now().Before(at) {
		return fmt.Errorf("they expired at %s (validUntil): get newer ones", at.Format(time.RFC3339))
	}
	return nil
}

// errOldMethods refuses a provider that says it signs by nothing that is accepted.
func errOldMethods(lists ...methods) error {
	said := false
	for _, l := range lists {
		for _, m := range l.Signing {
			if said = true; signatureMethods[m.Algorithm] {
				return nil
			}
		}
	}
	if said {
		return errors.New("the identity provider signs by SHA-1 or other old methods only: make it sign by RSA with SHA-256")
	}
	return nil
}

// door is where people are sent: the address of the binding that is used.
func (s service) door(doors []endpoint) (string, error) {
	i := slices.IndexFunc(doors, func(d endpoint) bool { return d.Binding == redirectBinding })
	if i < 0 {
		return "", errors.New("they have no SingleSignOnService with the binding HTTP-Redirect")
	}
	u, err := url.Parse(doors[i].Location)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || len(doors[i].Location) > 2048 {
		return "", errors.New("the Location of SingleSignOnService is not the address of a web page")
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !s.Settings.PrivateAddresses) {
		return "", errors.New("the Location of SingleSignOnService must begin with https://")
	}
	return u.String(), nil
}

// signing are the certificates that signatures may be checked with. One that is not good is left out, unless none is.
func (s service) signing(keys []key) ([][]byte, error) {
	var out [][]byte
	last := errors.New("they have no certificate for signing (KeyDescriptor)")
	for _, k := range keys {
		if k.Use != "" && k.Use != "signing" {
			continue
		}
		for _, text := range k.Certificates {
			der, err := s.certificate(text)
			if err != nil {
				last = err
				continue
			}
			if !slices.ContainsFunc(out, func(have []byte) bool { return bytes.Equal(have, der) }) {
				out = append(out, der)
			}
		}
	}
	switch {
	case len(out) == 0:
		return nil, last
	case len(out) > maxCertificates:
		return nil, fmt.Errorf("they have %d certificates for signing, and at most %d are taken", len(out), maxCertificates)
	}
	return out, nil
}

const minRSA = 2048 // bits

// oldSignatures are those of certificates that nothing should rest on, though here they only vouch for themselves.
var oldSignatures = []x509.SignatureAlgorithm{x509.MD2WithRSA, x509.MD5WithRSA, x509.SHA1WithRSA, x509.DSAWithSHA1, x509.ECDSAWithSHA1}

// certificate reads one, and refuses what nothing should rest on.
func (s service) certificate(text string) ([]byte, error) {
	der, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		return nil, errors.New("a certificate for signing is not base64")
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, errors.New("a certificate for signing cannot be read")
	}
	if slices.Contains(oldSignatures, c.SignatureAlgorithm) {
		return nil, fmt.Errorf("the certificate for signing is itself signed by %s: make a new one with SHA-256", c.SignatureAlgorithm)
	}
	if !s.Clock.Now().Before(c.NotAfter) {
		return nil, fmt.Errorf("the certificate for signing expired at %s", c.NotAfter.UTC().Format(time.RFC3339))
	}
	if k, ok := c.PublicKey.(*rsa.PublicKey); !ok || k.N.BitLen() < minRSA {
		return nil, fmt.Errorf("the certificate for signing has no RSA key of %d bits or more", minRSA)
	}
	return der, nil
}

// instant reads a time of SAML, which is UTC also where it does not say so.
func instant(text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		at, err = time.Parse("2006-01-02T15:04:05.999999999", text)
	}
	return at.UTC(), err
}
