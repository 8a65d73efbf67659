package sso

import (
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter.dev/shared/audit"
	"lamplighter.dev/shared/fault"
	"lamplighter.dev/shared/id"
	"lamplighter.dev/shared/identity"
	"lamplighter.dev/shared/people"
	"lamplighter.dev/shared/sessions"
	"lamplighter.dev/shared/table"
)

// connected is an organization of example.com that signs in by a twin.
func connected(t *testing.T) (*house, *tenant, *twin) {
	t.Helper()
	h := newHouse(t)
	o, w := h.found("owner@example.com"), newTwin()
	o.connect(w.metadata(), "example.com")
	return h, o, w
}

// user is who an answer signed in.
func (a answer) user() string { return a.Data["user"].(map[string]any)["id"].(string) }

func TestTheFirstSignInMakesAMemberWithTheDefaultRole(t *testing.T) {
	h, o, w := connected(t)
	a := h.finish(w.answer(h, h.begin(ada)))
	a.want(t, http.StatusOK)
	user := a.Data["user"].(map[string]any)
	if user["email"] != ada || user["name"] != "Ada Lovelace" || a.Data["accessToken"] == "" || a.Data["refreshToken"] == "" {
		t.Errorf("%v", a.Data)
	}
	m := row[identity.Member](h, identity.MemberKey(o.org, a.user()))
	if len(m.Grants) != 1 || m.Grants[0].Role != identity.Viewer || m.Grants[0].Scope != identity.OrgScope || m.Email != ada {
		t.Errorf("member %+v", m)
	}
	if n := row[identity.Access](h, identity.AccessKey(o.org)); n.Members != 2 || n.Owners != 1 {
		t.Errorf("counted %+v", n)
	}
	if m := row[identity.Membership](h, identity.MembershipKey(m.User, o.org)); m.Org != o.org {
		t.Errorf("membership %+v", m)
	}
	claims, err := h.p.Tokens.Verify(anywhere(), a.Data["accessToken"].(string))
	if err != nil || claims.Org != o.org {
		t.Errorf("token of %+v, %v", claims, err)
	}

	again := h.finish(w.answer(h, h.begin(ada)))
	again.want(t, http.StatusOK)
	if again.user() != a.user() {
		t.Errorf("the second time it is %v, was %v", again.user(), a.user())
	}
	if n := row[identity.Access](h, identity.AccessKey(o.org)); n.Members != 2 {
		t.Errorf("counted twice: %+v", n)
	}
}

func TestAMemberStaysWhatTheyAre(t *testing.T) {
	h, o, w := connected(t)
	a := h.finish(w.says(h, readRequest(t, h.begin(ada)), "owner@example.com").document(t))
	a.want(t, http.StatusOK)
	if a.user() != o.owner.ID {
		t.Errorf("signed in %s, want the owner %s", a.user(), o.owner.ID)
	}
	if m := row[identity.Member](h, identity.MemberKey(o.org, o.owner.ID)); !m.Owns() {
		t.Errorf("the owner is now %+v", m)
	}
}

func TestADisabledMemberDoesNotGetIn(t *testing.T) {
	h, o, w := connected(t)
	user := h.finish(w.answer(h, h.begin(ada))).user()
	k := identity.MemberKey(o.org, user)
	if _, err := h.p.Table.Write(anywhere(), table.Update(k, []table.Change{table.Set("disabled", true)})); err != nil {
		t.Fatal(err)
	}
	h.refuses(http.StatusForbidden, w.answer(h, h.begin(ada)))
}

func TestADisabledAccountDoesNotGetIn(t *testing.T) {
	h, _, w := connected(t)
	user := h.finish(w.answer(h, h.begin(ada))).user()
	if _, err := h.p.Table.Write(anywhere(), table.Update(identity.UserKey(user), []table.Change{table.Set("disabled", true)})); err != nil {
		t.Fatal(err)
	}
	h.refuses(http.StatusForbidden, w.answer(h, h.begin(ada)))
}

