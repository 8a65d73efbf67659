package organisations

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

// house is an organization that ada made.
type house struct {
	t     *testing.T
	p     *platform.Platform
	clock *clock.Manual
	door  http.Handler
	org   string
	trips int // of the last request
}

func newHouse(t *testing.T) *house {
	t.Helper()
	p, c := apitest.NewPlatform(t)
	door, _ := rest.Mount(p, Operations(p))
	h := &house{t: t, p: p, clock: c, door: door}
	h.org = h.found("usr_ada", "Engines")
	return h
}

func (h *house) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) found(user, name string) string {
	h.t.Helper()
	got := call(h.t, h.p, user, `{"name":"`+name+`"}`)
	var o identity.Organisation
	h.must(json.Unmarshal(got.Data, &o))
	return o.ID
}

// as makes a request with a role, in the organization; "pat owner" with a personal access token, "eve's admin" as somebody
// who did not make it, "vouched admin" in a session of single sign-on.
func (h *house) as(role, request, body string) answer {
	h.t.Helper()
	c := identity.Caller{Org: h.org, User: "usr_ada", Email: "ada@example.com", Method: identity.MethodToken, Session: "s"}
	if rest, pat := strings.CutPrefix(role, "pat "); pat {
		role, c.Method, c.Session = rest, identity.MethodPAT, ""
	}
	if rest, eve := strings.CutPrefix(role, "eve's "); eve {
		role, c.User = rest, "usr_eve"
	}
	role, c.SSO = strings.CutPrefix(role, "vouched ")
	c.Grants = identity.Resolve([]identity.Grant{{Role: role, Scope: identity.OrgScope}})
	method, path, _ := strings.Cut(request, " ")
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	ctx, meter := table.WithMeter(identity.With(r.Context(), c))
	w := httptest.NewRecorder()
	h.door.ServeHTTP(w, r.WithContext(ctx))
	h.trips = meter.Usage().RoundTrips
	out := answer{status: w.Code}
	h.must(json.Unmarshal(w.Body.Bytes(), &out))
	return out
}

func (h *house) current() map[string]any {
	h.t.Helper()
	got := h.as("viewer", "GET /organisation", "")
	if got.status != 200 {
		h.t.Fatalf("%d: %s", got.status, got.Error)
	}
	var out map[string]any
	h.must(json.Unmarshal(got.Data, &out))
	return out
}

func TestTheOrganizationAndItsSettings(t *testing.T) {
	h := newHouse(t)
	want := map[string]any{
		"id": h.org, "name": "Engines", "createdBy": "usr_ada", "createdAt": "2026-03-10T09:30:30Z", "updatedAt": "2026-03-10T09:30:30Z",
		"currency": "USD", "mcpEnabled": false, "defaultDashboard": nil, "savingsRealism": 0.7, "anomalyMinUSD": "1",
	}
	same := func(after string) {
		t.Helper()
		got := h.current()
		if len(got) != len(want) {
			t.Errorf("%s: %v", after, got)
		}
		for k, v := range want {
			if got[k] != v {
				t.Errorf("%s: %s is %v, want %v", after, k, got[k], v)
			}
		}
	}
	same("at first")
	if h.trips != 1 {
		t.Errorf("%d round trips", h.trips)
	}
	h.clock.Advance(time.Second)
	want["updatedAt"] = "2026-03-10T09:30:31Z"
	for _, c := range []struct {
		body string
		want map[string]any
	}{
		{`{"currency":"EUR"}`, map[string]any{"currency": "EUR"}},
		{`{"mcpEnabled":true,"savingsRealism":0.1234}`, map[string]any{"mcpEnabled": true, "savingsRealism": 0.1234}},
		{`{"defaultDashboard":"finops"}`, map[string]any{"defaultDashboard": "finops"}},
		{`{"anomalyMinUSD":"0.05","defaultDashboard":"dash_01k8z3v5y0e6m9x2q4t7r1c8bd"}`, map[string]any{"anomalyMinUSD": "0.05", "defaultDashboard": "dash_01k8z3v5y0e6m9x2q4t7r1c8bd"}},
		{`{"currency":null,"mcpEnabled":null,"defaultDashboard":null,"savingsRealism":null,"anomalyMinUSD":null}`, map[string]any{"currency": "USD", "mcpEnabled": false, "defaultDashboard": nil, "savingsRealism": 0.7, "anomalyMinUSD": "1"}},
		{`{"mcpEnabled":false,"savingsRealism":0}`, map[string]any{"savingsRealism": 0.0}},
		{`{"name":" Looms "}`, map[string]any{"name": "Looms"}},
		{`{"name":"LOOMS"}`, map[string]any{"name": "LOOMS"}},
		{`{"name":"a#b:c|d ORG#org_2#"}`, map[string]any{"name": "a#b:c|d ORG#org_2#"}}, // check 53
		{`{}`, nil},
	} {
		if got := h.as("admin", "PUT /organisation", c.body); got.status != 200 {
			t.Fatalf("%s: %d %s", c.body, got.status, got.Error)
		}
		maps.Copy(want, c.want)
		same(c.body)
	}
}

