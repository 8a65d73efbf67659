package anomalycheck

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/anomaly"
	"lamplighter.dev/shared/domain/budgeting"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
)

var errBroken = errors.New("broken")

// broken is a store whose transactions fail on request. It reports each read of several items.
type broken struct {
	table.Store
	refuses func(table.Write) bool
	reads   func(table.Key)
}

func (b *broken) Transact(ctx context.Context, ws ...table.Write) error {
	if b.refuses != nil && slices.ContainsFunc(ws, b.refuses) {
		return errBroken
	}
	return b.Store.Transact(ctx, ws...)
}

func (b *broken) Write(ctx context.Context, w table.Write) (table.Item, error) {
	if b.refuses != nil && b.refuses(w) {
		return table.Item{}, errBroken
	}
	return b.Store.Write(ctx, w)
}

func (b *broken) BatchGet(ctx context.Context, keys ...table.Key) (map[table.Key]table.Item, error) {
	if b.reads != nil {
		b.reads(keys[0])
	}
	return b.Store.BatchGet(ctx, keys...)
}

func (f *fixture) budget(name string, usd int64) budgeting.Budget {
	f.Helper()
	f.Clock.Advance(time.Second)
	b := budgeting.Budget{
		ID: id.New("bud", f.Clock.Now()), Name: name, ScopeType: budgeting.Org,
		Amount: money.FromInt(usd), Period: budgeting.Month,
	}
	f.Must(b.Check())
	apitest.Value(budgeting.NewStore(f.Table).Create(f.In(org), org, b))(f)
	return b
}

func TestCheck_AnAnomalyThatCannotBeWrittenSuppressesNoBudgetAlert(t *testing.T) {
	f := newFixture(t)
	f.bill(map[string]string{"2026-03-07": "500"})
	f.budget("All", 3000)
	whole := f.Table
	f.Table = &broken{Store: whole, refuses: func(w table.Write) bool {
		return w.Item.PK == anomaly.Key(org, "").PK &&
			strings.HasPrefix(w.Item.SK, anomaly.IDOf(org, anomaly.Scope{Type: anomaly.Org}, day("2026-03-07")))
	}}
	got, err := Check(f.Context(), f.Platform)
	if err == nil || got.BudgetEvents != 2 {
		t.Errorf("%+v, %v; want the budget's two events, and the error", got, err)
	}
	if got.Anomalies != 4 {
		t.Errorf("%d anomalies were written; want the four others", got.Anomalies)
	}
	f.Table = whole
	if got := f.check(); got.Anomalies != 1 || got.BudgetEvents != 0 {
		t.Errorf("the next run: %+v", got)
	}
}

func TestCheck_ABudgetThatCannotBeToldOfKeepsNoOtherFromBeing(t *testing.T) {
	f := newFixture(t)
	f.bill(nil)
	first := f.budget("First", 3000)
	f.budget("Second", 3000)
	f.Table = &broken{Store: f.Table, refuses: func(w table.Write) bool {
		return strings.Contains(w.Item.SK, first.ID)
	}}
	if got, err := Check(f.Context(), f.Platform); err == nil || got.BudgetEvents != 1 {
		t.Errorf("%+v, %v; want the event of the other budget, and the error", got, err)
	}
	f.Equal("events", f.events(), "budget.warning ")
}

// TestCheck_NoOrganizationStarves checks that a run without time for all organizations makes the next run start where
// it ended.
func TestCheck_NoOrganizationStarves(t *testing.T) {
	f := newFixture(t)
	f.bill(nil)
	const orgs = 40
	for n := range orgs {
		f.Put(identity.DirectoryKey(orgOf(n)), map[string]string{"org": orgOf(n)})
	}
	judged := map[string]bool{}
	f.Table = &broken{Store: f.Table, reads: func(k table.Key) {
		if strings.HasSuffix(k.SK, "CHECKED") {
			f.Clock.Advance(time.Minute) // so that a run has time for twelve
			judged[k.PK] = true
		}
	}}
	for range 5 {
		f.check()
		f.Clock.Advance(time.Hour)
	}
	if len(judged) != orgs+1 {
		t.Errorf("%d of %d organizations were looked at in five runs", len(judged), orgs+1)
	}
}

func orgOf(n int) string { return fmt.Sprintf("org_01k0000000000000000000001%02d", n) }
