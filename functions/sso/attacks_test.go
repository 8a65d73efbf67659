package sso

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
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
	answer(h *house, request *url.URL) []byte
}

// attack changes a genuine response so that it says something else, or says it to somebody else. Host is an address
// where a fetch would be noticed.
type attack struct {
	name   string
	change func(doc []byte, host string) []byte
}

// onTree is an attack on the tree of a document; it tells whether it applies to one that is signed like this.
func onTree(name string, change func(r *etree.Element) bool) attack {
	return attack{name, func(doc []byte, _ string) []byte {
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

// local is the first child with the tag.
func local(e *etree.Element, tag string) *etree.Element {
	for _, c := range e.ChildElements() {
		if c.Tag == tag {
			return c
		}
	}
	return nil
}

// evil is the assertion without its signature, about boss.
func evil(a *etree.Element) *etree.Element {
	e := a.Copy()
	strip(e)
	renamed(e, ada, boss)
	e.CreateAttr("ID", "_evil")
	return e
}

// evilResponse is the whole response without signatures, about boss.
func evilResponse(r *etree.Element) *etree.Element {
	e := r.Copy()
	strip(e)
	renamed(e, ada, boss)
	e.CreateAttr("ID", "_evilresponse")
	local(e, "Assertion").CreateAttr("ID", "_evil")
	return e
}

// become makes r what e is.
func become(r, e *etree.Element) {
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

func object(parent, child *etree.Element) {
	o := etree.NewElement("Object")
	o.Space = parent.Space
	o.AddChild(child)
	parent.AddChild(o)
}

// onAssertion is an attack on the signature of the assertion.
func onAssertion(name string, change func(r, a, sig *etree.Element)) attack {
	return onTree(name, func(r *etree.Element) bool {
		a := local(r, "Assertion")
		sig := local(a, "Signature")
		if sig == nil {
			return false
		}
		change(r, a, sig)
		return true
	})
}

// onResponse is an attack on the signature of the whole response.
func onResponse(name string, change func(r, sig *etree.Element)) attack {
	return onTree(name, func(r *etree.Element) bool {
		sig := local(r, "Signature")
		if sig != nil {
			change(r, sig)
		}
		return sig != nil
	})
}

// wrappings are the nine ways of signature wrapping (Somorovsky et al., On Breaking SAML; SAML Raider), and more.
var wrappings = []attack{
	onResponse("xsw1: the signed response within the signature of a forged one", func(r, sig *etree.Element) {
		whole, e := r.Copy(), evilResponse(r)
		sig = sig.Copy()
		object(sig, whole)
		e.InsertChildAt(1, sig)
		become(r, e)
	}),
	onResponse("xsw2: the signed response before the signature, in a forged one", func(r, sig *etree.Element) {
		whole, e := r.Copy(), evilResponse(r)
		whole.RemoveChild(local(whole, "Signature"))
		e.InsertChildAt(1, whole)
		e.InsertChildAt(2, sig.Copy())
		become(r, e)
	}),
	onAssertion("xsw3: a forged assertion before the signed one", func(r, a, _ *etree.Element) { r.InsertChildAt(a.Index(), evil(a)) }),
	onAssertion("xsw3b: a forged assertion after the signed one", func(r, a, _ *etree.Element) { r.AddChild(evil(a)) }),
	onAssertion("xsw4: the signed assertion within a forged one", func(r, a, _ *etree.Element) {
		e := evil(a)
		r.RemoveChild(a)
		e.AddChild(a)
		r.AddChild(e)
	}),
	onAssertion("xsw5: the signature moved into a forged assertion", func(r, a, sig *etree.Element) {
		e := evil(a)
		a.RemoveChild(sig)
		e.InsertChildAt(1, sig)
		r.AddChild(e)
	}),
	onAssertion("xsw6: the signed assertion within its signature, in a forged one", func(r, a, sig *etree.Element) {
		e := evil(a)
		a.RemoveChild(sig)
		sig.AddChild(a.Copy())
		e.InsertChildAt(1, sig)
		r.RemoveChild(a)
		r.AddChild(e)
	}),
	onAssertion("xsw7: a forged assertion in Extensions", func(r, a, _ *etree.Element) {
		x := etree.NewElement("Extensions")
		x.AddChild(evil(a))
		r.InsertChildAt(0, x)
	}),
	onAssertion("xsw8: the signed assertion in an Object of its signature, in a forged one", func(r, a, sig *etree.Element) {
		e := evil(a)
		a.RemoveChild(sig)
		object(sig, a.Copy())
		e.InsertChildAt(1, sig)
		r.RemoveChild(a)
		r.AddChild(e)
	}),
	onAssertion("xsw9: the signed assertion in StatusDetail, a forged one in its place", func(r, a, _ *etree.Element) {
		e := evil(a)
		r.RemoveChild(a)
		detail := etree.NewElement("StatusDetail")
		detail.AddChild(a)
		local(r, "Status").AddChild(detail)
		r.AddChild(e)
	}),
	onAssertion("a forged assertion with the id of the signed one", func(r, a, _ *etree.Element) {
		e := evil(a)
		e.CreateAttr("ID", a.SelectAttrValue("ID", ""))
		r.InsertChildAt(a.Index(), e)
	}),
	onAssertion("a forged assertion with the signature and the id of the signed one, which hides in an attribute of it", func(r, a, sig *etree.Element) {
		e := evil(a)
		e.CreateAttr("ID", a.SelectAttrValue("ID", ""))
		e.InsertChildAt(1, sig.Copy())
		local(local(local(e, "AttributeStatement"), "Attribute"), "AttributeValue").AddChild(a.Copy())
		r.RemoveChild(a)
		r.AddChild(e)
	}),
	onAssertion("a forged assertion of another namespace beside the signed one", func(r, a, _ *etree.Element) {
		e := evil(a)
		e.Space = ""
		e.CreateAttr("xmlns", "urn:other")
		r.AddChild(e)
	}),
	onAssertion("two assertions, both signed", func(r, a, _ *etree.Element) {
		e := a.Copy()
		e.CreateAttr("ID", "_second")
		r.AddChild(e)
	}),
	onTree("all signatures stripped", func(r *etree.Element) bool { strip(r); return true }),
	onTree("all signatures stripped, about somebody else", func(r *etree.Element) bool {
		become(r, evilResponse(r))
		return true
	}),
	onTree("signed by the attacker, with the attacker's certificate in KeyInfo", func(r *etree.Element) bool {
		become(r, evilResponse(r))
		s := speech{by: attacker(), method: dsig.RSASHA256SignatureMethod, canonical: dsig.MakeC14N10ExclusiveCanonicalizerWithPrefixList("")}
		s.sign(local(r, "Assertion"))
		return true
	}),
	onTree("signed by the attacker, with the genuine certificate in KeyInfo", func(r *etree.Element) bool {
		become(r, evilResponse(r))
		by := signer{attacker().key, genuine().der}
		s := speech{by: by, method: dsig.RSASHA256SignatureMethod, canonical: dsig.MakeC14N10ExclusiveCanonicalizerWithPrefixList("")}
		s.sign(local(r, "Assertion"))
		return true
	}),
	onTree("genuine, with the attacker's certificate put into KeyInfo", func(r *etree.Element) bool {
		for _, e := range r.FindElements("//X509Certificate") {
			e.SetText(base64.StdEncoding.EncodeToString(attacker().der))
		}
		return true
	}),
	onTree("a second Reference", func(r *etree.Element) bool {
		for _, e := range r.FindElements("//SignedInfo") {
			e.AddChild(local(e, "Reference").Copy())
		}
		return true
	}),
	onTree("a Reference to everything", func(r *etree.Element) bool {
		for _, e := range r.FindElements("//Reference") {
			e.CreateAttr("URI", "")
		}
		return true
	}),
	onTree("a second SignedInfo", func(r *etree.Element) bool {
		for _, e := range r.FindElements("//Signature") {
			e.AddChild(local(e, "SignedInfo").Copy())
		}
		return true
	}),
	onTree("an XPath transform", func(r *etree.Element) bool {
		for _, e := range r.FindElements("//Transform") {
			e.CreateAttr("Algorithm", "http://www.w3.org/TR/1999/REC-xpath-19991116")
		}
		return true
	}),
	onTree("SHA-1 said to be the method", func(r *etree.Element) bool {
		for _, e := range r.FindElements("//SignatureMethod") {
			e.CreateAttr("Algorithm", dsig.RSASHA1SignatureMethod)
		}
		return true
	}),
	onTree("HMAC said to be the method", func(r *etree.Element) bool {
		for _, e := range r.FindElements("//SignatureMethod") {
			e.CreateAttr("Algorithm", "http://www.w3.org/2000/09/xmldsig#hmac-sha1")
		}
		return true
	}),
	onTree("the request of somebody else", func(r *etree.Element) bool { r.CreateAttr("InResponseTo", "_other"); return true }),
	onTree("no request", func(r *etree.Element) bool { r.RemoveAttr("InResponseTo"); return true }),
	onTree("another Destination", func(r *etree.Element) bool {
		r.CreateAttr("Destination", "https://evil.test/auth/saml/acs")
		return true
	}),
	onTree("no status of success", func(r *etree.Element) bool {
		local(local(r, "Status"), "StatusCode").CreateAttr("Value", "urn:oasis:names:tc:SAML:2.0:status:Responder")
		return true
	}),
	onTree("no assertion", func(r *etree.Element) bool { r.RemoveChild(local(r, "Assertion")); return true }),
	onTree("an encrypted assertion beside", func(r *etree.Element) bool { r.CreateElement("EncryptedAssertion"); return true }),
}

// onBytes are attacks below the tree.
func onBytes(name, from, to string) attack {
	return attack{name, func(doc []byte, host string) []byte {
		out := regexp.MustCompile(from).ReplaceAll(doc, []byte(strings.ReplaceAll(to, "HOST", host)))
		if bytes.Equal(out, doc) {
			return nil
		}
		return out
	}}
}

var texts = []attack{
	onBytes("a name changed", ada, boss),
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

// under is how much of a processor's time any refusal may take.
const under = slack * 100 * time.Millisecond

// besieged sends each attack in response to one open request. None may get in, none may use the request up, nothing may
// be fetched, and none may take long; then the genuine response gets in, once.
func besieged(t *testing.T, h *house, by idp) { //nolint:cyclop // one story
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
			h.t = t
			h.refuses(http.StatusUnauthorized, doc)
		})
	}
	h.t = t
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
func (h *house) refuses(status int, doc []byte) {
	h.t.Helper()
	took := time.Hour
	for range 3 { // the garbage of others is collected in between
		began := processed()
		a := h.finish(doc)
		took = min(took, processed()-began)
		a.want(h.t, status)
		if strings.Contains(a.body, "accessToken") {
			h.t.Fatalf("let in: %s", a.body)
		}
		if took < under || status == http.StatusForbidden { // that one was believed, and is used up
			return
		}
	}
	h.t.Errorf("took %s", took)
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
			h, w := newHouse(t), &bent{newTwin(), change}
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

func (b *bent) answer(h *house, u *url.URL) []byte {
	s := b.says(h, readRequest(h.t, u), ada)
	b.change(&s)
	return s.document(h.t)
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
		"no login":                       func(s *speech) { s.noLogin = true },
		"nobody":                         func(s *speech) { s.nameID = "" },
		"no address":                     func(s *speech) { s.nameID, s.format = "4711", persistent },
		"an address of another format":   func(s *speech) { s.format = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient" },
		"an address that is none":        func(s *speech) { s.nameID = "ada at example.com" },
		"not signed":                     func(s *speech) { s.signAssertion = false },
		"signed by another key":          func(s *speech) { s.by = attacker() },
		"signed by another key, genuine certificate": func(s *speech) { s.by = signer{attacker().key, genuine().der} },
	} {
		t.Run(name, func(t *testing.T) {
			h, w := newHouse(t), &bent{newTwin(), change}
			h.found("owner@example.com").connect(w.metadata(), "example.com")
			h.refuses(http.StatusUnauthorized, w.answer(h, h.begin(ada)))
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
			h, w := newHouse(t), &bent{newTwin(), change}
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
			h := newHouse(t)
			h.refuses(tt.status, []byte(tt.doc))
		})
	}
}

// The worst that passes the bounds, in a document whose signature must be looked at: names of namespaces are looked up for
// each element.
func TestTheWorstThatIsParsedTakesNotLong(t *testing.T) {
	h, w := newHouse(t), newTwin()
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
