package actions

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/table/tabletest"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/id"
)

const (
	ours   = "org_01k00000000000000000000000"
	theirs = "org_01k00000000000000000000001"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// api is the group behind its door, with an executor that never gets around to anything: what is tried here is the
// submission, and what is read is what was committed.
type api struct {
	t       *testing.T
	p       *platform.Platform
	h       http.Handler
	account inventory.Account
	res     inventory.Resource
}

func newAPI(t *testing.T) *api {
	t.Helper()
	c := clock.NewManual(noon)
	store := table.Fenced(tabletest.NewAt(t, c))
	machines, err := workflow.Machines(machineFiles(t), map[string]string{"ExecutorFunctionArn": "executor"})
	if err != nil {
		t.Fatal(err)
	}
	engine, err := workflow.NewEmbedded(workflow.Parts{
		Store: store, Clock: c, Machines: machines, Handlers: map[string]workflow.Handler{
			"executor": func(ctx context.Context, _ json.RawMessage) (any, error) { <-ctx.Done(); return nil, ctx.Err() },
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	a := &api{t: t, p: &platform.Platform{Table: store, Clock: c, Workflow: engine}}
	a.h, _ = rest.Mount(a.p, Operations(a.p))
	a.furnish()
	return a
}

// machineFiles are the machines of this group, without those of others.
func machineFiles(t *testing.T) fs.FS {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"action.asl.json", "bulk-action.asl.json"} {
		b, err := os.ReadFile("../../statemachines/" + name)
		if err == nil {
			err = os.WriteFile(dir+"/"+name, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return os.DirFS(dir)
}

// furnish connects an account with one running instance.
func (a *api) furnish() {
	a.account = inventory.Account{ID: id.New("ca", noon), Provider: "aws", CloudAccountID: "123456789012", Name: "prod", PermissionLevel: "read_write"}
	a.res = inventory.Resource{
		ID: id.New("res", noon), UID: "i-0abc", Type: "aws-ec2", Provider: "aws", CloudAccountID: a.account.ID, Region: "eu-west-1",
		Status: cloud.Running,
	}
	a.put(inventory.AccountKey(ours, a.account.ID), a.account)
	a.put(inventory.ResourceKey(ours, a.res.UID), a.res)
}

func (a *api) put(k table.Key, v any) {
	a.t.Helper()
	it, err := table.Row(k, v)
	if err == nil {
		_, err = a.p.Table.Write(table.WithTenant(a.t.Context(), ours), table.Put(it))
	}
	if err != nil {
		a.t.Fatal(err)
	}
}

// call makes a request as a member of org, and tells how many round trips to the store it took.
func (a *api) call(org, method, path, body string) (int, string, int) {
	a.t.Helper()
	ctx, meter := table.WithMeter(a.t.Context())
	ctx = identity.With(table.WithTenant(ctx, org), identity.Caller{
		Org: org, User: "usr_1", Email: "ada@example.com", Grants: []grant.Grant{{Policies: []string{"*:*"}, Scope: "org"}},
	})
	w := httptest.NewRecorder()
	a.h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body)))
	return w.Code, w.Body.String(), meter.Usage().RoundTrips
}

func (a *api) request(changes ...string) string {
	m := map[string]string{
		"type": "stop", "resourceUID": a.res.UID, "provider": "aws", "resourceType": "aws-ec2",
		"cloudAccountID": a.account.ID, "region": "eu-west-1",
	}
	for i := 0; i+1 < len(changes); i += 2 {
		m[changes[i]] = changes[i+1]
	}
	b, _ := json.Marshal(m)
	return string(b)
}

func data[T any](t *testing.T, body string) T {
	t.Helper()
	var out struct{ Data T }
	if err := json.Unmarshal([]byte(body), &out); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return out.Data
}

// Submitting takes three round trips to look things up, to commit and to start, and a fourth for its row in the audit log.
func TestSubmittingTakesFourRoundTripsAndReadingOne(t *testing.T) {
	a := newAPI(t)
	code, body, trips := a.call(ours, "POST", "/actions", a.request())
	got := data[Submitted](t, body)
	if code != 200 || got.Status != execution.Queued || !id.Valid("act", got.ActionID) {
		t.Fatalf("%d %s", code, body)
	}
	if trips > 4 {
		t.Errorf("POST /actions took %d round trips, at most 4 are allowed", trips)
	}
	code, body, trips = a.call(ours, "GET", "/actions/"+got.ActionID, "")
	act := data[map[string]any](t, body)
	if code != 200 || act["status"] != "pending" || act["reason"] != "manual" || act["resourceUID"] != "i-0abc" || act["action"] != "stop" {
		t.Fatalf("%d %s", code, body)
	}
	if _, leaked := act["progress"]; leaked {
		t.Error("the executor's own notes are answered")
	}
	if trips > 1 {
		t.Errorf("GET /actions/{actionID} took %d round trips, at most 1 is allowed", trips)
	}
	code, body, trips = a.call(ours, "GET", "/actions/"+got.ActionID+"/logs?limit=1", "")
	if logs := data[rest.List[execution.Log]](t, body); code != 200 || trips > 1 || logs.Total < 1 || len(logs.Items) != 1 || logs.Limit != 1 {
		t.Errorf("logs: %d after %d round trips, %s", code, trips, body)
	}
	if _, _, trips = a.call(ours, "GET", "/actions", ""); trips > 2 {
		t.Errorf("GET /actions took %d round trips", trips)
	}
	if _, _, trips = a.call(ours, "GET", "/state-history", ""); trips > 2 {
		t.Errorf("GET /state-history took %d round trips", trips)
	}
}

func TestRequestsThatAreRefused(t *testing.T) {
	a := newAPI(t)
	for name, c := range map[string]struct {
		change  []string
		code    int
		mention string
	}{
		"an unknown resource is 404 and named":           {[]string{"resourceUID", "i-none"}, 404, "i-none"},
		"an unknown account is 404 and named":            {[]string{"cloudAccountID", id.New("ca", noon)}, 404, "ca_"},
		"an unknown native account is 404":               {[]string{"cloudAccountID", "999"}, 404, "999"},
		"another provider is 400":                        {[]string{"provider", "gcp"}, 400, "provider"},
		"another type is 400":                            {[]string{"resourceType", "aws-rds"}, 400, "resourceType"},
		"another region is 400":                          {[]string{"region", "us-east-1"}, 400, "region"},
		"a type that is neither start nor stop is 400":   {[]string{"type", "restart"}, 400, "type"},
		"an empty uid is 400":                            {[]string{"resourceUID", ""}, 400, "resourceUID"},
		"a uid that would be another partition is 404":   {[]string{"resourceUID", "ORG#" + theirs + "#RES"}, 404, "RES"},
		"the native number of the account is understood": {[]string{"cloudAccountID", "123456789012"}, 200, "act_"},
	} {
		t.Run(name, func(t *testing.T) {
			code, body, _ := a.call(ours, "POST", "/actions", a.request(c.change...))
			if code != c.code || !strings.Contains(body, c.mention) {
				t.Errorf("%d %s", code, body)
			}
		})
	}
}

func TestAReadOnlyAccountIsNeverActedOn(t *testing.T) {
	a := newAPI(t)
	a.account.PermissionLevel = "read_only"
	a.put(inventory.AccountKey(ours, a.account.ID), a.account)
	if code, body, _ := a.call(ours, "POST", "/actions", a.request()); code != 403 || !strings.Contains(body, "read_only") {
		t.Errorf("%d %s", code, body)
	}
}

func TestAnActionInFlightIsJoinedOrInTheWay(t *testing.T) {
	a := newAPI(t)
	_, body, _ := a.call(ours, "POST", "/actions", a.request())
	first := data[Submitted](t, body).ActionID
	if code, body, _ := a.call(ours, "POST", "/actions", a.request()); code != 200 || data[Submitted](t, body).ActionID != first {
		t.Errorf("the same again: %d %s", code, body)
	}
	if code, body, _ := a.call(ours, "POST", "/actions", a.request("type", "start")); code != 409 || !strings.Contains(body, first) {
		t.Errorf("the opposite: %d %s", code, body)
	}
}

func TestManyAtOnceMakeOneAction(t *testing.T) {
	a := newAPI(t)
	const racers = 50
	ids := make(chan string, racers)
	for range racers {
		go func() {
			_, body, _ := a.call(ours, "POST", "/actions", a.request())
			ids <- data[Submitted](t, body).ActionID
		}()
	}
	seen := map[string]int{}
	for range racers {
		seen[<-ids]++
	}
	if len(seen) != 1 {
		t.Errorf("%d racers made %d actions: %v", racers, len(seen), seen)
	}
	_, body, _ := a.call(ours, "GET", "/actions", "")
	if got := data[rest.List[execution.Action]](t, body); got.Total != 1 || len(got.Items) != 1 {
		t.Errorf("listed %d of %d", len(got.Items), got.Total)
	}
}

func TestOnlyAPendingActionIsCancelled(t *testing.T) {
	a := newAPI(t)
	_, body, _ := a.call(ours, "POST", "/actions", a.request())
	act := data[Submitted](t, body).ActionID
	if code, body, _ := a.call(theirs, "POST", "/actions/"+act+"/cancel", ""); code != 404 {
		t.Errorf("by another organization: %d %s", code, body)
	}
	code, body, _ := a.call(ours, "POST", "/actions/"+act+"/cancel", "")
	if got := data[execution.Action](t, body); code != 200 || got.Status != execution.Failed || !strings.Contains(got.ErrorMessage, "ada@example.com") {
		t.Errorf("%d %s", code, body)
	}
	if code, _, _ = a.call(ours, "POST", "/actions/"+act+"/cancel", ""); code != 409 {
		t.Errorf("a second time: %d", code)
	}
	if code, body, _ = a.call(ours, "POST", "/actions", a.request("type", "start")); code != 200 {
		t.Errorf("the claim was not given back: %d %s", code, body)
	}
}

func TestAnotherOrganizationSeesNothing(t *testing.T) {
	a := newAPI(t)
	_, body, _ := a.call(ours, "POST", "/actions", a.request())
	act := data[Submitted](t, body).ActionID
	for _, path := range []string{"/actions/" + act, "/actions/" + act + "/logs", "/actions/bulk/latest", "/actions/bulk/" + id.New("bulk", noon)} {
		if code, body, _ := a.call(theirs, "GET", path, ""); code != 404 {
			t.Errorf("GET %s: %d %s", path, code, body)
		}
	}
	for _, path := range []string{"/actions", "/actions?status=pending", "/state-history", "/state-history?resource_uid=i-0abc"} {
		if code, body, _ := a.call(theirs, "GET", path, ""); code != 200 || strings.Contains(body, "act_") || !strings.Contains(body, `"total":0`) {
			t.Errorf("GET %s: %d %s", path, code, body)
		}
	}
	if code, _, _ := a.call(theirs, "POST", "/actions", a.request()); code != 404 {
		t.Errorf("POST /actions on a foreign resource: %d", code)
	}
}

func TestHistoryIsListedNewestFirstByEachFilter(t *testing.T) {
	a := newAPI(t)
	ctx := table.WithTenant(t.Context(), ours)
	for i := range 250 {
		at := noon.Add(time.Duration(i) * time.Second)
		by, uid := execution.ChangedBy("manual", "ada@example.com"), fmt.Sprintf("i-%d", i%5)
		if i%2 == 1 {
			by = execution.ChangedBy("bulk", "bob@example.com", "bulk_1")
		}
		act := execution.Action{ID: id.New("act", at), ResourceUID: uid, Action: cloud.Stop, Status: execution.Running, ChangedBy: by}
		a.put(execution.ActionKey(ours, act.ID), act)
		err := execution.Settle(ctx, a.p.Table, ours, []execution.Outcome{{Action: act, Status: execution.Succeeded, State: cloud.Stopped, Changed: true, At: at}})
		if err != nil {
			t.Fatal(err)
		}
	}
	for path, total := range map[string]int{
		"/state-history": 250, "/state-history?changed_by_type=bulk": 125, "/state-history?changed_by_type=schedule": 0,
		"/state-history?resource_uid=i-3": 50, "/state-history?resource_uid=i-3&changed_by_type=manual": 25,
		"/state-history?resource_uid=none": 0,
	} {
		sep := "?"
		if strings.Contains(path, "?") {
			sep = "&"
		}
		var got []execution.StateChange
		for page := 1; page == 1 || len(got) < total; page++ {
			code, body, _ := a.call(ours, "GET", fmt.Sprintf("%s%spage=%d&limit=100", path, sep, page), "")
			list := data[rest.List[execution.StateChange]](t, body)
			if code != 200 || list.Total != total || list.Page != page || (len(list.Items) == 0 && total > 0) {
				t.Fatalf("%s page %d: %d, %d items of %d", path, page, code, len(list.Items), list.Total)
			}
			got = append(got, list.Items...)
		}
		for i := 1; i < len(got); i++ {
			if got[i].ChangedAt.After(got[i-1].ChangedAt) {
				t.Fatalf("%s: item %d is newer than the one before", path, i)
			}
		}
		if len(got) != total {
			t.Errorf("%s: %d items", path, len(got))
		}
	}
	if code, _, _ := a.call(ours, "GET", "/state-history?changed_by_type=nobody", ""); code != 400 {
		t.Errorf("an unknown kind of cause: %d", code)
	}
}
