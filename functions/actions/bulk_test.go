package actions_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/functions/actions"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/tabletest"
)

const (
	bulkOrg  = "org_01k00000000000000000000000"
	otherOrg = "org_01k00000000000000000000001"
)

var monday = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// started is an engine that notes the executions that it is asked for, and runs none.
type started struct {
	workflow.Engine
	mu    sync.Mutex
	names []string
}

// Start notes the name; an execution that was started before is a conflict, as one that has ended is.
func (s *started) Start(_ context.Context, _, name string, _ any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names = append(s.names, name)
	return nil
}

// bulkFixture serves the group of operations on two accounts. web-0 to web-5 run in the first account, three of them
// tagged env=prod. ro-0 is in the second account, which is read_only. web-6 belongs to an Auto Scaling group, web-7
// is terminated.
type bulkFixture struct {
	*testing.T
	p      *platform.Platform
	h      http.Handler
	engine *started
	store  *inventory.Store
	ids    map[string]string // by name
}

func newBulkFixture(t *testing.T) *bulkFixture {
	t.Helper()
	c := clock.NewManual(monday)
	f := &bulkFixture{T: t, engine: &started{}, ids: map[string]string{}}
	f.p = &platform.Platform{Table: table.Fenced(tabletest.NewAt(t, c)), Clock: c, Workflow: f.engine}
	f.h, _ = rest.Mount(f.p, actions.Operations(f.p))
	f.store = inventory.New(f.p)
	f.account("ca_01k00000000000000000000000", "read_write")
	f.account("ca_01k00000000000000000000001", "read_only")
	var found []cloud.Resource
	for i := range 8 {
		r := cloud.Resource{
			UID: fmt.Sprintf("i-web-%d", i), Name: fmt.Sprintf("web-%d", i), Status: cloud.Running,
			Tags: map[string]string{"env": []string{"prod", "dev"}[i%2]},
		}
		if i == 6 {
			r.Unschedulable = "it belongs to the Auto Scaling group workers"
		}
		found = append(found, r)
	}
	f.discoverIn("ca_01k00000000000000000000000", found...)
	found[7].Status = cloud.Terminated // a resource that is terminated when it is first seen is not stored
	c.Advance(time.Minute)
	f.discoverIn("ca_01k00000000000000000000000", found[7])
	f.discoverIn("ca_01k00000000000000000000001", cloud.Resource{UID: "i-ro-0", Name: "ro-0", Status: cloud.Running})
	return f
}

func (f *bulkFixture) in() context.Context { return table.WithOrg(f.Context(), bulkOrg) }

func (f *bulkFixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *bulkFixture) put(k table.Key, v any) {
	f.Helper()
	it, err := table.NewItem(k, v)
	f.must(err)
	_, err = f.p.Table.Write(f.in(), table.Put(it))
	f.must(err)
}

func (f *bulkFixture) account(accountID, level string) {
	f.Helper()
	f.put(inventory.AccountKey(bulkOrg, accountID),
		inventory.Account{ID: accountID, Provider: "aws", Name: level, PermissionLevel: level})
}

func (f *bulkFixture) discoverIn(accountID string, found ...cloud.Resource) {
	f.Helper()
	part := inventory.Partition{AccountID: accountID, Provider: "aws", Region: "eu-west-1", Kind: "aws-ec2"}
	_, err := f.store.UpsertScanned(f.in(), bulkOrg,
		inventory.Batch{
			Scan: inventory.Scan{Partition: part, ID: "job_1", Started: monday}, At: f.p.Clock.Now(),
			Resources: found,
		})
	f.must(err)
	all, err := f.store.FindResources(f.in(), bulkOrg,
		inventory.List{Filter: inventory.Filter{Sight: inventory.SeeEverything()}})
	f.must(err)
	for _, r := range all {
		f.ids[r.Name] = r.ID
	}
}

// newGroup makes a group of the named resources, each at the tier of its number in the list, from 1.
func (f *bulkFixture) newGroup(names ...string) string {
	f.Helper()
	places := make([]inventory.GroupPlacement, len(names))
	for i, n := range names {
		places[i] = inventory.GroupPlacement{ResourceID: f.ids[n], Tier: i + 1, Order: 1}
	}
	g, err := f.store.CreateGroup(f.in(), bulkOrg,
		inventory.Group{ID: id.New("grp", monday), Name: id.New("grp", monday)}, places)
	f.must(err)
	return g.ID
}

// answer is the answer of an operation.
type answer struct {
	code int
	body string
}

func (a answer) data(t testing.TB) (out actions.BulkSubmitted) {
	t.Helper()
	var env struct{ Data *actions.BulkSubmitted }
	env.Data = &out
	if err := json.Unmarshal([]byte(a.body), &env); err != nil || a.code != http.StatusOK {
		t.Fatalf("%d %s %v", a.code, a.body, err)
	}
	return out
}

