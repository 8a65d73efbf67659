package saml

import (
	"bytes"
	"compress/flate"
	"crypto/sha1" //nolint:gosec // to be refused
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/beevik/etree"
	dsig "github.com/russellhaering/goxmldsig"

	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/samltest"
)

// us is this service as the providers of the tests know it.
var us = ServiceProvider{"https://lamplighter.test/auth/saml/metadata", "https://lamplighter.test/auth/saml/acs"}

// morning is when the tests take place, but for those with providers that go by the machine's clock.
var morning = time.Date(2026, 3, 10, 9, 0, 0, 0, time.UTC)

// expected returns the expected properties of a response this morning, from the provider of a test.
func expected() Expected {
	p := samltest.NewProvider()
	return Expected{Provider{p.EntityID, p.SSOURL, [][]byte{p.Signer.DER}}, us, asked().ID, morning}
}

// asked returns a request as the provider of a test reads it.
func asked() samltest.Request {
	return samltest.Request{ID: "_asked", ACSURL: us.ACSURL, Issuer: us.EntityID}
}

// answer returns a response that signs in ada, modified by change.
func answer(t testing.TB, change func(*samltest.Response)) []byte {
	t.Helper()
	s := samltest.NewProvider().Respond(asked(), samltest.Ada, morning)
	change(&s)
	return s.Document(t)
}

// judge does all that is done with a response.
func judge(doc []byte, want Expected) (Subject, error) {
	r, err := ParseResponse(doc)
	if err != nil {
		return Subject{}, err
	}
	a, err := r.Verify(want)
	if err != nil {
		return Subject{}, err
	}
	return a.Subject()
}

// maxProcessing is how much of a processor's time any refusal may take.
const maxProcessing = slack * 100 * time.Millisecond

// refused wants a response to be refused, soon, with the kind. It returns why.
func refused(t *testing.T, doc []byte, want Expected, kind fault.Kind) string {
	t.Helper()
	took := time.Hour
	for range 3 { // the garbage of others is collected in between
		began := processed()
		who, err := judge(doc, want)
		took = min(took, processed()-began)
		if !fault.Is(err, kind) {
			t.Fatalf("%+v, %v; want a fault of kind %v", who, err, kind)
		}
		if took < maxProcessing {
			return fault.Message(err)
		}
	}
	t.Errorf("took %s", took)
	return ""
}

// believed wants a response to be believed.
func believed(t *testing.T, doc []byte, want Expected) Subject {
	t.Helper()
	who, err := judge(doc, want)
	if err != nil {
		t.Fatal(err)
	}
	return who
}

// attack tries each attack on a genuine response: none is believed, and none takes long; the genuine one is believed.
func attack(t *testing.T, good []byte, want Expected) {
	t.Helper()
	tried := 0
	for _, a := range slices.Concat(samltest.Wrappings, samltest.Texts) {
		doc := a.Change(good, "http://nobody.test")
		if doc == nil {
			continue
		}
		tried++
		kind := fault.Unauthenticated
		if a.Malformed {
			kind = fault.Invalid
		}
		t.Run(a.Name, func(t *testing.T) { refused(t, doc, want, kind) })
	}
	if tried < 60 {
		t.Errorf("only %d attacks apply to the document: %s", tried, good)
	}
	if who := believed(t, good, want); who.Email != samltest.Ada {
		t.Errorf("signed in %+v", who)
	}
}

// check 25, 26: a modified genuine response signs in the person of the original, or is refused.
func TestAttacksOnAResponse(t *testing.T) {
	for name, change := range map[string]func(*samltest.Response){
		"with a signed assertion": func(*samltest.Response) {},
		"signed as a whole":       func(s *samltest.Response) { s.SignAssertion, s.SignResponse = false, true },
		"signed twice":            func(s *samltest.Response) { s.SignResponse = true },
		"that tells the address apart": func(s *samltest.Response) {
			s.NameID, s.Format, s.Email = "4711", samltest.PersistentFormat, samltest.Ada
		},
		"in inclusive canonical form": func(s *samltest.Response) {
			s.SignAssertion, s.SignResponse, s.Canonicalizer = false, true, dsig.MakeC14N11Canonicalizer()
		},
		"in canonical form, with comments": func(s *samltest.Response) {
			s.Canonicalizer = dsig.MakeC14N10ExclusiveWithCommentsCanonicalizerWithPrefixList("")
		},
	} {
		t.Run(name, func(t *testing.T) {
			attack(t, answer(t, change), expected())
		})
	}
}

