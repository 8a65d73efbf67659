package billfile

import (
	"cmp"
	"slices"
	"time"

	"golang.org/x/text/currency"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// Totals holds the sums of a file, to compare with the manifest and the vendor's own totals.
type Totals struct {
	Rows   int64      // in the file, without its header, like the count in manifests
	Months []MonthSum // by month, then currency

	last int // index of the most recently used sum
}

// MonthSum is the charges of one billing period in one currency.
type MonthSum struct {
	Month    time.Time // its first day, UTC
	Currency string
	Charges  int64 // may be fewer than rows (charges that net to 0 are dropped) or more (a row with credits)

	Billed, Effective, List money.Amount
}

// Merge adds the totals of another file of the same delivery.
func (t *Totals) Merge(other Totals) {
	t.Rows += other.Rows
	for i := range other.Months {
		o := &other.Months[i]
		s := t.sum(o.Month, o.Currency)
		s.Charges += o.Charges
		s.Billed.Increase(&o.Billed)
		s.Effective.Increase(&o.Effective)
		s.List.Increase(&o.List)
	}
}

// add counts a charge. It returns an error for a charge without a month or a currency.
func (t *Totals) add(c *bill.Charge) error {
	if t.last >= len(t.Months) || t.Months[t.last].Month != c.BillingPeriodStart ||
		t.Months[t.last].Currency != c.BillingCurrency {
		if err := checkCurrency(c.BillingCurrency); err != nil {
			return err
		}
		if c.BillingPeriodStart.IsZero() {
			return fault.New(fault.Invalid, "the row has no billing period; its start is a date like 2026-03-01")
		}
	}
	s := t.sum(firstOfMonth(c.BillingPeriodStart), c.BillingCurrency)
	s.Charges++
	s.Billed.Increase(&c.BilledCost)
	s.Effective.Increase(&c.EffectiveCost)
	s.List.Increase(&c.ListCost)
	return nil
}

// sum returns the sum of a month and currency. It tries the previous row's first, which mostly is the same.
func (t *Totals) sum(month time.Time, code string) *MonthSum {
	if t.last < len(t.Months) && t.Months[t.last].Month.Equal(month) && t.Months[t.last].Currency == code {
		return &t.Months[t.last]
	}
	i, found := slices.BinarySearchFunc(t.Months, MonthSum{Month: month, Currency: code}, func(a, b MonthSum) int {
		return cmp.Or(a.Month.Compare(b.Month), cmp.Compare(a.Currency, b.Currency))
	})
	if !found {
		t.Months = slices.Insert(t.Months, i, MonthSum{Month: month, Currency: code})
	}
	t.last = i
	return &t.Months[i]
}

func firstOfMonth(t time.Time) time.Time {
	if t.Day() == 1 && t.Hour() == 0 && t.Location() == time.UTC {
		return t
	}
	year, month, _ := t.UTC().Date()
	return time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
}

// checkCurrency returns an error for a code outside ISO 4217. Amounts in such a currency could neither be converted
// nor distinguished.
func checkCurrency(code string) error {
	if _, err := currency.ParseISO(code); err != nil || code == "" {
		return fault.New(fault.Invalid, "%.16q is not a currency; one of ISO 4217 is needed, like USD", code)
	}
	return nil
}
