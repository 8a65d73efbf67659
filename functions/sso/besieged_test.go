package sso

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // to be refused
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beevik/etree"
	dsig "github.com/russellhaering/goxmldsig"
)

// idp is a provider of a contract test: it answers a request by signing ada in.
type idp interface {
	metadata() []byte
	answer(h *fixture, request *url.URL) []byte
}

// under is how much of a processor's time any refusal may take.
const under = slack * 100 * time.Millisecond

// besieged sends each attack in response to one open request. None may get in, none may use the request up, nothing may
// be fetched, and none may take long; then the genuine response gets in, once.
func besieged(t *testing.T, h *fixture, by idp) { //nolint:cyclop // one story
	t.Helper()
	var fetched atomic.Int64
	trap := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { fetched.Add(1) }))
	defer trap.Close()
	good := by.answer(h, h.begin(ada))
	asked := len(h.dns.Asked())
	tried := 0
	for _, a := range append(append([]attack{}, wrappings...), texts...) {
		doc := a.change(good, trap.URL)
		if doc == nil {
			continue
		}
		tried++
		t.Run(a.name, func(t *testing.T) {
			h.TB = t
			h.refuses(http.StatusUnauthorized, doc)
		})
	}
	h.TB = t
	if tried < 30 {
		t.Errorf("only %d attacks apply to the document: %s", tried, good)
	}
	if fetched.Load() > 0 || len(h.dns.Asked()) > asked {
		t.Errorf("%d fetched, asked DNS for %v", fetched.Load(), h.dns.Asked()[asked:])
	}
	a := h.finish(good)
	a.want(t, http.StatusOK)
	if got := a.Data["user"].(map[string]any)["email"]; got != ada {
		t.Errorf("signed in %v", got)
	}
	h.refuses(http.StatusUnauthorized, good) // check 25: replay
}

// refuses wants the status for a response, soon.
func (h *fixture) refuses(status int, doc []byte) {
	h.Helper()
	took := time.Hour
	for range 3 { // the garbage of others is collected in between
		began := processed()
		a := h.finish(doc)
		took = min(took, processed()-began)
		a.want(h.TB, status)
		if strings.Contains(a.Body, "accessToken") {
			h.Fatalf("let in: %s", a.Body)
		}
		if took < under || status == http.StatusForbidden { // that one was believed, and is used up
			return
		}
	}
	h.Errorf("took %s", took)
}

// check 25, 26: whatever is done to a genuine response, it lets in whom the provider signed in, or nobody.
func TestAttacksOnAResponse(t *testing.T) {
	for name, change := range map[string]func(*speech){
		"with a signed assertion":      func(*speech) {},
		"signed as a whole":            func(s *speech) { s.signAssertion, s.signResponse = false, true },
		"signed twice":                 func(s *speech) { s.signResponse = true },
		"that tells the address apart": func(s *speech) { s.nameID, s.format, s.email = "4711", persistent, ada },
		"in inclusive canonical form": func(s *speech) {
			s.signAssertion, s.signResponse, s.canonical = false, true, dsig.MakeC14N11Canonicalizer()
		},
		"in canonical form, with comments": func(s *speech) { s.canonical = dsig.MakeC14N10ExclusiveWithCommentsCanonicalizerWithPrefixList("") },
	} {
		t.Run(name, func(t *testing.T) {
			h, w := newFixture(t), &bent{newTwin(), change}
			h.found("owner@example.com").connect(w.metadata(), "example.com")
			besieged(t, h, w)
		})
	}
}

// bent is a twin that says one thing otherwise.
type bent struct {
	*twin
	change func(*speech)
}

func (b *bent) answer(h *fixture, u *url.URL) []byte {
	s := b.says(h, readRequest(h.TB, u), ada)
	b.change(&s)
	return s.document(h.TB)
}

