package costquery

import (
	"slices"
	"strings"

	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// The limits of the bytes that a question reads.
const (
	MaxScanned = 50 << 30 // bytes; the workgroup in template.yaml has the same limit
	MaxPeriods = 1000     // billing periods of accounts: Athena's limit for values of a partition
)

// Athena's prices (https://aws.amazon.com/athena/pricing, read in November 2026): $5 for each TB scanned, in whole MB,
// at least 10 MB. A TB counts as 10^12 bytes, so the price is never higher than announced.
const (
	dollarsPerTB = 5
	megabyte     = 1_000_000
	leastScanned = 10 // MB
)

// Price returns Athena's price in USD for scanning a number of bytes. Questions on a laptop cost nothing.
func Price(scanned int64) money.Amount {
	if scanned == 0 {
		return money.Amount{}
	}
	megabytes := max((scanned+megabyte-1)/megabyte, leastScanned)
	return money.FromScaled(megabytes*dollarsPerTB, 6)
}

// wholeMonths reports whether the question covers whole months, so that the days of line items do not matter.
func (q *Query) wholeMonths() bool { return q.From.Day() == 1 && q.To.Day() == 1 }

// Months returns the months of the question. Each line item counts in one month.
func (q *Query) Months() (from, to cost.Month) {
	return cost.MonthOf(q.From), cost.MonthOf(q.To.AddDate(0, 0, -1))
}

// Reads returns the columns of a billing period's Parquet files that the question reads, in order.
func (q *Query) Reads(of *cost.LineItems) []string {
	out := q.keys()
	if len(of.Left) > 0 {
		out = append(out, "SubAccountId")
	}
	for _, f := range q.Filters {
		out = append(out, f.Column)
	}
	for _, name := range q.Measures {
		if exactly[name] > 0 {
			out = append(out, name, "x_ExactAmounts")
		}
	}
	if !q.wholeMonths() {
		out = append(out, "BillingPeriodStart", "ChargePeriodStart")
	}
	for i, name := range out {
		if strings.HasPrefix(name, tagPrefix) {
			out[i] = "Tags"
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Scan returns the number of bytes that the question scans in these periods: the bytes of the columns that it reads.
func (q *Query) Scan(items []cost.LineItems) int64 {
	n := int64(0)
	for i := range items {
		n += items[i].Footers
		for _, name := range q.Reads(&items[i]) {
			n += items[i].Columns[name]
		}
	}
	return n
}

// CheckScan returns fault.Invalid with value and limit if a question reads too many bytes.
func (q *Query) CheckScan(items []cost.LineItems) error {
	if len(items) > MaxPeriods {
		return fault.New(fault.Invalid,
			"from: %d billing periods of accounts lie between from and to, %d at most are read for one question; ask "+
				"of fewer months", len(items), MaxPeriods)
	}
	if n := q.Scan(items); n > MaxScanned {
		return fault.New(fault.Invalid,
			"from: %d bytes would be scanned, %d at most are for one question; ask of fewer months or columns", n,
			int64(MaxScanned))
	}
	return nil
}
