package actions

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
)

const ours, theirs = apitest.Org, apitest.OtherOrg

// fixture is an account with one running instance, and an executor that never runs. The tests check the submission
// and the committed records.
type fixture struct {
	*apitest.Fixture
	account inventory.Account
	res     inventory.Resource
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	a := &fixture{Fixture: apitest.New(t)}
	a.RunMachines(apitest.Machines(t, "action", "bulk-action"), map[string]workflow.Handler{
		"executor": func(ctx context.Context, _ json.RawMessage) (any, error) { <-ctx.Done(); return nil, ctx.Err() },
	})
	a.Mount(Operations)
	a.account = inventory.Account{
		ID: id.New("ca", apitest.Start), Provider: "aws", CloudAccountID: "123456789012",
		Name: "prod", PermissionLevel: "read_write",
	}
	a.res = inventory.Resource{
		ID: id.New("res", apitest.Start), UID: "i-0abc", Type: "aws-ec2", Provider: "aws", CloudAccountID: a.account.ID,
		Region: "eu-west-1",
		Status: cloud.Running,
	}
	a.Put(inventory.AccountKey(ours, a.account.ID), a.account)
	a.Put(inventory.ResourceKey(ours, a.res.UID), a.res)
	return a
}

// call makes a request as a member of org who may do everything.
func (a *fixture) call(org, method, path, body string) apitest.Answer {
	a.Helper()
	return a.Call(apitest.Caller(org, "ada", "*:*"), method+" "+path, body)
}

func (a *fixture) actionBody(changes ...string) string {
	m := map[string]string{
		"type": "stop", "resourceUID": a.res.UID, "provider": "aws", "resourceType": "aws-ec2",
		"cloudAccountID": a.account.ID, "region": "eu-west-1",
	}
	for i := 0; i+1 < len(changes); i += 2 {
		m[changes[i]] = changes[i+1]
	}
	return apitest.JSON(m)
}

// Submitting takes three round trips: to look up, to commit together with the audit row, and to start.
func TestSubmittingTakesThreeRoundTripsAndReadingTwo(t *testing.T) {
	a := newFixture(t)
	w := a.call(ours, "POST", "/actions", a.actionBody())
	got := apitest.Data[Submitted](w)
	if w.Status != 200 || got.Status != execution.Queued || !id.IsValid("act", got.ActionID) {
		t.Fatalf("%d %s", w.Status, w.Body)
	}
	if w.Usage.RoundTrips > 3 {
		t.Errorf("POST /actions took %d round trips, at most 3 are allowed", w.Usage.RoundTrips)
	}
	w = a.call(ours, "GET", "/actions/"+got.ActionID, "")
	act := apitest.Data[map[string]any](w)
	if w.Status != 200 || act["status"] != "pending" || act["reason"] != "manual" || act["resourceUID"] != "i-0abc" ||
		act["action"] != "stop" {
		t.Fatalf("%d %s", w.Status, w.Body)
	}
	if _, leaked := act["progress"]; leaked {
		t.Error("the executor's own notes are answered")
	}
	if w.Usage.RoundTrips > 2 {
		t.Errorf("GET /actions/{actionID} took %d round trips, at most 2 are allowed", w.Usage.RoundTrips)
	}
	w = a.call(ours, "GET", "/actions/"+got.ActionID+"/logs?limit=1", "")
	if logs := apitest.Data[rest.List[execution.Log]](w); w.Status != 200 || w.Usage.RoundTrips > 1 || logs.Total < 1 ||
		len(logs.Items) != 1 || logs.Limit != 1 {
		t.Errorf("logs: %d after %d round trips, %s", w.Status, w.Usage.RoundTrips, w.Body)
	}
	// the total, the partitions side by side, and the names
	if w = a.call(ours, "GET", "/actions", ""); w.Usage.RoundTrips > 2+len(execution.ActionPKs(ours)) {
		t.Errorf("GET /actions took %d round trips", w.Usage.RoundTrips)
	}
	if w = a.call(ours, "GET", "/state-history", ""); w.Usage.RoundTrips > 2 {
		t.Errorf("GET /state-history took %d round trips", w.Usage.RoundTrips)
	}
}

