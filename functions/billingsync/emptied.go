package billingsync

import (
	"slices"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// checkEmptied returns an error for a delivery of this number of rows that would take the charges, or one of the two
// costs, of a month away. Providers deliver a header alone when an export was set up anew, or failed.
func checkEmptied(d *cloud.Delivery, rows int64, b *cost.Builder) error {
	had, charges := b.Replaced(), rowsOf(b)
	switch {
	case had.Rows == 0:
		return nil
	case rows == 0:
		return fault.New(fault.Invalid, "%s: its files have no rows, only headers, and the month has %d rows; the "+
			"month stays as it was: run the export again", name(d), had.Rows)
	case d.Shared && charges == 0:
		return fault.New(fault.Invalid, "%s: its files have %d rows, but no charge of this month, and the month has "+
			"%d; the month stays as it was: run the export again, for this month alone", name(d), rows, had.Rows)
	case isPair(d):
		return checkCosts(d, had.ByCurrency, b.Totals())
	}
	return nil
}

// isPair reports whether billed and effective cost of a delivery come from different files.
func isPair(d *cloud.Delivery) bool {
	return slices.ContainsFunc(d.Files, func(f cloud.BillFile) bool { return f.Form == cloud.AzureAmortizedForm })
}

// checkCosts returns an error if only one of the two costs of a currency has become 0.
func checkCosts(d *cloud.Delivery, had, have map[string]cost.Totals) error {
	for currency, old := range had {
		sum := have[currency]
		if err := checkCost(d, costPair{"actual", currency, old.Billed, sum.Billed, sum.Effective}); err != nil {
			return err
		}
		if err := checkCost(d, costPair{"amortized", currency, old.Effective, sum.Effective, sum.Billed}); err != nil {
			return err
		}
	}
	return nil
}

// costPair is a cost as it was and is, and the other cost as it is.
type costPair struct {
	name, currency   string
	had, have, other money.Amount
}

func checkCost(d *cloud.Delivery, p costPair) error {
	if p.had.IsZero() || !p.have.IsZero() || p.other.IsZero() {
		return nil
	}
	return fault.New(fault.Invalid, "%s: its files of %s cost come to 0, and the month has %s %s; the month stays as "+
		"it was: run both exports again", name(d), p.name, p.had.Fixed(2), p.currency)
}

// rowsOf returns the number of charges that were added.
func rowsOf(b *cost.Builder) (sum int64) {
	for _, t := range b.Totals() {
		sum += t.Rows
	}
	return sum
}
