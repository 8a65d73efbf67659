package saml

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

// These are the accepted algorithms. All others, in particular SHA-1, are refused before anything is computed. ECDSA
// is not accepted because goxmldsig reads its signatures in another format than that of XML Signature.
var (
	signatureMethods = newSet(dsig.RSASHA256SignatureMethod, dsig.RSASHA384SignatureMethod,
		dsig.RSASHA512SignatureMethod)
	digestMethods = newSet(
		"http://www.w3.org/2001/04/xmlenc#sha256", "http://www.w3.org/2001/04/xmldsig-more#sha384",
		"http://www.w3.org/2001/04/xmlenc#sha512",
	)
	canonicalizations = newSet(
		string(dsig.CanonicalXML10ExclusiveAlgorithmId), string(dsig.CanonicalXML10ExclusiveWithCommentsAlgorithmId),
		string(dsig.CanonicalXML11AlgorithmId), string(dsig.CanonicalXML11WithCommentsAlgorithmId),
		string(dsig.CanonicalXML10RecAlgorithmId), string(dsig.CanonicalXML10WithCommentsAlgorithmId),
	)
	enveloped = string(dsig.EnvelopedSignatureAltorithmId)
)

func newSet(names ...string) map[string]bool {
	out := map[string]bool{}
	for _, n := range names {
		out[n] = true
	}
	return out
}

// checkSignatureForm refuses a Signature that is not the plain one of SAML: with one reference, to the ID of its own
// element, by accepted algorithms.
func checkSignatureForm(sig *etree.Element, id string) error {
	info, one := onlyChild(sig, "SignedInfo")
	if !one || sig.NamespaceURI() != signatureNS || countChildren(sig, "Object") > 0 ||
		countChildren(sig, "SignatureValue") != 1 || countChildren(sig, "KeyInfo") > 1 {
		return refuse("a Signature has parts that it must not have, or lacks some")
	}
	ref, one := onlyChild(info, "Reference")
	if !one || id == "" || ref.SelectAttrValue("URI", "") != "#"+id {
		return refuse("a Signature does not refer to the element that it stands in")
	}
	if !usesOneOf(info, "SignatureMethod", signatureMethods) || !usesOneOf(ref, "DigestMethod", digestMethods) ||
		!usesOneOf(info, "CanonicalizationMethod", canonicalizations) {
		return refuse("it is signed by SHA-1 or another method that is not accepted: make the identity provider sign " +
			"by RSA with SHA-256")
	}
	return checkTransforms(ref)
}

// checkTransforms requires that the signature is removed from the digested element, and that the element is
// canonicalized.
func checkTransforms(ref *etree.Element) error {
	list, one := onlyChild(ref, "Transforms")
	if !one || len(list.ChildElements()) > 2 {
		return refuse("a Signature transforms its element in a way that is not accepted")
	}
	taken := false
	for _, t := range list.ChildElements() {
		algorithm := t.SelectAttrValue("Algorithm", "")
		taken = taken || algorithm == enveloped
		if t.Tag != "Transform" || algorithm != enveloped && !canonicalizations[algorithm] {
			return refuse("a Signature transforms its element in a way that is not accepted")
		}
	}
	if !taken {
		return refuse("a Signature does not say that it is inside its element")
	}
	return nil
}

// onlyChild returns the only child with the tag. It returns false if there is none or more than one.
func onlyChild(e *etree.Element, tag string) (*etree.Element, bool) {
	found := slices.DeleteFunc(e.ChildElements(), func(c *etree.Element) bool { return c.Tag != tag })
	if len(found) != 1 {
		return nil, false
	}
	return found[0], true
}

func countChildren(e *etree.Element, tag string) int {
	return len(slices.DeleteFunc(e.ChildElements(), func(c *etree.Element) bool { return c.Tag != tag }))
}

func usesOneOf(e *etree.Element, tag string, algorithms map[string]bool) bool {
	m, one := onlyChild(e, tag)
	return one && algorithms[m.SelectAttrValue("Algorithm", "")]
}

// verifySignature returns the element as the provider signed it: parsed again from the bytes of the signed digest.
// Each pinned certificate is tried, because a response need not name its certificate.
func (p Provider) verifySignature(e *etree.Element, now time.Time) (*etree.Element, error) {
	ctx, err := etreeutils.NSBuildParentContext(e)
	if err == nil {
		e, err = etreeutils.NSDetatch(ctx, e)
	}
	if err != nil {
		return nil, refuse("it has a prefix that stands for no namespace, or too many")
	}
	err = refuse("its signature is not by the certificate of the organization's identity provider")
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
			err = refuse("the certificate of the organization's identity provider has expired: set new metadata with " +
				"PUT /organisation/saml")
		}
	}
	return nil, err
}

// verifySignatures returns the signed contents of r: its head, which is unsigned unless the whole response is signed,
// and the assertion.
func (r *Response) verifySignatures(p Provider, now time.Time) (responseHead, assertionXML, error) {
	var h responseHead
	var a assertionXML
	whole, signedAssertion := r.root, r.assertion
	for _, e := range r.signed {
		signed, err := p.verifySignature(e, now)
		if err != nil {
			return h, a, err
		}
		if e == r.root {
			whole, h.signed = signed, true
			if _, own := onlyChild(r.assertion, "Signature"); !own {
				signedAssertion, _ = onlyChild(signed, "Assertion")
			}
		} else {
			signedAssertion = signed
		}
	}
	if signedAssertion == nil {
		return h, a, refuse("it holds no Assertion")
	}
	if err := decodeElement(whole, &h); err != nil {
		return h, a, err
	}
	return h, a, decodeElement(signedAssertion, &a)
}

// decodeElement reads an element into a struct.
func decodeElement(e *etree.Element, into any) error {
	doc := etree.NewDocument()
	doc.SetRoot(e.Copy())
	b, err := doc.WriteToBytes()
	if err == nil {
		err = xml.Unmarshal(b, into)
	}
	if err != nil {
		return refuse("it cannot be read as SAML 2.0")
	}
	return nil
}