func TestRequestsThatAreRefused(t *testing.T) {
	a := newFixture(t)
	for name, c := range map[string]struct {
		change  []string
		code    int
		mention string
	}{
		"an unknown resource is 404 and named": {[]string{"resourceUID", "i-none"}, 404, "i-none"},
		"an unknown account is 404 and named": {
			[]string{"cloudAccountID", id.New("ca", apitest.Start)},
			404,
			"ca_",
		},
		"an unknown native account is 404":             {[]string{"cloudAccountID", "999"}, 404, "999"},
		"another provider is 400":                      {[]string{"provider", "gcp"}, 400, "provider"},
		"another type is 400":                          {[]string{"resourceType", "aws-rds"}, 400, "resourceType"},
		"another region is 400":                        {[]string{"region", "us-east-1"}, 400, "region"},
		"a type that is neither start nor stop is 400": {[]string{"type", "restart"}, 400, "type"},
		"an empty uid is 400":                          {[]string{"resourceUID", ""}, 400, "resourceUID"},
		"a uid that would be another partition is 404": {
			[]string{"resourceUID", "ORG#" + theirs + "#RES"},
			404,
			"RES",
		},
		"the native number of the account is understood": {[]string{"cloudAccountID", "123456789012"}, 200, "act_"},
	} {
		t.Run(name, func(t *testing.T) {
			w := a.call(ours, "POST", "/actions", a.actionBody(c.change...))
			if w.Status != c.code || !strings.Contains(w.Body, c.mention) {
				t.Errorf("%d %s", w.Status, w.Body)
			}
		})
	}
}

func TestAReadOnlyAccountIsNeverActedOn(t *testing.T) {
	a := newFixture(t)
	a.account.PermissionLevel = "read_only"
	a.Put(inventory.AccountKey(ours, a.account.ID), a.account)
	a.call(ours, "POST", "/actions", a.actionBody()).Want(403, "read_only")
}

func TestAnActionInFlightIsJoinedOrInTheWay(t *testing.T) {
	a := newFixture(t)
	w := a.call(ours, "POST", "/actions", a.actionBody())
	first := apitest.Data[Submitted](w).ActionID
	if w := a.call(ours, "POST", "/actions", a.actionBody()); w.Status != 200 ||
		apitest.Data[Submitted](w).ActionID != first {
		t.Errorf("the same again: %d %s", w.Status, w.Body)
	}
	a.call(ours, "POST", "/actions", a.actionBody("type", "start")).Want(409, first) // the opposite
}

func TestManyAtOnceMakeOneAction(t *testing.T) {
	a := newFixture(t)
	const racers = 50
	ids := make(chan string, racers)
	for range racers {
		go func() {
			w := a.call(ours, "POST", "/actions", a.actionBody())
			ids <- apitest.Data[Submitted](w).ActionID
		}()
	}
	seen := map[string]int{}
	for range racers {
		seen[<-ids]++
	}
	if len(seen) != 1 {
		t.Errorf("%d racers made %d actions: %v", racers, len(seen), seen)
	}
	w := a.call(ours, "GET", "/actions", "")
	if got := apitest.Data[rest.List[execution.Action]](w); got.Total != 1 || len(got.Items) != 1 {
		t.Errorf("listed %d of %d", len(got.Items), got.Total)
	}
}

func TestOnlyAPendingActionIsCancelled(t *testing.T) {
	a := newFixture(t)
	w := a.call(ours, "POST", "/actions", a.actionBody())
	act := apitest.Data[Submitted](w).ActionID
	a.call(theirs, "POST", "/actions/"+act+"/cancel", "").Want(404) // by another organization
	w = a.call(ours, "POST", "/actions/"+act+"/cancel", "")
	if got := apitest.Data[execution.Action](w); w.Status != 200 || got.Status != execution.Failed ||
		!strings.Contains(got.ErrorMessage, "ada@example.com") {
		t.Errorf("%d %s", w.Status, w.Body)
	}
	if w = a.call(ours, "POST", "/actions/"+act+"/cancel", ""); w.Status != 409 {
		t.Errorf("a second time: %d", w.Status)
	}
	if w = a.call(ours, "POST", "/actions", a.actionBody("type", "start")); w.Status != 200 {
		t.Errorf("the claim was not given back: %d %s", w.Status, w.Body)
	}
}

