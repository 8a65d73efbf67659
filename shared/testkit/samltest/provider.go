// Package samltest is an identity provider that sends any response a test asks for, and the attacks on such
// responses. Only tests import it.
package samltest

import (
	"bytes"
	"compress/flate"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	_ "embed" // the key
	"encoding/base64"
	"encoding/pem"
	"encoding/xml"
	"fmt"
	"html"
	"io"
	"math/big"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/beevik/etree"
	dsig "github.com/russellhaering/goxmldsig"
	"github.com/russellhaering/goxmldsig/etreeutils"
)

// Signer is a key with its certificate.
type Signer struct {
	Key *rsa.PrivateKey
	DER []byte
}

// NewSigner makes a key of so many bits, with a certificate. change may change the certificate.
func NewSigner(bits int, change func(*x509.Certificate)) Signer {
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		panic(err)
	}
	return Certify(key, change)
}

// Certify makes a self-signed certificate for key.
func Certify(key *rsa.PrivateKey, change func(*x509.Certificate)) Signer {
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "idp"},
		NotBefore: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2120, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	change(c)
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		panic(err)
	}
	return Signer{key, der}
}

// The addresses of the attacks.
const (
	Ada  = "ada@example.com"  // the user of the provider
	Boss = "boss@example.com" // the user that attacks impersonate
)

// The names of SAML 2.0 that tests need.
const (
	EmailFormat      = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"
	PersistentFormat = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"
	RedirectBinding  = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"
)

// Genuine signs for the provider, and Attacker for an impostor. Keys take long to make, so the attacker has one key
// for all tests. The provider's key is in a file, so that the processes of the fuzzer, and other makers' providers,
// have the same one.
var (
	Genuine  = sync.OnceValue(readSigner)
	Attacker = sync.OnceValue(func() Signer { return NewSigner(2048, func(*x509.Certificate) {}) })
)

// keyPEM is the key of Genuine and its certificate.
//
//go:embed testdata/idp.pem
var keyPEM []byte

func readSigner() Signer {
	secret, rest := pem.Decode(keyPEM)
	cert, _ := pem.Decode(rest)
	key, err := x509.ParsePKCS8PrivateKey(secret.Bytes)
	if err != nil {
		panic(err)
	}
	return Signer{key.(*rsa.PrivateKey), cert.Bytes}
}

// Request is the part of a request that a provider reads.
type Request struct {
	ID          string `xml:"ID,attr"`
	Destination string `xml:"Destination,attr"`
	ACSURL      string `xml:"AssertionConsumerServiceURL,attr"`
	Issuer      string `xml:"urn:oasis:names:tc:SAML:2.0:assertion Issuer"`
	RelayState  string `xml:"-"`
}

