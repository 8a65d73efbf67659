package saml

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

// metadataXML is one entity, or a list of them.
type metadataXML struct {
	XMLName xml.Name
	entityXML
	Entities []entityXML `xml:"urn:oasis:names:tc:SAML:2.0:metadata EntityDescriptor"`
}

type entityXML struct {
	EntityID   string         `xml:"entityID,attr"`
	ValidUntil string         `xml:"validUntil,attr"`
	Methods    signingMethods `xml:"Extensions"`
	Roles      []roleXML      `xml:"urn:oasis:names:tc:SAML:2.0:metadata IDPSSODescriptor"`
}

type roleXML struct {
	Protocols   string         `xml:"protocolSupportEnumeration,attr"`
	ValidUntil  string         `xml:"validUntil,attr"`
	WantsSigned string         `xml:"WantAuthnRequestsSigned,attr"`
	Methods     signingMethods `xml:"Extensions"`
	Keys        []keyXML       `xml:"urn:oasis:names:tc:SAML:2.0:metadata KeyDescriptor"`
	Endpoints   []endpointXML  `xml:"urn:oasis:names:tc:SAML:2.0:metadata SingleSignOnService"`
}

// signingMethods are the algorithms that a provider declares for its signatures (Metadata Profile for Algorithm
// Support).
type signingMethods struct {
	Signing []struct {
		Algorithm string `xml:"Algorithm,attr"`
	} `xml:"urn:oasis:names:tc:SAML:metadata:algsupport SigningMethod"`
}

type keyXML struct {
	Use          string   `xml:"use,attr"`
	Certificates []string `xml:"KeyInfo>X509Data>X509Certificate"`
}

type endpointXML struct {
	Binding  string `xml:"Binding,attr"`
	Location string `xml:"Location,attr"`
}

// MaxMetadata is the maximum size of metadata in bytes.
const MaxMetadata = 1 << 20

const (
	maxCertificates = 10
	maxEntityID     = 1024 // characters, as the standard has it
)

// Provider is an identity provider as its metadata described it when it was set. Its certificates are pinned:
// signatures are checked with no others.
type Provider struct {
	EntityID     string   `json:"entityID"`
	SSOURL       string   `json:"ssoURL"`
	Certificates [][]byte `json:"certificates"` // DER
}

// Equal reports whether both have the same entity ID, address and certificates, in the same order.
func (p Provider) Equal(o Provider) bool {
	return p.EntityID == o.EntityID && p.SSOURL == o.SSOURL &&
		slices.EqualFunc(p.Certificates, o.Certificates, bytes.Equal)
}

// metadataRules are the rules for accepting metadata.
type metadataRules struct {
	now       time.Time
	plainHTTP bool // the provider's address may begin with http://
}

// ParseMetadata parses the only identity provider in metadata, which must be valid at now. With plainHTTP, the
// provider's address may be without TLS. The error is fault.Invalid and says how to fix the metadata.
func ParseMetadata(b []byte, now time.Time, plainHTTP bool) (*Provider, error) {
	if len(b) > MaxMetadata {
		return nil, fault.New(fault.Invalid, "larger than 1 MiB")
	}
	if err := checkXMLLimits(b, true); err != nil {
		return nil, fault.New(fault.Invalid, "%s", err)
	}
	var all metadataXML
	if err := xml.Unmarshal(b, &all); err != nil {
		return nil, fault.NewWithCause(fault.Invalid, err, "not XML")
	}
	e, err := all.findProvider()
	if err != nil {
		return nil, fault.New(fault.Invalid, "%s", err)
	}
	out, err := metadataRules{now, plainHTTP}.checkEntity(e)
	if err != nil {
		return nil, fault.New(fault.Invalid, "%s", err)
	}
	return out, nil
}

// findProvider returns the only identity provider in metadata.
func (all *metadataXML) findProvider() (*entityXML, error) {
	if all.XMLName.Space != metadataNS {
		return nil, fmt.Errorf("the document is <%.40s>, not metadata of SAML 2.0", all.XMLName.Local)
	}
	found := slices.DeleteFunc(slices.Concat(all.Entities, []entityXML{all.entityXML}), func(e entityXML) bool {
		return len(e.Roles) == 0
	})
	if len(found) != 1 {
		return nil, fmt.Errorf(
			"they describe %d identity providers (IDPSSODescriptor), where one is needed", len(found))
	}
	if found[0].ValidUntil == "" {
		found[0].ValidUntil = all.ValidUntil
	}
	return &found[0], nil
}