// check 26: a provider is believed about the domains that its organization has proven, and about no others.
func TestAProviderNamesSomebodyOfAnotherOrganization(t *testing.T) {
	h, a, w := connected(t)
	b := h.found("owner@other.test")
	other := &twin{"https://idp.other.test", "https://idp.other.test/sso", attacker()}
	b.connect(other.metadata(), "other.test")
	victim := h.account("victim@other.test")
	for name, email := range map[string]string{
		"a domain of another organization": "victim@other.test",
		"its owner":                        "owner@other.test",
		"a domain that nobody has proven":  "who@nobody.test",
		"below a proven domain":            "ada@sub.example.com",
		"a domain that ends like a proven": "ada@notexample.com",
		"a proven domain before another":   "ada@example.com.evil.test",
	} {
		t.Run(name, func(t *testing.T) {
			h.t = t
			h.refuses(http.StatusForbidden, w.says(h, readRequest(t, h.begin(ada)), email).document(t))
		})
	}
	h.t = t
	if _, err := table.Read[identity.Member](anywhere(), h.p.Table, identity.MemberKey(a.org, victim.ID)); !fault.Is(err, fault.NotFound) {
		t.Errorf("the victim became a member: %v", err)
	}
	rows, err := h.p.Table.Query(anywhere(), table.Query{PK: audit.PlaceOf(a.org).PK, Reverse: true, Limit: 10})
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
		h.t = t
		h.refuses(http.StatusUnauthorized, w.says(h, readRequest(t, h.begin("victim@other.test")), "victim@other.test").document(t))
	})
}

// Two organizations may use one provider, under one name, and still do not share its people's links.
func TestOneProviderOfTwoOrganizations(t *testing.T) {
	h, _, w := connected(t)
	b := h.found("owner@other.test")
	b.connect(w.metadata(), "other.test")
	say := func(email, begin string) answer {
		s := w.says(h, readRequest(t, h.begin(begin)), "4711")
		s.format, s.email = persistent, email
		return h.finish(s.document(t))
	}
	first := say(ada, ada)
	first.want(t, http.StatusOK)
	second := say("eve@other.test", "eve@other.test")
	second.want(t, http.StatusOK)
	if first.user() == second.user() {
		t.Error("the same subject is one account in both")
	}
	// The provider knows 4711 by another address now: it is the same person, but not one of an address that is not covered.
	say("countess@example.com", ada).want(t, http.StatusOK)
	say("eve@other.test", ada).want(t, http.StatusForbidden)
}

// An account whose address was the organization's once is not opened by a link of that time.
func TestALinkOutlivesNoDomain(t *testing.T) {
	h, o, w := connected(t)
	o.set(map[string]any{"domains": []string{"example.com", "second.test"}})
	o.prove()
	s := w.says(h, readRequest(t, h.begin(ada)), "4711")
	s.format, s.email = persistent, ada
	h.finish(s.document(t)).want(t, http.StatusOK)
	o.set(map[string]any{"domains": []string{"second.test"}})
	s = w.says(h, readRequest(t, h.begin("x@second.test")), "4711")
	s.format, s.email = persistent, "x@second.test"
	h.refuses(http.StatusForbidden, s.document(t))
}

// check 27.
func TestRelayStateIsNotFollowed(t *testing.T) {
	h, _, w := connected(t)
	for _, relay := range []string{"//evil.test", "https:evil.test", `\\evil.test`, "javascript:alert(1)", "https://evil.test/", ""} {
		u := h.begin(ada)
		r := readRequest(t, u)
		if v, err := url.Parse(r.Relay); err != nil || v.Scheme != "" || len(r.Relay) < 20 || strings.Contains(r.Relay, "/") {
			t.Errorf("RelayState %q could be an address, or be guessed", r.Relay)
		}
		form := url.Values{"SAMLResponse": {encoded(w.answer(h, u))}, "RelayState": {relay}, "redirect": {relay}, "returnTo": {relay}}
		a := h.do(identity.Caller{}, http.MethodPost, acsPath+"?returnTo="+url.QueryEscape(relay), formKind, strings.NewReader(form.Encode()))
		a.want(t, http.StatusOK)
		if relay != "" && strings.Contains(a.body, relay) {
			t.Errorf("%q is in the answer %s", relay, a.body)
		}
	}
}

func encoded(doc []byte) string { return base64.StdEncoding.EncodeToString(doc) }

// check 25: one of twenty at once gets in, by one response; and an assertion is good once, also in another response.
func TestAResponseIsGoodOnce(t *testing.T) {
	h, _, w := connected(t)
	doc := w.answer(h, h.begin(ada))
	var in atomic.Int64
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if h.finish(doc).status == http.StatusOK {
				in.Add(1)
			}
		})
	}
	wg.Wait()
	if in.Load() != 1 {
		t.Errorf("%d of 20 got in", in.Load())
	}
	s := w.says(h, readRequest(t, h.begin(ada)), ada)
	h.finish(s.document(t)).want(t, http.StatusOK)
	r := readRequest(t, h.begin(ada)) // another request, the same id of an assertion
	s.request, s.confirmed, s.id = r.ID, r.ID, "_r"+rand.Text()
	h.refuses(http.StatusUnauthorized, s.document(t))
}