// ReadRequest reads the request out of the address that a browser is redirected to.
func ReadRequest(t testing.TB, u *url.URL) Request {
	t.Helper()
	packed, err := base64.StdEncoding.DecodeString(u.Query().Get("SAMLRequest"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil {
		t.Fatal(err)
	}
	r := Request{RelayState: u.Query().Get("RelayState")}
	if err = xml.Unmarshal(b, &r); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	return r
}

// Provider is an identity provider.
type Provider struct {
	EntityID string
	SSOURL   string
	Signer   Signer
}

// NewProvider returns a provider that signs with Genuine.
func NewProvider() *Provider {
	return &Provider{"https://idp.test/metadata", "https://idp.test/sso", Genuine()}
}

// Metadata describes the provider.
func (p *Provider) Metadata() []byte { return MetadataOf(p.EntityID, p.SSOURL, p.Signer.DER) }

// MetadataOf returns the metadata of a provider with these signing certificates.
func MetadataOf(entity, sso string, certificates ...[]byte) []byte {
	var keys strings.Builder
	for _, der := range certificates {
		keys.WriteString(
			`<KeyDescriptor use="signing"><KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data>` +
				`<X509Certificate>` +
				base64.StdEncoding.EncodeToString(der) + `</X509Certificate></X509Data></KeyInfo></KeyDescriptor>`)
	}
	return fmt.Appendf(nil,
		`<?xml version="1.0"?><!-- made by hand --><EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" `+
			`entityID=%q><IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">%s`+
			`<SingleSignOnService Binding=%q Location="https://idp.test/post"/><SingleSignOnService Binding=%q `+
			`Location=%q/></IDPSSODescriptor></EntityDescriptor>`, entity, keys.String(),
		"urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST", RedirectBinding, sso)
}

// Response is the contents of a response. Empty fields are left out where that is possible.
type Response struct {
	Issuer, AssertionIssuer, InResponseTo, ConfirmedFor string
	Destination, Recipient, Audience, Status            string
	ID, AssertionID                                     string
	NameID, Format, Email, Name                         string
	Now                                                 time.Time
	Issued, From, Until                                 time.Duration // relative to Now
	Conditions, ConfirmationAttrs, More                 string        // verbatim
	Login                                               string        // verbatim
	ConfirmationMethod                                  string
	NoLogin                                             bool
	ReferToNothing                                      bool // the signature refers to nothing in particular

	SignAssertion, SignResponse bool
	Method                      string
	By                          Signer
	Canonicalizer               dsig.Canonicalizer
}

// Respond returns the provider's correct response to a request at now.
func (p *Provider) Respond(r Request, email string, now time.Time) Response {
	return Response{
		Issuer: p.EntityID, AssertionIssuer: p.EntityID, InResponseTo: r.ID, ConfirmedFor: r.ID, Destination: r.ACSURL,
		Recipient: r.ACSURL,
		Audience:  r.Issuer, Status: "urn:oasis:names:tc:SAML:2.0:status:Success",
		ConfirmationMethod: "urn:oasis:names:tc:SAML:2.0:cm:bearer", ID: "_r" + rand.Text(),
		AssertionID: "_a" + rand.Text(),
		NameID:      email, Format: EmailFormat, Name: "Ada Lovelace", Now: now, Issued: -time.Second,
		From:          -time.Minute,
		Until:         5 * time.Minute,
		SignAssertion: true, Method: dsig.RSASHA256SignatureMethod, By: p.Signer,
		Canonicalizer: dsig.MakeC14N10ExclusiveCanonicalizerWithPrefixList(""),
	}
}

// At formats the time d after Now.
func (s Response) At(d time.Duration) string {
	return s.Now.Add(d).UTC().Format("2006-01-02T15:04:05.000Z")
}

// Attr formats an attribute, or returns "" for an empty value.
func Attr(name, value string) string {
	if value == "" {
		return ""
	}
	return fmt.Sprintf(` %s="%s"`, name, html.EscapeString(value))
}

func (s Response) attributes() string {
	var out strings.Builder
	for _, a := range [][2]string{{"email", s.Email}, {"displayName", s.Name}} {
		if a[1] != "" {
			out.WriteString(`<saml:Attribute Name="` + a[0] +
				`"><saml:AttributeValue xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001` +
				`/XMLSchema-instance" xsi:type="xs:string">` +
				html.EscapeString(a[1]) + `</saml:AttributeValue></saml:Attribute>`)
		}
	}
	return `<saml:AttributeStatement>` + out.String() + `</saml:AttributeStatement>`
}

func (s Response) assertion() string {
	conditions := s.Conditions
	if conditions == "" {
		conditions = `<saml:Conditions NotBefore="` + s.At(s.From) + `" NotOnOrAfter="` + s.At(s.Until) +
			`"><saml:AudienceRestriction><saml:Audience>` +
			s.Audience + `</saml:Audience></saml:AudienceRestriction></saml:Conditions>`
	}
	login := `<saml:AuthnStatement AuthnInstant="` + s.At(0) + `"><saml:AuthnContext/></saml:AuthnStatement>`
	if s.NoLogin || s.Login != "" {
		login = s.Login
	}
	subject := s.ConfirmationAttrs
	if subject == "" {
		subject = Attr("NotOnOrAfter", s.At(s.Until))
	}
	return `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" Version="2.0" ID="` + s.AssertionID +
		`" IssueInstant="` + s.At(s.Issued) + `">` +
		`<saml:Issuer>` + s.AssertionIssuer + `</saml:Issuer><saml:Subject><saml:NameID` + Attr("Format", s.Format) +
		`>` + html.EscapeString(s.NameID) + `</saml:NameID>` +
		`<saml:SubjectConfirmation` + Attr("Method", s.ConfirmationMethod) + `><saml:SubjectConfirmationData` +
		subject +
		Attr("Recipient", s.Recipient) + Attr("InResponseTo", s.ConfirmedFor) +
		`/></saml:SubjectConfirmation></saml:Subject>` +
		conditions + login + s.attributes() + `</saml:Assertion>`
}

// Document returns the response, signed.
func (s Response) Document(t testing.TB) []byte {
	t.Helper()
	text := `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" Version="2.0" ID="` + s.ID +
		`" IssueInstant="` + s.At(s.Issued) + `"` +
		Attr("Destination", s.Destination) + Attr("InResponseTo", s.InResponseTo) + `>` +
		`<saml:Issuer xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">` + s.Issuer + `</saml:Issuer>` +
		`<samlp:Status><samlp:StatusCode Value="` + s.Status + `"/></samlp:Status>` + s.assertion() + s.More +
		`</samlp:Response>`
	doc := etree.NewDocument()
	if err := doc.ReadFromString(text); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	if s.SignAssertion {
		s.Sign(doc.FindElement("/Response/Assertion"))
	}
	if s.SignResponse {
		s.Sign(doc.Root())
	}
	b, err := doc.WriteToBytes()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Sign inserts a signature into e, after its Issuer.
func (s Response) Sign(e *etree.Element) {
	ctx, err := dsig.NewSigningContext(s.By.Key, [][]byte{s.By.DER})
	if err != nil {
		panic(err)
	}
	ctx.Canonicalizer = s.Canonicalizer
	if s.ReferToNothing {
		ctx.IdAttribute = "none"
	}
	if err = ctx.SetSignatureMethod(s.Method); err != nil {
		panic(err)
	}
	sig, err := ctx.ConstructSignature(e, true)
	if err != nil {
		panic(err)
	}
	e.InsertChildAt(1, sig)
}

// Resign signs the SignedInfo of e anew after change. It calls change with the SignedInfo and the digested bytes of
// e.
func (s Response) Resign(e *etree.Element, change func(info *etree.Element, digested []byte)) {
	whole := e.Copy()
	whole.RemoveChild(Child(whole, "Signature"))
	digested, err := s.Canonicalizer.Canonicalize(whole)
	if err != nil {
		panic(err)
	}
	sig := Child(e, "Signature")
	info := Child(sig, "SignedInfo")
	change(info, digested)
	scope, err := etreeutils.NSBuildParentContext(info)
	if err != nil {
		panic(err)
	}
	alone, err := etreeutils.NSDetatch(scope, info)
	if err != nil {
		panic(err)
	}
	canonical, err := s.Canonicalizer.Canonicalize(alone)
	if err != nil {
		panic(err)
	}
	hash := crypto.SHA256
	if Child(info, "SignatureMethod").SelectAttrValue("Algorithm", "") == dsig.RSASHA1SignatureMethod {
		hash = crypto.SHA1
	}
	h := hash.New()
	h.Write(canonical)
	value, err := rsa.SignPKCS1v15(rand.Reader, s.By.Key, hash, h.Sum(nil))
	if err != nil {
		panic(err)
	}
	Child(sig, "SignatureValue").SetText(base64.StdEncoding.EncodeToString(value))
}

// StripSignatures removes all signatures.
func StripSignatures(e *etree.Element) {
	for _, c := range e.ChildElements() {
		if c.Tag == "Signature" {
			e.RemoveChild(c)
			continue
		}
		StripSignatures(c)
	}
}

// replaceText replaces from by to in all texts of an element.
func replaceText(e *etree.Element, from, to string) {
	for _, tok := range e.Child {
		switch c := tok.(type) {
		case *etree.CharData:
			c.SetData(strings.ReplaceAll(c.Data, from, to))
		case *etree.Element:
			replaceText(c, from, to)
		}
	}
}