// An action that waits for capacity has nothing under way: it can be cancelled like a pending one. A running one
// cannot.
func TestAnActionThatWaitsForCapacityIsCancelled(t *testing.T) {
	for name, c := range map[string]struct {
		idle   bool
		status int
	}{"it waits": {true, 200}, "it runs": {false, 409}} {
		t.Run(name, func(t *testing.T) {
			a := newFixture(t)
			act := apitest.Data[Submitted](a.call(ours, "POST", "/actions", a.actionBody())).ActionID
			a.Change(execution.ActionKey(ours, act), table.Set("status", string(execution.Running)),
				table.Set("idle", c.idle))
			w := a.call(ours, "POST", "/actions/"+act+"/cancel", "")
			if w.Status != c.status {
				t.Errorf("%d %s", w.Status, w.Body)
			}
			if row := apitest.Read[execution.Action](a.Fixture,
				execution.ActionKey(ours, act)); row.Status.IsFinal() != c.idle || row.Idle {
				t.Errorf("%s, idle %t: %s", row.Status, row.Idle, w.Body)
			}
			if strings.Contains(w.Body, `"idle"`) {
				t.Errorf("it tells what is internal: %s", w.Body)
			}
		})
	}
}

func TestAnotherOrganizationSeesNothing(t *testing.T) {
	a := newFixture(t)
	w := a.call(ours, "POST", "/actions", a.actionBody())
	act := apitest.Data[Submitted](w).ActionID
	for _, path := range []string{
		"/actions/" + act, "/actions/" + act + "/logs", "/actions/bulk/latest",
		"/actions/bulk/" + id.New("bulk", apitest.Start),
	} {
		if w := a.call(theirs, "GET", path, ""); w.Status != 404 {
			t.Errorf("GET %s: %d %s", path, w.Status, w.Body)
		}
	}
	for _, path := range []string{
		"/actions", "/actions?status=pending", "/state-history",
		"/state-history?resource_uid=i-0abc",
	} {
		if w := a.call(theirs, "GET", path, ""); w.Status != 200 || strings.Contains(w.Body, "act_") ||
			!strings.Contains(w.Body, `"total":0`) {
			t.Errorf("GET %s: %d %s", path, w.Status, w.Body)
		}
	}
	a.call(theirs, "POST", "/actions", a.actionBody()).Want(404) // a foreign resource
}

func TestHistoryIsListedNewestFirstByEachFilter(t *testing.T) {
	a := newFixture(t)
	ctx := table.WithOrg(t.Context(), ours)
	for i := range 250 {
		at := apitest.Start.Add(time.Duration(i) * time.Second)
		by, uid := execution.ChangedBy("manual", "ada@example.com"), fmt.Sprintf("i-%d", i%5)
		if i%2 == 1 {
			by = execution.ChangedBy("bulk", "bob@example.com", "bulk_1")
		}
		act := execution.Action{
			ID: id.New("act", at), ResourceUID: uid, Action: cloud.Stop, Status: execution.Running,
			ChangedBy: by,
		}
		a.Put(execution.ActionKey(ours, act.ID), act)
		a.Must(execution.SettleActions(ctx, a.Table, ours,
			[]execution.Outcome{{
				Action: act, Status: execution.Succeeded, State: cloud.Stopped, Changed: true,
				At: at,
			}}))
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
			w := a.call(ours, "GET", fmt.Sprintf("%s%spage=%d&limit=100", path, sep, page), "")
			list := apitest.Data[rest.List[execution.StateChange]](w)
			if w.Status != 200 || list.Total != total || list.Page != page || (len(list.Items) == 0 && total > 0) {
				t.Fatalf("%s page %d: %d, %d items of %d", path, page, w.Status, len(list.Items), list.Total)
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
	a.call(ours, "GET", "/state-history?changed_by_type=nobody", "").Want(400) // an unknown kind of cause
}