func TestSettingsThatNoOrganizationHas(t *testing.T) {
	h := newHouse(t)
	before := h.current()
	for body, about := range map[string]string{
		`{"name":null}`: "name", `{"name":""}`: "name", `{"name":"a\nb"}`: "name", `{"name":"` + strings.Repeat("x", 101) + `"}`: "name",
		`{"currency":"eur"}`: "currency", `{"currency":"XXX"}`: "currency", `{"currency":"EURO"}`: "currency", `{"currency":7}`: "currency",
		`{"savingsRealism":1.1}`: "savingsRealism", `{"savingsRealism":-0.1}`: "savingsRealism", `{"savingsRealism":0.12345}`: "savingsRealism",
		`{"savingsRealism":1e-9}`: "savingsRealism", `{"savingsRealism":"0.7"}`: "savingsRealism",
		`{"anomalyMinUSD":"-1"}`: "anomalyMinUSD", `{"anomalyMinUSD":"1e9"}`: "anomalyMinUSD", `{"anomalyMinUSD":"0.001"}`: "anomalyMinUSD",
		`{"anomalyMinUSD":"01"}`: "anomalyMinUSD", `{"anomalyMinUSD":""}`: "anomalyMinUSD", `{"anomalyMinUSD":1}`: "anomalyMinUSD",
		`{"defaultDashboard":"mine"}`: "defaultDashboard", `{"mcpEnabled":"yes"}`: "mcpEnabled", `[]`: "", `null`: "", `{"currency":"EUR","name":""}`: "name",
	} {
		if got := h.as("admin", "PUT /organisation", body); got.status != 400 || !strings.Contains(string(got.Error), about) {
			t.Errorf("%s: %d %s", body, got.status, got.Error)
		}
	}
	after := h.current()
	for k, v := range before {
		if after[k] != v {
			t.Errorf("%s became %v", k, after[k])
		}
	}
}

// check 20, check 40: what may not be set is not, wherever it stands.
func TestWhatAnOrganizationCannotBeGivenIsIgnored(t *testing.T) {
	h := newHouse(t)
	other := h.found("usr_eve", "Engines of Eve")
	got := h.as("admin", "PUT /organisation?orgId="+other+"&id="+other, `{"currency":"EUR","id":"`+other+`","orgId":"`+other+`","org":"`+other+
		`","createdBy":"usr_eve","ownerId":"usr_eve","createdAt":"2001-01-01T00:00:00Z","updatedAt":"2001-01-01T00:00:00Z","status":"ended","ended":true,"ssoDomains":["example.com"],"members":0,"role":"owner"}`)
	if got.status != 200 {
		t.Fatalf("%d %s", got.status, got.Error)
	}
	now := h.current()
	if now["id"] != h.org || now["createdBy"] != "usr_ada" || now["createdAt"] != "2026-03-10T09:30:30Z" || now["currency"] != "EUR" || len(now) != 10 {
		t.Errorf("%v", now)
	}
	row, err := table.Read[identity.TenantRow](table.WithTenant(t.Context(), h.org), h.p.Table, identity.OrganisationKey(h.org))
	if err != nil || len(row.SSO) != 0 {
		t.Errorf("%+v, %v", row, err)
	}
	h.org = other
	if now = h.current(); now["currency"] != "USD" {
		t.Errorf("the other one: %v", now)
	}
}

func TestRenamingMovesTheClaimToTheName(t *testing.T) {
	h := newHouse(t)
	h.found("usr_ada", "Looms")
	if got := h.as("admin", "PUT /organisation", `{"name":"LOOMS","currency":"EUR"}`); got.status != 409 || !strings.Contains(string(got.Error), "LOOMS") {
		t.Errorf("%d %s", got.status, got.Error)
	}
	if now := h.current(); now["name"] != "Engines" || now["currency"] != "USD" {
		t.Errorf("half of a refused change was made: %v", now)
	}
	if got := h.as("admin", "PUT /organisation", `{"name":"Wheels"}`); got.status != 200 {
		t.Errorf("%d %s", got.status, got.Error)
	}
	if got := call(t, h.p, "usr_ada", `{"name":"wheels"}`); got.status != 409 {
		t.Errorf("the new name is free: %d", got.status)
	}
	if got := call(t, h.p, "usr_ada", `{"name":"Engines"}`); got.status != 200 {
		t.Errorf("the old name is taken: %d %s", got.status, got.Error)
	}
}