func TestARequestEnds(t *testing.T) {
	h, _, w := connected(t)
	u := h.begin(ada)
	h.clock.Advance(requestTTL + time.Second)
	h.refuses(http.StatusUnauthorized, w.answer(h, u))
	h.refuses(http.StatusUnauthorized, w.says(h, authnRequest{ID: "_made-up", ACS: h.p.Settings.BaseURL + acsPath, Issuer: h.p.Settings.BaseURL + metadataPath}, ada).document(t))
}

func TestAResponseAfterSingleSignOnEnded(t *testing.T) {
	h, o, w := connected(t)
	doc := w.answer(h, h.begin(ada))
	o.ask(identity.Owner, http.MethodDelete, nil).want(t, http.StatusOK)
	h.refuses(http.StatusUnauthorized, doc)
}

func TestAResponseByAnotherCertificateThanThePinnedOnes(t *testing.T) {
	h, o, w := connected(t)
	both := &twin{w.entity, w.sso, attacker()}
	o.set(map[string]any{"metadataXML": string(metadataOf(w.entity, w.sso, genuine().der, attacker().der))})
	h.finish(w.answer(h, h.begin(ada))).want(t, http.StatusOK)
	h.finish(both.answer(h, h.begin(ada))).want(t, http.StatusOK) // a provider that changes its key has two for a while
	o.set(map[string]any{"metadataXML": string(both.metadata())})
	h.refuses(http.StatusUnauthorized, w.answer(h, h.begin(ada)))
}

func TestAResponseWithoutKeyInfoIsTriedByEachCertificate(t *testing.T) {
	h, o, w := connected(t)
	o.set(map[string]any{"metadataXML": string(metadataOf(w.entity, w.sso, attacker().der, genuine().der))})
	doc := onTree("", func(r *element) bool {
		for _, e := range r.FindElements("//KeyInfo") {
			e.Parent().RemoveChild(e)
		}
		return true
	}).change(w.answer(h, h.begin(ada)), "")
	h.finish(doc).want(t, http.StatusOK)
}

func TestACertificateThatExpired(t *testing.T) {
	h := newHouse(t)
	soon := certify(genuine().key, func(c *certificate) { c.NotAfter = h.p.Clock.Now().Add(time.Hour) })
	w := newTwin()
	w.signer = soon
	h.found("owner@example.com").connect(w.metadata(), "example.com")
	h.finish(w.answer(h, h.begin(ada))).want(t, http.StatusOK)
	h.clock.Advance(2 * time.Hour)
	a := h.finish(w.answer(h, h.begin(ada)))
	a.want(t, http.StatusUnauthorized)
	if !strings.Contains(a.body, "expired") {
		t.Errorf("it does not say why: %s", a.body)
	}
}

// A session that a provider vouched for works in its organization only: it must not open what the person can do elsewhere.
func TestASessionOfSingleSignOnStaysInItsOrganization(t *testing.T) {
	h, o, w := connected(t)
	user := row[identity.User](h, identity.UserKey(h.finish(w.answer(h, h.begin(ada))).user()))
	b := h.found("owner@other.test")
	viewer := []identity.Grant{{Role: identity.Viewer, Scope: identity.OrgScope}}
	if err := newService(h.p).people.Join(anywhere(), b.org, user, viewer); err != nil {
		t.Fatal(err)
	}
	a := h.finish(w.answer(h, h.begin(ada)))
	a.want(t, http.StatusOK)
	if tenants := a.Data["tenants"].([]any); len(tenants) != 1 || tenants[0].(map[string]any)["id"] != o.org {
		t.Errorf("offers %v", tenants)
	}
	token := a.Data["refreshToken"].(string)
	if _, err := sessions.Of(h.p).Refresh(anywhere(), token, b.org); !fault.Is(err, fault.Denied) {
		t.Errorf("refreshed into another organization: %v", err)
	}
	if out, err := sessions.Of(h.p).Refresh(anywhere(), token, ""); err != nil || out.Tenants[0].ID != o.org {
		t.Errorf("refreshed: %+v, %v", out, err)
	}
}

