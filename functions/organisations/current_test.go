package organisations

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
)

func TestTheOrganizationAndItsSettings(t *testing.T) {
	h := newOrganization(t)
	want := map[string]any{
		"id": h.org, "name": "Engines", "createdBy": "usr_ada", "createdAt": "2026-03-10T09:30:30Z",
		"updatedAt": "2026-03-10T09:30:30Z",
		"currency":  "USD", "mcpEnabled": false, "defaultDashboard": nil, "savingsRealism": 0.7, "anomalyMinUSD": "1",
		"retentionMonths": 13.0, "eventAllOrNothing": false, "attributionMonths": 13.0,
		"requireMFA": false, "requiredTags": []any{}, "allowedRegions": []any{}, "minLogDays": 0.0,
		"autonomousRules": []any{},
	}
	same := func(after string) {
		t.Helper()
		got := h.current()
		if len(got) != len(want) {
			t.Errorf("%s: %v", after, got)
		}
		for k, v := range want {
			if !reflect.DeepEqual(got[k], v) {
				t.Errorf("%s: %s is %v, want %v", after, k, got[k], v)
			}
		}
	}
	same("at first")
	h.as("viewer", "GET /organisation", "").AtMost(1)
	h.Clock.Advance(time.Second)
	want["updatedAt"] = "2026-03-10T09:30:31Z"
	const dashboard = "dash_01k8z3v5y0e6m9x2q4t7r1c8bd"
	h.Put(identity.DashboardKey(h.org, dashboard), map[string]string{"id": dashboard})
	for _, c := range []struct {
		body string
		want map[string]any
	}{
		{`{"currency":"EUR"}`, map[string]any{"currency": "EUR"}},
		{`{"mcpEnabled":true,"savingsRealism":0.1234}`, map[string]any{"mcpEnabled": true, "savingsRealism": 0.1234}},
		{`{"defaultDashboard":"finops"}`, map[string]any{"defaultDashboard": "finops"}},
		{
			`{"anomalyMinUSD":"0.05","defaultDashboard":"dash_01k8z3v5y0e6m9x2q4t7r1c8bd"}`,
			map[string]any{"anomalyMinUSD": "0.05", "defaultDashboard": "dash_01k8z3v5y0e6m9x2q4t7r1c8bd"},
		},
		{
			`{"currency":null,"mcpEnabled":null,"defaultDashboard":null,"savingsRealism":null,"anomalyMinUSD":null}`,
			map[string]any{
				"currency": "USD", "mcpEnabled": false, "defaultDashboard": nil, "savingsRealism": 0.7,
				"anomalyMinUSD": "1",
			},
		},
		{`{"retentionMonths":120}`, map[string]any{"retentionMonths": 120.0}},
		{`{"retentionMonths":1}`, map[string]any{"retentionMonths": 1.0}},
		{`{"retentionMonths":null}`, map[string]any{"retentionMonths": 13.0}},
		{`{"eventAllOrNothing":true}`, map[string]any{"eventAllOrNothing": true}},
		{`{"eventAllOrNothing":null}`, map[string]any{"eventAllOrNothing": false}},
		{`{"attributionMonths":0}`, map[string]any{"attributionMonths": 0.0}},
		{`{"attributionMonths":36}`, map[string]any{"attributionMonths": 36.0}},
		{`{"attributionMonths":null}`, map[string]any{"attributionMonths": 13.0}},
		{
			`{"requiredTags":[" Team","env","team"],"allowedRegions":["eu-west-1"],"minLogDays":365}`,
			map[string]any{
				"requiredTags": []any{"env", "team"}, "allowedRegions": []any{"eu-west-1"}, "minLogDays": 365.0,
			},
		},
		{`{"requiredTags":[]}`, map[string]any{"requiredTags": []any{}}},
		{
			`{"requiredTags":null,"allowedRegions":null,"minLogDays":null}`,
			map[string]any{"requiredTags": []any{}, "allowedRegions": []any{}, "minLogDays": 0.0},
		},
		{
			`{"autonomousRules":["aws-ec2-schedule-nonprod"]}`,
			map[string]any{"autonomousRules": []any{"aws-ec2-schedule-nonprod"}},
		},
		{`{"autonomousRules":null}`, map[string]any{"autonomousRules": []any{}}},
		{`{"mcpEnabled":false,"savingsRealism":0}`, map[string]any{"savingsRealism": 0.0}},
		{`{"name":" Looms "}`, map[string]any{"name": "Looms"}},
		{`{"name":"LOOMS"}`, map[string]any{"name": "LOOMS"}},
		{`{"name":"a#b:c|d ORG#org_2#"}`, map[string]any{"name": "a#b:c|d ORG#org_2#"}}, // check 53
		{`{}`, nil},
	} {
		if got := h.as("admin", "PUT /organisation", c.body); got.Status != 200 {
			t.Fatalf("%s: %d %s", c.body, got.Status, got.Body)
		}
		maps.Copy(want, c.want)
		same(c.body)
	}
}

