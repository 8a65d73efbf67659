package cloudaccounts_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/resttest"
)

func TestListsAreFilteredSortedAndPaged(t *testing.T) {
	s := newFixture(t)
	for i, name := range []string{"Cedar", "ash", "Birch"} {
		s.connectSettled(alice,
			fields{"name": name, "cloudAccountID": fmt.Sprint("10", i), "credentials": keys{"size": "10"}})
	}
	tests := map[string]string{
		"":                                   "Cedar ash Birch",
		"?sort_order=desc":                   "Birch ash Cedar",
		"?sort_by=name":                      "ash Birch Cedar",
		"?sort_by=name&sort_order=desc":      "Cedar Birch ash",
		"?sort_by=name&page=2&limit=2":       "Cedar",
		"?page=9":                            "",
		"?search=BIR":                        "Birch",
		"?search=101":                        "ash",
		"?status=connected":                  "Cedar ash Birch",
		"?status=degraded":                   "",
		"?provider=aws":                      "",
		"?page=1&limit=1000&unknown=ignored": "Cedar ash Birch",
	}
	for query, want := range tests {
		var names []string
		for _, a := range apitest.Data[rest.List[connection.Account]](s.call(viewer, "GET", "/cloud-accounts"+query,
			nil)).Items {
			names = append(names, a.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%q: %q; want %q", query, got, want)
		}
	}
	s.call(viewer, "GET", "/cloud-accounts?sort_by=colour", nil).Want(400)
}

// TestAnotherOrganizationSeesNothing asks for alice's account as bob, and as one who may only look.
func TestAnotherOrganizationSeesNothing(t *testing.T) {
	s := newFixture(t)
	a := s.connectAccount(alice)
	s.followDiscovery(alice, "/cloud-accounts/"+a.ID+"/discover/"+*a.JobID)
	path := "/cloud-accounts/" + a.ID
	tests := []struct {
		method, path  string
		body          any
		bob, onlyLook int
	}{
		{"GET", path, nil, 404, 200},
		{"PUT", path, fields{"name": "Mine"}, 404, 403},
		{"POST", path + "/discover", nil, 404, 403},
		{"GET", path + "/discover/" + *a.JobID, nil, 404, 200},
		{"GET", path + "/permissions", nil, 404, 200},
		{"GET", path + "/onboarding", nil, 404, 200},
		{"DELETE", path, nil, 404, 403},
		// the same number and name are free in another organization
		{"POST", "/cloud-accounts", accountBody(), 200, 403},
	}
	for _, tt := range tests {
		t.Run(tt.method+" "+strings.ReplaceAll(tt.path, a.ID, "x"), func(t *testing.T) {
			for c, want := range map[*identity.Caller]int{&bob: tt.bob, &viewer: tt.onlyLook} {
				if got := s.call(*c, tt.method, tt.path, tt.body); got.Status != want {
					t.Errorf("%s: %d %s; want %d", c.Email, got.Status, got.Body, want)
				}
			}
		})
	}
}

func TestAnythingThatIsNoAccountIsNotFound(t *testing.T) {
	s := newFixture(t)
	a := s.connectSettled(alice)
	for _, path := range []string{
		"ca_", "ca_01hzzzzzzzzzzzzzzzzzzzzzzz", "x",
		a.ID + "/discover/job_01hzzzzzzzzzzzzzzzzzzzzzzz", a.ID + "/discover/x",
	} {
		if got := s.call(alice, "GET", "/cloud-accounts/"+path, nil); got.Status != 404 {
			t.Errorf("%s: %d %s; want 404", path, got.Status, got.Body)
		}
	}
}

func TestACloudThatDoesNotAnswerIsNotTheCallersFault(t *testing.T) {
	s := newFixture(t)
	got := s.call(alice, "POST", "/cloud-accounts", accountBody(fields{"credentials": keys{"throttle": "1"}}))
	if got.Status != 500 || !strings.Contains(got.Body, "try again") ||
		!strings.Contains(got.Body, "RequestLimitExceeded") {
		t.Errorf("%d %s; want 500 with the cloud's words", got.Status, got.Body)
	}
}

func TestADiscoveryThatCannotBeStartedIsLeftToTheSweeper(t *testing.T) {
	s := newFixture(t, func(p *platform.Platform) {
		if err := p.Workflow.(*workflow.Embedded).Close(); err != nil {
			t.Error(err)
		}
	})
	a := s.connectAccount(alice)
	it, err := s.Table.Get(table.Within(t.Context(), workqueue.Prefix), workqueue.WorkKey(*a.JobID))
	if err != nil {
		t.Fatalf("nothing is pending: %v", err)
	}
	w, err := table.Decode[workqueue.Work](it)
	if err != nil || w.Machine != "discovery" || w.Org != alice.Org || !strings.Contains(string(w.Input), a.ID) {
		t.Errorf("%+v, %v", w, err)
	}
}

func TestEveryAnswerIsDescribed(t *testing.T) {
	s := newFixture(t)
	seen := resttest.FuzzOperations(t, s.Handler, s.Description(),
		resttest.Options{Requests: 60, Before: func(r *http.Request) *http.Request {
			return r.WithContext(identity.WithCaller(r.Context(), alice))
		}})
	if len(seen) < 3 {
		t.Errorf("the requests met only %v", seen)
	}
}

// Credentials are revoked and given back. Meanwhile the account shows the cloud's error text, and other accounts
// continue. The next due discovery connects the account again, without a person.
func TestRevokedCredentials_AreToldUntilTheyWorkAgain(t *testing.T) {
	s := newFixture(t)
	a, other := s.connectSettled(alice), s.connectSettled(alice, fields{"name": "Other", "cloudAccountID": "222"})
	pass := func(credentials keys, due time.Time) connection.Account {
		t.Helper()
		sealed := apitest.Value(inventory.SealCredentials(s.Context(), s.Sealer, inventory.SecretPlace(alice.Org, a.ID),
			credentials))(t)
		s.Change(inventory.AccountKey(alice.Org, a.ID), table.Set("sealed", sealed))
		for _, id := range []string{a.ID, other.ID} {
			apitest.Value(discovery.StartDue(s.Anywhere(), s.Platform, discovery.Due{Org: alice.Org, AccountID: id},
				due))(t)
		}
		s.waitIdle()
		if o := s.getAccount(alice, other.ID); o.Status != "connected" || o.Error != nil {
			t.Errorf("the other account is %s: %v", o.Status, o.Error)
		}
		return s.getAccount(alice, a.ID)
	}
	s.Put(identity.AccessKey(alice.Org), identity.Access{})
	midnight := s.Platform.Clock.Now().Truncate(24 * time.Hour)
	if got := pass(keys{"refuse": "true"}, midnight); got.Status != "disconnected" || got.Error == nil ||
		!strings.Contains(*got.Error, "security token") || got.ResourceCount != a.ResourceCount {
		t.Errorf("revoked: %+v; want it disconnected in the cloud's words, with its resources", got)
	}
	if got := pass(keys{"size": "60", "regions": "2", "denied": "rds:DescribeDBInstances"},
		midnight.Add(24*time.Hour)); got.Status != "degraded" || !strings.Contains(*got.Error, "not authorized") {
		t.Errorf("in part: %+v; want it degraded", got)
	}
	if got := pass(keys{"size": "60", "regions": "2"}, midnight.Add(30*time.Hour)); got.Status != "connected" ||
		got.Error != nil {
		t.Errorf("given back: %+v; want it connected", got)
	}
}
