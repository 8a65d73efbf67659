package sso

import (
	"crypto/x509"
	"encoding/xml"
	"fmt"
	"slices"
	"time"

	"github.com/beevik/etree"
	dsig "github.com/russellhaering/goxmldsig"
	"github.com/russellhaering/goxmldsig/etreeutils"
)

// The algorithms that are accepted. What is not here, SHA-1 above all, is refused before anything is computed. ECDSA is
// left out because goxmldsig reads its signatures in another form than XML Signature writes them.
var (
	signatureMethods = set(dsig.RSASHA256SignatureMethod, dsig.RSASHA384SignatureMethod, dsig.RSASHA512SignatureMethod)
	digestMethods    = set(
		"http://www.w3.org/2001/04/xmlenc#sha256", "http://www.w3.org/2001/04/xmldsig-more#sha384", "http://www.w3.org/2001/04/xmlenc#sha512",
	)
	canonicalizations = set(
		string(dsig.CanonicalXML10ExclusiveAlgorithmId), string(dsig.CanonicalXML10ExclusiveWithCommentsAlgorithmId),
		string(dsig.CanonicalXML11AlgorithmId), string(dsig.CanonicalXML11WithCommentsAlgorithmId),
		string(dsig.CanonicalXML10RecAlgorithmId), string(dsig.CanonicalXML10WithCommentsAlgorithmId),
	)
	enveloped = string(dsig.EnvelopedSignatureAltorithmId)
)

func set(names ...string) map[string]bool {
	out := map[string]bool{}
	for _, n := range names {
		out[n] = true
	}
	return out
}

// wellSigned refuses a Signature that is anything but the plain one of SAML: it refers once, to the element with the id
// that it stands in, by algorithms that hold.
func wellSigned(sig *etree.Element, id string) error {
	info, one := only(sig, "SignedInfo")
	if !one || sig.NamespaceURI() != signatureNS || count(sig, "Object") > 0 || count(sig, "SignatureValue") != 1 || count(sig, "KeyInfo") > 1 {
		return refused("a Signature has parts that it must not have, or lacks some")
	}
	ref, one := only(info, "Reference")
	if !one || id == "" || ref.SelectAttrValue("URI", "") != "#"+id {
		return refused("a Signature does not refer to the element that it stands in")
	}
	if !allowed(info, "SignatureMethod", signatureMethods) || !allowed(ref, "DigestMethod", digestMethods) || !allowed(info, "CanonicalizationMethod", canonicalizations) {
		return refused("it is signed by SHA-1 or another method that is not accepted: make the identity provider sign by RSA with SHA-256")
	}
	return plainlyTransformed(ref)
}

// plainlyTransformed wants the signature taken out of what is digested, and that brought into canonical form.
func plainlyTransformed(ref *etree.Element) error {
	list, one := only(ref, "Transforms")
	if !one || len(list.ChildElements()) > 2 {
		return refused("a Signature transforms what it signs in a way that is not accepted")
	}
	taken := false
	for _, t := range list.ChildElements() {
		algorithm := t.SelectAttrValue("Algorithm", "")
		taken = taken || algorithm == enveloped
		if t.Tag != "Transform" || algorithm != enveloped && !canonicalizations[algorithm] {
			return refused("a Signature transforms what it signs in a way that is not accepted")
		}
	}
	if !taken {
		return refused("a Signature does not say that it stands in what it signs")
	}
	return nil
}

// only gives the one child with the tag.
func only(e *etree.Element, tag string) (*etree.Element, bool) {
	found := slices.DeleteFunc(e.ChildElements(), func(c *etree.Element) bool { return c.Tag != tag })
	if len(found) != 1 {
		return nil, false
	}
	return found[0], true
}

func count(e *etree.Element, tag string) int {
	return len(slices.DeleteFunc(e.ChildElements(), func(c *etree.Element) bool { return c.Tag != tag }))
}

func allowed(e *etree.Element, tag string, algorithms map[string]bool) bool {
	m, one := only(e, tag)
	return one && algorithms[m.SelectAttrValue("Algorithm", "")]
}

// proven is the element as the provider signed it: read anew from the bytes whose digest it signed. Each pinned
// certificate is tried, because a response need not say which one it was.
func (p provider) proven(e *etree.Element, now time.Time) (*etree.Element, error) {
	ctx, err := etreeutils.NSBuildParentContext(e)
	if err == nil {
		e, err = etreeutils.NSDetatch(ctx, e)
	}
	if err != nil {
		return nil, refused("it has a prefix that stands for no namespace, or too many")
	}
	err = refused("its signature is not by the certificate of the organization's identity provider")
	for _, der := range p.Certificates {
		cert, bad := x509.ParseCertificate(der)
		if bad != nil {
			return nil, fmt.Errorf("parse a pinned certificate: %w", bad)
		}
		v := dsig.NewDefaultValidationContext(&dsig.MemoryX509CertificateStore{Roots: []*x509.Certificate{cert}})
		v.Clock = dsig.NewFakeClockAt(now) // it stands: all of one response is judged at one moment
		if signed, bad := v.Validate(e); bad == nil {
			return signed, nil
		}
		if now.After(cert.NotAfter) {
			err = refused("the certificate of the organization's identity provider has expired: set new metadata with PUT /organisation/saml")
		}
	}
	return nil, err
}

// proven reads what the provider signed of r: its head, which is not signed unless the whole is, and the assertion.
func (r *response) proven(p provider, now time.Time) (head, assertion, error) {
	var h head
	var a assertion
	whole, claim := r.root, r.assertion
	for _, e := range r.signed {
		signed, err := p.proven(e, now)
		if err != nil {
			return h, a, err
		}
		if e == r.root {
			whole, h.signed = signed, true
			if _, own := only(r.assertion, "Signature"); !own {
				claim, _ = only(signed, "Assertion")
			}
		} else {
			claim = signed
		}
	}
	if claim == nil {
		return h, a, refused("it holds no Assertion")
	}
	if err := decode(whole, &h); err != nil {
		return h, a, err
	}
	return h, a, decode(claim, &a)
}

// decode reads an element into a struct.
func decode(e *etree.Element, into any) error {
	doc := etree.NewDocument()
	doc.SetRoot(e.Copy())
	b, err := doc.WriteToBytes()
	if err == nil {
		err = xml.Unmarshal(b, into)
	}
	if err != nil {
		return refused("it cannot be read as SAML 2.0")
	}
	return nil
}