// check 25: an assertion signed by the provider is accepted only here, now, and for this request.
func TestAResponseThatIsMeantForSomethingElse(t *testing.T) {
	for name, change := range map[string]func(*samltest.Response){
		"another audience": func(s *samltest.Response) {
			s.Audience = "https://other.test/auth/saml/metadata"
		},
		"an audience that begins like ours": func(s *samltest.Response) { s.Audience += "/" },
		"no audience":                       func(s *samltest.Response) { s.Conditions = window(s, "") },
		"a second restriction that does not name us": func(s *samltest.Response) {
			s.Conditions = window(s, restriction(s.Audience)+restriction("https://other.test"))
		},
		"no conditions": func(s *samltest.Response) { s.Conditions = "<saml:Advice/>" },
		"another recipient": func(s *samltest.Response) {
			s.Recipient = "https://other.test/auth/saml/acs"
		},
		"no recipient": func(s *samltest.Response) { s.Recipient = "" },
		"another destination": func(s *samltest.Response) {
			s.Destination = "https://other.test/auth/saml/acs"
		},
		"a signed whole without destination": func(s *samltest.Response) { s.Destination, s.SignResponse = "", true },
		"another destination, signed": func(s *samltest.Response) {
			s.Destination, s.SignResponse = "https://other.test/acs", true
		},
		"expired": func(s *samltest.Response) {
			s.Issued, s.From, s.Until = -5*time.Minute, -6*time.Minute, -61*time.Second
		},
		"not yet valid": func(s *samltest.Response) {
			s.From, s.Until = 61*time.Second, 5*time.Minute
		},
		"a confirmation that has expired": func(s *samltest.Response) {
			s.ConfirmationAttrs = samltest.Attr("NotOnOrAfter", s.At(-61*time.Second))
		},
		"a confirmation that has not begun": func(s *samltest.Response) {
			s.ConfirmationAttrs = samltest.Attr("NotOnOrAfter", s.At(time.Minute)) + samltest.Attr("NotBefore",
				s.At(61*time.Second))
		},
		"a confirmation without an end": func(s *samltest.Response) { s.ConfirmationAttrs = " " },
		"issued long ago":               func(s *samltest.Response) { s.Issued = -12 * time.Minute },
		"issued in the future":          func(s *samltest.Response) { s.Issued = 61 * time.Second },
		"confirmed for another request": func(s *samltest.Response) { s.ConfirmedFor = "_other" },
		"confirmed for no request":      func(s *samltest.Response) { s.ConfirmedFor = "" },
		"SHA-1":                         func(s *samltest.Response) { s.Method = dsig.RSASHA1SignatureMethod },
		"SHA-1, as a whole": func(s *samltest.Response) {
			s.Method, s.SignAssertion, s.SignResponse = dsig.RSASHA1SignatureMethod, false, true
		},
		"another issuer":                 func(s *samltest.Response) { s.Issuer = "https://other.test" },
		"an assertion of another issuer": func(s *samltest.Response) { s.AssertionIssuer = "https://other.test" },
		"a failure": func(s *samltest.Response) {
			s.Status = "urn:oasis:names:tc:SAML:2.0:status:AuthnFailed"
		},
		"a session that has ended there": func(s *samltest.Response) {
			s.Login = `<saml:AuthnStatement SessionNotOnOrAfter="` + s.At(-61*time.Second) + `"/>`
		},
		"a signature of nothing in particular": func(s *samltest.Response) { s.ReferToNothing = true },
		"no login":                             func(s *samltest.Response) { s.NoLogin = true },
		"nobody":                               func(s *samltest.Response) { s.NameID = "" },
		"no address": func(s *samltest.Response) {
			s.NameID, s.Format = "4711", samltest.PersistentFormat
		},
		"an address of another format": func(s *samltest.Response) {
			s.Format = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
		},
		"not signed":            func(s *samltest.Response) { s.SignAssertion = false },
		"signed by another key": func(s *samltest.Response) { s.By = samltest.Attacker() },
		"signed by another key, genuine certificate": func(s *samltest.Response) {
			s.By = samltest.Signer{Key: samltest.Attacker().Key, DER: samltest.Genuine().DER}
		},
	} {
		t.Run(name, func(t *testing.T) {
			refused(t, answer(t, change), expected(), fault.Unauthenticated)
		})
	}
}