func (a answer) want(t testing.TB, code int, words ...string) {
	t.Helper()
	if a.code != code {
		t.Errorf("got %d %s, want %d", a.code, a.body, code)
	}
	for _, w := range words {
		if !strings.Contains(a.body, w) {
			t.Errorf("%s does not say %q", a.body, w)
		}
	}
}

// everybody is the grant of who may do everything.
var everybody = []grant.Grant{{Policies: []string{"*:*"}, Scope: grant.OrgScope}}

func (f *bulkFixture) callAs(org string, grants []grant.Grant, method, path, body string) answer {
	ctx := identity.WithCaller(table.WithOrg(f.Context(), org),
		identity.Caller{Org: org, User: "usr_1", Email: "ada@example.com", Grants: grants})
	w := httptest.NewRecorder()
	f.h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body)))
	return answer{w.Code, w.Body.String()}
}

func (f *bulkFixture) submitBulk(body string, args ...any) answer {
	return f.callAs(bulkOrg, everybody, "POST", "/actions/bulk", fmt.Sprintf(body, args...))
}

// quoteNames is names as a JSON list of ids.
func (f *bulkFixture) quoteNames(names ...string) string {
	ids := make([]string, len(names))
	for i, n := range names {
		ids[i] = f.ids[n]
	}
	b, err := json.Marshal(ids)
	f.must(err)
	return string(b)
}

func (f *bulkFixture) rows(pk string) []table.Item {
	f.Helper()
	page, err := f.p.Table.Query(table.Within(f.Context(), ""), table.Query{PK: pk, Limit: 1000})
	f.must(err)
	return page.Items
}

func TestSubmitBulk_OneRunsOnAGroupAtATime(t *testing.T) {
	f := newBulkFixture(t)
	g := f.newGroup("web-0", "web-1")
	first := f.submitBulk(`{"type":"stop","groupID":%q}`, g).data(t)
	if again := f.submitBulk(`{"type":"stop","groupID":%q}`, g).data(t); apitest.JSON(again) != apitest.JSON(first) {
		t.Errorf("the same again is %+v, and not %+v", again, first)
	}
	f.submitBulk(`{"type":"start","groupID":%q}`, g).want(t, 409, first.BulkActionID, "cancel it")
	f.submitBulk(`{"type":"start","groupID":%q,"dryRun":true}`, g).want(t, 409, first.BulkActionID)
	if dry := f.submitBulk(`{"type":"stop","groupID":%q,"dryRun":true}`,
		g).data(t); dry.BulkActionID != first.BulkActionID ||
		dry.Plan == nil {
		t.Errorf("a dry run of what is under way: %+v", dry)
	}
	other := f.submitBulk(`{"type":"start","groupID":%q}`, f.newGroup("web-0")).data(t)
	if other.BulkActionID == first.BulkActionID {
		t.Error("another group joined")
	}
	if len(f.engine.names) != 2 {
		t.Errorf("started: %v", f.engine.names)
	}
}

func TestSubmitBulk_AGroupIsFreeWhenItsBulkActionIsOver(t *testing.T) {
	f := newBulkFixture(t)
	g := f.newGroup("web-0")
	first := f.submitBulk(`{"type":"stop","groupID":%q}`, g).data(t)
	key := execution.BulkKey(bulkOrg, first.BulkActionID)
	b, err := table.Read[execution.Bulk](f.in(), f.p.Table, key)
	f.must(err)
	// its claim was left: the process died between its end and the release of the claim
	b.Status, b.Ended = execution.BulkCompleted, true
	f.put(key, b)
	next := f.submitBulk(`{"type":"start","groupID":%q}`, g).data(t)
	if next.BulkActionID == first.BulkActionID {
		t.Error("it joined one that is over")
	}
	claim, err := table.Read[execution.GroupClaim](f.in(), f.p.Table, execution.GroupClaimKey(bulkOrg, g))
	f.must(err)
	if claim.BulkActionID != next.BulkActionID {
		t.Errorf("the group is held by %s", claim.BulkActionID)
	}
}

func TestSubmitBulk_ManyAtOnceMakeOne(t *testing.T) {
	f := newBulkFixture(t)
	g := f.newGroup("web-0", "web-1")
	var mu sync.Mutex
	var wg sync.WaitGroup
	ids, refused := map[string]int{}, 0
	for i := range 40 {
		wg.Go(func() {
			got := f.submitBulk(`{"type":%q,"groupID":%q}`, []string{"stop", "start"}[i%2], g)
			mu.Lock()
			defer mu.Unlock()
			if got.code == http.StatusConflict {
				refused++
				return
			}
			ids[got.data(t).BulkActionID]++
		})
	}
	wg.Wait()
	if len(ids) != 1 || refused != 20 {
		t.Errorf("20 starts and 20 stops at once made %v, and %d were refused", ids, refused)
	}
	if n := len(f.rows(execution.BulkPK(bulkOrg))); n != 1 {
		t.Errorf("%d bulk actions are stored", n)
	}
}