// check 25: what the provider itself signs is believed only here, now, and for this request.
func TestAResponseThatIsMeantForSomethingElse(t *testing.T) {
	for name, change := range map[string]func(*speech){
		"another audience":                  func(s *speech) { s.audience = "https://other.test/auth/saml/metadata" },
		"an audience that begins like ours": func(s *speech) { s.audience += "/" },
		"no audience":                       func(s *speech) { s.conditions = window(s, "") },
		"a second restriction that does not name us": func(s *speech) {
			s.conditions = window(s, restriction(s.audience)+restriction("https://other.test"))
		},
		"no conditions":                      func(s *speech) { s.conditions = "<saml:Advice/>" },
		"another recipient":                  func(s *speech) { s.recipient = "https://other.test/auth/saml/acs" },
		"no recipient":                       func(s *speech) { s.recipient = "" },
		"another destination":                func(s *speech) { s.destination = "https://other.test/auth/saml/acs" },
		"a signed whole without destination": func(s *speech) { s.destination, s.signResponse = "", true },
		"another destination, signed":        func(s *speech) { s.destination, s.signResponse = "https://other.test/acs", true },
		"expired":                            func(s *speech) { s.issued, s.from, s.until = -5*time.Minute, -6*time.Minute, -61*time.Second },
		"not yet valid":                      func(s *speech) { s.from, s.until = 61*time.Second, 5*time.Minute },
		"a confirmation that has expired":    func(s *speech) { s.subjectAttr = attr("NotOnOrAfter", s.at(-61*time.Second)) },
		"a confirmation that has not begun": func(s *speech) {
			s.subjectAttr = attr("NotOnOrAfter", s.at(time.Minute)) + attr("NotBefore", s.at(61*time.Second))
		},
		"a confirmation without an end":  func(s *speech) { s.subjectAttr = " " },
		"issued long ago":                func(s *speech) { s.issued = -12 * time.Minute },
		"issued in the future":           func(s *speech) { s.issued = 61 * time.Second },
		"confirmed for another request":  func(s *speech) { s.confirmed = "_other" },
		"confirmed for no request":       func(s *speech) { s.confirmed = "" },
		"SHA-1":                          func(s *speech) { s.method = dsig.RSASHA1SignatureMethod },
		"SHA-1, as a whole":              func(s *speech) { s.method, s.signAssertion, s.signResponse = dsig.RSASHA1SignatureMethod, false, true },
		"another issuer":                 func(s *speech) { s.issuer = "https://other.test" },
		"an assertion of another issuer": func(s *speech) { s.assertionIssuer = "https://other.test" },
		"a failure":                      func(s *speech) { s.status = "urn:oasis:names:tc:SAML:2.0:status:AuthnFailed" },
		"a session that has ended there": func(s *speech) {
			s.login = `<saml:AuthnStatement SessionNotOnOrAfter="` + s.at(-61*time.Second) + `"/>`
		},
		"a signature of nothing in particular": func(s *speech) { s.anyID = true },
		"no login":                             func(s *speech) { s.noLogin = true },
		"nobody":                               func(s *speech) { s.nameID = "" },
		"no address":                           func(s *speech) { s.nameID, s.format = "4711", persistent },
		"an address of another format":         func(s *speech) { s.format = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient" },
		"an address that is none":              func(s *speech) { s.nameID = "ada at example.com" },
		"not signed":                           func(s *speech) { s.signAssertion = false },
		"signed by another key":                func(s *speech) { s.by = attacker() },
		"signed by another key, genuine certificate": func(s *speech) { s.by = signer{attacker().key, genuine().der} },
	} {
		t.Run(name, func(t *testing.T) {
			h, w := newFixture(t), &bent{newTwin(), change}
			h.found("owner@example.com").connect(w.metadata(), "example.com")
			h.refuses(http.StatusUnauthorized, w.answer(h, h.begin(ada)))
		})
	}
}

// check 25: what is signed by SHA-1, in part or in whole, is refused for that, before anything is computed.
func TestSHA1(t *testing.T) {
	h, _, w := connected(t)
	weakDigest := func(info *etree.Element, digested []byte) {
		sum := sha1.Sum(digested) //nolint:gosec // that is the point
		ref := local(info, "Reference")
		local(ref, "DigestMethod").CreateAttr("Algorithm", "http://www.w3.org/2000/09/xmldsig#sha1")
		local(ref, "DigestValue").SetText(base64.StdEncoding.EncodeToString(sum[:]))
	}
	weakSignature := func(info *etree.Element, _ []byte) {
		local(info, "SignatureMethod").CreateAttr("Algorithm", dsig.RSASHA1SignatureMethod)
	}
	for name, tt := range map[string]struct {
		change func(*etree.Element, []byte)
		status int
	}{
		"neither":       {func(*etree.Element, []byte) {}, http.StatusOK},
		"the digest":    {weakDigest, http.StatusUnauthorized},
		"the signature": {weakSignature, http.StatusUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			h.TB = t
			s := w.says(h, readRequest(t, h.begin(ada)), ada)
			doc := onTree("", func(r *etree.Element) bool {
				s.resign(local(r, "Assertion"), tt.change)
				return true
			}).change(s.document(t), "")
			a := h.finish(doc)
			a.want(t, tt.status)
			if strings.Contains(a.Body, "SHA-1") == (tt.status == http.StatusOK) {
				t.Errorf("it does not say why: %s", a.Body)
			}
		})
	}
}

func window(s *speech, inner string) string {
	return `<saml:Conditions NotBefore="` + s.at(s.from) + `" NotOnOrAfter="` + s.at(s.until) + `">` + inner + `</saml:Conditions>`
}

