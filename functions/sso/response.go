package sso

import (
	"bytes"
	"encoding/base64"
	"errors"
	"mime"
	"net/url"
	"slices"
	"strings"

	"github.com/beevik/etree"

	"lamplighter.dev/shared/foundation/fault"
)

const (
	maxForm     = 256 << 10 // bytes
	formKind    = "application/x-www-form-urlencoded"
	signatureNS = "http://www.w3.org/2000/09/xmldsig#"
)

// refused is a response that is not believed. Why is told to whoever sent it: an administrator has to mend it, and it
// says nothing of what would be believed.
func refused(why string) error {
	return fault.New(fault.Unauthenticated, "SAMLResponse: %s; begin again with POST /auth/saml/initiate", why)
}

// unpack gets the document out of a form.
func unpack(kind string, form []byte) ([]byte, error) {
	if k, _, err := mime.ParseMediaType(kind); err != nil || k != formKind {
		return nil, fault.New(fault.Invalid, "body: Content-Type %.64q is not supported, send %s", kind, formKind)
	}
	if len(form) > maxForm {
		return nil, fault.New(fault.Invalid, "body: larger than 256 KiB")
	}
	values, err := url.ParseQuery(string(form))
	if err != nil || len(values["SAMLResponse"]) != 1 || values.Get("SAMLResponse") == "" {
		return nil, fault.New(fault.Invalid, "SAMLResponse: one is needed, as a field of a form")
	}
	doc, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(values.Get("SAMLResponse")), ""))
	if err != nil {
		return nil, fault.New(fault.Invalid, "SAMLResponse: not base64")
	}
	switch err = level(doc, false); {
	case errors.Is(err, errMarkup):
		return nil, refused(err.Error())
	case err != nil:
		return nil, fault.New(fault.Invalid, "SAMLResponse: %s", err)
	}
	return doc, nil
}

// response is a document that has the one shape of a response which is accepted. Nothing that it says is believed yet.
type response struct {
	root, assertion *etree.Element
	signed          []*etree.Element // root, assertion, or both
}

// parse reads a response, and refuses every other shape than this: a Response with one Assertion in it, which is the only
// one in the whole document; each of the two with at most one Signature, at least one in all, that signs it and nothing
// else; no two elements with one id; nothing encrypted. Wrapped, doubled and moved parts do not fit.
func parse(b []byte) (*response, error) {
	doc := etree.NewDocument()
	if err := doc.ReadFromBytes(b); err != nil {
		return nil, fault.Cause(fault.Invalid, err, "SAMLResponse: not XML")
	}
	root := doc.Root()
	if root == nil || root.Tag != "Response" || root.NamespaceURI() != protocolNS {
		return nil, fault.New(fault.Invalid, "SAMLResponse: not a Response of SAML 2.0")
	}
	s := shape{ids: map[string]bool{}}
	s.look(root)
	r := &response{root: root}
	switch {
	case s.doubled:
		return nil, refused("two of its elements have one ID")
	case s.encrypted:
		return nil, refused("it is encrypted, which is not supported: switch that off at the identity provider")
	case len(s.assertions) == 0:
		return r, r.succeeded()
	case len(s.assertions) != 1 || s.assertions[0].Parent() != root || s.assertions[0].NamespaceURI() != assertionNS:
		return nil, refused("it must hold one Assertion, directly in the Response, and no other")
	}
	r.assertion = s.assertions[0]
	return r, r.seal(s.signatures)
}

// seal notes what the signatures sign, and refuses any that signs something else.
func (r *response) seal(signatures []*etree.Element) error {
	if len(signatures) == 0 {
		return refused("neither it nor its Assertion is signed")
	}
	for _, sig := range signatures {
		of := sig.Parent()
		if of != r.root && of != r.assertion || slices.Contains(r.signed, of) {
			return refused("a Signature stands where none belongs")
		}
		if err := wellSigned(sig, of.SelectAttrValue("ID", "")); err != nil {
			return err
		}
		r.signed = append(r.signed, of)
	}
	return nil
}

// succeeded tells what a response without an assertion says.
func (r *response) succeeded() error {
	status := ""
	if e := r.root.FindElement("./Status/StatusCode"); e != nil {
		status = e.SelectAttrValue("Value", "")
	}
	if status == statusSuccess {
		return refused("it holds no Assertion")
	}
	return refused("the identity provider signed nobody in (" + clip(status) + ")")
}

// clip shortens what came from outside, for a message, to characters that are plain to see.
func clip(s string) string {
	plain := bytes.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return '?'
		}
		return r
	}, []byte(s))
	return string(plain[:min(len(plain), 120)])
}

// shape is what is to be found anywhere in a document.
type shape struct {
	assertions, signatures []*etree.Element
	ids                    map[string]bool
	doubled, encrypted     bool
}

func (s *shape) look(e *etree.Element) {
	switch {
	case e.Tag == "Assertion":
		s.assertions = append(s.assertions, e)
	case e.Tag == "Signature":
		s.signatures = append(s.signatures, e)
	case strings.HasPrefix(e.Tag, "Encrypted"):
		s.encrypted = true
	}
	for _, a := range e.Attr {
		if strings.EqualFold(a.Key, "id") {
			s.doubled = s.doubled || s.ids[a.Value]
			s.ids[a.Value] = true
		}
	}
	for _, child := range e.ChildElements() {
		s.look(child)
	}
}