func TestSubmitBulk_WhatItActsOn(t *testing.T) {
	f := newBulkFixture(t)
	for name, c := range map[string]struct {
		body string
		want []string
	}{
		"resources, each once, without the terminated": {`"resourceIDs":` + f.quoteNames("web-3", "web-1", "web-3",
			"web-6",
			"web-7"), []string{"web-1", "web-3", "web-6"}},
		"a tag":                {`"filter":{"tag":["env=prod"]}`, []string{"web-0", "web-2", "web-4"}},
		"a tag that is a text": {`"filter":{"tag":"env=prod"}`, []string{"web-0", "web-2", "web-4"}},
		"a search, without what belongs to a group": {
			`"filter":{"search":"web-"}`,
			[]string{"web-0", "web-1", "web-2", "web-3", "web-4", "web-5"},
		},
		"an account": {`"filter":{"cloud_account_id":"ca_01k00000000000000000000001"}`, []string{"ro-0"}},
		"what can be started and stopped, of two words": {`"filter":{"schedulable":true,"status":"running",` +
			`"type":"aws-ec2",` +
			`"provider":"aws","region":"eu-west-1","tag":["env=dev"]}`, []string{"web-1", "web-3", "web-5"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := f.submitBulk(`{"type":"stop",%s}`, c.body).data(t)
			named, err := table.Read[execution.Named](f.in(), f.p.Table, execution.NamedKey(bulkOrg, got.BulkActionID))
			f.must(err)
			var want []string
			for _, n := range c.want {
				want = append(want, f.ids[n])
			}
			slices.Sort(want)
			slices.Sort(named.ResourceIDs)
			if !slices.Equal(named.ResourceIDs, want) || got.Total != len(want) || got.Status != execution.BulkQueued {
				t.Errorf("%+v acts on %v, want %v", got, named.ResourceIDs, want)
			}
			dry := f.submitBulk(`{"type":"stop","dryRun":true,%s}`, c.body).data(t)
			if dry.Total != len(want) {
				t.Errorf("the dry run has %d", dry.Total)
			}
		})
	}
}

func TestSubmitBulk_WhatIsRefused(t *testing.T) {
	f := newBulkFixture(t)
	g := f.newGroup("web-0")
	long := make([]string, execution.MaxTargets+1)
	for i := range long {
		long[i] = "res_x"
	}
	many, err := json.Marshal(long)
	f.must(err)
	for name, c := range map[string]struct {
		body string
		code int
		word string
	}{
		"nothing is named": {`{"type":"stop"}`, 400, "resourceIDs"},
		"two are named": {
			`{"type":"stop","groupID":"` + g + `","filter":{"search":"web"}}`, 400,
			"filter",
		},
		"an empty filter":             {`{"type":"stop","filter":{}}`, 400, "everything"},
		"a filter that finds nothing": {`{"type":"stop","filter":{"search":"none"}}`, 400, "filter"},
		"a filter of what cannot be acted on": {
			`{"type":"stop","filter":{"search":"web-6"}}`, 400,
			"none can be acted on",
		},
		"an unknown resource": {`{"type":"stop","resourceIDs":["` + f.ids["web-0"] +
			`","res_01k00000000000000000000009"]}`, 404, "res_01k00000000000000000000009"},
		"no resources": {`{"type":"stop","resourceIDs":[]}`, 400, "resourceIDs"},
		"only a terminated one": {
			`{"type":"stop","resourceIDs":` + f.quoteNames("web-7") + `}`, 400,
			"terminated",
		},
		"too many resources": {
			`{"type":"stop","resourceIDs":` + string(many) + `}`, 400,
			"resourceIDs",
		},
		"a status that is none":       {`{"type":"stop","filter":{"status":"asleep"}}`, 400, "status"},
		"one of two statuses is none": {`{"type":"stop","filter":{"status":"running,asleep"}}`, 400, "asleep"},
		"a window that ends before it begins": {
			`{"type":"stop","filter":{"created_after":"2026-03-02","created_before":"2026-03-01"}}`, 400,
			"created_after",
		},
		"a group without members": {`{"type":"stop","groupID":"` + f.newGroup() + `"}`, 400, "add some first"},
		"an unknown group": {
			`{"type":"stop","groupID":"grp_01k00000000000000000000009"}`, 404,
			"grp_01k00000000000000000000009",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, dry := range []string{"", `"dryRun":true,`} {
				f.submitBulk("%s", strings.Replace(c.body, "{", "{"+dry, 1)).want(t, c.code, c.word)
			}
		})
	}
	f.callAs(otherOrg, everybody, "POST", "/actions/bulk",
		`{"type":"stop","resourceIDs":`+f.quoteNames("web-0")+`}`).want(t,
		404)
	if n := len(f.rows(execution.BulkPK(bulkOrg))); n != 0 {
		t.Errorf("%d bulk actions are stored", n)
	}
}

