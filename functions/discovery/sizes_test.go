package discovery

import (
	"testing"
	"time"

	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/sizing"
	"lamplighter.dev/shared/testkit/apitest"
)

// sizesOf returns the list of sizes of the account's provider in a region, or nil.
func (s *fixture) sizesOf(region string) *sizing.List {
	s.Helper()
	return apitest.Value(sizing.NewStore(s.Platform).Read(s.ctx, org,
		pricing.ProviderRegion{Provider: simulated.Name, Region: region}))(s)
}

func TestSizes_AreReadEveryThreeDaysInTheRegionsWithMachines(t *testing.T) {
	s := newFixture(t, machines)
	s.runPass(discovery.Succeeded)
	if n := s.countCalls("Sizes"); n != 0 {
		t.Errorf("%d calls in the first pass", n)
	}
	s.advanceDays(1)
	regions := map[string]bool{}
	for _, r := range s.readRecords() {
		regions[r.Region] = true
	}
	if n := s.countCalls("Sizes"); len(regions) != 2 || n != 2 {
		t.Errorf("%d calls for the regions %v", n, regions)
	}
	for region := range regions {
		if size, known := s.sizesOf(region).Find("m6i.large"); !known || size.VCPU != 2 {
			t.Errorf("%s: %+v", region, size)
		}
	}
	s.advanceDays(2)
	if n := s.countCalls("Sizes"); n != 2 {
		t.Errorf("%d calls within three days", n)
	}
	s.advanceDays(1)
	if n := s.countCalls("Sizes"); n != 4 {
		t.Errorf("%d calls after three days", n)
	}
}

func TestSizes_AreNotReadWithoutMachines(t *testing.T) {
	s := newFixture(t, settings{"size": "30", "regions": "2", "stopped": "0", "kinds": "aws-ebs"})
	s.runPass(discovery.Succeeded)
	s.advanceDays(1)
	if n := s.countCalls("Sizes"); n != 0 {
		t.Errorf("%d calls", n)
	}
}

// Without the permission a pass succeeds as before, and the list is read once it is given.
func TestSizes_ThatAreRefusedAreReadLater(t *testing.T) {
	s := newFixture(t, machines)
	s.runPass(discovery.Succeeded)
	s.clk.Advance(24 * time.Hour)
	region := ""
	for _, r := range s.readRecords() {
		region = r.Region
	}
	simulated.DenyCapability(s.providers[simulated.Name], s.account.ID, "discover", true)
	w := newWorker(s.Platform, s.providers)
	a, conn, err := w.connectAccount(s.ctx, discovery.Input{Org: org, AccountID: s.account.ID})
	s.Must(err)
	s.Must(w.renewSizes(s.ctx, org, a, conn))
	if s.sizesOf(region) != nil {
		t.Error("there is a list")
	}
	simulated.DenyCapability(s.providers[simulated.Name], s.account.ID, "discover", false)
	s.Must(w.renewSizes(s.ctx, org, a, conn))
	if s.sizesOf(region) == nil {
		t.Error("there is no list")
	}
}
