package cloudaccounts_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"lamplighter.dev/functions/cloudaccounts"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud/kubernetes/kubeconfig"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

// kubeconfigOf returns a kubeconfig whose user has these fields.
func kubeconfigOf(user string) string {
	return `{"kind":"Config","contexts":[{"name":"a","context":{"cluster":"c","user":"u"}}],
			"clusters":[{"name":"c","cluster":{"server":"https://api.example.com"}}],` +
		`"users":[{"name":"u","user":{` + user + `}}]}`
}

var (
	byIAM   = fields{"method": "cloud_iam"}
	byToken = fields{"method": "kubeconfig", "kubeconfig": kubeconfigOf(`"token":"hush-hush"`)}
)

func accessPath(accountID, region, name string) string {
	return "/cloud-accounts/" + accountID + "/clusters/" + url.PathEscape(region) + "/" + url.PathEscape(name) +
		"/access"
}

func (s *fixture) listClusters(c identity.Caller, accountID, query string) cloudaccounts.ClusterList {
	s.Helper()
	return apitest.Data[cloudaccounts.ClusterList](s.call(c, "GET", "/cloud-accounts/"+accountID+"/clusters"+query,
		nil))
}

// clusterLines returns a list in one line.
func clusterLines(l cloudaccounts.ClusterList) string {
	var out []string
	for _, c := range l.Items {
		out = append(out, fmt.Sprintf("%s/%s %s %s %t", c.Region, c.Name, c.Status, c.Access, c.Registered))
	}
	return strings.Join(out, ", ")
}

// readRegistration reads the stored registration of a cluster.
func (s *fixture) readRegistration(org, accountID string, n inventory.ClusterName) (inventory.Registration, error) {
	s.Helper()
	return table.Read[inventory.Registration](table.WithOrg(s.Context(), org), s.Table,
		inventory.ClusterKey(org, accountID, n))
}

// countRegistrations reads how many registrations the account counts, and how many there are.
func (s *fixture) countRegistrations(org, accountID string) (counts, rows int) {
	s.Helper()
	ctx := table.WithOrg(s.Context(), org)
	a, err := table.Read[inventory.Account](ctx, s.Table, inventory.AccountKey(org, accountID))
	if err != nil && !fault.Is(err, fault.NotFound) {
		s.Fatal(err)
	}
	pk := inventory.ClusterKey(org, accountID, inventory.ClusterName{}).PK
	page := apitest.Value(s.Table.Query(ctx,
		table.Query{PK: pk, Prefix: inventory.ClusterPrefix(accountID), Limit: 1000}))(s)
	return a.Clusters, len(page.Items)
}

func TestClustersAreListedRegisteredAndDeregistered(t *testing.T) {
	s := newFixture(t)
	a := s.connectSettled(alice, fields{"credentials": keys{"size": "200", "regions": "2"}})
	const none = "us-east-1/main active none false, us-east-2/main active none false"
	l := s.listClusters(viewer, a.ID, "")
	if clusterLines(l) != none || l.Total != 2 || l.Page != 1 || l.Limit != 20 || len(l.Failures) != 0 {
		t.Fatalf("%+v", l)
	}
	for _, c := range l.Items {
		if c.Provider != "simulated" || c.Version == "" || c.NodeCount == nil || *c.NodeCount == 0 {
			t.Errorf("%+v", c)
		}
	}
	path := accessPath(a.ID, "us-east-2", "main")
	for _, body := range []fields{byIAM, byToken, byToken, byIAM} {
		got := s.call(alice, "PUT", path, body)
		if c := apitest.Data[cloudaccounts.Cluster](got); !c.Registered || c.Access != body["method"] ||
			c.Name != "main" || c.Region != "us-east-2" || c.Status != "active" {
			t.Errorf("%+v; want it registered with %v", c, body["method"])
		}
		if want := fmt.Sprintf("us-east-1/main active none false, us-east-2/main active %s true",
			body["method"]); clusterLines(s.listClusters(alice, a.ID, "")) != want {
			t.Errorf("%s; want %s", clusterLines(s.listClusters(alice, a.ID, "")), want)
		}
		if counts, rows := s.countRegistrations(alice.Org, a.ID); counts != 1 || rows != 1 {
			t.Errorf("the account counts %d of %d registrations; want 1", counts, rows)
		}
	}
	if got := apitest.Data[rest.Deleted](s.call(alice, "DELETE", path, nil)); got.ID != "us-east-2/main" {
		t.Errorf("the answer names %q", got.ID)
	}
	if got := s.call(alice, "DELETE", path, nil); got.Status != 404 ||
		!strings.Contains(unquote(got.Body), `"main" in region "us-east-2" is not registered`) {
		t.Errorf("again: %d %s", got.Status, got.Body)
	}
	if counts, rows := s.countRegistrations(alice.Org, a.ID); clusterLines(s.listClusters(alice, a.ID, "")) != none ||
		counts != 0 ||
		rows != 0 {
		t.Errorf("%s; the account counts %d of %d", clusterLines(s.listClusters(alice, a.ID, "")), counts, rows)
	}
}

