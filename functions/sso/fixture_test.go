package sso

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/people/accounts"
	"lamplighter.dev/shared/testkit/apitest"
)

const (
	ada  = "ada@example.com"
	boss = "boss@example.com" // the target of the attacks
)

// fixture is both groups, with a DNS of its own.
type fixture struct {
	*apitest.Fixture
	dns *apitest.Names
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	h := &fixture{apitest.New(t), &apitest.Names{}}
	h.Resolver = h.dns
	h.Mount(SignIn, Settings)
	return h
}

// organization is an organization with its owner.
type organization struct {
	h     *fixture
	org   string
	owner identity.User
}

// newOrganization makes an organization whose owner has the address.
func (h *fixture) newOrganization(email string) *organization {
	h.Helper()
	now := h.Platform.Clock.Now()
	o := identity.Organisation{ID: id.New("org", now), Name: "Org of " + email, CreatedAt: now}
	u := h.newAccount(email)
	grants := []grant.Grant{{Role: grant.Owner, Scope: grant.OrgScope}}
	h.Put(identity.OrganisationKey(o.ID), o)
	h.Put(identity.AccessKey(o.ID), identity.Access{Members: 1, Owners: 1})
	h.Put(identity.MemberKey(o.ID, u.ID), identity.Member{User: u.ID, Email: email, Grants: grants, Joined: now})
	h.Put(identity.MembershipKey(u.ID, o.ID), identity.Membership{Org: o.ID, Joined: now})
	return &organization{h, o.ID, u}
}

// newAccount makes a verified account.
func (h *fixture) newAccount(email string) identity.User {
	h.Helper()
	u := accounts.NewUser(h.Platform.Clock.Now(), email, "Somebody")
	u.Verified = true
	writes, err := accounts.New(h.Platform).RegisterWrites(u, identity.User{})
	if err == nil {
		err = h.Table.Transact(anywhere(), writes...)
	}
	h.Must(err)
	return u
}

// anywhere returns a context that lets a test access every key.
func anywhere() context.Context { return table.Within(context.Background(), "") }

// answer is the answer to a request.
type answer struct {
	apitest.Answer
	Data map[string]any
}

func decoded(a apitest.Answer) answer {
	out := answer{Answer: a}
	_ = json.Unmarshal([]byte(a.Body), &out) // an error has no data, and metadata is no JSON
	out.Answer = a
	return out
}

func (h *fixture) do(method, path, kind string, body io.Reader) answer {
	h.Helper()
	r := httptest.NewRequest(method, path, body)
	r.Header.Set("Content-Type", kind)
	return decoded(h.Serve(identity.Caller{}, r))
}

// initiate asks for a sign-in.
func (h *fixture) initiate(body map[string]any) answer {
	h.Helper()
	return decoded(h.Call(identity.Caller{}, "POST /auth/saml/initiate", body))
}

// caller is somebody with a role in the organization.
func (o *organization) caller(role string) identity.Caller {
	grants := grant.ResolveGrants([]grant.Grant{{Role: role, Scope: grant.OrgScope}})
	return identity.Caller{
		Org: o.org, User: o.owner.ID, Email: o.owner.Email, Session: "s",
		Method: identity.MethodToken, Grants: grants,
	}
}

func (o *organization) askAs(role, method string, body map[string]any) answer {
	o.h.Helper()
	if body == nil {
		return decoded(o.h.Call(o.caller(role), method+" /organisation/saml"))
	}
	return decoded(o.h.Call(o.caller(role), method+" /organisation/saml", body))
}

// putSettings sends a PUT of the owner, which must succeed.
func (o *organization) putSettings(body map[string]any) map[string]any {
	o.h.Helper()
	a := o.askAs(grant.Owner, http.MethodPut, body)
	a.want(o.h.TB, http.StatusOK)
	return a.Data
}

// proveDomain publishes the records of all domains that the settings show, and has them checked.
func (o *organization) proveDomain() map[string]any {
	o.h.Helper()
	a := o.askAs(grant.Owner, http.MethodGet, nil)
	a.want(o.h.TB, http.StatusOK)
	for _, d := range a.Data["domains"].([]any) {
		d := d.(map[string]any)
		o.h.dns.Publish(d["txtName"].(string), d["txtValue"].(string))
	}
	return o.putSettings(map[string]any{})
}

// connectProvider sets a provider up, with domains that are proven.
func (o *organization) connectProvider(metadata []byte, domains ...string) {
	o.h.Helper()
	o.putSettings(map[string]any{"metadataXML": string(metadata), "domains": domains})
	for _, d := range o.proveDomain()["domains"].([]any) {
		if d := d.(map[string]any); d["verified"] != true {
			o.h.Fatalf("not proven: %v", d)
		}
	}
}

func (a answer) want(t testing.TB, status int) {
	t.Helper()
	if a.Status != status {
		t.Fatalf("status %d, want %d: %.600s", a.Status, status, a.Body)
	}
}

// beginSignOn starts a sign-in and gives the address of the provider.
func (h *fixture) beginSignOn(email string) *url.URL {
	h.Helper()
	a := h.initiate(map[string]any{"email": email})
	a.want(h.TB, http.StatusOK)
	u, err := url.Parse(a.Data["redirectURL"].(string))
	h.Must(err)
	return u
}

// finishSignOn sends a response as a browser does.
func (h *fixture) finishSignOn(doc []byte) answer {
	h.Helper()
	form := url.Values{"SAMLResponse": {base64.StdEncoding.EncodeToString(doc)}}
	return h.do(http.MethodPost, acsPath, formKind, strings.NewReader(form.Encode()))
}
