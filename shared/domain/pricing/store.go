package pricing

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
)

// Store keeps price tables and estimates the costs of resources.
type Store struct {
	p         *platform.Platform
	table     table.Store
	clock     clock.Clock
	providers cloud.Providers
	inventory *inventory.Store
	costs     *cost.Store

	mu         sync.Mutex
	tables     map[ProviderRegion]keptTable
	triedRates time.Time
}

// keptTable is a list of prices in memory, with the change of the head that named it.
type keptTable struct {
	change int64
	table  *Table
}

// New returns a Store that asks providers for prices.
func New(p *platform.Platform, providers cloud.Providers) *Store {
	return &Store{
		p: p, table: p.Table, clock: p.Clock, providers: providers, inventory: inventory.New(p),
		costs:  cost.New(p),
		tables: map[ProviderRegion]keptTable{},
	}
}

func (s *Store) cached(at ProviderRegion, h listHead) *Table {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.tables[at]; k.change == h.Change {
		return k.table
	}
	return nil
}

// mostTables is how many lists are kept in memory, each of some megabytes.
const mostTables = 8

func (s *Store) cache(at ProviderRegion, h listHead, t *Table) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for old := range s.tables {
		if len(s.tables) < mostTables {
			break
		}
		delete(s.tables, old)
	}
	s.tables[at] = keptTable{h.Change, t}
}

// PriceUpdate counts the resources of an update, and those with a price and with a billed cost.
type PriceUpdate struct {
	Resources int `json:"resources"`
	Priced    int `json:"priced"`
	Billed    int `json:"billed"`
	Unfetched int `json:"unfetched,omitempty"` // price lists of the resources that were never fetched
}

// updateTries is how often an update is tried when other processes write.
const updateTries = 3

// Update computes the cost of each resource of an organization, and stores it for the inventory. It writes nothing
// when nothing has changed.
func (s *Store) Update(ctx context.Context, org string) (PriceUpdate, error) {
	return s.tryUpdate(ctx, org, false)
}

// UpdateDays is Update, and also writes the estimated costs of the days without a bill for reports.
func (s *Store) UpdateDays(ctx context.Context, org string) (PriceUpdate, error) {
	return s.tryUpdate(ctx, org, true)
}

func (s *Store) tryUpdate(ctx context.Context, org string, withDays bool) (PriceUpdate, error) {
	end, err := platform.Shared(s.p, newUpdateTurns).take(ctx, org)
	if err != nil {
		return PriceUpdate{}, err
	}
	defer end()
	for try := 1; ; try++ {
		did, err := s.update(ctx, org, withDays)
		if try == updateTries || !errors.Is(err, ErrCostsMoved) {
			return did, err
		}
	}
}

// update computes and writes the costs. It reads the head of the costs before everything else, so that it cannot
// replace the costs of an update that began later.
func (s *Store) update(ctx context.Context, org string, withDays bool) (PriceUpdate, error) {
	w := costWriter{s.table, s.clock, org}
	head, err := w.readHead(ctx)
	if err != nil {
		return PriceUpdate{}, err
	}
	pairs, err := s.pairs(ctx, org, func(*Priceable) bool { return true })
	if err != nil {
		return PriceUpdate{}, fmt.Errorf("read what of %s is to be priced: %w", org, err)
	}
	tables, unfetched, err := s.tablesOf(ctx, pairs)
	if err != nil {
		return PriceUpdate{}, err
	}
	bills, err := s.readBills(ctx, org)
	if err != nil {
		return PriceUpdate{}, err
	}
	did := PriceUpdate{Unfetched: unfetched}
	var estimated estimates
	known := newCostCollection()
	err = EachPriceable(ctx, s.inventory, org, func(r Priceable) {
		c := KnownCost{UID: r.UID, Rate: s.rate(tables[pairOf(&r)], r.Resource), Billed: bills.of(&r)}
		known.add(&c)
		did.count(&c)
		if withDays {
			estimated.add(&r, &c)
		}
	})
	if err != nil {
		return did, fmt.Errorf("price what is in %s: %w", org, err)
	}
	if err = w.write(ctx, head, newCosts{known.encode(), bills.fingerprint}); err != nil || !withDays {
		return did, err
	}
	return did, errors.Join(s.addRates(ctx, org), s.estimateDays(ctx, org, &estimated))
}

func (u *PriceUpdate) count(c *KnownCost) {
	u.Resources++
	if c.Rate.Reason == "" {
		u.Priced++
	}
	if c.Billed != nil {
		u.Billed++
	}
}

func pairOf(r *Priceable) ProviderRegion { return ProviderRegion{r.Provider, r.Region} }

// Pairs returns the providers and regions of an organization's resources whose prices are needed, and publicRates when
// it is billed in another currency.
func (s *Store) Pairs(ctx context.Context, org string) ([]ProviderRegion, error) {
	pairs, err := s.pairs(ctx, org, func(*Priceable) bool { return true })
	if err != nil {
		return nil, err
	}
	periods, err := s.costs.Periods(ctx, org)
	if slices.ContainsFunc(periods, func(p cost.Period) bool { return p.HasForeign() }) {
		pairs = append(pairs, publicRates)
	}
	return pairs, err
}

// AccountPairs returns the providers and regions of an account's resources whose prices are needed.
func (s *Store) AccountPairs(ctx context.Context, org, accountID string) ([]ProviderRegion, error) {
	return s.pairs(ctx, org, func(r *Priceable) bool { return r.CloudAccountID == accountID })
}

// pairs returns the providers and regions of the selected resources, in order.
func (s *Store) pairs(ctx context.Context, org string, selects func(*Priceable) bool) ([]ProviderRegion, error) {
	had := map[ProviderRegion]bool{}
	err := EachPriceable(ctx, s.inventory, org, func(r Priceable) {
		if needsPrices(r.Type) && selects(&r) {
			had[pairOf(&r)] = true
		}
	})
	return slices.SortedFunc(maps.Keys(had), ProviderRegion.Compare), err
}

// needsPrices reports whether resources of a type have a price, or are groups of machines with a price.
func needsPrices(kind string) bool {
	return Priced(kind) || kind == cloud.AWSASG || kind == cloud.GCPMIG
}

// rate estimates a resource in its running and in its stopped state.
func (s *Store) rate(t *Table, r Resource) HourlyRate {
	switch {
	case !Priced(r.Type):
		return HourlyRate{Reason: "no price is known of the type " + r.Type}
	case t == nil:
		return HourlyRate{Reason: "no prices were fetched yet of its provider and region: that is done when an " +
			"account is connected, and every night"}
	}
	if r.Status != cloud.Unknown {
		r.Status = cloud.Stopped // an estimate of a stopped resource has both rates
	}
	e := Rate(t, r)
	if !e.OK() {
		return HourlyRate{Reason: e.Reason, Version: t.Version}
	}
	return HourlyRate{
		Running: e.WhenRunning, Off: e.Hourly, Version: t.Version, Stale: t.Stale(s.clock.Now()),
		Shared: e.Shared,
	}
}