// check 25: a signature with SHA-1, in part or in whole, is refused for that reason before anything is computed.
func TestSHA1(t *testing.T) {
	weakDigest := func(info *etree.Element, digested []byte) {
		sum := sha1.Sum(digested) //nolint:gosec // that is the point
		ref := samltest.Child(info, "Reference")
		samltest.Child(ref, "DigestMethod").CreateAttr("Algorithm", "http://www.w3.org/2000/09/xmldsig#sha1")
		samltest.Child(ref, "DigestValue").SetText(base64.StdEncoding.EncodeToString(sum[:]))
	}
	weakSignature := func(info *etree.Element, _ []byte) {
		samltest.Child(info, "SignatureMethod").CreateAttr("Algorithm", dsig.RSASHA1SignatureMethod)
	}
	for name, tt := range map[string]struct {
		change  func(*etree.Element, []byte)
		refused bool
	}{
		"neither":       {func(*etree.Element, []byte) {}, false},
		"the digest":    {weakDigest, true},
		"the signature": {weakSignature, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := samltest.NewProvider().Respond(asked(), samltest.Ada, morning)
			doc := samltest.OnTree("", func(r *etree.Element) bool {
				s.Resign(samltest.Child(r, "Assertion"), tt.change)
				return true
			}).Change(s.Document(t), "")
			if !tt.refused {
				believed(t, doc, expected())
			} else if why := refused(t, doc, expected(), fault.Unauthenticated); !strings.Contains(why, "SHA-1") {
				t.Errorf("it does not say why: %s", why)
			}
		})
	}
}

func window(s *samltest.Response, inner string) string {
	return `<saml:Conditions NotBefore="` + s.At(s.From) + `" NotOnOrAfter="` + s.At(s.Until) + `">` + inner +
		`</saml:Conditions>`
}

func restriction(audience string) string {
	return `<saml:AudienceRestriction><saml:Audience>` + audience + `</saml:Audience></saml:AudienceRestriction>`
}

// The leeway is a minute in each direction, and restrictions name as many audiences as they like.
func TestAResponseWithinTheLeeway(t *testing.T) {
	for name, change := range map[string]func(*samltest.Response){
		"expired just now": func(s *samltest.Response) {
			s.Issued, s.From, s.Until = -5*time.Minute, -6*time.Minute, -59*time.Second
		},
		"valid in a moment":   func(s *samltest.Response) { s.Issued, s.From = 59*time.Second, 59*time.Second },
		"without destination": func(s *samltest.Response) { s.Destination = "" },
		"SHA-512":             func(s *samltest.Response) { s.Method = dsig.RSASHA512SignatureMethod },
		"several audiences": func(s *samltest.Response) {
			s.Audience = "https://other.test</saml:Audience><saml:Audience>" + s.Audience
		},
		"a name in attributes": func(s *samltest.Response) { s.NameID, s.Format, s.Email = "4711", "", samltest.Ada },
		"no end of conditions": func(s *samltest.Response) {
			s.Conditions = `<saml:Conditions>` + restriction(s.Audience) + `</saml:Conditions>`
		},
	} {
		t.Run(name, func(t *testing.T) {
			believed(t, answer(t, change), expected())
		})
	}
}

