package sso

import (
	"bytes"
	"compress/flate"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"encoding/xml"
	"fmt"
	"html"
	"io"
	"math/big"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/beevik/etree"
	dsig "github.com/russellhaering/goxmldsig"
	"github.com/russellhaering/goxmldsig/etreeutils"
)

// signer is a key with its certificate.
type signer struct {
	key *rsa.PrivateKey
	der []byte
}

func newSigner(bits int, change func(*x509.Certificate)) signer {
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		panic(err)
	}
	return certify(key, change)
}

func certify(key *rsa.PrivateKey, change func(*x509.Certificate)) signer {
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "idp"},
		NotBefore: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2120, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	change(c)
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		panic(err)
	}
	return signer{key, der}
}

// Keys take long to make, so there is one of the attacker; and one of the provider in a file, so that the processes of the
// fuzzer, and other makers' providers, have the same.
var (
	genuine  = sync.OnceValue(readSigner)
	attacker = sync.OnceValue(func() signer { return newSigner(2048, func(*x509.Certificate) {}) })
)

func readSigner() signer {
	b, err := os.ReadFile("testdata/idp.pem")
	if err != nil {
		panic(err)
	}
	secret, rest := pem.Decode(b)
	cert, _ := pem.Decode(rest)
	key, err := x509.ParsePKCS8PrivateKey(secret.Bytes)
	if err != nil {
		panic(err)
	}
	return signer{key.(*rsa.PrivateKey), cert.Bytes}
}

// authnRequest is what a provider reads of a request.
type authnRequest struct {
	ID          string `xml:"ID,attr"`
	Destination string `xml:"Destination,attr"`
	ACS         string `xml:"AssertionConsumerServiceURL,attr"`
	Issuer      string `xml:"urn:oasis:names:tc:SAML:2.0:assertion Issuer"`
	Relay       string `xml:"-"`
}

