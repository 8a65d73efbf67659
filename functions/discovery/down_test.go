package discovery

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws"
	"lamplighter.dev/shared/cloud/azure"
	"lamplighter.dev/shared/cloud/gcp"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
	"lamplighter.dev/shared/testkit/clouds/azuretwin"
	"lamplighter.dev/shared/testkit/clouds/gcptwin"
	"lamplighter.dev/shared/testkit/tabletest"
)

// broken is a connection to a cloud with an outage: requests that hits matches are answered with 503, or never.
type broken struct {
	takes time.Duration // a call
	cloud http.RoundTripper
	hits  func(r *http.Request) bool
	hangs bool
	down  bool
}

func (b *broken) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(b.takes)
	switch {
	case !b.down || !b.hits(r):
		return b.cloud.RoundTrip(r)
	case b.hangs:
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	w := &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{}, Body: http.NoBody, Request: r}
	return w, nil
}

// outage is a cloud with a part that can be down.
type outage struct {
	name        string
	cloud       http.RoundTripper
	hits        func(*http.Request) bool
	isDown      func(discovery.Part) bool // a part that cannot be read then
	provider    func(*fixture, *broken) cloud.Provider
	account     inventory.Account
	credentials map[string]string
	resources   int
	// a call; 0 where a mutex is held while a token is asked for, which bubbles cannot wait for
	takes time.Duration
}

func outages() []outage {
	return []outage{awsOutage(), azureOutage(), googleOutage()}
}

// awsOutage is of a region of three, with instances in each.
func awsOutage() outage {
	tw := &awstwin.Cloud{}
	for i := range 9 {
		tw.AddInstance(awstwin.Instance{
			ID:     awstwin.InstanceID(i),
			Region: []string{"eu-south-1", "eu-west-1", "us-east-1"}[i%3],
		})
	}
	return outage{
		name: "a region of AWS", cloud: tw, resources: 9, takes: 100 * time.Millisecond,
		hits:   func(r *http.Request) bool { return strings.Contains(r.Header.Get("Authorization"), "/eu-south-1/") },
		isDown: func(p discovery.Part) bool { return p.Region == "eu-south-1" },
		provider: func(s *fixture, b *broken) cloud.Provider {
			return aws.New(aws.Options{Clock: clock.System{}, Transport: b, Store: s.Table})
		},
		account:     inventory.Account{Provider: aws.Name, CloudAccountID: awstwin.Account, AuthMethod: "static_keys"},
		credentials: map[string]string{"accessKeyID": awstwin.AccessKey, "secretAccessKey": "secret"},
	}
}

// azureOutage is of Machine Learning, whose workspaces are asked for their computes.
func azureOutage() outage {
	tw := &azuretwin.Cloud{}
	tw.AddCompute(tw.AddWorkspace("models", "westeurope"), "notebook", "ComputeInstance")
	for i := range 5 {
		tw.AddVM(fmt.Sprint("vm-", i), []string{"westeurope", "northeurope"}[i%2], nil)
	}
	return outage{
		name: "an API of Azure", cloud: tw, resources: 6,
		hits: func(r *http.Request) bool {
			return strings.HasSuffix(r.URL.Path, "/computes")
		},
		isDown: func(p discovery.Part) bool { return p.Kind == cloud.AzureMLCompute && p.Region == "westeurope" },
		provider: func(s *fixture, b *broken) cloud.Provider {
			return azure.New(azure.Options{Clock: clock.System{}, Transport: b, Store: s.Table})
		},
		account: inventory.Account{
			Provider: "azure", CloudAccountID: azuretwin.Subscription,
			AuthMethod: "service_principal",
		},
		credentials: map[string]string{
			"tenantID": azuretwin.Tenant, "clientID": azuretwin.Client,
			"clientSecret": azuretwin.Secret,
		},
	}
}

// googleOutage is of Cloud SQL Admin.
func googleOutage() outage {
	tw := &gcptwin.Cloud{}
	tw.AddDatabase(gcptwin.Database{Name: "orders", Region: "europe-west1"})
	for i := range 5 {
		tw.AddInstance(gcptwin.Instance{
			Name: fmt.Sprint("vm-", i),
			Zone: []string{"europe-west1-b", "us-central1-a"}[i%2],
		})
	}
	return outage{
		name: "an API of Google's", cloud: tw, resources: 6,
		hits:   func(r *http.Request) bool { return strings.HasPrefix(r.URL.Host, "sqladmin.") },
		isDown: func(p discovery.Part) bool { return p.Kind == cloud.GCPCloudSQL },
		provider: func(s *fixture, b *broken) cloud.Provider {
			return gcp.New(gcp.Options{Clock: clock.System{}, Transport: b, Store: s.Table})
		},
		account:     inventory.Account{Provider: "gcp", CloudAccountID: gcptwin.Project, AuthMethod: "service_account"},
		credentials: map[string]string{"serviceAccountKey": gcptwin.KeyFile()},
	}
}

