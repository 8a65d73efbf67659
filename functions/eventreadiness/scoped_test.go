package eventreadiness

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/testkit/apitest"
)

// scopedFixture has a plan on web alone, one on api alone and one on both.
type scopedFixture struct {
	*fixture
	web, api, both EventPlan
	ids            map[string]string // of the resources, by native id
}

func newScopedFixture(t *testing.T) *scopedFixture {
	t.Helper()
	f := &scopedFixture{fixture: newFixture(t), ids: map[string]string{}}
	found := apitest.Value(inventory.New(f.Platform).ByUIDs(f.In(ours), ours, []string{"web", "api"},
		inventory.SeeEverything()))(t)
	for i := range found {
		f.ids[found[i].UID] = found[i].ID
	}
	f.both = f.later(48, "asp_web", "asp_api")
	f.web, f.api = f.later(96, "asp_web"), f.later(96, "asp_api")
	f.call("POST /event-readiness/" + f.api.ID + "/schedule").Want(http.StatusOK)
	return f
}

// later creates a plan whose event begins in some hours.
func (f *scopedFixture) later(hours int, policies ...string) EventPlan {
	f.Helper()
	body := f.planBody(policies...)
	start := f.Clock.Now().Add(time.Duration(hours) * time.Hour)
	body["eventStart"], body["eventEnd"] = start.Format(time.RFC3339), start.Add(8*time.Hour).Format(time.RFC3339)
	return apitest.Data[EventPlan](f.call("POST /event-readiness", body).Want(http.StatusOK))
}

func TestPlans_ANarrowGrantSeesThoseWhoseTargetsAllLieInIt(t *testing.T) {
	f := newScopedFixture(t)
	for _, c := range []struct {
		name, org, scope string
		sees             []EventPlan
		statuses         string
	}{
		{"a grant on web", ours, " resource:" + f.ids["web"], []EventPlan{f.web}, "draft"},
		{"a grant on api", ours, " resource:" + f.ids["api"], []EventPlan{f.api}, "scheduling"},
		{"grants of another organization", theirs, " resource:" + f.ids["web"], nil, ""},
		{"the whole organization", ours, "", []EventPlan{f.web, f.api, f.both}, "draft,scheduling"},
	} {
		t.Run(c.name, func(t *testing.T) {
			caller := apitest.Caller(c.org, "pia", "event-readiness:read"+c.scope)
			list := f.Call(caller, "GET /event-readiness").Want(http.StatusOK)
			seen := map[string]bool{}
			for _, p := range c.sees {
				seen[p.ID] = true
			}
			if got := apitest.Data[EventPlanCount](f.Call(caller,
				"GET /event-readiness/count")); got.Count != len(c.sees) {
				t.Errorf("it counts %d plans, want %d", got.Count, len(c.sees))
			}
			var statuses []string
			for _, s := range apitest.Data[EventPlanFilters](f.Call(caller, "GET /event-readiness/filters")).Statuses {
				statuses = append(statuses, string(s))
			}
			if got := strings.Join(statuses, ","); got != c.statuses {
				t.Errorf("the statuses are %q, want %q", got, c.statuses)
			}
			for _, p := range []EventPlan{f.web, f.api, f.both} {
				want := http.StatusNotFound
				if seen[p.ID] {
					want = http.StatusOK
				}
				if listed := strings.Contains(list.Body, p.ID); listed != seen[p.ID] {
					t.Errorf("plan %s: listed %v, want %v", p.ID, listed, seen[p.ID])
				}
				for _, path := range []string{"", "/logs", "/readiness-check", "/cost-estimate", "/db-impact"} {
					f.Call(caller, "GET /event-readiness/"+p.ID+path).Want(want)
				}
			}
		})
	}
}

func TestPreviews_ANarrowGrantNamesOnlyPoliciesInIt(t *testing.T) {
	f := newScopedFixture(t)
	pia := apitest.Caller(ours, "pia", "event-readiness:read resource:"+f.ids["web"])
	preview := func(policy string) map[string]any {
		body := f.planBody(policy)
		delete(body, "name")
		return body
	}
	f.Call(pia, "GET /event-readiness/calculate?multiplier=2&policy_id=asp_web").Want(http.StatusOK)
	f.Call(pia, "GET /event-readiness/calculate?multiplier=2&policy_id=asp_api").Want(http.StatusNotFound, "asp_api")
	f.Call(pia, "GET /event-readiness/calculate-db?multiplier=2&policy_id=asp_api").Want(http.StatusNotFound, "asp_api")
	f.Call(pia, "GET /event-readiness/calculate-db?multiplier=2&resource_id="+f.ids["api"]).Want(http.StatusNotFound,
		f.ids["api"])
	f.Call(pia, "GET /event-readiness/calculate-db?multiplier=2&resource_id="+f.ids["web"]).Want(http.StatusBadRequest,
		"no class to step up")
	for _, path := range []string{"/preview-readiness", "/cost-preview"} {
		f.Call(pia, "POST /event-readiness"+path, preview("asp_web")).Want(http.StatusOK)
		f.Call(pia, "POST /event-readiness"+path, preview("asp_api")).Want(http.StatusBadRequest, "asp_api",
			"does not exist")
	}
	writer := apitest.Caller(ours, "pia", "event-readiness:write resource:"+f.ids["web"])
	f.Call(writer, "POST /event-readiness", f.planBody("asp_web")).Want(http.StatusForbidden)
	f.Call(writer, "DELETE /event-readiness/"+f.web.ID).Want(http.StatusForbidden)
}

func TestPlans_ANarrowGrantCostsAtMostTwoRoundTripsMore(t *testing.T) {
	f := newScopedFixture(t)
	trips := func(grants, path string) int {
		c := apitest.Caller(ours, "pia", grants)
		f.Call(c, "GET "+path).Want(http.StatusOK) // reads the inventory into memory
		return f.Call(c, "GET "+path).Want(http.StatusOK).Usage.RoundTrips
	}
	for _, path := range []string{"/event-readiness", "/event-readiness/count", "/event-readiness/" + f.web.ID} {
		all, narrow := trips("event-readiness:read", path), trips("event-readiness:read resource:"+f.ids["web"], path)
		if narrow > all+2 {
			t.Errorf("%s: %d round trips with a narrow grant and %d without, want at most two more, beside each other",
				path, narrow, all)
		}
		t.Logf("%s: %d round trips with a narrow grant, %d without", path, narrow, all)
	}
}