func TestAKubeconfigIsSealedInItsPlaceAndNeverReturned(t *testing.T) {
	s := newFixture(t)
	a := s.connectSettled(alice, fields{"credentials": keys{"size": "200", "regions": "2"}})
	path, n := accessPath(a.ID, "us-east-1", "main"), inventory.ClusterName{Region: "us-east-1", Name: "main"}
	for _, got := range []apitest.Answer{
		s.call(alice, "PUT", path, byToken),
		s.call(alice, "GET", "/cloud-accounts/"+a.ID+"/clusters", nil),
	} {
		if got.Status != 200 || strings.Contains(got.Body, "hush") || strings.Contains(got.Body, "sealed") ||
			strings.Contains(got.Body, "api.example.com") {
			t.Errorf("%d %s", got.Status, got.Body)
		}
	}
	r, err := s.readRegistration(alice.Org, a.ID, n)
	if err != nil || len(r.Sealed) == 0 || strings.Contains(string(r.Sealed), "hush") {
		t.Fatalf("%+v, %v", r, err)
	}
	plain, err := s.Sealer.Open(t.Context(), inventory.ClusterPlace(alice.Org, a.ID, n), r.Sealed)
	s.Must(err)
	var kept kubeconfig.Access
	if err = json.Unmarshal(plain, &kept); err != nil || kept.Token != "hush-hush" ||
		kept.Server != "https://api.example.com" {
		t.Errorf("%+v, %v", kept, err)
	}
	elsewhere := inventory.ClusterPlace(alice.Org, a.ID, inventory.ClusterName{Region: "us-east-2", Name: "main"})
	if _, err = s.Sealer.Open(t.Context(), elsewhere, r.Sealed); err == nil {
		t.Error("it opens for another cluster")
	}
	apitest.Data[cloudaccounts.Cluster](s.call(alice, "PUT", path, byIAM))
	if r, err = s.readRegistration(alice.Org, a.ID, n); err != nil || r.Sealed != nil {
		t.Errorf("the kubeconfig outlives its method: %+v, %v", r, err)
	}
}

func TestRegisteringRefusesWhatCannotBe(t *testing.T) {
	s := newFixture(t)
	a := s.connectSettled(alice,
		fields{"credentials": keys{"size": "200", "regions": "1", "clusterStatus": "creating"}})
	given := func(user string) fields { return fields{"method": "kubeconfig", "kubeconfig": kubeconfigOf(user)} }
	tests := []struct {
		name, region, cluster string
		body                  any
		status                int
		says                  string
	}{
		{"no method", "us-east-1", "main", fields{}, 400, "method"},
		{"a method that is none", "us-east-1", "main", fields{"method": "telnet"}, 400, "method"},
		{"no kubeconfig", "us-east-1", "main", fields{"method": "kubeconfig"}, 400, "kubeconfig: is required"},
		{
			"a kubeconfig that is not needed", "us-east-1", "main",
			fields{"method": "cloud_iam", "kubeconfig": kubeconfigOf(`"token":"hush-hush"`)},
			400,
			"only for method kubeconfig",
		},
		{
			"a kubeconfig that is none", "us-east-1", "main",
			fields{"method": "kubeconfig", "kubeconfig": "hush-hush"},
			400, "kubeconfig: ",
		},
		{"a plugin", "us-east-1", "main", given(`"token":"hush-hush","exec":{"command":"aws"}`), 400, "exec"},
		{"an auth provider", "us-east-1", "main", given(`"auth-provider":{"name":"gcp"}`), 400, "auth-provider"},
		{"a file", "us-east-1", "main", given(`"tokenFile":"/etc/passwd"`), 400, "tokenFile"},
		{"a cluster that is not there", "us-east-1", "prod", byToken, 404, `no cluster "prod" in region "us-east-1"`},
		{"a region that is not there", "mars", "main", byToken, 404, `region "mars"`},
		{"a name that would part a key", "us-east-1", "ma#in", byToken, 404, `"ma#in"`},
		{"a cluster that is not ready for the account's credentials", "us-east-1", "main", byIAM, 400, "is creating"},
		{"a cluster that is not ready, with a kubeconfig", "us-east-1", "main", byToken, 200, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, before := s.countRegistrations(alice.Org, a.ID)
			got := s.call(alice, "PUT", accessPath(a.ID, tt.region, tt.cluster), tt.body)
			if got.Status != tt.status || !strings.Contains(unquote(got.Body), tt.says) ||
				strings.Contains(got.Body, "hush-hush") {
				t.Errorf("%d %s; want %d with %q", got.Status, got.Body, tt.status, tt.says)
			}
			if _, after := s.countRegistrations(alice.Org, a.ID); tt.status != 200 && after != before {
				t.Errorf("%d registrations were %d before", after, before)
			}
		})
	}
}