// TestADiscovery_WhatIsDownSlowsOnlyItself reads a small known account in one share while a region or an API is down.
// The rest is read and recorded nearly as fast as usual. The outage is reported, and none of the unread resources are
// deleted.
func TestADiscovery_WhatIsDownSlowsOnlyItself(t *testing.T) {
	if tabletest.Limits() != nil {
		t.Skip("limits its store itself")
	}
	// all bubbles share the index's compressor, so it is created outside of them
	newFixture(t, settings{"size": "10"}).runPass(discovery.Succeeded)
	for _, o := range outages() {
		for _, hangs := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, which hangs: %t", o.name, hangs), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { o.slowsOnlyItself(t, hangs) })
			})
		}
	}
}

func (o outage) slowsOnlyItself(t *testing.T, hangs bool) {
	t.Helper()
	time.Sleep(time.Until(noon))
	s := &fixture{
		Fixture: apitest.On(t, apitest.PlatformAt(t, clock.System{})), ctx: table.WithOrg(t.Context(), org),
		account: o.account,
	}
	way := &broken{takes: o.takes, cloud: o.cloud, hits: o.hits, hangs: hangs}
	s.providers = cloud.Providers{o.account.Provider: o.provider(s, way)}
	s.account.ID, s.account.PermissionLevel, s.account.Status = id.New("ca", noon), "read_write",
		inventory.AccountConnecting
	s.setSettings(o.credentials)
	first, _ := s.outagePass(o)
	if first.Status != discovery.Succeeded || s.countLive() < o.resources {
		t.Fatalf("before: %+v, %d live; want at least %d", first, s.countLive(), o.resources)
	}
	live := s.countLive()
	time.Sleep(time.Hour)
	_, usual := s.outagePass(o)
	time.Sleep(time.Hour)
	way.down = true
	j, took := s.outagePass(o)
	t.Logf("the others took %s, and %s before; the whole pass %s", took, usual, j.CompletedAt.Sub(j.StartedAt))
	if took > usual+10*time.Second { // a hanging request fails only after minutes
		t.Errorf("the others took %s beside what is down, and %s before", took, usual)
	}
	for _, p := range s.readParts(j) {
		if failed := p.Status != discovery.PartDone; failed != o.isDown(p) || failed && p.Error == "" {
			t.Errorf("%+v", p)
		}
	}
	if a := s.storedAccount(); j.Status != discovery.Partial || a.Status != inventory.AccountDegraded ||
		s.countLive() != live {
		t.Errorf("%+v; the account is %s; %d of %d live", j, a.Status, s.countLive(), live)
	}
}

// outagePass runs a pass as its machine does, and tells how long it took until all was recorded that is not down.
func (s *fixture) outagePass(o outage) (j discovery.Job, others time.Duration) {
	s.Helper()
	w := s.newWorker()
	began := time.Now()
	s.Must(w.measurements.NoteCollection(s.ctx, org, s.account.ID,
		measurement.Collection{Day: measurement.DayOf(began)}))
	in := discovery.Input{Org: org, AccountID: s.account.ID, JobID: id.New("job", began)}
	s.Put(discovery.JobKey(org, in.JobID),
		discovery.Job{ID: in.JobID, AccountID: in.AccountID, Status: discovery.Running, StartedAt: began})
	s.account = s.storedAccount()
	s.account.JobID = in.JobID
	s.Put(inventory.AccountKey(org, in.AccountID), s.account)
	plan := apitest.Value(w.planShares(s.ctx, in))(s)
	var scans sync.WaitGroup
	for _, sh := range plan.Shares {
		sh.Parts = slices.Clone(sh.Parts) // a copy, as through the machine: the plan stays unchanged
		scans.Go(func() {
			for !sh.Done {
				sh = apitest.Value(w.scanShare(s.ctx, sh))(s)
				time.Sleep(time.Duration(sh.WaitSeconds) * time.Second)
			}
		})
	}
	for !s.othersDone(o, in, plan) {
		time.Sleep(100 * time.Millisecond)
	}
	others = time.Since(began)
	scans.Wait()
	return apitest.Value(w.finishPass(s.ctx, in, nil))(s), others
}

func (s *fixture) othersDone(o outage, in discovery.Input, plan Plan) bool {
	s.Helper()
	done := apitest.Value(discovery.ListParts(s.ctx, s.Table, org, in.JobID))(s)
	for _, sh := range plan.Shares {
		for _, p := range sh.Parts {
			is := func(q discovery.Part) bool {
				return q.Region == p.Region && q.Kind == p.Kind && q.Status == discovery.PartDone
			}
			if !o.isDown(p.Part) && !slices.ContainsFunc(done, is) {
				return false
			}
		}
	}
	return true
}
