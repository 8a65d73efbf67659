package cost

import (
	"testing"
	"time"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/foundation/money"
)

// TestPlacement_OfChargesOfOtherTimes imports a bill of March with charges of other times. Each of them counts in
// March, on the nearest day, and only ordinary usage is usage of its day.
func TestPlacement_OfChargesOfOtherTimes(t *testing.T) {
	cases := []struct {
		name            string
		start           string
		category, class string
		day             int // of March
		want            string
	}{
		{"usage of its day", "2026-03-05T10:00:00Z", bill.Usage, "", 5, ""},
		{"usage by the clock of a provider in the west", "2026-04-01T07:00:00Z", bill.Usage, "", 31, ""},
		{"usage by the clock of a provider in the east", "2026-02-28T15:00:00Z", bill.Usage, "", 1, ""},
		{"usage that was learned of late", "2026-02-10T00:00:00Z", bill.Usage, "", 1, Late},
		{"usage of the second half of a period from the 15th", "2026-04-12T00:00:00Z", bill.Usage, "", 31, Late},
		{"a refund of January", "2026-01-20T00:00:00Z", bill.Usage, bill.Correction, 1, Correction},
		{"a refund of the same month", "2026-03-07T00:00:00Z", bill.Usage, bill.Correction, 7, Correction},
		{"a purchase for the time after", "2026-05-01T00:00:00Z", bill.Purchase, "", 31, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newFixture(t)
			of := charge(1, "i-1", "EC2", "-7")
			at, err := time.Parse(time.RFC3339, c.start)
			s.Must(err)
			of.ChargePeriodStart, of.ChargeCategory, of.ChargeClass = at, c.category, c.class
			p := s.bring(imported("ca_1", "one", now), of, charge(9, "i-2", "EC2", "100"))
			q := ofMarch(ResourceDim, ClassDim)
			q.Daily = true
			a := s.ask(q)
			equal(t, "rows", rows(a), []string{"i-2,=100", "i-1," + c.want + "=-7"})
			equal(t, "the day", a.Rows[1].Days.At(c.day-1).String(), "-7")
			q.Dims, q.UsageOnly = nil, true
			want := "100"
			if c.want == "" && c.category == bill.Usage {
				want = "93"
			}
			equal(t, "usage", s.ask(q).Total.String(), want)
			sums, err := s.store.Summaries(s.ctx, testOrg, march, march)
			s.Must(err)
			var usage money.Amount
			for _, day := range sums[0].Usage {
				usage = usage.Add(day.Billed)
			}
			equal(t, "usage of the summary", usage.String(), want)
			equal(t, "rows by class", []int64{p.Late, p.Corrections},
				[]int64{one(c.want == Late), one(c.want == Correction)})
		})
	}
}

func one(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// TestPlacement_SaysHowFarABillGoes: refunds and late usage of earlier months do not, so estimates fill the days that
// are not billed. Usage from after the month does.
func TestPlacement_SaysHowFarABillGoes(t *testing.T) {
	on := func(month time.Month, day int, class string) bill.Charge {
		c := charge(1, "i-1", "EC2", "1")
		c.ChargePeriodStart, c.ChargeClass = time.Date(2026, month, day, 0, 0, 0, 0, time.UTC), class
		return c
	}
	for name, c := range map[string]struct {
		charges []bill.Charge
		want    string
	}{
		"a refund alone":             {[]bill.Charge{on(3, 20, bill.Correction)}, "0001-01-01"},
		"late usage alone":           {[]bill.Charge{on(1, 20, "")}, "0001-01-01"},
		"usage with a later refund":  {[]bill.Charge{on(3, 9, ""), on(3, 20, bill.Correction)}, "2026-03-09"},
		"usage from after the month": {[]bill.Charge{on(3, 20, ""), on(4, 14, "")}, "2026-03-31"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t)
			p := s.bring(imported("ca_1", "one", now), c.charges...)
			equal(t, "billed through", p.BilledThrough.Format(time.DateOnly), c.want)
		})
	}
}

// TestClass_OfBlocksOfAnEarlierVersionIsEmpty reads a block whose words end with the currency.
func TestClass_OfBlocksOfAnEarlierVersionIsEmpty(t *testing.T) {
	var old []byte
	for range classWord {
		c := newColumn(2)
		c.add("a")
		c.add("b")
		old = c.append(old)
	}
	b := lineBlock{pointer: &pointer{}, lines: 2, content: map[string][]byte{wordsFamily: old}}
	currency, class := b.word(CurrencyDim), b.word(ClassDim)
	equal(t, "currency and class", currency.name(1)+" "+class.name(1), "b ")
	equal(t, "the block is good", b.bad, false)
	b.content[wordsFamily] = append(old, 9)
	b.word(ClassDim)
	equal(t, "a column that is cut off is bad", b.bad, true)
}
