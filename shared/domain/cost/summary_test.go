package cost

import (
	"strconv"
	"testing"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/seed"
)

func TestSummaries_SayWhatQuestionsSay(t *testing.T) {
	s := owned(t)
	r := seed.Fixed(t, 5, 6)
	s.bring(rated("ca_1", "one", now), drawCharges(r, 300)...)
	s.bring(rated("ca_2", "one", now), drawCharges(r, 300)...)
	ctx, meter := table.WithMeter(s.ctx)
	sums, err := s.fresh().Summaries(ctx, testOrg, march.Add(-12), march)
	s.Must(err)
	equal(t, "round trips", meter.Usage().RoundTrips, 1)
	equal(t, "months", len(sums), 1)
	sum := sums[0]
	for _, metric := range Metrics {
		for _, dim := range SummaryDims {
			q := ofMarch(dim)
			q.Metric, q.Daily = metric, true
			a := s.ask(q)
			byValue := map[string]money.Amount{}
			for _, v := range sum.By[dim] {
				byValue[v.Value] = v.Of(metric)
			}
			for _, row := range a.Rows {
				// A cost split in three is rounded at the split, so two questions may differ in the last places.
				if off := byValue[row.Keys[0]].Sub(row.Amount).Abs(); off.Cmp(money.MustParse("1e-28")) > 0 {
					t.Errorf("%s %s: summary %s, question %s", dim, row.Keys[0], byValue[row.Keys[0]], row.Amount)
				}
			}
			equal(t, "total", sum.Total.Of(metric), a.Total)
			for d := range a.Days {
				equal(t, "day", sum.Days[d].Of(metric), a.Days[d])
			}
		}
	}
}

func TestSummaries_TellTheSmallestTogether(t *testing.T) {
	s := newFixture(t)
	var charges []bill.Charge
	for n := range maxValues + 50 {
		charges = append(charges, charge(1, "i-1", "S"+strconv.Itoa(n), strconv.Itoa(n+1)))
	}
	s.bring(imported("ca_1", "one", now), charges...)
	sums, err := s.store.Summaries(s.ctx, testOrg, march, march)
	s.Must(err)
	by := sums[0].By[ServiceDim]
	equal(t, "values", len(by), maxValues+1)
	equal(t, "the rest", []string{strconv.FormatBool(by[maxValues].Rest), by[maxValues].Billed.String()},
		[]string{"true", "1275"})
	var all Amounts
	for i := range by {
		all.Add(&by[i].Amounts)
	}
	equal(t, "sum of all", all, sums[0].Total)
}

func TestSummaries_OfLongNamesFitIntoAnItem(t *testing.T) {
	s, r := newFixture(t), seed.Fixed(t, 19, 20)
	var charges []bill.Charge
	for range maxValues {
		name := make([]byte, 4000)
		for i := range name {
			name[i] = byte('0' + r.IntN(75))
		}
		charges = append(charges, charge(1, "i-1", string(name), "1"))
	}
	s.bring(imported("ca_1", "one", now), charges...)
	row, err := table.Read[summaryItem](s.ctx, s.Table, summaryKey(testOrg, march))
	s.Must(err)
	equal(t, "stored, and small enough", row.Of == row.Seq && len(row.Z) <= maxPart, true)
	sums, err := s.store.Summaries(s.ctx, testOrg, march, march)
	s.Must(err)
	by := sums[0].By[ServiceDim]
	var all Amounts
	for i := range by {
		all.Add(&by[i].Amounts)
	}
	equal(t, "sum of all", all, sums[0].Total)
	equal(t, "fewer one by one", len(by) < maxValues && by[len(by)-1].Rest, true)
}

func TestAsk_TakesTwoRoundTripsForAYearOfTeamsByDay(t *testing.T) {
	s := owned(t)
	s.store.rolling = worthwhile{}
	r := seed.Fixed(t, 17, 18)
	for m := range 13 {
		in := rated("ca_1", "one", now)
		in.Month = march.Add(-m)
		charges := drawCharges(r, 100)
		for i := range charges {
			charges[i].BillingPeriodStart, charges[i].ChargePeriodStart = in.Month.Start(),
				in.Month.Start().AddDate(0, 0, i%28)
		}
		s.bring(in, charges...)
	}
	q := Question{
		From: march.Add(-12).Start(), To: march.End(), Metric: Effective, Dims: []string{TeamDim},
		Daily: true,
	}
	store := s.fresh()
	for _, want := range []int{2, 1} {
		ctx, meter := table.WithMeter(s.ctx)
		a, err := store.Ask(ctx, testOrg, q)
		s.Must(err)
		equal(t, "round trips", meter.Usage().RoundTrips, want)
		equal(t, "teams and Unassigned", len(a.Rows), 4)
	}
	ctx, meter := table.WithMeter(s.ctx)
	sums, err := s.fresh().Summaries(ctx, testOrg, march.Add(-12), march)
	s.Must(err)
	equal(t, "round trips of 13 summaries", []int{meter.Usage().RoundTrips, len(sums)}, []int{1, 13})
}