func TestClustersOfOthersDoNotExist(t *testing.T) {
	s := newFixture(t)
	a := s.connectSettled(alice, fields{"credentials": keys{"size": "200", "regions": "1"}})
	path := accessPath(a.ID, "us-east-1", "main")
	apitest.Data[cloudaccounts.Cluster](s.call(alice, "PUT", path, byToken))
	tests := []struct {
		method, path  string
		body          any
		bob, onlyLook int
	}{
		{"GET", "/cloud-accounts/" + a.ID + "/clusters", nil, 404, 200},
		{"PUT", path, byIAM, 404, 403},
		{"PUT", path, byToken, 404, 403},
		{"DELETE", path, nil, 404, 403},
	}
	for _, tt := range tests {
		for c, want := range map[*identity.Caller]int{&bob: tt.bob, &viewer: tt.onlyLook} {
			got := s.call(*c, tt.method, tt.path, tt.body)
			if got.Status != want || want == 404 && !strings.Contains(got.Body, a.ID) {
				t.Errorf("%s as %s: %d %s; want %d", tt.method, c.Email, got.Status, got.Body, want)
			}
		}
	}
	// The same cloud account in another organization knows nothing of this one's registrations.
	b := s.connectSettled(bob, fields{"credentials": keys{"size": "200", "regions": "1"}})
	if got := clusterLines(s.listClusters(bob, b.ID, "")); got != "us-east-1/main active none false" {
		t.Error(got)
	}
	// bob deregisters a cluster of another organization
	s.call(bob, "DELETE", accessPath(b.ID, "us-east-1", "main"), nil).Want(404)
	if r, err := s.readRegistration(alice.Org, a.ID,
		inventory.ClusterName{Region: "us-east-1", Name: "main"}); err != nil || r.Method != inventory.Kubeconfig {
		t.Errorf("alice's registration: %+v, %v", r, err)
	}
	for _, account := range []string{"x", "ca_01hzzzzzzzzzzzzzzzzzzzzzzz"} {
		for method, body := range map[string]any{"PUT": byIAM, "DELETE": nil} {
			if got := s.call(alice, method, accessPath(account, "us-east-1", "main"), body); got.Status != 404 ||
				!strings.Contains(got.Body, account) {
				t.Errorf("%s of account %s: %d %s", method, account, got.Status, got.Body)
			}
		}
	}
}

func TestListsOfClustersArePagedAndTellWhatTheyLack(t *testing.T) {
	s := newFixture(t)
	a := s.connectSettled(alice, fields{"credentials": keys{"size": "200", "regions": "3"}})
	apitest.Data[cloudaccounts.Cluster](s.call(alice, "PUT", accessPath(a.ID, "us-east-1", "main"), byToken))
	for query, want := range map[string]string{
		"?limit=1&page=2":             "us-east-2/main active none false",
		"?sort_order=desc&limit=1":    "us-west-2/main active none false",
		"?sort_by=name&limit=1":       "us-east-1/main active kubeconfig true",
		"?region=us-west-2&limit=999": "us-west-2/main active none false",
		"?page=9":                     "",
	} {
		if got := clusterLines(s.listClusters(viewer, a.ID, query)); got != want {
			t.Errorf("%s: %q; want %q", query, got, want)
		}
	}
	for _, query := range []string{"?page=0", "?limit=x", "?sort_by=colour"} {
		if got := s.call(viewer, "GET", "/cloud-accounts/"+a.ID+"/clusters"+query, nil); got.Status != 400 {
			t.Errorf("%s: %d %s; want 400", query, got.Status, got.Body)
		}
	}
	change := func(k keys) {
		b := apitest.Data[connection.Account](s.call(alice, "PUT", "/cloud-accounts/"+a.ID, fields{"credentials": k}))
		s.followDiscovery(alice, "/cloud-accounts/"+a.ID+"/discover/"+*b.JobID)
	}
	change(keys{"size": "200", "regions": "2", "denied": "us-east-1"})
	l := s.listClusters(viewer, a.ID, "")
	if clusterLines(l) != "us-east-1/main unknown kubeconfig true, us-east-2/main active none false" ||
		len(l.Failures) != 1 ||
		l.Failures[0].Region != "us-east-1" || !strings.Contains(l.Failures[0].Error, "not authorized") {
		t.Errorf("a denied region: %+v", l)
	}
	change(keys{"size": "20", "regions": "2", "kinds": "aws-ec2"})
	if got := clusterLines(s.listClusters(viewer, a.ID, "")); got != "us-east-1/main deleted kubeconfig true" {
		t.Errorf("a cluster that is no more: %s", got)
	}
	apitest.Data[rest.Deleted](s.call(alice, "DELETE", accessPath(a.ID, "us-east-1", "main"), nil))
}