// check 28: a document that costs more to parse than to send is refused before it is parsed.
func TestDocumentsThatAreTooMuch(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("<a>", n) + strings.Repeat("</a>", n) }
	for name, tt := range map[string]struct {
		doc  string
		kind fault.Kind
	}{
		"65 levels":               {nested(65), fault.Invalid},
		"as deep as fits":         {nested(20_000), fault.Invalid},
		"a megabyte of nesting":   {strings.Repeat("<a>", 250_000), fault.Invalid},
		"600 kB of nesting":       {strings.Repeat("<a>", 150_000), fault.Invalid},
		"many elements":           {"<a>" + strings.Repeat("<b/>", 30_000) + "</a>", fault.Invalid},
		"many attributes":         {"<a" + attributes(33) + "/>", fault.Invalid},
		"deep in a quoted value":  {`<a b="` + strings.Repeat("<a>", 10_000) + `"/>`, fault.Invalid},
		"a tag that does not end": {"<a " + strings.Repeat("b ", 50_000), fault.Invalid},
		"deflated":                {deflated(t, 1<<24), fault.Invalid}, // CVE-2023-26483 (gosaml2)
		"a form of another root":  {`<a><Response xmlns="urn:oasis:names:tc:SAML:2.0:protocol"/></a>`, fault.Invalid},
		"an overlong character":   {"<a>\xc0\xbc</a>", fault.Invalid},
		"more than fits":          {"<a>" + strings.Repeat(" ", maxResponse) + "</a>", fault.Invalid},
		"no UTF-8":                {"<a>\xff</a>", fault.Invalid},
		"nothing":                 {" ", fault.Invalid},
		"no XML":                  {"hello", fault.Invalid},
		"another document":        {`<a xmlns="urn:oasis:names:tc:SAML:2.0:protocol"/>`, fault.Invalid},
		"a response of nothing":   {`<Response/>`, fault.Invalid},
		"an empty response": {
			`<Response xmlns="urn:oasis:names:tc:SAML:2.0:protocol"/>`,
			fault.Unauthenticated,
		},
		"a response of an encoding": {
			`<?xml version="1.0" encoding="utf-16"?><Response xmlns="urn:oasis:names:tc:SAML:2.0:protocol"/>`,
			fault.Invalid,
		},
	} {
		t.Run(name, func(t *testing.T) {
			refused(t, []byte(tt.doc), expected(), tt.kind)
		})
	}
}

// attributes are so many, each with a name of its own.
func attributes(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, ` b%d="c"`, i)
	}
	return out.String()
}

// deflated is much of one letter, in few bytes.
func deflated(t *testing.T, n int) string {
	t.Helper()
	var buf bytes.Buffer
	w, err := flate.NewWriter(&buf, flate.BestCompression)
	if err == nil {
		_, err = w.Write(bytes.Repeat([]byte("a"), n))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

// If the canonicalization of the signed part fails silently, the digest is that of an empty text (CVE-2025-66568,
// ruby-saml).
func TestADigestOfNothing(t *testing.T) {
	s := samltest.NewProvider().Respond(asked(), samltest.Ada, morning)
	empty := sha256.Sum256(nil)
	doc := samltest.OnTree("", func(r *etree.Element) bool {
		a := samltest.Child(r, "Assertion")
		s.Resign(a, func(info *etree.Element, _ []byte) {
			samltest.Child(samltest.Child(info, "Reference"),
				"DigestValue").SetText(base64.StdEncoding.EncodeToString(empty[:]))
		})
		a.CreateAttr("xmlns:relative", "1")
		return true
	}).Change(s.Document(t), "")
	refused(t, doc, expected(), fault.Unauthenticated)
}

// This is the most expensive document within the bounds, with a signature that must be checked: names of namespaces
// are looked up for each element.
func TestTheWorstThatIsParsedTakesNotLong(t *testing.T) {
	s := samltest.NewProvider().Respond(asked(), samltest.Ada, morning)
	var open strings.Builder
	for level := range 60 {
		open.WriteString("<e")
		for i := range maxAttributes {
			fmt.Fprintf(&open, ` xmlns:n%dx%d="urn:x"`, level, i)
		}
		open.WriteString(">")
	}
	s.More = "<samlp:Extensions>" + open.String() + strings.Repeat("<n1x1:b n2x2:c='d'/>", 780) + strings.Repeat("</e>",
		60) + "</samlp:Extensions>"
	s.SignResponse = true
	doc := s.Document(t)
	t.Logf("%d bytes", len(doc))
	refused(t, bytes.Replace(doc, []byte(`"d"`), []byte(`"e"`), 1), expected(), fault.Unauthenticated)
	refused(t, bytes.Replace(doc, []byte("Ada Lovelace"), []byte("Eve Lovelace"), 1), expected(), fault.Unauthenticated)
	began := processed()
	believed(t, doc, expected())
	t.Logf("the genuine one took %s", processed()-began)
}