// TestSubmitBulk_AScopedCallerActsOnNothingElse sees web-0 to web-3 and may act on web-0 and web-1.
func TestSubmitBulk_AScopedCallerActsOnNothingElse(t *testing.T) {
	f := newBulkFixture(t)
	var grants []grant.Grant
	for i := range 4 {
		policies := []string{"resources:read", "actions:read"}
		if i < 2 {
			policies = append(policies, "actions:execute")
		}
		grants = append(grants, grant.Grant{Policies: policies, Scope: "resource:" + f.ids[fmt.Sprint("web-", i)]})
	}
	as := func(body string) answer { return f.callAs(bulkOrg, grants, "POST", "/actions/bulk", body) }
	as(`{"type":"stop","resourceIDs":`+f.quoteNames("web-0", "web-5")+`}`).want(t, 404, f.ids["web-5"])
	as(`{"type":"stop","resourceIDs":`+f.quoteNames("web-0", "web-2")+`}`).want(t, 403, f.ids["web-2"])
	as(`{"type":"stop","filter":{"cloud_account_id":"ca_01k00000000000000000000001"}}`).want(t, 400)
	dry := as(`{"type":"stop","filter":{"search":"web"},"dryRun":true}`).data(t)
	if dry.Total != 2 || len(dry.Plan.LeftOut) != 2 ||
		!strings.Contains(dry.Plan.LeftOut[0].Reason, "permission denied") {
		t.Errorf("the dry run: %+v %+v", dry, dry.Plan)
	}
	b := as(`{"type":"stop","filter":{"search":"web"}}`).data(t)
	named, err := table.Read[execution.Named](f.in(), f.p.Table, execution.NamedKey(bulkOrg, b.BulkActionID))
	f.must(err)
	if b.Total != 2 || !slices.Contains(named.ResourceIDs, f.ids["web-0"]) ||
		!slices.Contains(named.ResourceIDs, f.ids["web-1"]) {
		t.Errorf("%+v acts on %v", b, named)
	}
	path := "/actions/bulk/" + b.BulkActionID
	f.callAs(bulkOrg, grants, "GET", path, "").want(t, 200, b.BulkActionID)
	f.callAs(bulkOrg, grants[2:], "GET", path, "").want(t, 404)
	f.callAs(bulkOrg, grants[1:], "POST", path+"/cancel", "").want(t, 404)
	readers := []grant.Grant{{Policies: []string{"*:read"}, Scope: grant.OrgScope}, grants[0]}
	f.callAs(bulkOrg, readers, "POST", path+"/cancel", "").want(t, 403)
	f.callAs(bulkOrg, grants[:2], "POST", path+"/cancel", "").want(t, 200, "cancelled")
}

func TestCancelBulk(t *testing.T) {
	f := newBulkFixture(t)
	g := f.newGroup("web-0", "web-1")
	b := f.submitBulk(`{"type":"stop","groupID":%q}`, g).data(t)
	path := "/actions/bulk/" + b.BulkActionID + "/cancel"
	f.callAs(otherOrg, everybody, "POST", path, "").want(t, 404)
	f.callAs(bulkOrg, everybody, "POST", path, "").want(t, 200, `"status":"cancelled"`)
	// the execution that cancels is started again: the first cancellation may have been interrupted before that
	for range 2 {
		f.callAs(bulkOrg, everybody, "POST", path, "").want(t, 409, b.BulkActionID+" is cancelled")
	}
	want := []string{b.BulkActionID, b.BulkActionID + "-cancel", b.BulkActionID + "-cancel", b.BulkActionID + "-cancel"}
	if !slices.Equal(f.engine.names, want) {
		t.Errorf("started %v", f.engine.names)
	}
	f.submitBulk(`{"type":"stop","groupID":%q}`, g).want(t, 409, "was cancelled")
	f.submitBulk(`{"type":"start","groupID":%q}`, g).want(t, 409, "was cancelled")
	f.callAs(bulkOrg, everybody, "POST", "/actions/bulk/bulk_none/cancel", "").want(t, 404)

	key := execution.BulkKey(bulkOrg, b.BulkActionID)
	row, err := table.Read[execution.Bulk](f.in(), f.p.Table, key)
	f.must(err)
	if row.CancelledBy != "ada@example.com" {
		t.Errorf("cancelled by %q", row.CancelledBy)
	}
	row.Status, row.Ended = execution.BulkCompleted, true
	f.put(key, row)
	f.callAs(bulkOrg, everybody, "POST", path, "").want(t, 409, "completed")
}
