package cost

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/tabletest"
)

const (
	testOrg  = apitest.Org
	otherOrg = apitest.OtherOrg
)

var (
	march = MonthOf(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	now   = time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)
)

// fixture is a store of costs with an inventory.
type fixture struct {
	*apitest.Fixture
	ctx       context.Context
	store     *Store
	faulty    *recorder
	inventory *inventory.Store
}

func newFixture(tb testing.TB) *fixture {
	tb.Helper()
	c := clock.NewManual(now)
	below := &partitions{Store: tabletest.NewAt(tb, c)}
	faulty := &recorder{table.NewFaultyStore(below, c), below}
	t := table.Fenced(faulty)
	i := inventory.NewStore(t, c)
	s := &fixture{
		apitest.On(tb, &platform.Platform{Table: t, Clock: c}), table.WithOrg(context.Background(), testOrg),
		NewStore(t, i, c), faulty, i,
	}
	s.Clock = c
	return s
}

// recorder fails on demand, and records the partitions of writes.
type recorder struct {
	*table.FaultyStore
	below *partitions
}

func (r *recorder) written() []string { return slices.Sorted(maps.Keys(r.below.pks)) }

// partitions records the partitions of batch writes.
type partitions struct {
	table.Store
	pks map[string]bool
}

// BatchWrite records the partitions and writes.
func (p *partitions) BatchWrite(ctx context.Context, ws ...table.Write) error {
	for i := range ws {
		if p.pks == nil {
			p.pks = map[string]bool{}
		}
		p.pks[ws[i].Item.PK] = true
	}
	return p.Store.BatchWrite(ctx, ws...)
}

// fresh returns the store with an empty cache, as in a new process.
func (s *fixture) fresh() *Store { return NewStore(s.Table, s.inventory, s.Clock) }

// imported returns an import of March for an account.
func imported(account, fingerprint string, at time.Time) Import {
	return Import{
		Org: testOrg, AccountID: account, Provider: "aws", Month: march, Fingerprint: fingerprint, DeliveredAt: at,
		Source: "data_export", Export: "daily",
	}
}

func (s *fixture) bring(in Import, charges ...bill.Charge) Period {
	s.Helper()
	p, err := s.tryBring(in, charges...)
	s.Must(err)
	return p
}

func (s *fixture) tryBring(in Import, charges ...bill.Charge) (Period, error) {
	ctx := table.WithOrg(s.ctx, in.Org)
	b, err := s.store.Begin(ctx, in)
	if err != nil {
		return Period{}, err
	}
	for i := range charges {
		if err = b.Add(&charges[i]); err != nil {
			return Period{}, err
		}
	}
	return b.Commit(ctx)
}

// charge returns usage of a resource on a day of March, with the same amount in all metrics.
func charge(day int, resource, service, amount string) bill.Charge {
	a := money.MustParse(amount)
	return bill.Charge{
		BillingPeriodStart: march.Start(), ChargePeriodStart: march.Start().AddDate(0, 0, day-1),
		ChargeCategory: bill.Usage,
		SubAccountID:   "111122223333", ServiceName: service, RegionID: "eu-west-1", ResourceID: resource,
		ResourceType:    "Instance",
		PricingCategory: bill.Standard, BillingCurrency: USD, BilledCost: a, EffectiveCost: a, ListCost: a,
		Tags: []bill.Tag{{Key: "env", Value: "prod"}},
	}
}

// ofMarch returns a question about all of March.
func ofMarch(dims ...string) Question {
	return Question{From: march.Start(), To: march.End(), Metric: Billed, Dims: dims}
}

func (s *fixture) ask(q Question) Answer {
	s.Helper()
	a, err := s.store.Ask(s.ctx, testOrg, q)
	s.Must(err)
	return a
}

// rows formats rows as "a,b=1.5".
func rows(a Answer) []string {
	out := []string{}
	for _, r := range a.Rows {
		out = append(out, strings.Join(r.Keys, ",")+"="+r.Amount.String())
	}
	return out
}

func equal[T any](tb testing.TB, what string, got, want T) {
	tb.Helper()
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		tb.Errorf("%s: got %s, want %s", what, g, w)
	}
}

// contextOf returns the context of another organization.
func contextOf(s *fixture, org string) context.Context { return table.WithOrg(s.ctx, org) }
