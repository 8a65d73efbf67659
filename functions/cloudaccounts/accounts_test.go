package cloudaccounts_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
)

type fields = map[string]any

type keys = map[string]string

func TestConnectRefusesWhatCannotBe(t *testing.T) {
	s := newFixture(t)
	s.connectAccount(alice, fields{"name": "Taken", "cloudAccountID": "000000000001"})
	aws := fields{"provider": "aws", "authMethod": "static_keys"}
	tests := []struct {
		name   string
		change []fields
		status int
		says   string
	}{
		{
			"a provider that nobody has",
			[]fields{{"provider": "oracle"}},
			400,
			`"oracle" is not available in this deployment; available: aws, azure, gcp, kubernetes, simulated`,
		},
		{"a provider of nobody", []fields{{"provider": "acme"}}, 400, `"acme"`},
		{"no provider", []fields{{"provider": nil}}, 400, "provider"},
		{"an account number of another cloud", []fields{aws, {"cloudAccountID": "my-account"}}, 400, `"my-account"`},
		{"no name", []fields{{"name": ""}}, 400, "name"},
		{"a blank name", []fields{{"name": "  "}}, 400, "name"},
		{
			"a method of another cloud",
			[]fields{{"authMethod": "kubeconfig"}},
			400,
			`"kubeconfig" is not one of simulated, the methods of provider simulated`,
		},
		{"a level that is none", []fields{{"permissionLevel": "root"}}, 400, "permissionLevel"},
		{
			"a missing credential",
			[]fields{aws, {"credentials": keys{"accessKeyID": "AKIA"}}},
			400,
			"credentials.secretAccessKey",
		},
		{
			"an external id of the customer's",
			[]fields{
				aws,
				{
					"authMethod":  "assume_role",
					"credentials": keys{"roleArn": "arn:aws:iam::111122223333:role/x", "externalID": "mine"},
				},
			},
			400,
			"onboarding",
		},
		{"an endpoint that is no address", []fields{{"endpointURL": "file:///etc/passwd"}}, 400, "endpointURL"},
		{"an endpoint with a password", []fields{{"endpointURL": "http://a:b@host"}}, 400, "endpointURL"},
		{
			"a region that is not enabled",
			[]fields{{"regions": []string{"eu-north-1"}}},
			400,
			`"eu-north-1" is not enabled for the account: enable it at the provider, or leave it out`,
		},
		{
			"wrong credentials",
			[]fields{{"credentials": keys{"refuse": "true"}}},
			400,
			"The security token included in the request is invalid.",
		},
		{
			"credentials of another account",
			[]fields{{"credentials": keys{"accountID": "999988887777"}}},
			400,
			"they open account 999988887777, not 111122223333",
		},
		{"a setting that is none", []fields{{"credentials": keys{"size": "huge"}}}, 400, `size is "huge"`},
		{
			"a bucket where there are none",
			[]fields{{"billing": keys{"bucket": "acme"}}},
			400,
			"billing.bucket: bills of simulated have none",
		},
		{
			"a source of another cloud",
			[]fields{
				aws,
				{
					"billing":     keys{"source": "bigquery_export"},
					"credentials": keys{"accessKeyID": "a", "secretAccessKey": "b"},
				},
			},
			400, "billing.source",
		},
		{"a source that is none", []fields{{"billing": keys{"source": "paper"}}}, 400, "source"},
		{
			"a bucket that is an address",
			[]fields{aws, {"billing": keys{"bucket": "https://evil.example/"}}},
			400,
			"billing.bucket",
		},
		{"a folder of no bucket", []fields{aws, {"billing": keys{"prefix": "exports"}}}, 400, "billing.prefix"},
		{
			"a container of no storage account",
			[]fields{{
				"provider": "azure", "cloudAccountID": "11111111-2222-3333-4444-555555555555",
				"billing": keys{"container": "bills"},
			}},
			400, "billing.container",
		},
		{"a name twice", []fields{{"name": "tAKEN"}}, 409, `"tAKEN"`},
		{"a number twice", []fields{{"cloudAccountID": "000000000001"}}, 409, "000000000001 is connected already"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := s.call(alice, "POST", "/cloud-accounts", accountBody(tt.change...))
			if got.Status != tt.status || !strings.Contains(unquote(got.Body), tt.says) {
				t.Errorf("%d %s; want %d with %q", got.Status, got.Body, tt.status, tt.says)
			}
		})
	}
	if got := apitest.Data[rest.List[connection.Account]](s.call(alice, "GET", "/cloud-accounts",
		nil)); got.Total != 1 {
		t.Errorf("%d accounts are stored; want only the good one", got.Total)
	}
}