func readRequest(t testing.TB, u *url.URL) authnRequest {
	t.Helper()
	packed, err := base64.StdEncoding.DecodeString(u.Query().Get("SAMLRequest"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil {
		t.Fatal(err)
	}
	r := authnRequest{Relay: u.Query().Get("RelayState")}
	if err = xml.Unmarshal(b, &r); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	return r
}

// twin is an identity provider that says whatever a test makes it say.
type twin struct {
	entity string
	sso    string
	signer signer
}

func newTwin() *twin { return &twin{"https://idp.test/metadata", "https://idp.test/sso", genuine()} }

func (w *twin) metadata() []byte { return metadataOf(w.entity, w.sso, w.signer.der) }

func metadataOf(entity, sso string, certificates ...[]byte) []byte {
	var keys strings.Builder
	for _, der := range certificates {
		keys.WriteString(`<KeyDescriptor use="signing"><KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>` +
			base64.StdEncoding.EncodeToString(der) + `</X509Certificate></X509Data></KeyInfo></KeyDescriptor>`)
	}
	return fmt.Appendf(nil, `<?xml version="1.0"?><!-- made by hand --><EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID=%q>`+
		`<IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">%s`+
		`<SingleSignOnService Binding=%q Location="https://idp.test/post"/><SingleSignOnService Binding=%q Location=%q/>`+
		`</IDPSSODescriptor></EntityDescriptor>`, entity, keys.String(), postBinding, redirectBinding, sso)
}

// speech is all that a response says. Fields that are "" are left out where that is possible.
type speech struct {
	issuer, assertionIssuer, request, confirmed string
	destination, recipient, audience, status    string
	id, assertionID                             string
	nameID, format, email, name                 string
	now                                         time.Time
	issued, from, until                         time.Duration // relative to now
	conditions, subjectAttr, more               string        // verbatim
	login                                       string        // verbatim
	noLogin                                     bool
	anyID                                       bool // the signature refers to nothing in particular

	signAssertion, signResponse bool
	method                      string
	by                          signer
	canonical                   dsig.Canonicalizer
}

// says is what the twin says to a request when nothing is wrong.
func (w *twin) says(h *fixture, r authnRequest, email string) speech {
	return speech{
		issuer: w.entity, assertionIssuer: w.entity, request: r.ID, confirmed: r.ID, destination: r.ACS, recipient: r.ACS,
		audience: r.Issuer, status: statusSuccess, id: "_r" + rand.Text(), assertionID: "_a" + rand.Text(),
		nameID: email, format: emailFormat, name: "Ada Lovelace", now: h.Platform.Clock.Now(), issued: -time.Second, from: -time.Minute, until: 5 * time.Minute,
		signAssertion: true, method: dsig.RSASHA256SignatureMethod, by: w.signer, canonical: dsig.MakeC14N10ExclusiveCanonicalizerWithPrefixList(""),
	}
}

// answer signs ada in.
func (w *twin) answer(h *fixture, u *url.URL) []byte {
	return w.says(h, readRequest(h.TB, u), ada).document(h.TB)
}

func (s speech) at(d time.Duration) string {
	return s.now.Add(d).UTC().Format("2006-01-02T15:04:05.000Z")
}

func attr(name, value string) string {
	if value == "" {
		return ""
	}
	return fmt.Sprintf(` %s="%s"`, name, html.EscapeString(value))
}

func (s speech) attributes() string {
	var out strings.Builder
	for _, a := range [][2]string{{"email", s.email}, {"displayName", s.name}} {
		if a[1] != "" {
			out.WriteString(`<saml:Attribute Name="` + a[0] + `"><saml:AttributeValue xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="xs:string">` +
				html.EscapeString(a[1]) + `</saml:AttributeValue></saml:Attribute>`)
		}
	}
	return `<saml:AttributeStatement>` + out.String() + `</saml:AttributeStatement>`
}

func (s speech) assertion() string {
	conditions := s.conditions
	if conditions == "" {
		conditions = `<saml:Conditions NotBefore="` + s.at(s.from) + `" NotOnOrAfter="` + s.at(s.until) + `"><saml:AudienceRestriction><saml:Audience>` +
			s.audience + `</saml:Audience></saml:AudienceRestriction></saml:Conditions>`
	}
	login := `<saml:AuthnStatement AuthnInstant="` + s.at(0) + `"><saml:AuthnContext/></saml:AuthnStatement>`
	if s.noLogin || s.login != "" {
		login = s.login
	}
	subject := s.subjectAttr
	if subject == "" {
		subject = attr("NotOnOrAfter", s.at(s.until))
	}
	return `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" Version="2.0" ID="` + s.assertionID + `" IssueInstant="` + s.at(s.issued) + `">` +
		`<saml:Issuer>` + s.assertionIssuer + `</saml:Issuer><saml:Subject><saml:NameID` + attr("Format", s.format) + `>` + html.EscapeString(s.nameID) + `</saml:NameID>` +
		`<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData` + subject +
		attr("Recipient", s.recipient) + attr("InResponseTo", s.confirmed) + `/></saml:SubjectConfirmation></saml:Subject>` +
		conditions + login + s.attributes() + `</saml:Assertion>`
}

// document is the response, signed.
func (s speech) document(t testing.TB) []byte {
	t.Helper()
	text := `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" Version="2.0" ID="` + s.id + `" IssueInstant="` + s.at(s.issued) + `"` +
		attr("Destination", s.destination) + attr("InResponseTo", s.request) + `>` +
		`<saml:Issuer xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">` + s.issuer + `</saml:Issuer>` +
		`<samlp:Status><samlp:StatusCode Value="` + s.status + `"/></samlp:Status>` + s.assertion() + s.more + `</samlp:Response>`
	doc := etree.NewDocument()
	if err := doc.ReadFromString(text); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	if s.signAssertion {
		s.sign(doc.FindElement("/Response/Assertion"))
	}
	if s.signResponse {
		s.sign(doc.Root())
	}
	b, err := doc.WriteToBytes()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// sign puts a signature into e, behind its Issuer.
func (s speech) sign(e *etree.Element) {
	ctx, err := dsig.NewSigningContext(s.by.key, [][]byte{s.by.der})
	if err != nil {
		panic(err)
	}
	ctx.Canonicalizer = s.canonical
	if s.anyID {
		ctx.IdAttribute = "none"
	}
	if err = ctx.SetSignatureMethod(s.method); err != nil {
		panic(err)
	}
	sig, err := ctx.ConstructSignature(e, true)
	if err != nil {
		panic(err)
	}
	e.InsertChildAt(1, sig)
}

// resign signs the SignedInfo of e anew after change, which is given what is digested of e.
func (s speech) resign(e *etree.Element, change func(info *etree.Element, digested []byte)) {
	whole := e.Copy()
	whole.RemoveChild(local(whole, "Signature"))
	digested, err := s.canonical.Canonicalize(whole)
	if err != nil {
		panic(err)
	}
	sig := local(e, "Signature")
	info := local(sig, "SignedInfo")
	change(info, digested)
	scope, err := etreeutils.NSBuildParentContext(info)
	if err != nil {
		panic(err)
	}
	alone, err := etreeutils.NSDetatch(scope, info)
	if err != nil {
		panic(err)
	}
	canonical, err := s.canonical.Canonicalize(alone)
	if err != nil {
		panic(err)
	}
	hash := crypto.SHA256
	if local(info, "SignatureMethod").SelectAttrValue("Algorithm", "") == dsig.RSASHA1SignatureMethod {
		hash = crypto.SHA1
	}
	h := hash.New()
	h.Write(canonical)
	value, err := rsa.SignPKCS1v15(rand.Reader, s.by.key, hash, h.Sum(nil))
	if err != nil {
		panic(err)
	}
	local(sig, "SignatureValue").SetText(base64.StdEncoding.EncodeToString(value))
}

// strip takes out all signatures.
func strip(e *etree.Element) {
	for _, c := range e.ChildElements() {
		if c.Tag == "Signature" {
			e.RemoveChild(c)
			continue
		}
		strip(c)
	}
}

// renamed makes an assertion one about somebody else.
func renamed(e *etree.Element, from, to string) {
	for _, tok := range e.Child {
		switch c := tok.(type) {
		case *etree.CharData:
			c.SetData(strings.ReplaceAll(c.Data, from, to))
		case *etree.Element:
			renamed(c, from, to)
		}
	}
}

type (
	element     = etree.Element
	certificate = x509.Certificate
)
