package cost

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/money"
)

// RateOf returns the value of a unit of a currency on a day. It returns false if the rate is unknown.
type RateOf func(ctx context.Context, currency string, on time.Time) (Rate, bool, error)

// BillsRate is the source of a rate that the bill itself states.
const BillsRate = "bill"

// ownRate is the rate of a currency that a bill states: that of the last day with one.
type ownRate struct {
	usd money.Amount
	day time.Time
}

// noteRate records the rate of a charge. Of several on a day it keeps the highest, so that their order does not
// matter.
func (b *Builder) noteRate(c *bill.Charge) {
	if c.USDRate.Sign() <= 0 || c.BillingCurrency == USD {
		return
	}
	had, day := b.own[c.BillingCurrency], midnight(c.ChargePeriodStart)
	if day.Before(had.day) || day.Equal(had.day) && c.USDRate.Cmp(had.usd) <= 0 {
		return
	}
	if b.own == nil {
		b.own = map[string]ownRate{}
	}
	b.own[c.BillingCurrency] = ownRate{c.USDRate, day}
}

// rates returns the rates of the currencies on the bill: its own, or those of the day of its delivery, but at most of
// the last day of the month.
func (b *Builder) rates(ctx context.Context) (map[string]Rate, error) {
	out := map[string]Rate{}
	for currency, r := range b.in.Rates {
		addRounded(out, currency, r)
	}
	on := clock.Earliest(b.in.DeliveredAt, b.in.Month.End().Add(-day))
	for currency := range b.totals {
		own, has := b.own[currency]
		if has {
			addRounded(out, currency, Rate{own.usd, BillsRate, own.day.Format(time.DateOnly)})
		}
		if err := addRate(ctx, out, currency, asking{b.in.RateOf, on}); err != nil {
			return nil, fmt.Errorf("read the rate of %s for %s of %s: %w", currency, b.in.Month, b.in.AccountID, err)
		}
	}
	return out, nil
}

// asking is the currency and the day of a request for a rate.
type asking struct {
	of RateOf
	on time.Time
}

func addRate(ctx context.Context, to map[string]Rate, currency string, ask asking) error {
	if _, had := to[currency]; had || currency == USD || ask.of == nil {
		return nil
	}
	r, ok, err := ask.of(ctx, currency, ask.on)
	if ok && err == nil {
		addRounded(to, currency, r)
	}
	return err
}

// HasForeign reports whether a part of the period was billed in another currency than USD.
func (p *Period) HasForeign() bool {
	for currency := range p.ByCurrency {
		if currency != USD {
			return true
		}
	}
	return false
}

// AddRates adds the rates of periods that were imported before their rates were known.
func (s *Store) AddRates(ctx context.Context, org string, of RateOf) error {
	pointers, err := s.readPointers(ctx, org, firstMonth, lastMonth)
	if err != nil {
		return err
	}
	months := map[Month]bool{}
	for i := range pointers {
		p := &pointers[i]
		next := *p
		if next.Rates = maps.Clone(p.Rates); next.Rates == nil {
			next.Rates = map[string]Rate{}
		}
		on := clock.Earliest(p.DeliveredAt, p.Month.End().Add(-day))
		for currency := range p.ByCurrency {
			if err = addRate(ctx, next.Rates, currency, asking{of, on}); err != nil {
				return err
			}
		}
		if len(next.Rates) == len(p.Rates) {
			continue
		}
		next.Seq++
		err = s.point(ctx, org, p, &next, nil)
		// A faster import has asked for the rates, too.
		if _, moved := errors.AsType[*table.ConditionError](err); err != nil && !moved {
			return fmt.Errorf("add rates to %s of %s: %w", p.Month, p.AccountID, err)
		}
		months[p.Month] = true
	}
	for m := range months {
		if err = s.summarize(ctx, org, m); err != nil {
			return err
		}
	}
	return nil
}
