package saml

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/beevik/etree"

	"lamplighter.dev/shared/foundation/fault"
)

const (
	maxResponse = 256 << 10 // bytes
	signatureNS = "http://www.w3.org/2000/09/xmldsig#"
)

// refuse returns the error of a response that is not accepted. The sender gets the reason, because an administrator
// must fix it. The reason does not help to forge a response.
func refuse(why string) error {
	return fault.New(fault.Unauthenticated, "SAMLResponse: %s", why)
}

// Response is a document with the only accepted shape of a response. Its contents are not verified yet.
type Response struct {
	root, assertion *etree.Element
	signed          []*etree.Element // root, assertion, or both
}

// ParseResponse parses a response, and refuses every shape but this: a Response with one Assertion, the only one in
// the document. Response and Assertion have at most one Signature each, and at least one in total; each signs exactly
// its element. No two elements have the same ID, and no part is encrypted. Wrapped, doubled and moved parts are
// refused. The error is fault.Invalid for a document that is not a response, and fault.Unauthenticated for a refused
// response.
func ParseResponse(b []byte) (*Response, error) {
	if err := checkResponseLimits(b); err != nil {
		return nil, err
	}
	doc := etree.NewDocument()
	if err := doc.ReadFromBytes(b); err != nil {
		return nil, fault.NewWithCause(fault.Invalid, err, "SAMLResponse: not XML")
	}
	root := doc.Root()
	if root == nil || root.Tag != "Response" || root.NamespaceURI() != protocolNS {
		return nil, fault.New(fault.Invalid, "SAMLResponse: not a Response of SAML 2.0")
	}
	s := outline{ids: map[string]bool{}}
	s.add(root)
	r := &Response{root: root}
	switch {
	case s.duplicateID:
		return nil, refuse("two of its elements have one ID")
	case s.encrypted:
		return nil, refuse("it is encrypted, which is not supported: switch that off at the identity provider")
	case len(s.assertions) == 0:
		return r, r.explainNoAssertion()
	case len(s.assertions) != 1 || s.assertions[0].Parent() != root || s.assertions[0].NamespaceURI() != assertionNS:
		return nil, refuse("it must hold one Assertion, directly in the Response, and no other")
	}
	r.assertion = s.assertions[0]
	return r, r.readSignatures(s.signatures)
}

// checkResponseLimits refuses documents that are too expensive to parse, and constructs that parsers read
// differently, before anything is parsed.
func checkResponseLimits(b []byte) error {
	if len(b) > maxResponse {
		return fault.New(fault.Invalid, "SAMLResponse: larger than 256 KiB")
	}
	switch err := checkXMLLimits(b, false); {
	case errors.Is(err, errMarkup), errors.Is(err, errBesideRoot), errors.Is(err, errTwice):
		return refuse(err.Error())
	case err != nil:
		return fault.New(fault.Invalid, "SAMLResponse: %s", err)
	}
	return nil
}

// RequestID returns the ID of the request that the response claims to answer. It is unsigned unless the whole
// response is signed: Verify refuses a response to another request.
func (r *Response) RequestID() string { return r.root.SelectAttrValue("InResponseTo", "") }

// Verify returns the assertion that the provider signed for this request, this address and this moment. The error is
// fault.Unauthenticated with the reason.
func (r *Response) Verify(want Expected) (*Assertion, error) {
	h, a, err := r.verifySignatures(want.Provider, want.Now)
	if err != nil {
		return nil, err
	}
	if err = want.checkHead(h); err == nil {
		err = want.checkAssertion(a)
	}
	if err != nil {
		return nil, err
	}
	return &Assertion{a.ID, a.expires(), a}, nil
}

// readSignatures records the signed elements, and refuses a signature of any other element.
func (r *Response) readSignatures(signatures []*etree.Element) error {
	if len(signatures) == 0 {
		return refuse("neither it nor its Assertion is signed")
	}
	for _, sig := range signatures {
		of := sig.Parent()
		if of != r.root && of != r.assertion || slices.Contains(r.signed, of) {
			return refuse("a Signature stands where none belongs")
		}
		if err := checkSignatureForm(sig, of.SelectAttrValue("ID", "")); err != nil {
			return err
		}
		r.signed = append(r.signed, of)
	}
	return nil
}

// explainNoAssertion returns the error of a response without an assertion, with its status.
func (r *Response) explainNoAssertion() error {
	status := ""
	if e := r.root.FindElement("./Status/StatusCode"); e != nil {
		status = e.SelectAttrValue("Value", "")
	}
	if status == statusSuccess {
		return refuse("it holds no Assertion")
	}
	return refuse("the identity provider did not sign the person in (" + clipText(status) + ")")
}

// clipText returns an outside text for a message: shortened, and with printable ASCII characters only.
func clipText(s string) string {
	plain := bytes.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return '?'
		}
		return r
	}, []byte(s))
	return string(plain[:min(len(plain), 120)])
}

// outline lists the relevant elements anywhere in a document.
type outline struct {
	assertions, signatures []*etree.Element
	ids                    map[string]bool
	duplicateID, encrypted bool
}

func (s *outline) add(e *etree.Element) {
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
			s.duplicateID = s.duplicateID || s.ids[a.Value]
			s.ids[a.Value] = true
		}
	}
	for _, child := range e.ChildElements() {
		s.add(child)
	}
}