func TestSettingsThatNoOrganizationHas(t *testing.T) {
	h := newOrganization(t)
	before := h.current()
	for body, about := range map[string]string{
		`{"name":null}`: "name", `{"name":""}`: "name", `{"name":"a\nb"}`: "name",
		`{"name":"` + strings.Repeat("x", 101) + `"}`: "name",
		`{"currency":"eur"}`:                          "currency", `{"currency":"XXX"}`: "currency",
		`{"currency":"EURO"}`:    "currency",
		`{"currency":7}`:         "currency",
		`{"savingsRealism":1.1}`: "savingsRealism", `{"savingsRealism":-0.1}`: "savingsRealism",
		`{"savingsRealism":0.12345}`: "savingsRealism",
		`{"savingsRealism":1e-9}`:    "savingsRealism", `{"savingsRealism":"0.7"}`: "savingsRealism",
		`{"anomalyMinUSD":"-1"}`: "anomalyMinUSD", `{"anomalyMinUSD":"1e9"}`: "anomalyMinUSD",
		`{"anomalyMinUSD":"0.001"}`: "anomalyMinUSD",
		`{"anomalyMinUSD":"01"}`:    "anomalyMinUSD", `{"anomalyMinUSD":""}`: "anomalyMinUSD",
		`{"anomalyMinUSD":1}`:   "anomalyMinUSD",
		`{"retentionMonths":0}`: "retentionMonths", `{"retentionMonths":121}`: "retentionMonths",
		`{"retentionMonths":1.5}`:     "retentionMonths",
		`{"defaultDashboard":"mine"}`: "defaultDashboard", `{"mcpEnabled":"yes"}`: "mcpEnabled",
		`{"attributionMonths":-1}`: "attributionMonths", `{"attributionMonths":37}`: "attributionMonths",
		`{"attributionMonths":1.5}`: "attributionMonths",
		`{"requiredTags":[" "]}`:    "requiredTags", `{"allowedRegions":["eu west"]}`: "allowedRegions",
		`{"minLogDays":-1}`: "minLogDays", `{"requiredTags":"team"}`: "requiredTags",
		`{"eventAllOrNothing":"yes"}`: "eventAllOrNothing", `[]`: "", `null`: "",
		`{"autonomousRules":["a rule"]}`: "autonomousRules", `{"autonomousRules":"all"}`: "autonomousRules",
		`{"currency":"EUR","name":""}`: "name",
	} {
		if got := h.as("admin", "PUT /organisation", body); got.Status != 400 || !strings.Contains(got.Body, about) {
			t.Errorf("%s: %d %s", body, got.Status, got.Body)
		}
	}
	after := h.current()
	for k, v := range before {
		if !reflect.DeepEqual(after[k], v) {
			t.Errorf("%s became %v", k, after[k])
		}
	}
}

