package pricesync_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"lamplighter.dev/functions/pricesync"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

// synced runs a worker and returns its work and its usage of the store.
func (f *fixture) synced() (did pricesync.Synced, u table.Usage) {
	f.Helper()
	ctx, meter := table.WithMeter(f.Context())
	did, err := pricesync.SyncPrices(ctx, f.Platform, cloud.Providers{"aws": f.amazon})
	f.Must(err)
	return did, meter.Usage()
}

// The schedule runs the worker five times a night.
func TestSyncPrices_EstimatesAnOrganizationOnceANight(t *testing.T) {
	f := newFixture(t)
	inventorytest.Connect(f.Fixture, apitest.Org, inventorytest.Account)
	f.Clock.Advance(24*time.Hour - f.Clock.Now().Sub(f.Clock.Now().Truncate(24*time.Hour)) + 75*time.Minute) // 01:15
	for night := range 3 {
		first, u := f.synced()
		if first.Organizations != 2 || u.WriteUnits < 10 {
			t.Errorf("night %d, first run: %+v, %+v; want both organizations", night, first, u)
		}
		for run := range 4 {
			f.Clock.Advance(time.Hour)
			did, u := f.synced()
			if did != (pricesync.Synced{}) || u.WriteUnits > 0 || u.RoundTrips > 18 {
				t.Errorf("night %d, run %d: %+v, %+v; want no work, and no read of an organization", night, run+2, did,
					u)
			}
		}
		f.Clock.Advance(20 * time.Hour)
	}
}

// An organization whose prices could not be fetched is estimated again by each run, until they are fetched.
func TestSyncPrices_EstimatesAgainWhenAListHasFailed(t *testing.T) {
	f := newFixture(t)
	f.amazon.breaks = true
	for run := range 2 {
		if did, err := f.sync(); err == nil || did.Organizations != 2 {
			t.Errorf("run %d with a list that breaks off: %+v, %v; want an error and both organizations", run, did, err)
		}
		f.Clock.Advance(time.Hour)
	}
	f.amazon.breaks = false
	for run, want := range []int{2, 0} {
		if did, _ := f.synced(); did.Organizations != want {
			t.Errorf("run %d with the list: %+v, want %d organizations", run, did, want)
		}
	}
}

// failing is a store that fails reads of a key.
type failing struct {
	table.Store
	key table.Key
}

func (s failing) Get(ctx context.Context, k table.Key) (table.Item, error) {
	if k == s.key {
		return table.Item{}, errors.New("down")
	}
	return s.Store.Get(ctx, k)
}

// An organization that fails is estimated again by the next run, and the others are not.
func TestSyncPrices_EstimatesAgainOnlyWhatHasFailed(t *testing.T) {
	f := newFixture(t)
	whole := f.Table
	f.Table = failing{whole, inventory.CostHeadKey(apitest.Org)}
	if did, err := f.sync(); err == nil || did.Organizations != 1 {
		t.Errorf("%+v, %v; want an error and the other organization", did, err)
	}
	f.Table = whole
	for run, want := range []int{1, 0} {
		if did, _ := f.synced(); did.Organizations != want {
			t.Errorf("run %d: %+v, want %d organizations", run, did, want)
		}
	}
}