// Whoever tried names could learn from 409 how the creator's other organizations are called. check 39.
func TestRenamingTellsNothingOfTheCreatorsOtherOrganizations(t *testing.T) {
	for _, role := range []string{"eve's admin", "vouched admin"} {
		h := newHouse(t)
		h.p.Workflow = nowhere{}
		h.found("usr_ada", "Looms")
		for _, s := range []struct {
			role, name string
			status     int
		}{{role, "Wheels", 200}, {role, "Looms", 200}, {"admin", "looms", 200}, {"admin", "Engines", 200}, {"admin", "Looms", 409}, {role, "Looms", 200}} {
			if got := h.as(s.role, "PUT /organisation", `{"name":"`+s.name+`"}`); got.status != s.status {
				t.Errorf("%s names it %s: %d %s", s.role, s.name, got.status, got.Error)
			}
		}
		if got := h.as("owner", "DELETE /organisation", `{"confirm":"Looms"}`); got.status != 200 {
			t.Errorf("it cannot be deleted any more: %d %s", got.status, got.Error)
		}
		for name, status := range map[string]int{"looms": 409, "Wheels": 200, "Engines": 200} {
			if got := call(t, h.p, "usr_ada", `{"name":"`+name+`"}`); got.status != status {
				t.Errorf("after %s, another %s: %d %s", role, name, got.status, got.Error)
			}
		}
	}
}

func TestSettingsChangedAtOnceAreAllKept(t *testing.T) {
	h := newHouse(t)
	var wg sync.WaitGroup
	for _, body := range []string{`{"currency":"EUR"}`, `{"mcpEnabled":true}`, `{"savingsRealism":0.5}`, `{"anomalyMinUSD":"2"}`, `{"defaultDashboard":"finops"}`} {
		wg.Go(func() {
			own := *h
			if got := own.as("admin", "PUT /organisation", body); got.status != 200 {
				t.Errorf("%s: %d %s", body, got.status, got.Error)
			}
		})
	}
	wg.Wait()
	now := h.current()
	if now["currency"] != "EUR" || now["mcpEnabled"] != true || now["savingsRealism"] != 0.5 || now["anomalyMinUSD"] != "2" || now["defaultDashboard"] != "finops" {
		t.Errorf("%v", now)
	}
}

func TestWhoMayDoWhatWithTheOrganization(t *testing.T) {
	h := newHouse(t)
	for _, c := range []struct {
		role, request, body string
		status              int
	}{
		{"viewer", "GET /organisation", "", 200},
		{"editor", "PUT /organisation", `{"currency":"EUR"}`, 403},
		{"admin", "PUT /organisation", `{"currency":"EUR"}`, 200},
		{"admin", "DELETE /organisation", `{"confirm":"Engines"}`, 403},
		{"pat owner", "DELETE /organisation", `{"confirm":"Engines"}`, 403},
		{"owner", "DELETE /organisation", "", 400},
		{"owner", "DELETE /organisation", `{}`, 400},
		{"owner", "DELETE /organisation", `{"confirm":"engines"}`, 400},
		{"owner", "DELETE /organisation?confirm=Engine", "", 400},
		{"owner", "DELETE /organisation?confirm=Engines", `{"confirm":"Looms"}`, 400},
	} {
		if got := h.as(c.role, c.request, c.body); got.status != c.status {
			t.Errorf("%s %s %s: %d %s", c.role, c.request, c.body, got.status, got.Error)
		}
	}
	h.current()
}

func TestAnOrganizationThatEndsIsNotOffered(t *testing.T) {
	h := newHouse(t)
	kept := h.found("usr_ada", "Looms")
	h.p.Workflow = nowhere{}
	if got := h.as("owner", "DELETE /organisation?confirm=Engines", ""); got.status != 200 || string(got.Data) != `{"id":"`+h.org+`"}` {
		t.Fatalf("%d %s %s", got.status, got.Data, got.Error)
	}
	if all := list(t, h.p, "usr_ada"); len(all) != 1 || all[0].ID != kept {
		t.Errorf("offered %+v", all)
	}
	for _, c := range [][2]string{{"GET /organisation", ""}, {"PUT /organisation", `{"currency":"EUR"}`}, {"DELETE /organisation?confirm=Engines", ""}} {
		if got := h.as("owner", c[0], c[1]); got.status != 404 {
			t.Errorf("%s: %d %s", c[0], got.status, got.Error)
		}
	}
	if got := call(t, h.p, "usr_ada", `{"name":"Engines"}`); got.status != 200 {
		t.Errorf("its name is still taken: %d %s", got.status, got.Error)
	}
}

// nowhere is where no machine can be started: the sweeper's business, not the client's.
type nowhere struct{ workflow.Engine }

func (nowhere) Start(context.Context, string, string, any) error {
	return fault.New(fault.Unavailable, "no engine")
}