// Another number of months rebuilds the costs, in the transaction of the change; the same number does not.
func TestAttributionMonths_RebuildsCostsWhenItChanges(t *testing.T) {
	h := newOrganization(t)
	rebuilds := func() (n int) {
		t.Helper()
		for shard := range workqueue.Shards {
			page, err := h.Table.Query(table.Within(t.Context(), workqueue.Prefix),
				table.Query{PK: workqueue.PK(shard), Prefix: billimport.RebuildPrefix + h.org, Limit: 10})
			h.Must(err)
			n += len(page.Items)
		}
		return n
	}
	for _, c := range []struct {
		body string
		want int
	}{
		{`{"attributionMonths":13,"currency":"EUR"}`, 0},
		{`{"attributionMonths":24}`, 1},
		{`{"attributionMonths":24}`, 1},
		{`{"attributionMonths":0}`, 2},
		{`{"attributionMonths":null,"defaultDashboard":"finops"}`, 3},
	} {
		h.as("admin", "PUT /organisation", c.body).Want(200)
		if got := rebuilds(); got != c.want {
			t.Errorf("%d rebuilds are listed after %s, want %d", got, c.body, c.want)
		}
		h.Clock.Advance(5 * time.Minute)
	}
}

// check 20, check 40: fields that may not be set are ignored, at any place of the request.
func TestWhatAnOrganizationCannotBeGivenIsIgnored(t *testing.T) {
	h := newOrganization(t)
	other := h.newOrganisation("usr_eve", "Engines of Eve")
	got := h.as("admin", "PUT /organisation?orgId="+other+"&id="+other,
		`{"currency":"EUR","id":"`+other+`","orgId":"`+other+`","org":"`+other+
			`","createdBy":"usr_eve","ownerId":"usr_eve","createdAt":"2001-01-01T00:00:00Z",`+
			`"updatedAt":"2001-01-01T00:00:00Z",`+
			`"status":"ended","ended":true,"ssoDomains":["example.com"],"members":0,"role":"owner"}`)
	if got.Status != 200 {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	now := h.current()
	if now["id"] != h.org || now["createdBy"] != "usr_ada" || now["createdAt"] != "2026-03-10T09:30:30Z" ||
		now["currency"] != "EUR" || len(now) != 18 {
		t.Errorf("%v", now)
	}
	row, err := table.Read[identity.OrganisationRecord](table.WithOrg(t.Context(), h.org), h.Table,
		identity.OrganisationKey(h.org))
	if err != nil || len(row.SSO) != 0 {
		t.Errorf("%+v, %v", row, err)
	}
	h.org = other
	if now = h.current(); now["currency"] != "USD" {
		t.Errorf("the other one: %v", now)
	}
}

func TestRenamingMovesTheClaimToTheName(t *testing.T) {
	h := newOrganization(t)
	h.newOrganisation("usr_ada", "Looms")
	h.as("admin", "PUT /organisation", `{"name":"LOOMS","currency":"EUR"}`).Want(409, "LOOMS")
	if now := h.current(); now["name"] != "Engines" || now["currency"] != "USD" {
		t.Errorf("half of a refused change was made: %v", now)
	}
	h.as("admin", "PUT /organisation", `{"name":"Wheels"}`).Want(200)
	h.createAs("usr_ada", `{"name":"wheels"}`).Want(409)  // the new name is taken
	h.createAs("usr_ada", `{"name":"Engines"}`).Want(200) // the old name is free
}

// A caller who tried names could otherwise learn from 409 the names of the creator's other organizations. check 39.
func TestRenamingTellsNothingOfTheCreatorsOtherOrganizations(t *testing.T) {
	for _, role := range []string{"eve's admin", "vouched admin"} {
		h := newOrganization(t)
		h.Workflow = nowhere{}
		h.newOrganisation("usr_ada", "Looms")
		for _, s := range []struct {
			role, name string
			status     int
		}{
			{role, "Wheels", 200},
			{role, "Looms", 200},
			{"admin", "looms", 200},
			{"admin", "Engines", 200},
			{"admin", "Looms", 409},
			{role, "Looms", 200},
		} {
			if got := h.as(s.role, "PUT /organisation", `{"name":"`+s.name+`"}`); got.Status != s.status {
				t.Errorf("%s names it %s: %d %s", s.role, s.name, got.Status, got.Body)
			}
		}
		h.as("owner", "DELETE /organisation", `{"confirm":"Looms"}`).Want(200) // it can still be deleted
		for name, status := range map[string]int{"looms": 409, "Wheels": 200, "Engines": 200} {
			if got := h.createAs("usr_ada", `{"name":"`+name+`"}`); got.Status != status {
				t.Errorf("after %s, another %s: %d %s", role, name, got.Status, got.Body)
			}
		}
	}
}

func TestSettingsChangedAtOnceAreAllKept(t *testing.T) {
	h := newOrganization(t)
	var wg sync.WaitGroup
	for _, body := range []string{
		`{"currency":"EUR"}`, `{"mcpEnabled":true}`, `{"savingsRealism":0.5}`,
		`{"anomalyMinUSD":"2"}`, `{"defaultDashboard":"finops"}`,
	} {
		wg.Go(func() {
			if got := h.as("admin", "PUT /organisation", body); got.Status != 200 {
				t.Errorf("%s: %d %s", body, got.Status, got.Body)
			}
		})
	}
	wg.Wait()
	now := h.current()
	if now["currency"] != "EUR" || now["mcpEnabled"] != true || now["savingsRealism"] != 0.5 ||
		now["anomalyMinUSD"] != "2" || now["defaultDashboard"] != "finops" {
		t.Errorf("%v", now)
	}
}

func TestWhoMayDoWhatWithTheOrganization(t *testing.T) {
	h := newOrganization(t)
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
		if got := h.as(c.role, c.request, c.body); got.Status != c.status {
			t.Errorf("%s %s %s: %d %s", c.role, c.request, c.body, got.Status, got.Body)
		}
	}
	h.current()
}

