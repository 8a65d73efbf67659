package samltest

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/beevik/etree"
	dsig "github.com/russellhaering/goxmldsig"
)

// Attack changes a genuine response so that it says something else, or is for another recipient. host is an address
// that would notice a fetch.
type Attack struct {
	Name   string
	Change func(doc []byte, host string) []byte // nil when it does not apply to doc

	Malformed bool // the result is no XML and is refused before it is read as a response
}

// OnTree returns an attack on the tree of a document. change reports whether it applies to a document with these
// signatures.
func OnTree(name string, change func(r *etree.Element) bool) Attack {
	return Attack{Name: name, Change: func(doc []byte, host string) []byte {
		d := etree.NewDocument()
		if err := d.ReadFromBytes(doc); err != nil {
			panic(err)
		}
		if !change(d.Root()) {
			return nil
		}
		b, err := d.WriteToBytes()
		if err != nil {
			panic(err)
		}
		return bytes.ReplaceAll(b, []byte("HOST"), []byte(host))
	}}
}

// Child returns the first child with the tag.
func Child(e *etree.Element, tag string) *etree.Element {
	for _, c := range e.ChildElements() {
		if c.Tag == tag {
			return c
		}
	}
	return nil
}

// forgeAssertion returns the assertion without its signature, about boss.
func forgeAssertion(a *etree.Element) *etree.Element {
	e := a.Copy()
	StripSignatures(e)
	replaceText(e, Ada, Boss)
	e.CreateAttr("ID", "_evil")
	return e
}

// forgeResponse returns the whole response without signatures, about boss.
func forgeResponse(r *etree.Element) *etree.Element {
	e := r.Copy()
	StripSignatures(e)
	replaceText(e, Ada, Boss)
	e.CreateAttr("ID", "_evilresponse")
	Child(e, "Assertion").CreateAttr("ID", "_evil")
	return e
}

// replaceElement replaces the attributes and children of r by those of e.
func replaceElement(r, e *etree.Element) {
	r.Attr, r.Child = nil, nil
	for _, a := range e.Attr {
		r.CreateAttr(attrName(a), a.Value)
	}
	for _, c := range e.ChildElements() {
		r.AddChild(c)
	}
}

func attrName(a etree.Attr) string {
	if a.Space != "" {
		return a.Space + ":" + a.Key
	}
	return a.Key
}

// wrapInObject puts child into an Object within parent.
func wrapInObject(parent, child *etree.Element) {
	o := etree.NewElement("Object")
	o.Space = parent.Space
	o.AddChild(child)
	parent.AddChild(o)
}

// setAll sets an attribute of all elements with the tag.
func setAll(r *etree.Element, tag, name, value string) bool {
	for _, e := range r.FindElements("//" + tag) {
		e.CreateAttr(name, value)
	}
	return true
}

