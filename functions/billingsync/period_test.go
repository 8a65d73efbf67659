package billingsync_test

import (
	"testing"

	"lamplighter.dev/shared/domain/billfile"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/costquery"
	"lamplighter.dev/shared/foundation/money"
)

// TestAnImport_KeepsEachLineOfWhatItAddsUp compares the line items of each month with its control totals, and their
// sum with the planted sum.
func TestAnImport_KeepsEachLineOfWhatItAddsUp(t *testing.T) {
	s := newFixture(t)
	s.connect()
	s.idle()
	store := cost.New(s.Platform)
	periods, err := store.Periods(s.In("org_a"), "org_a")
	s.Must(err)
	from, to := periods[0].Month, periods[len(periods)-1].Month
	items, err := store.LineItems(s.In("org_a"), "org_a", from, to)
	s.Must(err)
	rows := map[cost.Month]int64{}
	for i := range items {
		rows[items[i].Month] = items[i].Rows
	}
	var want money.Amount
	for i := range periods {
		p := &periods[i]
		if p.Estimated {
			continue
		}
		want = want.Add(p.ByCurrency[cost.USD].Billed)
		if rows[p.Month] != p.Rows || p.Rows == 0 {
			t.Errorf("%s: %d line items of %d rows", p.Month, rows[p.Month], p.Rows)
		}
	}
	q := costquery.Query{From: from.Start(), To: to.End(), Measures: []string{"BilledCost"}}
	got, err := billfile.NewLineItemEngine(s.Lines, s.clk).Advance(s.Context(),
		&costquery.Job{Org: "org_a", Query: q, Items: items})
	s.Must(err)
	if len(got.Answer.Rows) != 1 || got.Answer.Rows[0].Amounts[0] != want {
		t.Errorf("the line items come to %+v, their bills to %s", got.Answer.Rows, want)
	}
}