func TestAnOrganizationThatEndsIsNotOffered(t *testing.T) {
	h := newOrganization(t)
	kept := h.newOrganisation("usr_ada", "Looms")
	h.Workflow = nowhere{}
	if got := h.as("owner", "DELETE /organisation?confirm=Engines", ""); got.Status != 200 ||
		!strings.Contains(got.Body, `"data":{"id":"`+h.org+`"}`) {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	if all := h.listAs("usr_ada"); len(all) != 1 || all[0].ID != kept {
		t.Errorf("offered %+v", all)
	}
	for _, c := range [][2]string{
		{"GET /organisation", ""},
		{"PUT /organisation", `{"currency":"EUR"}`},
		{"DELETE /organisation?confirm=Engines", ""},
	} {
		if got := h.as("owner", c[0], c[1]); got.Status != 404 {
			t.Errorf("%s: %d %s", c[0], got.Status, got.Body)
		}
	}
	h.createAs("usr_ada", `{"name":"Engines"}`).Want(200) // its name is free again
}

// nowhere is where no machine can be started: the sweeper's business, not the client's.
type nowhere struct{ workflow.Engine }

func (nowhere) Start(context.Context, string, string, any) error {
	return fault.New(fault.Unavailable, "no engine")
}

// The record says who let each rule run without approval; a rule that is enabled again has the later one.
func TestChangeCurrent_RemembersWhoEnabledARule(t *testing.T) {
	h := newOrganization(t)
	enablers := func(as, rules string) string {
		t.Helper()
		if got := h.as(as, "PUT /organisation", `{"autonomousRules":`+rules+`}`); got.Status != 200 {
			t.Fatalf("%d %s", got.Status, got.Body)
		}
		o, err := table.Read[identity.OrganisationRecord](h.In(h.org), h.Table, identity.OrganisationKey(h.org))
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, id := range slices.Sorted(maps.Keys(o.AutonomousBy)) {
			out = append(out, id+" "+o.AutonomousBy[id].User)
		}
		return strings.Join(out, "; ")
	}
	for _, c := range []struct{ as, rules, want string }{
		{"admin", `["rule-a"]`, "rule-a usr_ada"},
		{"eve's admin", `["rule-a","rule-b"]`, "rule-a usr_ada; rule-b usr_eve"},
		{"eve's admin", `["rule-b"]`, "rule-b usr_eve"},
		{"eve's admin", `["rule-a"]`, "rule-a usr_eve"},
		{"admin", `null`, ""},
	} {
		if got := enablers(c.as, c.rules); got != c.want {
			t.Errorf("%s sends %s: %q, want %q", c.as, c.rules, got, c.want)
		}
	}
}