func unquote(s string) string { return strings.ReplaceAll(s, `\"`, `"`) }

func TestUpdate_ReplacesWhereTheBillsAre(t *testing.T) {
	s := newFixture(t)
	a := s.connectSettled(alice, fields{"billing": keys{"source": "simulated"}})
	if a.Billing == nil || *a.Billing.Source != "simulated" {
		t.Errorf("%+v; want where its bills are", a.Billing)
	}
	at := "/cloud-accounts/" + a.ID
	if got := s.call(alice, "PUT", at, fields{"billing": keys{"dataset": "x"}}); got.Status != 400 ||
		!strings.Contains(got.Body, "billing.dataset") {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	kept := apitest.Data[connection.Account](s.call(alice, "PUT", at, fields{"name": "Renamed"}))
	if kept.Billing == nil || kept.JobID != nil {
		t.Errorf("%+v; want the bills where they were, and no discovery", kept)
	}
	s.call(alice, "PUT", at, fields{"billing": nil})
	if got := s.getAccount(alice, a.ID); got.Billing != nil {
		t.Errorf("%+v; want them found again", got.Billing)
	}
}

func TestAnOperatorsChoicesHold(t *testing.T) {
	s := newFixture(t, func(p *platform.Platform) { p.Settings = platform.Settings{} })
	for says, change := range map[string]fields{
		"available: aws, azure, gcp, kubernetes\"": {}, "no custom endpoints": {
			"provider": "aws", "authMethod": "static_keys", "endpointURL": "http://localhost:5000",
			"credentials": keys{"accessKeyID": "a", "secretAccessKey": "b"},
		},
	} {
		got := s.call(alice, "POST", "/cloud-accounts", accountBody(change))
		if got.Status != http.StatusBadRequest || !strings.Contains(got.Body, says) {
			t.Errorf("%d %s; want 400 with %q", got.Status, got.Body, says)
		}
	}
}

func TestConnectingStoresSealedCredentialsAndDiscovers(t *testing.T) {
	s := newFixture(t)
	secret := keys{"size": "60", "regions": "2", "seed": "hush-hush"}
	answer := s.call(alice, "POST", "/cloud-accounts", accountBody(fields{"credentials": secret}))
	a := apitest.Data[connection.Account](answer)
	if a.Status != "connecting" || a.JobID == nil || !id.IsValid("ca", a.ID) {
		t.Errorf("%+v; want it connecting, with a job", a)
	}
	if strings.Contains(answer.Body, "hush-hush") || strings.Contains(answer.Body, "sealed") {
		t.Errorf("the answer tells the credentials: %s", answer.Body)
	}
	it, err := s.Table.Get(table.WithOrg(t.Context(), alice.Org), inventory.AccountKey(alice.Org, a.ID))
	if err != nil || strings.Contains(string(it.Data), "hush-hush") {
		t.Errorf("stored in clear, or not at all: %s, %v", it.Data, err)
	}
	if due, err := table.Read[discovery.Due](s.Anywhere(), s.Table, discovery.DueKey(a.ID)); err != nil ||
		due.Org != alice.Org || due.AccountID != a.ID {
		t.Errorf("the next discoveries are due for %+v, %v", due, err)
	}
	p := s.followDiscovery(alice, "/cloud-accounts/"+a.ID+"/discover/"+*a.JobID)
	if p.Status != "succeeded" || p.Partitions != 14 || p.PartitionsDone != 14 || p.Resources != p.Created ||
		p.Resources < 50 {
		t.Errorf("%+v; want all of 14 partitions", p)
	}
	got := s.getAccount(alice, a.ID)
	if got.Status != "connected" || got.JobID != nil || got.ResourceCount != p.Resources ||
		got.LastDiscoveredAt == nil {
		t.Errorf("%+v; want it connected with %d resources", got, p.Resources)
	}
}

func TestOneNumberIsConnectedOnceHoweverManyTry(t *testing.T) {
	s := newFixture(t)
	var wg sync.WaitGroup
	statuses := make(chan int, 8)
	for i := range 8 {
		wg.Go(func() {
			statuses <- s.call(alice, "POST", "/cloud-accounts",
				accountBody(fields{"name": fmt.Sprint("Try ", i)})).Status
		})
	}
	wg.Wait()
	close(statuses)
	count := map[int]int{}
	for st := range statuses {
		count[st]++
	}
	if count[200] != 1 || count[409] != 7 {
		t.Errorf("statuses %v; want one 200 and seven 409", count)
	}
}

func TestUpdateChangesOnlyWhatIsSent(t *testing.T) {
	s := newFixture(t)
	a := s.connectSettled(alice)
	s.connectSettled(alice, fields{"name": "Other", "cloudAccountID": "222"})
	tests := []struct {
		name   string
		change fields
		status int
		says   string
		want   func(connection.Account) bool
	}{
		{"nothing", fields{}, 200, "", func(b connection.Account) bool {
			return b.Name == a.Name && b.Status == "connected" && b.JobID == nil
		}},
		{"the name", fields{"name": " Renamed "}, 200, "", func(b connection.Account) bool {
			return b.Name == "Renamed" && b.PermissionLevel == a.PermissionLevel
		}},
		{"the case of the name", fields{"name": "RENAMED"}, 200, "", func(b connection.Account) bool {
			return b.Name == "RENAMED"
		}},
		{"the level", fields{"permissionLevel": "read_only"}, 200, "", func(b connection.Account) bool {
			return b.PermissionLevel == "read_only" && b.JobID == nil
		}},
		{"the environment", fields{"environment": "nonprod"}, 200, "", func(b connection.Account) bool {
			return b.Environment != nil && *b.Environment == "nonprod" && b.JobID == nil
		}},
		{"an unknown environment", fields{"environment": "moon"}, 400, "environment", nil},
		{"no environment", fields{"environment": nil}, 200, "", func(b connection.Account) bool {
			return b.Environment == nil
		}},
		{
			"the regions",
			fields{"regions": []string{"us-east-2", "us-east-2"}},
			200, "",
			func(b connection.Account) bool {
				return len(b.Regions) == 1 && b.JobID != nil
			},
		},
		{"the regions to all", fields{"regions": nil}, 200, "", func(b connection.Account) bool {
			return len(b.Regions) == 0
		}},
		{"a region that is not enabled", fields{"regions": []string{"mars"}}, 400, `"mars"`, nil},
		{
			"the credentials",
			fields{"credentials": keys{"size": "30", "regions": "2"}},
			200, "",
			func(b connection.Account) bool {
				return b.Status == "connecting" && b.JobID != nil
			},
		},
		{"wrong credentials", fields{"credentials": keys{"refuse": "true"}}, 400, "security token", nil},
		{
			"credentials of another account",
			fields{"credentials": keys{"accountID": "5"}},
			400, "they open account 5",
			nil,
		},
		{"a method without credentials", fields{"authMethod": "simulated"}, 400, "credentials", nil},
		{"an empty name", fields{"name": nil}, 400, "name", nil},
		{"a name that is taken", fields{"name": "oTHER"}, 409, "oTHER", nil},
		{"another number", fields{"cloudAccountID": "333"}, 400, `cloudAccountID: it is "111122223333"`, nil},
		{"no number", fields{"cloudAccountID": nil}, 400, "cloudAccountID", nil},
		{"another provider", fields{"provider": "aws"}, 400, `provider: it is "simulated"`, nil},
		{
			"its own number and provider",
			fields{"cloudAccountID": a.CloudAccountID, "provider": "simulated"},
			200, "",
			func(b connection.Account) bool { return b.CloudAccountID == a.CloudAccountID && b.JobID == nil },
		},
		{
			"a setting that the cloud does not have",
			fields{"credentials": keys{"sise": "30"}},
			400,
			"credentials.sise is not a setting", nil,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := s.getAccount(alice, a.ID)
			got := s.call(alice, "PUT", "/cloud-accounts/"+a.ID, tt.change)
			if got.Status != tt.status || !strings.Contains(unquote(got.Body), tt.says) {
				t.Fatalf("%d %s; want %d with %q", got.Status, got.Body, tt.status, tt.says)
			}
			if tt.want == nil {
				if after := s.getAccount(alice, a.ID); after.Name != before.Name ||
					fmt.Sprint(after.Regions) != fmt.Sprint(before.Regions) {
					t.Errorf("a refused change changed %+v to %+v", before, after)
				}
				return
			}
			b := apitest.Data[connection.Account](got)
			if !tt.want(b) {
				t.Errorf("%+v", b)
			}
			if b.JobID != nil {
				s.followDiscovery(alice, "/cloud-accounts/"+a.ID+"/discover/"+*b.JobID)
			}
		})
	}
}

