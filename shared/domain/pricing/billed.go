package pricing

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"lamplighter.dev/shared/domain/cost"
)

// bills holds the billed costs of resources in this month and in the last month.
type bills struct {
	accounts map[string]bool // accounts with a bill; true: with a bill of this month
	toDate   map[string]cost.ResourceCost
	last     map[string]cost.ResourceCost
}

// readBills reads the billed costs of an organization. Without a bill it reads only the list of periods.
func (s *Store) readBills(ctx context.Context, org string) (bills, error) {
	periods, err := s.costs.Periods(ctx, org)
	if err != nil {
		return bills{}, fmt.Errorf("read what of %s is billed: %w", org, err)
	}
	month := cost.MonthOf(s.clock.Now())
	b := bills{accounts: map[string]bool{}}
	for _, p := range periods {
		if !p.Estimated && p.Month >= month.Add(-1) {
			for _, account := range slices.AppendSeq([]string{p.AccountID}, maps.Values(p.Members)) {
				b.accounts[account] = b.accounts[account] || p.Month >= month
			}
		}
	}
	if len(b.accounts) == 0 {
		return b, nil
	}
	if b.toDate, err = s.costs.ResourceCosts(ctx, org, month); err != nil {
		return b, fmt.Errorf("read what resources of %s cost this month: %w", org, err)
	}
	if b.last, err = s.costs.ResourceCosts(ctx, org, month.Add(-1)); err != nil {
		return b, fmt.Errorf("read what resources of %s cost last month: %w", org, err)
	}
	return b, nil
}

// of returns the billed cost of a resource; nil when no bill has named the resource.
func (b *bills) of(r *Priceable) *Invoiced {
	now, this := b.toDate[r.UID]
	before, last := b.last[r.UID]
	current, billed := b.accounts[r.CloudAccountID]
	if !billed || !this && !last {
		return nil
	}
	return &Invoiced{MonthToDate: now.Billed, LastMonth: before.Billed, Current: current}
}
