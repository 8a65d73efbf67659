package sso

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/people/accounts"
	"lamplighter.dev/shared/testkit/apitest"
)

const (
	ada  = "ada@example.com"
	boss = "boss@example.com" // whom the attacks want to be
)

// house is both groups behind a door, with a DNS of its own.
type house struct {
	t     testing.TB
	p     *platform.Platform
	clock *clock.Manual
	dns   *apitest.Names
	door  http.Handler
}

func newHouse(t testing.TB) *house {
	t.Helper()
	p, c := apitest.NewPlatform(t)
	dns := &apitest.Names{}
	p.Resolver = dns
	door, _ := rest.Mount(p, SignIn(p), Settings(p))
	return &house{t, p, c, dns, door}
}

// atMachineTime sets the clock to the machine's, by which other makers' providers go.
func (h *house) atMachineTime() *house {
	h.clock.Advance(time.Since(h.clock.Now()))
	return h
}

// tenant is an organization with its owner.
type tenant struct {
	h     *house
	org   string
	owner identity.User
}

// found makes an organization whose owner has the address.
func (h *house) found(email string) *tenant {
	h.t.Helper()
	now := h.p.Clock.Now()
	o := identity.Organisation{ID: id.New("org", now), Name: "Org of " + email, CreatedAt: now}
	u := h.account(email)
	grants := []identity.Grant{{Role: identity.Owner, Scope: identity.OrgScope}}
	h.put(map[table.Key]any{
		identity.OrganisationKey(o.ID):     o,
		identity.AccessKey(o.ID):           identity.Access{Members: 1, Owners: 1},
		identity.MemberKey(o.ID, u.ID):     identity.Member{User: u.ID, Email: email, Grants: grants, Joined: now},
		identity.MembershipKey(u.ID, o.ID): identity.Membership{Org: o.ID, Joined: now},
	})
	return &tenant{h, o.ID, u}
}

// account makes a verified account.
func (h *house) account(email string) identity.User {
	h.t.Helper()
	u := accounts.New(h.p.Clock.Now(), email, "Somebody")
	u.Verified = true
	writes, err := accounts.Of(h.p).Register(u, identity.User{})
	if err == nil {
		err = h.p.Table.Transact(anywhere(), writes...)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return u
}

func (h *house) put(rows map[table.Key]any) {
	h.t.Helper()
	for k, v := range rows {
		it, err := table.Row(k, v)
		if err == nil {
			_, err = h.p.Table.Write(anywhere(), table.Put(it))
		}
		if err != nil {
			h.t.Fatal(err)
		}
	}
}

// anywhere lets a test touch whatever it wants to look at.
func anywhere() context.Context { return table.Within(context.Background(), "") }

func row[T any](h *house, k table.Key) T {
	h.t.Helper()
	v, err := table.Read[T](anywhere(), h.p.Table, k)
	if err != nil {
		h.t.Fatal(err)
	}
	return v
}

// answer is what a request got.
type answer struct {
	status int
	body   string
	Data   map[string]any `json:"data"`
}

func (h *house) do(c identity.Caller, method, path, kind string, body io.Reader) answer {
	h.t.Helper()
	r := httptest.NewRequest(method, path, body)
	r.Header.Set("Content-Type", kind)
	w := httptest.NewRecorder()
	h.door.ServeHTTP(w, r.WithContext(identity.With(r.Context(), c)))
	out := answer{status: w.Code, body: w.Body.String()}
	_ = json.Unmarshal(w.Body.Bytes(), &out) // an error has no data, and metadata is no JSON
	return out
}

// initiate asks for a sign-in.
func (h *house) initiate(body map[string]any) answer {
	h.t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		h.t.Fatal(err)
	}
	return h.do(identity.Caller{}, http.MethodPost, "/auth/saml/initiate", "application/json", bytes.NewReader(b))
}

// caller is somebody with a role in the organization.
func (o *tenant) caller(role string) identity.Caller {
	grants := identity.Resolve([]identity.Grant{{Role: role, Scope: identity.OrgScope}})
	return identity.Caller{Org: o.org, User: o.owner.ID, Email: o.owner.Email, Session: "s", Method: identity.MethodToken, Grants: grants}
}

func (o *tenant) ask(role, method string, body map[string]any) answer {
	o.h.t.Helper()
	var r io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			o.h.t.Fatal(err)
		}
		r = bytes.NewReader(b)
	}
	return o.h.do(o.caller(role), method, "/organisation/saml", "application/json", r)
}

// set sends a PUT of the owner, which must succeed.
func (o *tenant) set(body map[string]any) map[string]any {
	o.h.t.Helper()
	a := o.ask(identity.Owner, http.MethodPut, body)
	a.want(o.h.t, http.StatusOK)
	return a.Data
}

// prove publishes the records of all domains that the settings show, and has them checked.
func (o *tenant) prove() map[string]any {
	o.h.t.Helper()
	a := o.ask(identity.Owner, http.MethodGet, nil)
	a.want(o.h.t, http.StatusOK)
	for _, d := range a.Data["domains"].([]any) {
		d := d.(map[string]any)
		o.h.dns.Publish(d["txtName"].(string), d["txtValue"].(string))
	}
	return o.set(map[string]any{})
}

// connect sets a provider up, with domains that are proven.
func (o *tenant) connect(metadata []byte, domains ...string) {
	o.h.t.Helper()
	o.set(map[string]any{"metadataXML": string(metadata), "domains": domains})
	for _, d := range o.prove()["domains"].([]any) {
		if d := d.(map[string]any); d["verified"] != true {
			o.h.t.Fatalf("not proven: %v", d)
		}
	}
}

func (a answer) want(t testing.TB, status int) {
	t.Helper()
	if a.status != status {
		t.Fatalf("status %d, want %d: %.600s", a.status, status, a.body)
	}
}

// begin starts a sign-in and gives the address of the provider.
func (h *house) begin(email string) *url.URL {
	h.t.Helper()
	a := h.initiate(map[string]any{"email": email})
	a.want(h.t, http.StatusOK)
	u, err := url.Parse(a.Data["redirectURL"].(string))
	if err != nil {
		h.t.Fatal(err)
	}
	return u
}

// finish sends a response as a browser does.
func (h *house) finish(doc []byte) answer {
	h.t.Helper()
	form := url.Values{"SAMLResponse": {base64.StdEncoding.EncodeToString(doc)}}
	return h.do(identity.Caller{}, http.MethodPost, acsPath, formKind, strings.NewReader(form.Encode()))
}
