package saml

import (
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"strings"
	"testing"

	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/samltest"
)

// FuzzParseResponse checks modified genuine responses. An accepted one signs in the person of the original, a refused
// one has a reason, and a document with the shape of a response is one document.
func FuzzParseResponse(f *testing.F) {
	s := samltest.NewProvider().Respond(asked(), samltest.Ada, morning)
	s.ID, s.AssertionID = "_response", "_assertion" // the same in each process of the fuzzer
	for _, doc := range samltest.Seeds(f, s) {
		f.Add(doc)
	}
	want := expected()
	f.Fuzz(func(t *testing.T, doc []byte) {
		r, err := ParseResponse(doc)
		if err != nil {
			mustBeRefusal(t, err)
			return
		}
		if n := countRoots(doc); n != 1 {
			t.Errorf("%d roots, or text beside one", n)
		}
		a, err := r.Verify(want)
		if err != nil {
			mustBeRefusal(t, err)
			return
		}
		if who, err := a.Subject(); err != nil || who != (Subject{samltest.Ada, samltest.Ada, "Ada Lovelace"}) ||
			a.ID != "_assertion" {
			t.Errorf("a signed assertion says something else than it did: %+v, %v", who, err)
		}
	})
}

func mustBeRefusal(t *testing.T, err error) {
	t.Helper()
	if !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.Unauthenticated) ||
		!strings.HasPrefix(fault.Message(err), "SAMLResponse: ") {
		t.Errorf("%v", err)
	}
}

// countRoots counts the elements at the top of a document. It returns -1 if there is anything else except white space
// and a declaration.
func countRoots(doc []byte) int {
	d := xml.NewDecoder(strings.NewReader(strings.TrimPrefix(string(doc), "\ufeff")))
	depth, roots := 0, 0
	for {
		tok, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return roots
		}
		if err != nil {
			return -1
		}
		switch k := tok.(type) {
		case xml.StartElement:
			if depth++; depth == 1 {
				roots++
			}
		case xml.EndElement:
			depth--
		case xml.CharData:
			if depth == 0 && strings.Trim(string(k), " \t\r\n") != "" {
				return -1
			}
		case xml.ProcInst:
			if k.Target != "xml" || roots > 0 {
				return -1
			}
		default:
			return -1
		}
	}
}

// FuzzMetadata parses arbitrary metadata.
func FuzzMetadata(f *testing.F) {
	good := samltest.NewProvider().Metadata()
	f.Add(good)
	f.Add([]byte(`<EntitiesDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata"><EntityDescriptor entityID="x">` +
		`<IDPSSODescriptor/></EntityDescriptor></EntitiesDescriptor>`))
	for _, beside := range []string{
		"x", "<a/>", "<!-- x -->", "<![CDATA[x]]>", "<!DOCTYPE x>", "&#65;", "<",
		string(good),
	} {
		f.Add([]byte(string(good) + beside))
		f.Add([]byte(beside + string(good)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := ParseMetadata(b, morning, true)
		if err != nil {
			if !fault.Is(err, fault.Invalid) {
				t.Errorf("%v", err)
			}
			return
		}
		u, err := url.Parse(p.SSOURL)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || len(p.Certificates) == 0 || p.EntityID == "" {
			t.Errorf("taken: %+v", p)
		}
	})
}
