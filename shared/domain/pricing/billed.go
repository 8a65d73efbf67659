package pricing

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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
	// fingerprint identifies the month and the imports whose costs are in toDate and last. An import that was made
	// while they were read may be in them, but is never in the fingerprint.
	fingerprint string
}

// readBills reads the billed costs of an organization. Without a bill it reads only the list of periods.
func (s *Store) readBills(ctx context.Context, org string) (bills, error) {
	month := cost.MonthOf(s.clock.Now())
	periods, err := s.costs.PeriodsBetween(ctx, org, month.Add(-1), month)
	if err != nil {
		return bills{}, fmt.Errorf("read what of %s is billed: %w", org, err)
	}
	b := bills{accounts: map[string]bool{}}
	if b.fingerprint, err = fingerprintOf(month, periods); err != nil {
		return b, err
	}
	for _, p := range periods {
		if p.Estimated {
			continue
		}
		for _, account := range slices.AppendSeq([]string{p.AccountID}, maps.Values(p.Members)) {
			b.accounts[account] = b.accounts[account] || p.Month >= month
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

// fingerprintOf returns the fingerprint of the bills of a month and the month before.
func fingerprintOf(month cost.Month, periods []cost.Period) (string, error) {
	type imported struct {
		Account, Generation string
		Month               cost.Month
		Gone                bool
		Members, Superseded map[string]string
		Rates               map[string]cost.Rate
	}
	var all []imported
	for i := range periods {
		if p := &periods[i]; !p.Estimated {
			all = append(all,
				imported{p.AccountID, p.Generation, p.Month, p.Gone, p.Members, p.Superseded, p.Rates})
		}
	}
	b, err := json.Marshal(all)
	if err != nil {
		return "", fmt.Errorf("encode the bills of %s: %w", month, err)
	}
	sum := sha256.Sum256(b)
	return month.String() + " " + hex.EncodeToString(sum[:8]), nil
}

// Renewal says whether the known costs of an organization's resources must be updated.
type Renewal struct {
	Due   bool // bills of this month or of the last have changed since the last update
	Large bool // the costs have several parts, so an update takes seconds and reads megabytes
}

// RenewalDue compares the bills of an organization with those of the last update. It takes two round trips.
func (s *Store) RenewalDue(ctx context.Context, org string) (Renewal, error) {
	w := costWriter{s.table, s.clock, org}
	head, err := w.readHead(ctx)
	if err != nil {
		return Renewal{}, err
	}
	month := cost.MonthOf(s.clock.Now())
	periods, err := s.costs.PeriodsBetween(ctx, org, month.Add(-1), month)
	if err != nil {
		return Renewal{}, fmt.Errorf("read what of %s is billed: %w", org, err)
	}
	fingerprint, err := fingerprintOf(month, periods)
	return Renewal{Due: head.Bills != fingerprint, Large: len(head.Parts) > 1}, err
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