func TestANameIsFreeAgainAfterARename(t *testing.T) {
	s := newFixture(t)
	a := s.connectSettled(alice)
	apitest.Data[connection.Account](s.call(alice, "PUT", "/cloud-accounts/"+a.ID, fields{"name": "New"}))
	s.connectAccount(alice, fields{"cloudAccountID": "222"})
}

func TestDeleteForgetsTheAccountAndItsResources(t *testing.T) {
	s := newFixture(t)
	a := s.connectSettled(alice)
	other := s.connectSettled(alice, fields{"name": "Other", "cloudAccountID": "222"})
	if got := apitest.Data[rest.Deleted](s.call(alice, "DELETE", "/cloud-accounts/"+a.ID, nil)); got.ID != a.ID {
		t.Errorf("answer names %q; want %q", got.ID, a.ID)
	}
	s.call(alice, "GET", "/cloud-accounts/"+a.ID, nil).Want(404) // it is gone
	if _, err := s.Table.Get(s.Anywhere(), discovery.DueKey(a.ID)); !fault.Is(err, fault.NotFound) {
		t.Errorf("discoveries of it are still due: %v", err)
	}
	ctx, store := table.WithOrg(t.Context(), alice.Org), inventory.New(s.Platform)
	s.waitIdle()
	counts, err := store.CountByAccount(ctx, alice.Org)
	if err != nil {
		t.Fatal(err)
	}
	if counts[a.ID] != 0 || counts[other.ID] != other.ResourceCount {
		t.Errorf("resources are left: %v; want none of %s and %d of %s", counts, a.ID, other.ResourceCount, other.ID)
	}
	s.connectSettled(alice) // name and number are free again
}

