package cost

import (
	"context"
	"fmt"
	"time"

	"lamplighter.dev/shared/foundation/money"
)

// BilledMonth is a bill that counts in a month, at least in part, with the location of its line items.
type BilledMonth struct {
	Period
	Items    LineItems // if HasLines
	HasLines bool      // bills imported by an earlier version have no line items
	pointer  *pointer
}

// BilledMonths returns the bills of the months from … to that count, oldest first. Estimates are no bills. It takes two
// round trips, and one more for each megabyte.
func (s *Store) BilledMonths(ctx context.Context, org string, from, to Month) ([]BilledMonth, error) {
	pointers, err := s.readPointers(ctx, org, from, to)
	if err != nil {
		return nil, err
	}
	all, err := s.readLineItems(ctx, org, from, to)
	if err != nil {
		return nil, err
	}
	of, err := newSources(pointers)
	if err != nil {
		return nil, fmt.Errorf("read what is on the bills of %s: %w", org, err)
	}
	lines := map[chargedOn]LineItems{}
	for _, l := range of.counting(all, pointers) {
		lines[chargedOn{month: l.Month, account: l.AccountID}] = l
	}
	var out []BilledMonth
	for i := range pointers {
		p := &pointers[i]
		if _, whole := of.superseded(p); p.Estimated || whole {
			continue
		}
		items, has := lines[chargedOn{month: p.Month, account: p.AccountID}]
		out = append(out, BilledMonth{p.Period, items, has && p.LineItems, p})
	}
	return out, nil
}

// AccountOf returns the account of a charge with this SubAccountId: its value of AccountDim.
func (b *BilledMonth) AccountOf(subAccountID string) string { return b.pointer.accountOf(subAccountID) }

// RateOf returns the value of a unit of a currency in USD with which the amounts of the bill are converted.
func (b *BilledMonth) RateOf(currency string) (usd money.Amount, ok bool) {
	if currency == USD {
		return money.FromInt(1), true
	}
	return b.rateOf(currency)
}

// DayOf returns the day of a month on which a charge of its bill counts: the nearest to the start of its charge period.
func (m Month) DayOf(start time.Time) time.Time {
	return m.Start().AddDate(0, 0, min(max(daysBetween(m.Start(), midnight(start)), 0), m.Days()-1))
}
