package samltest

import (
	"bytes"
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/beevik/etree"
	dsig "github.com/russellhaering/goxmldsig"
)

// Attack changes a genuine response so that it says something else, or says it to somebody else. Host is an address
// where a fetch would be noticed.
type Attack struct {
	Name   string
	Change func(doc []byte, host string) []byte // nil when it does not apply to doc
}

// OnTree is an attack on the tree of a document; change reports whether it applies to one that is signed like this.
func OnTree(name string, change func(r *etree.Element) bool) Attack {
	return Attack{name, func(doc []byte, _ string) []byte {
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
		return b
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

// replaceElement makes r what e is.
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

// onAssertion is an attack on the signature of the assertion.
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

// onResponse is an attack on the signature of the whole response.
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
	onAssertion("xsw3: a forged assertion before the signed one", func(r, a, _ *etree.Element) { r.InsertChildAt(a.Index(), forgeAssertion(a)) }),
	onAssertion("xsw3b: a forged assertion after the signed one", func(r, a, _ *etree.Element) { r.AddChild(forgeAssertion(a)) }),
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
	onAssertion("xsw8: the signed assertion in an Object of its signature, in a forged one", func(r, a, sig *etree.Element) {
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
	onAssertion("a forged assertion with the signature and the id of the signed one, which hides in an attribute of it", func(r, a, sig *etree.Element) {
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
	OnTree("all signatures stripped", func(r *etree.Element) bool { StripSignatures(r); return true }),
	OnTree("all signatures stripped, about somebody else", func(r *etree.Element) bool {
		replaceElement(r, forgeResponse(r))
		return true
	}),
	OnTree("signed by the attacker, with the attacker's certificate in KeyInfo", func(r *etree.Element) bool {
		replaceElement(r, forgeResponse(r))
		s := Response{By: Attacker(), Method: dsig.RSASHA256SignatureMethod, Canonicalizer: dsig.MakeC14N10ExclusiveCanonicalizerWithPrefixList("")}
		s.Sign(Child(r, "Assertion"))
		return true
	}),
	OnTree("signed by the attacker, with the genuine certificate in KeyInfo", func(r *etree.Element) bool {
		replaceElement(r, forgeResponse(r))
		by := Signer{Attacker().Key, Genuine().DER}
		s := Response{By: by, Method: dsig.RSASHA256SignatureMethod, Canonicalizer: dsig.MakeC14N10ExclusiveCanonicalizerWithPrefixList("")}
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
	OnTree("the request of somebody else", func(r *etree.Element) bool { r.CreateAttr("InResponseTo", "_other"); return true }),
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
	OnTree("an encrypted assertion beside", func(r *etree.Element) bool { r.CreateElement("EncryptedAssertion"); return true }),
}

// onBytes are attacks below the tree.
func onBytes(name, from, to string) Attack {
	return Attack{name, func(doc []byte, host string) []byte {
		out := regexp.MustCompile(from).ReplaceAll(doc, []byte(strings.ReplaceAll(to, "HOST", host)))
		if bytes.Equal(out, doc) {
			return nil
		}
		return out
	}}
}

// Texts are attacks on the bytes of a document.
var Texts = []Attack{
	onBytes("a name changed", Ada, Boss),
	onBytes("one letter of the assertion changed", `(AuthnInstant=")20`, "${1}21"),
	onBytes("a comment in the name", `>ada@`, `>ad<!-- x -->a@`),
	onBytes("a comment that cuts the name", `>ada@example.com<`, `>boss@example.com<!-- -->.ada@example.com<`),
	onBytes("CDATA in the name", `>ada@`, `><![CDATA[ada]]>@`),
	onBytes("a processing instruction in the name", `>ada@`, `>ad<?x y?>a@`),
	onBytes("a DOCTYPE", `^(<\?xml[^>]*>)?`, `<!DOCTYPE x>`),
	onBytes("an external entity", `^(<\?xml[^>]*>)?`, `<!DOCTYPE x [<!ENTITY a SYSTEM "HOST/xxe">]>`),
	onBytes("an external DTD", `^(<\?xml[^>]*>)?`, `<!DOCTYPE x SYSTEM "HOST/dtd">`),
	onBytes("an entity as name", `^(<\?xml[^>]*>)?((?s).*)ada@example.com(.*)$`, `<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>${2}&a;${3}`),
	onBytes("an entity bomb", `^(<\?xml[^>]*>)?`, `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "`+strings.Repeat("&a;", 1000)+`"><!ENTITY c "`+strings.Repeat("&b;", 1000)+`">]>`),
}

// Seeds are, for a fuzzer, genuine responses that are signed in each way, and what each attack makes of one.
func Seeds(t testing.TB, s Response) [][]byte {
	t.Helper()
	var out [][]byte
	for _, signs := range [][2]bool{{true, false}, {false, true}, {true, true}} {
		s.SignAssertion, s.SignResponse = signs[0], signs[1]
		out = append(out, s.Document(t))
	}
	for _, a := range slices.Concat(Wrappings, Texts) {
		for _, good := range out[:3] {
			if doc := a.Change(good, "http://nobody.test"); doc != nil {
				out = append(out, doc)
			}
		}
	}
	return out
}