func restriction(audience string) string {
	return `<saml:AudienceRestriction><saml:Audience>` + audience + `</saml:Audience></saml:AudienceRestriction>`
}

// The leeway is a minute in each direction, and restrictions name as many audiences as they like.
func TestAResponseWithinTheLeeway(t *testing.T) {
	for name, change := range map[string]func(*speech){
		"expired just now":     func(s *speech) { s.issued, s.from, s.until = -5*time.Minute, -6*time.Minute, -59*time.Second },
		"valid in a moment":    func(s *speech) { s.issued, s.from = 59*time.Second, 59*time.Second },
		"without destination":  func(s *speech) { s.destination = "" },
		"SHA-512":              func(s *speech) { s.method = dsig.RSASHA512SignatureMethod },
		"several audiences":    func(s *speech) { s.audience = "https://other.test</saml:Audience><saml:Audience>" + s.audience },
		"a name in attributes": func(s *speech) { s.nameID, s.format, s.email = "4711", "", ada },
		"no end of conditions": func(s *speech) { s.conditions = `<saml:Conditions>` + restriction(s.audience) + `</saml:Conditions>` },
	} {
		t.Run(name, func(t *testing.T) {
			h, w := newFixture(t), &bent{newTwin(), change}
			h.found("owner@example.com").connect(w.metadata(), "example.com")
			h.finish(w.answer(h, h.begin(ada))).want(t, http.StatusOK)
		})
	}
}

// check 28: what would cost more to parse than to send is refused before it is parsed.
func TestDocumentsThatAreTooMuch(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("<a>", n) + strings.Repeat("</a>", n) }
	for name, tt := range map[string]struct {
		doc    string
		status int
	}{
		"65 levels":                 {nested(65), http.StatusBadRequest},
		"as deep as fits":           {nested(20_000), http.StatusBadRequest},
		"a megabyte of nesting":     {strings.Repeat("<a>", 250_000), http.StatusRequestEntityTooLarge},
		"600 kB of nesting":         {strings.Repeat("<a>", 150_000), http.StatusBadRequest},
		"many elements":             {"<a>" + strings.Repeat("<b/>", 30_000) + "</a>", http.StatusBadRequest},
		"many attributes":           {"<a" + strings.Repeat(` b="c"`, 20_000) + "/>", http.StatusBadRequest},
		"deep in a quoted value":    {`<a b="` + strings.Repeat("<a>", 10_000) + `"/>`, http.StatusBadRequest},
		"a tag that does not end":   {"<a " + strings.Repeat("b ", 50_000), http.StatusBadRequest},
		"no UTF-8":                  {"<a>\xff</a>", http.StatusBadRequest},
		"nothing":                   {" ", http.StatusBadRequest},
		"no XML":                    {"hello", http.StatusBadRequest},
		"another document":          {`<a xmlns="urn:oasis:names:tc:SAML:2.0:protocol"/>`, http.StatusBadRequest},
		"a response of nothing":     {`<Response/>`, http.StatusBadRequest},
		"an empty response":         {`<Response xmlns="urn:oasis:names:tc:SAML:2.0:protocol"/>`, http.StatusUnauthorized},
		"a response of an encoding": {`<?xml version="1.0" encoding="utf-16"?><Response xmlns="urn:oasis:names:tc:SAML:2.0:protocol"/>`, http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t)
			h.refuses(tt.status, []byte(tt.doc))
		})
	}
}

// The worst that passes the bounds, in a document whose signature must be looked at: names of namespaces are looked up for
// each element.
func TestTheWorstThatIsParsedTakesNotLong(t *testing.T) {
	h, w := newFixture(t), newTwin()
	h.found("owner@example.com").connect(w.metadata(), "example.com")
	s := w.says(h, readRequest(t, h.begin(ada)), ada)
	var open strings.Builder
	for level := range 60 {
		open.WriteString("<e")
		for i := range maxAttributes {
			fmt.Fprintf(&open, ` xmlns:n%dx%d="urn:x"`, level, i)
		}
		open.WriteString(">")
	}
	s.more = "<samlp:Extensions>" + open.String() + strings.Repeat("<n1x1:b n2x2:c='d'/>", 780) + strings.Repeat("</e>", 60) + "</samlp:Extensions>"
	s.signResponse = true
	doc := s.document(t)
	t.Logf("%d bytes", len(doc))
	h.refuses(http.StatusUnauthorized, bytes.Replace(doc, []byte(`"d"`), []byte(`"e"`), 1))
	h.refuses(http.StatusUnauthorized, bytes.Replace(doc, []byte("Ada Lovelace"), []byte("Eve Lovelace"), 1))
	began := time.Now()
	h.finish(doc).want(t, http.StatusOK)
	t.Logf("the genuine one took %s", time.Since(began))
}
