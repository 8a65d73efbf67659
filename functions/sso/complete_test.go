package sso

import (
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beevik/etree"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/samltest"
)

// newConnected returns an organization of example.com that signs in by a provider.
func newConnected(t *testing.T) (*fixture, *organization, provider) {
	t.Helper()
	h := newFixture(t)
	o, w := h.newOrganization("owner@example.com"), newProvider()
	o.connectProvider(w.Metadata(), "example.com")
	return h, o, w
}

// user is who an answer signed in.
func (a answer) user() string { return a.Data["user"].(map[string]any)["id"].(string) }

// check 26: a provider is believed about the domains that its organization has proven, and about no others.
func TestAProviderNamesSomebodyOfAnotherOrganization(t *testing.T) {
	h, a, w := newConnected(t)
	b := h.newOrganization("owner@other.test")
	other := provider{&samltest.Provider{
		EntityID: "https://idp.other.test", SSOURL: "https://idp.other.test/sso",
		Signer: samltest.Attacker(),
	}}
	b.connectProvider(other.Metadata(), "other.test")
	victim := h.newAccount("victim@other.test")
	for name, email := range map[string]string{
		"a domain of another organization": "victim@other.test",
		"its owner":                        "owner@other.test",
		"a domain that nobody has proven":  "who@nobody.test",
		"below a proven domain":            "ada@sub.example.com",
		"a domain that ends like a proven": "ada@notexample.com",
		"a proven domain before another":   "ada@example.com.evil.test",
	} {
		t.Run(name, func(t *testing.T) {
			h.TB = t
			h.refuses(http.StatusForbidden,
				w.respond(h, samltest.ReadRequest(t, h.beginSignOn(ada)), email).Document(t))
		})
	}
	h.TB = t
	if _, err := table.Read[identity.Member](anywhere(), h.Table, identity.MemberKey(a.org, victim.ID)); !fault.Is(err,
		fault.NotFound) {
		t.Errorf("the victim became a member: %v", err)
	}
	apitest.LinkAudit(t, h.Platform, audit.PlaceOf(a.org))
	rows, err := h.Table.Query(anywhere(), table.Query{PK: audit.PlaceOf(a.org).PK, Reverse: true, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	denied := 0
	for _, it := range rows.Items {
		if strings.Contains(string(it.Data), `"completeSAML"`) && strings.Contains(string(it.Data), `"status":403`) {
			denied++
		}
	}
	if denied != 6 {
		t.Errorf("%d rows in the organization's audit log tell of it, want 6", denied)
	}
	t.Run("the response of one organization's provider to the request of another", func(t *testing.T) {
		h.TB = t
		h.refuses(http.StatusUnauthorized,
			w.respond(h, samltest.ReadRequest(t, h.beginSignOn("victim@other.test")), "victim@other.test").Document(t))
	})
}

// Two organizations may use one provider, under one name, and still do not share its people's links.
func TestOneProviderOfTwoOrganizations(t *testing.T) {
	h, _, w := newConnected(t)
	b := h.newOrganization("owner@other.test")
	b.connectProvider(w.Metadata(), "other.test")
	say := func(email, begin string) answer {
		s := w.respond(h, samltest.ReadRequest(t, h.beginSignOn(begin)), "4711")
		s.Format, s.Email = samltest.PersistentFormat, email
		return h.finishSignOn(s.Document(t))
	}
	first := say(ada, ada)
	first.want(t, http.StatusOK)
	second := say("eve@other.test", "eve@other.test")
	second.want(t, http.StatusOK)
	if first.user() == second.user() {
		t.Error("the same subject is one account in both")
	}
	// The provider now has another address for 4711: it is the same person, but an address of an uncovered domain is
	// refused.
	say("countess@example.com", ada).want(t, http.StatusOK)
	say("eve@other.test", ada).want(t, http.StatusForbidden)
}

// An account whose address was the organization's once is not opened by a link of that time.
func TestALinkOutlivesNoDomain(t *testing.T) {
	h, o, w := newConnected(t)
	o.putSettings(map[string]any{"domains": []string{"example.com", "second.test"}})
	o.proveDomain()
	s := w.respond(h, samltest.ReadRequest(t, h.beginSignOn(ada)), "4711")
	s.Format, s.Email = samltest.PersistentFormat, ada
	h.finishSignOn(s.Document(t)).want(t, http.StatusOK)
	o.putSettings(map[string]any{"domains": []string{"second.test"}})
	s = w.respond(h, samltest.ReadRequest(t, h.beginSignOn("x@second.test")), "4711")
	s.Format, s.Email = samltest.PersistentFormat, "x@second.test"
	h.refuses(http.StatusForbidden, s.Document(t))
}

// check 27.
func TestRelayStateIsNotFollowed(t *testing.T) {
	h, _, w := newConnected(t)
	for _, relay := range []string{
		"//evil.test", "https:evil.test", `\\evil.test`, "javascript:alert(1)",
		"https://evil.test/", "",
	} {
		u := h.beginSignOn(ada)
		r := samltest.ReadRequest(t, u)
		if v, err := url.Parse(r.RelayState); err != nil || v.Scheme != "" || len(r.RelayState) < 20 ||
			strings.Contains(r.RelayState, "/") {
			t.Errorf("RelayState %q could be an address, or be guessed", r.RelayState)
		}
		form := url.Values{
			"SAMLResponse": {encodeForm(w.answer(h, u))}, "RelayState": {relay}, "redirect": {relay},
			"returnTo": {relay},
		}
		a := h.do(http.MethodPost, acsPath+"?returnTo="+url.QueryEscape(relay), formKind,
			strings.NewReader(form.Encode()))
		a.want(t, http.StatusOK)
		if relay != "" && strings.Contains(a.Body, relay) {
			t.Errorf("%q is in the answer %s", relay, a.Body)
		}
	}
}

func encodeForm(doc []byte) string { return base64.StdEncoding.EncodeToString(doc) }

// check 25: one of twenty at once gets in, by one response; and an assertion is good once, also in another response.
func TestAResponseIsGoodOnce(t *testing.T) {
	h, _, w := newConnected(t)
	doc := w.answer(h, h.beginSignOn(ada))
	var in atomic.Int64
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if h.finishSignOn(doc).Status == http.StatusOK {
				in.Add(1)
			}
		})
	}
	wg.Wait()
	if in.Load() != 1 {
		t.Errorf("%d of 20 got in", in.Load())
	}
	s := w.respond(h, samltest.ReadRequest(t, h.beginSignOn(ada)), ada)
	h.finishSignOn(s.Document(t)).want(t, http.StatusOK)
	r := samltest.ReadRequest(t, h.beginSignOn(ada)) // another request, the same id of an assertion
	s.InResponseTo, s.ConfirmedFor, s.ID = r.ID, r.ID, "_r"+rand.Text()
	h.refuses(http.StatusUnauthorized, s.Document(t))
}

