package pricesync_test

import (
	"context"
	"slices"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

// interrupted is a store that calls once before the first access of a kind to the head of the costs.
type interrupted struct {
	table.Store
	onWrite bool
	once    func()
}

func (s *interrupted) interrupt(k table.Key, writes bool) {
	if do := s.once; do != nil && k == inventory.CostHeadKey(apitest.Org) && writes == s.onWrite {
		s.once = nil
		do()
	}
}

func (s *interrupted) Get(ctx context.Context, k table.Key) (table.Item, error) {
	s.interrupt(k, false)
	return s.Store.Get(ctx, k)
}

func (s *interrupted) Write(ctx context.Context, w table.Write) (table.Item, error) {
	s.interrupt(w.Item.Key, true)
	return s.Store.Write(ctx, w)
}

// An update that began before a bill arrived ends after the update that the bill caused.
func TestUpdate_NeverReplacesNewerCosts(t *testing.T) {
	for name, onWrite := range map[string]bool{"before it reads the head": false, "before it writes the head": true} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			inventorytest.Connect(f.Fixture, apitest.Org, inventorytest.Account)
			providers := cloud.Providers{"aws": f.amazon}
			_, err := f.sync()
			f.Must(err)
			f.Table = &interrupted{Store: f.Table, onWrite: onWrite, once: func() {
				f.bill(cost.MonthOf(f.Clock.Now()), 6123)
				another := f.Clone() // in a process of its own
				_, err := pricing.New(another, providers).Update(f.In(apitest.Org), apitest.Org)
				f.Must(err)
			}}
			f.amazon.prices["ec2/t3.micro/linux/default"] = "0.2" // so that the slower update has changes to write
			f.Must(pricing.New(f.Platform, providers).RefreshPrices(f.Context(),
				pricing.ProviderRegion{Provider: "aws", Region: "eu-west-1"}))
			_, err = pricing.New(f.Platform, providers).Update(f.In(apitest.Org), apitest.Org)
			f.Must(err)
			if r := f.list()["i-2"]; r.ActualUSD == nil || r.ActualUSD.MonthToDate != "61.23" {
				t.Errorf("billed: %+v", r.ActualUSD)
			}
		})
	}
}

// The cost of an event is that of more machines in a group, also where the group has none yet.
func TestPairs_HaveTheRegionsOfGroupsWithoutMachines(t *testing.T) {
	for _, kind := range []string{cloud.AWSASG, cloud.GCPMIG} {
		f := newFixture(t)
		at := inventory.Partition{AccountID: inventorytest.Account, Region: "eu-north-1", Kind: kind}
		inventorytest.DiscoverIn(f.Fixture, at, apitest.Org, cloud.Resource{UID: "group"})
		pairs := apitest.Value(pricing.New(f.Platform, nil).Pairs(f.In(apitest.Org), apitest.Org))(f)
		if !slices.ContainsFunc(pairs, func(at pricing.ProviderRegion) bool { return at.Region == "eu-north-1" }) {
			t.Errorf("%s: %v", kind, pairs)
		}
	}
}