func TestAnAccountInUseIsNotDeleted(t *testing.T) {
	s := newFixture(t)
	a := s.connectSettled(alice)
	now := s.Platform.Clock.Now()
	act := execution.Action{
		ID: id.New("act", now), ResourceUID: "i-1", CloudAccountID: a.ID, Action: cloud.Stop,
		Status: execution.Running, CreatedAt: now,
	}
	s.Put(execution.ActionKey(alice.Org, act.ID), act)
	got := s.call(alice, "DELETE", "/cloud-accounts/"+a.ID, nil)
	if got.Status != 409 || !strings.Contains(got.Body, act.ID) {
		t.Errorf("%d %s; want 409 naming %s", got.Status, got.Body, act.ID)
	}
	act.Status = execution.Succeeded
	s.Put(execution.ActionKey(alice.Org, act.ID), act)
	apitest.Data[rest.Deleted](s.call(alice, "DELETE", "/cloud-accounts/"+a.ID, nil))
}

func TestDiscoverGivesTheDiscoveryThatIsUnderWay(t *testing.T) {
	s := newFixture(t)
	a := s.connectSettled(alice, fields{"credentials": keys{"size": "60", "callMillis": "300"}})
	one := apitest.Data[rest.Job](s.call(alice, "POST", "/cloud-accounts/"+a.ID+"/discover", nil), 202)
	two := apitest.Data[rest.Job](s.call(alice, "POST", "/cloud-accounts/"+a.ID+"/discover", ""), 202)
	if one != two || one.Status != "running" {
		t.Errorf("%+v and %+v; want the same, running", one, two)
	}
	if p := s.followDiscovery(alice, one.StatusURL); p.Status != "succeeded" || p.Unchanged != p.Resources {
		t.Errorf("%+v; want nothing changed", p)
	}
	if three := apitest.Data[rest.Job](s.call(alice, "POST", "/cloud-accounts/"+a.ID+"/discover", nil),
		202); three.JobID == one.JobID {
		t.Error("the same job again, after it has ended")
	}
}

func TestADeniedKindLeavesTheAccountDegraded(t *testing.T) {
	s := newFixture(t)
	a := s.connectSettled(alice)
	change := fields{"credentials": keys{"size": "60", "regions": "2", "denied": "rds:DescribeDBInstances"}}
	b := apitest.Data[connection.Account](s.call(alice, "PUT", "/cloud-accounts/"+a.ID, change))
	p := s.followDiscovery(alice, "/cloud-accounts/"+a.ID+"/discover/"+*b.JobID)
	if p.Status != "partial" || len(p.Failures) != 2 || p.Failures[0].Status != "denied" ||
		!strings.Contains(p.Failures[0].Error, "not authorized") || p.Vanished != 0 {
		t.Errorf("%+v; want two denied partitions, and nothing vanished", p)
	}
	if got := s.getAccount(alice, a.ID); got.Status != "degraded" || got.Error == nil ||
		!strings.Contains(*got.Error, "rds:DescribeDBInstances") || got.ResourceCount != a.ResourceCount {
		t.Errorf("%+v; want it degraded with all its resources", got)
	}
	for _, perm := range apitest.Data[[]cloud.Permission](s.call(viewer, "GET", "/cloud-accounts/"+a.ID+"/permissions",
		nil)) {
		if (perm.Status == "denied") != (perm.Action == "rds:DescribeDBInstances") {
			t.Errorf("%+v", perm)
		}
	}
}