// digestOf returns the digest of an assertion as it would be signed.
func digestOf(a *etree.Element) string {
	whole := a.Copy()
	StripSignatures(whole)
	b, err := dsig.MakeC14N10ExclusiveCanonicalizerWithPrefixList("").Canonicalize(whole)
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(b)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// forgeDigest returns a DigestValue that fits a, in the namespace of sig.
func forgeDigest(a, sig *etree.Element) *etree.Element {
	d := etree.NewElement("DigestValue")
	d.Space = sig.Space
	d.CreateAttr("xmlns:"+sig.Space, sig.NamespaceURI())
	d.SetText(digestOf(a))
	return d
}

// forgeSignedInfo returns a SignedInfo whose digest fits a.
func forgeSignedInfo(a, sig *etree.Element) *etree.Element {
	info := Child(sig, "SignedInfo").Copy()
	Child(Child(info, "Reference"), "DigestValue").SetText(digestOf(a))
	return info
}

// forgeSignature returns a signature whose digest fits a, in another namespace.
func forgeSignature(a, sig *etree.Element, namespace string) *etree.Element {
	forged := sig.Copy()
	forged.RemoveChild(Child(forged, "SignedInfo"))
	forged.InsertChildAt(0, forgeSignedInfo(a, sig))
	forged.RemoveAttr("xmlns:" + sig.Space)
	setSpace(forged, "")
	forged.CreateAttr("xmlns", namespace)
	return forged
}

func setSpace(e *etree.Element, space string) {
	e.Space = space
	for _, c := range e.ChildElements() {
		setSpace(c, space)
	}
}

// onAssertion returns an attack on the signature of the assertion.
func onAssertion(name string, change func(r, a, sig *etree.Element)) Attack {
	return OnTree(name, func(r *etree.Element) bool {
		a := Child(r, "Assertion")
		sig := Child(a, "Signature")
		if sig == nil {
			return false
		}
		change(r, a, sig)
		return true
	})
}

// onResponse returns an attack on the signature of the whole response.
func onResponse(name string, change func(r, sig *etree.Element)) Attack {
	return OnTree(name, func(r *etree.Element) bool {
		sig := Child(r, "Signature")
		if sig != nil {
			change(r, sig)
		}
		return sig != nil
	})
}

// Wrappings are the nine ways of signature wrapping (Somorovsky et al., On Breaking SAML; SAML Raider), and more.
var Wrappings = []Attack{
	onResponse("xsw1: the signed response within the signature of a forged one", func(r, sig *etree.Element) {
		whole, e := r.Copy(), forgeResponse(r)
		sig = sig.Copy()
		wrapInObject(sig, whole)
		e.InsertChildAt(1, sig)
		replaceElement(r, e)
	}),
	onResponse("xsw2: the signed response before the signature, in a forged one", func(r, sig *etree.Element) {
		whole, e := r.Copy(), forgeResponse(r)
		whole.RemoveChild(Child(whole, "Signature"))
		e.InsertChildAt(1, whole)
		e.InsertChildAt(2, sig.Copy())
		replaceElement(r, e)
	}),
	onAssertion("xsw3: a forged assertion before the signed one", func(r, a, _ *etree.Element) {
		r.InsertChildAt(a.Index(), forgeAssertion(a))
	}),
	onAssertion("xsw3b: a forged assertion after the signed one", func(r, a, _ *etree.Element) {
		r.AddChild(forgeAssertion(a))
	}),
	onAssertion("xsw4: the signed assertion within a forged one", func(r, a, _ *etree.Element) {
		e := forgeAssertion(a)
		r.RemoveChild(a)
		e.AddChild(a)
		r.AddChild(e)
	}),
	onAssertion("xsw5: the signature moved into a forged assertion", func(r, a, sig *etree.Element) {
		e := forgeAssertion(a)
		a.RemoveChild(sig)
		e.InsertChildAt(1, sig)
		r.AddChild(e)
	}),
	onAssertion("xsw6: the signed assertion within its signature, in a forged one", func(r, a, sig *etree.Element) {
		e := forgeAssertion(a)
		a.RemoveChild(sig)
		sig.AddChild(a.Copy())
		e.InsertChildAt(1, sig)
		r.RemoveChild(a)
		r.AddChild(e)
	}),
	onAssertion("xsw7: a forged assertion in Extensions", func(r, a, _ *etree.Element) {
		x := etree.NewElement("Extensions")
		x.AddChild(forgeAssertion(a))
		r.InsertChildAt(0, x)
	}),
	onAssertion("xsw8: the signed assertion in an Object of its signature, in a forged one",
		func(r, a, sig *etree.Element) {
			e := forgeAssertion(a)
			a.RemoveChild(sig)
			wrapInObject(sig, a.Copy())
			e.InsertChildAt(1, sig)
			r.RemoveChild(a)
			r.AddChild(e)
		}),
	onAssertion("xsw9: the signed assertion in StatusDetail, a forged one in its place", func(r, a, _ *etree.Element) {
		e := forgeAssertion(a)
		r.RemoveChild(a)
		detail := etree.NewElement("StatusDetail")
		detail.AddChild(a)
		Child(r, "Status").AddChild(detail)
		r.AddChild(e)
	}),
	onAssertion("a forged assertion with the id of the signed one", func(r, a, _ *etree.Element) {
		e := forgeAssertion(a)
		e.CreateAttr("ID", a.SelectAttrValue("ID", ""))
		r.InsertChildAt(a.Index(), e)
	}),
	onAssertion("another element with the id of the signed assertion", func(r, a, _ *etree.Element) {
		r.CreateElement("Extensions").CreateAttr("ID", a.SelectAttrValue("ID", ""))
	}),
	onAssertion("another element with the id of the signed assertion, spelled otherwise", func(r, a, _ *etree.Element) {
		r.CreateElement("Extensions").CreateAttr("xml:id", a.SelectAttrValue("ID", ""))
	}),
	onAssertion("a forged assertion with the signature and the id of the signed one, which hides in an attribute of it",
		func(r, a, sig *etree.Element) {
			e := forgeAssertion(a)
			e.CreateAttr("ID", a.SelectAttrValue("ID", ""))
			e.InsertChildAt(1, sig.Copy())
			Child(Child(Child(e, "AttributeStatement"), "Attribute"), "AttributeValue").AddChild(a.Copy())
			r.RemoveChild(a)
			r.AddChild(e)
		}),
	onAssertion("a forged assertion of another namespace beside the signed one", func(r, a, _ *etree.Element) {
		e := forgeAssertion(a)
		e.Space = ""
		e.CreateAttr("xmlns", "urn:other")
		r.AddChild(e)
	}),
	onAssertion("two assertions, both signed", func(r, a, _ *etree.Element) {
		e := a.Copy()
		e.CreateAttr("ID", "_second")
		r.AddChild(e)
	}),
	onAssertion("the signature of the assertion moved out of it, into the response", func(r, a, sig *etree.Element) {
		r.InsertChildAt(1, sig)
	}),
	onResponse("the signature of the response moved into the assertion", func(r, sig *etree.Element) {
		Child(r, "Assertion").InsertChildAt(1, sig)
	}),
	// CVE-2024-45409 (ruby-saml): the digest was searched for in the whole document.
	onAssertion("a forged digest in StatusDetail, the genuine signature in a forged assertion",
		func(r, a, sig *etree.Element) {
			replaceText(a, Ada, Boss)
			detail := etree.NewElement("StatusDetail")
			detail.AddChild(forgeDigest(a, sig))
			Child(r, "Status").AddChild(detail)
		}),
	onAssertion("a forged digest in the signature, before SignedInfo", func(_, a, sig *etree.Element) {
		replaceText(a, Ada, Boss)
		sig.InsertChildAt(0, forgeDigest(a, sig))
	}),
	onAssertion("a forged digest in KeyInfo", func(_, a, sig *etree.Element) {
		replaceText(a, Ada, Boss)
		Child(sig, "KeyInfo").AddChild(forgeDigest(a, sig))
	}),
	onAssertion("a forged digest beside the genuine one", func(_, a, sig *etree.Element) {
		replaceText(a, Ada, Boss)
		Child(Child(sig, "SignedInfo"), "Reference").AddChild(forgeDigest(a, sig))
	}),
	// CVE-2025-29774 (xml-crypto): one SignedInfo was verified, and another one was read.
	onAssertion("a forged SignedInfo before the genuine one", func(_, a, sig *etree.Element) {
		replaceText(a, Ada, Boss)
		sig.InsertChildAt(0, forgeSignedInfo(a, sig))
	}),
	onAssertion("a forged SignedInfo behind the genuine one", func(_, a, sig *etree.Element) {
		replaceText(a, Ada, Boss)
		sig.AddChild(forgeSignedInfo(a, sig))
	}),
	// CVE-2025-25291, CVE-2025-25292 (ruby-saml): two parsers found two signatures.
	onAssertion("a forged signature of no namespace before the genuine one", func(_, a, sig *etree.Element) {
		replaceText(a, Ada, Boss)
		a.InsertChildAt(sig.Index(), forgeSignature(a, sig, ""))
	}),
	onAssertion("a forged signature of another namespace behind the genuine one", func(_, a, sig *etree.Element) {
		replaceText(a, Ada, Boss)
		a.AddChild(forgeSignature(a, sig, "urn:other"))
	}),
	onAssertion("a forged SignedInfo of another namespace", func(_, a, sig *etree.Element) {
		replaceText(a, Ada, Boss)
		info := forgeSignedInfo(a, sig)
		info.CreateAttr("xmlns:"+info.Space, "urn:other")
		sig.InsertChildAt(0, info)
	}),
	onAssertion("a second SignatureValue", func(_, _, sig *etree.Element) {
		sig.AddChild(Child(sig, "SignatureValue").Copy())
	}),
	onAssertion("an empty signature", func(_, _, sig *etree.Element) { sig.Child = nil }), // CVE-2020-7711 (goxmldsig)
	onAssertion("another id under a prefix", func(_, a, _ *etree.Element) {
		id := a.SelectAttrValue("ID", "")
		a.RemoveAttr("ID")
		a.CreateAttr("saml:ID", id)
		a.CreateAttr("ID", "_evil")
	}),
	onAssertion("the id in other letters", func(_, a, _ *etree.Element) {
		id := a.SelectAttrValue("ID", "")
		a.RemoveAttr("ID")
		a.CreateAttr("Id", id)
	}),
	OnTree("a Reference to an address", func(r *etree.Element) bool {
		return setAll(r, "Reference", "URI", "HOST/reference")
	}),
	OnTree("a Reference by XPointer", func(r *etree.Element) bool {
		for _, e := range r.FindElements("//Reference") {
			e.CreateAttr("URI", "#xpointer(id('"+strings.TrimPrefix(e.SelectAttrValue("URI", ""), "#")+"'))")
		}
		return true
	}),
	OnTree("a key at an address", func(r *etree.Element) bool {
		for _, e := range r.FindElements("//KeyInfo") {
			e.Child = nil
			e.CreateElement(e.Space+":RetrievalMethod").CreateAttr("URI", "HOST/key")
		}
		return true
	}),
	OnTree("an XSLT transform", func(r *etree.Element) bool {
		return setAll(r, "Transform", "Algorithm", "http://www.w3.org/TR/1999/REC-xslt-19991116")
	}),
	OnTree("no Transforms", func(r *etree.Element) bool {
		for _, e := range r.FindElements("//Transforms") {
			e.Parent().RemoveChild(e)
		}
		return true
	}),
	OnTree("an unknown canonical form", func(r *etree.Element) bool {
		return setAll(r, "CanonicalizationMethod", "Algorithm", "urn:other")
	}),
	OnTree("a signature that is cut", func(r *etree.Element) bool {
		for _, e := range r.FindElements("//SignatureMethod") {
			e.CreateElement(e.Space + ":HMACOutputLength").SetText("0")
		}
		return true
	}),
	OnTree("SAML 1.1 said to be the version", func(r *etree.Element) bool {
		r.CreateAttr("Version", "1.1")
		return true
	}),
	OnTree("a second Issuer", func(r *etree.Element) bool {
		r.InsertChildAt(0, Child(r, "Issuer").Copy())
		return true
	}),
	OnTree("all signatures stripped", func(r *etree.Element) bool { StripSignatures(r); return true }),
	OnTree("all signatures stripped, about somebody else", func(r *etree.Element) bool {
		replaceElement(r, forgeResponse(r))
		return true
	}),
	OnTree("signed by the attacker, with the attacker's certificate in KeyInfo", func(r *etree.Element) bool {
		replaceElement(r, forgeResponse(r))
		s := Response{
			By: Attacker(), Method: dsig.RSASHA256SignatureMethod,
			Canonicalizer: dsig.MakeC14N10ExclusiveCanonicalizerWithPrefixList(""),
		}
		s.Sign(Child(r, "Assertion"))
		return true
	}),
	OnTree("signed by the attacker, with the genuine certificate in KeyInfo", func(r *etree.Element) bool {
		replaceElement(r, forgeResponse(r))
		by := Signer{Attacker().Key, Genuine().DER}
		s := Response{
			By: by, Method: dsig.RSASHA256SignatureMethod,
			Canonicalizer: dsig.MakeC14N10ExclusiveCanonicalizerWithPrefixList(""),
		}
		s.Sign(Child(r, "Assertion"))
		return true
	}),
	OnTree("genuine, with the attacker's certificate put into KeyInfo", func(r *etree.Element) bool {
		for _, e := range r.FindElements("//X509Certificate") {
			e.SetText(base64.StdEncoding.EncodeToString(Attacker().DER))
		}
		return true
	}),
	OnTree("a second Reference", func(r *etree.Element) bool {
		for _, e := range r.FindElements("//SignedInfo") {
			e.AddChild(Child(e, "Reference").Copy())
		}
		return true
	}),
	OnTree("a Reference to everything", func(r *etree.Element) bool {
		for _, e := range r.FindElements("//Reference") {
			e.CreateAttr("URI", "")
		}
		return true
	}),
	OnTree("a second SignedInfo", func(r *etree.Element) bool {
		for _, e := range r.FindElements("//Signature") {
			e.AddChild(Child(e, "SignedInfo").Copy())
		}
		return true
	}),
	OnTree("an XPath transform", func(r *etree.Element) bool {
		for _, e := range r.FindElements("//Transform") {
			e.CreateAttr("Algorithm", "http://www.w3.org/TR/1999/REC-xpath-19991116")
		}
		return true
	}),
	OnTree("SHA-1 said to be the method", func(r *etree.Element) bool {
		for _, e := range r.FindElements("//SignatureMethod") {
			e.CreateAttr("Algorithm", dsig.RSASHA1SignatureMethod)
		}
		return true
	}),
	OnTree("HMAC said to be the method", func(r *etree.Element) bool {
		for _, e := range r.FindElements("//SignatureMethod") {
			e.CreateAttr("Algorithm", "http://www.w3.org/2000/09/xmldsig#hmac-sha1")
		}
		return true
	}),
	OnTree("the request of somebody else", func(r *etree.Element) bool {
		r.CreateAttr("InResponseTo", "_other")
		return true
	}),
	OnTree("no request", func(r *etree.Element) bool { r.RemoveAttr("InResponseTo"); return true }),
	OnTree("another Destination", func(r *etree.Element) bool {
		r.CreateAttr("Destination", "https://evil.test/auth/saml/acs")
		return true
	}),
	OnTree("no status of success", func(r *etree.Element) bool {
		Child(Child(r, "Status"), "StatusCode").CreateAttr("Value", "urn:oasis:names:tc:SAML:2.0:status:Responder")
		return true
	}),
	OnTree("no assertion", func(r *etree.Element) bool { r.RemoveChild(Child(r, "Assertion")); return true }),
	OnTree("an encrypted assertion beside", func(r *etree.Element) bool {
		r.CreateElement("EncryptedAssertion")
		return true
	}),
}