// checkEntity checks an identity provider, and returns the parts that are needed.
func (m metadataRules) checkEntity(e *entityXML) (*Provider, error) {
	r := e.Roles[0]
	switch {
	case len(e.Roles) != 1 || !strings.Contains(r.Protocols, protocolNS):
		return nil, errors.New("they describe no identity provider of SAML 2.0")
	case e.EntityID == "" || len(e.EntityID) > maxEntityID || strings.ContainsFunc(e.EntityID, func(c rune) bool {
		return c < ' '
	}):
		return nil, errors.New("entityID is missing, or no name")
	case r.WantsSigned == "true" || r.WantsSigned == "1":
		return nil, errors.New("the identity provider wants signed requests (WantAuthnRequestsSigned), which are not " +
			"supported: switch that off there")
	}
	for _, until := range []string{e.ValidUntil, r.ValidUntil} {
		if err := m.checkValidUntil(until); err != nil {
			return nil, err
		}
	}
	if err := checkSigningMethods(e.Methods, r.Methods); err != nil {
		return nil, err
	}
	address, err := m.findRedirectURL(r.Endpoints)
	if err != nil {
		return nil, err
	}
	certs, err := m.readCertificates(r.Keys)
	return &Provider{EntityID: e.EntityID, SSOURL: address, Certificates: certs}, err
}

// checkValidUntil refuses metadata that have expired.
func (m metadataRules) checkValidUntil(until string) error {
	if until == "" {
		return nil
	}
	at, err := parseTime(until)
	if err != nil {
		return fmt.Errorf("validUntil %.40q is not a time", until)
	}
	if !m.now.Before(at) {
		return fmt.Errorf("they expired at %s (validUntil): get newer ones", at.Format(time.RFC3339))
	}
	return nil
}

// checkSigningMethods refuses a provider whose declared algorithms are all unaccepted.
func checkSigningMethods(lists ...signingMethods) error {
	said := false
	for _, l := range lists {
		for _, m := range l.Signing {
			if said = true; signatureMethods[m.Algorithm] {
				return nil
			}
		}
	}
	if said {
		return errors.New("the identity provider signs by SHA-1 or other old methods only: make it sign by RSA " +
			"with SHA-256")
	}
	return nil
}

// findRedirectURL returns the sign-in address of the provider for the HTTP-Redirect binding.
func (m metadataRules) findRedirectURL(endpoints []endpointXML) (string, error) {
	i := slices.IndexFunc(endpoints, func(e endpointXML) bool { return e.Binding == redirectBinding })
	if i < 0 {
		return "", errors.New("they have no SingleSignOnService with the binding HTTP-Redirect")
	}
	u, err := url.Parse(endpoints[i].Location)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || len(endpoints[i].Location) > 2048 {
		return "", errors.New("the Location of SingleSignOnService is not the address of a web page")
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !m.plainHTTP) {
		return "", errors.New("the Location of SingleSignOnService must begin with https://")
	}
	return u.String(), nil
}

// readCertificates returns the certificates for checking signatures. It skips invalid ones, unless all are invalid.
func (m metadataRules) readCertificates(keys []keyXML) ([][]byte, error) {
	var out [][]byte
	last := errors.New("they have no certificate for signing (KeyDescriptor)")
	for _, k := range keys {
		if k.Use != "" && k.Use != "signing" {
			continue
		}
		for _, text := range k.Certificates {
			der, err := m.parseCertificate(text)
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
		return nil, fmt.Errorf(
			"they have %d certificates for signing, and at most %d are taken", len(out), maxCertificates)
	}
	return out, nil
}

const minRSA = 2048 // bits

// oldSignatures are outdated signature algorithms of certificates. They are refused although a certificate here only
// signs itself.
var oldSignatures = []x509.SignatureAlgorithm{
	x509.MD2WithRSA, x509.MD5WithRSA, x509.SHA1WithRSA, x509.DSAWithSHA1,
	x509.ECDSAWithSHA1,
}

// parseCertificate parses a certificate, and refuses one that is too weak or not valid.
func (m metadataRules) parseCertificate(text string) ([]byte, error) {
	der, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		return nil, errors.New("a certificate for signing is not base64")
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, errors.New("a certificate for signing cannot be read")
	}
	if slices.Contains(oldSignatures, c.SignatureAlgorithm) {
		return nil, fmt.Errorf(
			"the certificate for signing is itself signed by %s: make a new one with SHA-256", c.SignatureAlgorithm)
	}
	if !m.now.Before(c.NotAfter) {
		return nil, fmt.Errorf("the certificate for signing expired at %s", c.NotAfter.UTC().Format(time.RFC3339))
	}
	if k, ok := c.PublicKey.(*rsa.PublicKey); !ok || k.N.BitLen() < minRSA {
		return nil, fmt.Errorf("the certificate for signing has no RSA key of %d bits or more", minRSA)
	}
	return der, nil
}

// parseTime parses a time of SAML, which is UTC also without a time zone.
func parseTime(text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		at, err = time.Parse("2006-01-02T15:04:05.999999999", text)
	}
	return at.UTC(), err
}