func TestARequestEnds(t *testing.T) {
	h, _, w := newConnected(t)
	u := h.beginSignOn(ada)
	h.Clock.Advance(requestTTL + time.Second)
	h.refuses(http.StatusUnauthorized, w.answer(h, u))
	h.refuses(http.StatusUnauthorized,
		w.respond(h, samltest.Request{
			ID: "_made-up", ACSURL: h.Settings.BaseURL + acsPath, Issuer: h.Settings.BaseURL + metadataPath,
		}, ada).Document(t))
}

func TestAResponseAfterSingleSignOnEnded(t *testing.T) {
	h, o, w := newConnected(t)
	doc := w.answer(h, h.beginSignOn(ada))
	o.askAs(grant.Owner, http.MethodDelete, nil).want(t, http.StatusOK)
	h.refuses(http.StatusUnauthorized, doc)
}

func TestAResponseByAnotherCertificateThanThePinnedOnes(t *testing.T) {
	h, o, w := newConnected(t)
	both := provider{&samltest.Provider{EntityID: w.EntityID, SSOURL: w.SSOURL, Signer: samltest.Attacker()}}
	o.putSettings(map[string]any{"metadataXML": string(samltest.MetadataOf(w.EntityID, w.SSOURL, samltest.Genuine().DER,
		samltest.Attacker().DER))})
	h.finishSignOn(w.answer(h, h.beginSignOn(ada))).want(t, http.StatusOK)
	// a provider that changes its key has two for a while
	h.finishSignOn(both.answer(h, h.beginSignOn(ada))).want(t, http.StatusOK)
	o.putSettings(map[string]any{"metadataXML": string(both.Metadata())})
	h.refuses(http.StatusUnauthorized, w.answer(h, h.beginSignOn(ada)))
}

func TestAResponseWithoutKeyInfoIsTriedByEachCertificate(t *testing.T) {
	h, o, w := newConnected(t)
	o.putSettings(map[string]any{"metadataXML": string(samltest.MetadataOf(w.EntityID, w.SSOURL,
		samltest.Attacker().DER,
		samltest.Genuine().DER))})
	doc := samltest.OnTree("", func(r *etree.Element) bool {
		for _, e := range r.FindElements("//KeyInfo") {
			e.Parent().RemoveChild(e)
		}
		return true
	}).Change(w.answer(h, h.beginSignOn(ada)), "")
	h.finishSignOn(doc).want(t, http.StatusOK)
}

func TestACertificateThatExpired(t *testing.T) {
	h := newFixture(t)
	soon := samltest.Certify(samltest.Genuine().Key, func(c *x509.Certificate) {
		c.NotAfter = h.Platform.Clock.Now().Add(time.Hour)
	})
	w := newProvider()
	w.Signer = soon
	h.newOrganization("owner@example.com").connectProvider(w.Metadata(), "example.com")
	h.finishSignOn(w.answer(h, h.beginSignOn(ada))).want(t, http.StatusOK)
	h.Clock.Advance(2 * time.Hour)
	a := h.finishSignOn(w.answer(h, h.beginSignOn(ada)))
	a.want(t, http.StatusUnauthorized)
	if !strings.Contains(a.Body, "expired") {
		t.Errorf("it does not say why: %s", a.Body)
	}
}

func TestWhatIsNoResponse(t *testing.T) {
	h, _, w := newConnected(t)
	good := encodeForm(w.answer(h, h.beginSignOn(ada)))
	for name, tt := range map[string]struct{ kind, body string }{
		"JSON":          {"application/json", `{"SAMLResponse":"x"}`},
		"no kind":       {"", "SAMLResponse=" + url.QueryEscape(good)},
		"nothing":       {formKind, ""},
		"another field": {formKind, "SAMLRequest=x"},
		"two": {
			formKind,
			"SAMLResponse=" + url.QueryEscape(good) + "&SAMLResponse=" + url.QueryEscape(good),
		},
		"not base64":          {formKind, "SAMLResponse=%25%25"},
		"a form that is none": {formKind, "SAMLResponse=%zz"},
		"too much":            {formKind, "SAMLResponse=" + strings.Repeat("A", maxForm)},
	} {
		t.Run(name, func(t *testing.T) {
			h.do(http.MethodPost, acsPath, tt.kind, strings.NewReader(tt.body)).want(t, http.StatusBadRequest)
		})
	}
	h.do(http.MethodGet, acsPath, "", nil).want(t, http.StatusMethodNotAllowed)
}