func TestAnAccountTakesItsRegistrationsWithIt(t *testing.T) {
	s := newFixture(t)
	a := s.connectSettled(alice, fields{"credentials": keys{"size": "200", "regions": "2"}})
	for _, region := range []string{"us-east-1", "us-east-2"} {
		apitest.Data[cloudaccounts.Cluster](s.call(alice, "PUT", accessPath(a.ID, region, "main"), byToken))
	}
	apitest.Data[rest.Deleted](s.call(alice, "DELETE", "/cloud-accounts/"+a.ID, nil))
	if _, rows := s.countRegistrations(alice.Org, a.ID); rows != 0 {
		t.Errorf("%d registrations outlive their account", rows)
	}
}

// TestNoRegistrationOutlivesItsAccount registers, deregisters and deletes at the same time. In every order the
// account's count equals the number of its registrations, and a deleted account has none.
func TestNoRegistrationOutlivesItsAccount(t *testing.T) {
	s := newFixture(t)
	for try := range 5 {
		a := s.connectSettled(alice, fields{"credentials": keys{"size": "100", "regions": "3"}})
		var wg sync.WaitGroup
		for i := range 6 {
			path := accessPath(a.ID, []string{"us-east-1", "us-east-2", "us-west-2"}[i%3], "main")
			wg.Go(func() { s.call(alice, "PUT", path, []fields{byIAM, byToken}[i%2]) })
			wg.Go(func() { s.call(alice, "DELETE", path, nil) })
		}
		wg.Go(func() { s.call(alice, "DELETE", "/cloud-accounts/"+a.ID, nil) })
		wg.Wait()
		if counts, rows := s.countRegistrations(alice.Org, a.ID); counts != rows {
			t.Errorf("try %d: the account counts %d of %d registrations", try, counts, rows)
		}
		if s.call(alice, "GET", "/cloud-accounts/"+a.ID, nil).Status == 200 {
			apitest.Data[rest.Deleted](s.call(alice, "DELETE", "/cloud-accounts/"+a.ID, nil))
		}
	}
}

func TestTooManyRegistrationsAreRefused(t *testing.T) {
	s := newFixture(t)
	a := s.connectSettled(alice, fields{"credentials": keys{"size": "200", "regions": "1"}})
	count := func(n int) {
		k := inventory.AccountKey(alice.Org, a.ID)
		apitest.Value(s.Table.Write(table.WithOrg(t.Context(), alice.Org),
			table.Update(k, []table.Change{table.Set("clusters", n)})))(t)
	}
	count(inventory.MaxClusters)
	s.call(alice, "PUT", accessPath(a.ID, "us-east-1", "main"), byIAM).Want(400, "90 registered clusters")
	count(inventory.MaxClusters - 1)
	apitest.Data[cloudaccounts.Cluster](s.call(alice, "PUT", accessPath(a.ID, "us-east-1", "main"), byIAM))
	// it replaces
	apitest.Data[cloudaccounts.Cluster](s.call(alice, "PUT", accessPath(a.ID, "us-east-1", "main"), byToken))
}

func TestAFullAccountLeavesInOneTransaction(t *testing.T) {
	s := newFixture(t)
	a := s.connectSettled(alice, fields{"credentials": keys{"size": "200", "regions": "1"}})
	ctx := table.WithOrg(t.Context(), alice.Org)
	ws := []table.Write{table.Update(inventory.AccountKey(alice.Org, a.ID),
		[]table.Change{table.Set("clusters", inventory.MaxClusters)})}
	for i := range inventory.MaxClusters {
		n := inventory.ClusterName{Region: "us-east-1", Name: fmt.Sprint("c-", i)}
		it := apitest.Value(table.NewItem(inventory.ClusterKey(alice.Org, a.ID, n),
			inventory.Registration{ClusterName: n, AccountID: a.ID, Method: inventory.CloudIAM}))(s)
		ws = append(ws, table.Put(it))
	}
	s.Must(s.Table.Transact(ctx, ws...))
	if l := s.listClusters(alice, a.ID, "?limit=100"); l.Total != inventory.MaxClusters+1 {
		t.Errorf("%d clusters; want those registered and the one that is there", l.Total)
	}
	apitest.Data[rest.Deleted](s.call(alice, "DELETE", "/cloud-accounts/"+a.ID, nil))
	if _, rows := s.countRegistrations(alice.Org, a.ID); rows != 0 {
		t.Errorf("%d registrations are left", rows)
	}
}