func TestEnforcedSingleSignOn(t *testing.T) {
	h, o, w := connected(t)
	member := row[identity.User](h, identity.UserKey(h.finish(w.answer(h, h.begin(ada))).user()))
	guest := h.account("guest@elsewhere.test")
	viewer := []identity.Grant{{Role: identity.Viewer, Scope: identity.OrgScope}}
	if err := newService(h.p).people.Join(anywhere(), o.org, guest, viewer); err != nil {
		t.Fatal(err)
	}
	begin := func(u identity.User) error {
		_, err := sessions.Of(h.p).Begin(anywhere(), u, sessions.How{Tenant: o.org})
		return err
	}
	if err := begin(member); err != nil {
		t.Errorf("before it was enforced: %v", err)
	}
	o.set(map[string]any{"enforced": true})
	if err := begin(member); !fault.Is(err, fault.Denied) {
		t.Errorf("a member of a proven domain got in by password: %v", err)
	}
	for name, u := range map[string]identity.User{"the owner": o.owner, "a member of another domain": guest} {
		if err := begin(u); err != nil {
			t.Errorf("%s is kept out: %v", name, err)
		}
	}
	h.finish(w.answer(h, h.begin(ada))).want(t, http.StatusOK)
	o.set(map[string]any{"enforced": false})
	if err := begin(member); err != nil {
		t.Errorf("after it ended: %v", err)
	}
}

func TestTheDefaultRole(t *testing.T) {
	h, o, w := connected(t)
	role := id.New("role", h.p.Clock.Now())
	h.put(map[table.Key]any{identity.AccessKey(o.org): identity.Access{Members: 1, Owners: 1, Roles: map[string]identity.CustomRole{
		role: {ID: role, Name: "Starter", Policies: []string{"actions:execute"}},
	}}})
	o.set(map[string]any{"defaultRole": role})
	user := h.finish(w.answer(h, h.begin(ada))).user()
	if m := row[identity.Member](h, identity.MemberKey(o.org, user)); m.Grants[0].Role != role {
		t.Errorf("member %+v", m)
	}
	h.put(map[table.Key]any{identity.AccessKey(o.org): identity.Access{Members: 2, Owners: 1}}) // the role goes
	h.refuses(http.StatusForbidden, w.says(h, readRequest(t, h.begin(ada)), boss).document(t))
	h.finish(w.answer(h, h.begin(ada))).want(t, http.StatusOK) // who is a member already needs no role
}

func TestWhatIsNoResponse(t *testing.T) {
	h, _, w := connected(t)
	good := encoded(w.answer(h, h.begin(ada)))
	for name, tt := range map[string]struct{ kind, body string }{
		"JSON":                {"application/json", `{"SAMLResponse":"x"}`},
		"no kind":             {"", "SAMLResponse=" + url.QueryEscape(good)},
		"nothing":             {formKind, ""},
		"another field":       {formKind, "SAMLRequest=x"},
		"two":                 {formKind, "SAMLResponse=" + url.QueryEscape(good) + "&SAMLResponse=" + url.QueryEscape(good)},
		"not base64":          {formKind, "SAMLResponse=%25%25"},
		"a form that is none": {formKind, "SAMLResponse=%zz"},
		"too much":            {formKind, "SAMLResponse=" + strings.Repeat("A", maxForm)},
	} {
		t.Run(name, func(t *testing.T) {
			h.do(identity.Caller{}, http.MethodPost, acsPath, tt.kind, strings.NewReader(tt.body)).want(t, http.StatusBadRequest)
		})
	}
	h.do(identity.Caller{}, http.MethodGet, acsPath, "", nil).want(t, http.StatusMethodNotAllowed)
}

func TestWhoWasInvitedGetsTheRoleOfTheInvitation(t *testing.T) {
	h, o, w := connected(t)
	now := h.p.Clock.Now()
	inv := people.Invitation{Email: ada, Role: identity.Editor, Inviter: o.owner.ID, Created: now, Expires: now.Add(time.Hour)}
	if _, err := newService(h.p).people.Invite(anywhere(), o.org, people.Invitation{}, inv); err != nil {
		t.Fatal(err)
	}
	a := h.finish(w.answer(h, h.begin(ada)))
	a.want(t, http.StatusOK)
	if m := row[identity.Member](h, identity.MemberKey(o.org, a.user())); len(m.Grants) != 1 || m.Grants[0].Role != identity.Editor {
		t.Errorf("member %+v", m)
	}
}

// The provider says who belongs to the organization: who shall stay out is disabled, here or there.
func TestWhoWasRemovedComesBackWithTheDefaultRole(t *testing.T) {
	h, o, w := connected(t)
	o.set(map[string]any{"defaultRole": identity.Editor})
	user := h.finish(w.answer(h, h.begin(ada))).user()
	k := identity.MemberKey(o.org, user)
	if err := newService(h.p).people.Remove(anywhere(), o.org, row[identity.Member](h, k)); err != nil {
		t.Fatal(err)
	}
	o.set(map[string]any{"defaultRole": identity.Viewer})
	h.finish(w.answer(h, h.begin(ada))).want(t, http.StatusOK)
	if m := row[identity.Member](h, k); m.Grants[0].Role != identity.Viewer {
		t.Errorf("member %+v", m)
	}
}
