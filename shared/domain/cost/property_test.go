package cost

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/seed"
)

// drawCharges returns charges of March of all kinds: credits, purchases, other currencies, charges without a resource,
// and amounts with more digits than 64 bits hold.
func drawCharges(r *rand.Rand, n int) []bill.Charge {
	out := make([]bill.Charge, n)
	for i := range out {
		c := charge(1+r.IntN(31), "i-"+strconv.Itoa(r.IntN(6)), "S"+strconv.Itoa(r.IntN(3)), "0")
		c.BilledCost = money.FromScaled(r.Int64N(2_000_000)-500_000, r.IntN(9))
		if r.IntN(50) == 0 {
			c.BilledCost = money.MustParse("16.296932136636644627485419")
		}
		c.EffectiveCost, c.ListCost = c.BilledCost, c.BilledCost
		if r.IntN(4) == 0 {
			c.EffectiveCost = money.FromScaled(r.Int64N(1000), 3)
		}
		if r.IntN(4) == 0 {
			c.ListCost = c.BilledCost.MulInt(2)
		}
		if r.IntN(5) == 0 {
			c.BillingCurrency = []string{"EUR", "JPY"}[r.IntN(2)]
		}
		c.ChargeCategory = []string{bill.Usage, bill.Usage, bill.Credit, bill.Tax, bill.Purchase}[r.IntN(5)]
		c.PricingCategory = []string{bill.Standard, bill.Committed, bill.Dynamic, ""}[r.IntN(4)]
		if r.IntN(6) == 0 {
			c.ResourceID = ""
		}
		c.Tags = [][]bill.Tag{
			nil,
			{{Key: "env", Value: "prod"}},
			{{Key: "env", Value: "dev"}, {Key: "team", Value: "a"}},
		}[r.IntN(3)]
		out[i] = c
	}
	return out
}

// oracle answers a question by adding up charges one by one, with rational numbers.
func oracle(charges []bill.Charge, q Question, key func(c *bill.Charge) string) (byKey map[string]money.Amount,
	total money.Amount,
) {
	byKey = map[string]money.Amount{}
	for i := range charges {
		c := &charges[i]
		a := map[Metric]money.Amount{Billed: c.BilledCost, Effective: c.EffectiveCost, List: c.ListCost}[q.Metric]
		in := !c.ChargePeriodStart.Before(q.From) && c.ChargePeriodStart.Before(q.To)
		if !in || c.BillingCurrency == "JPY" || q.UsageOnly && c.ChargeCategory != bill.Usage {
			continue
		}
		if c.BillingCurrency == "EUR" {
			a = a.MulInt(1125).MulDiv(money.FromInt(1), money.FromInt(1000))
		}
		byKey[key(c)], total = byKey[key(c)].Add(a), total.Add(a)
	}
	return byKey, total
}

func rated(account, fingerprint string, at time.Time) Import {
	in := imported(account, fingerprint, at)
	in.Rates = map[string]Rate{"EUR": {USD: money.MustParse("1.125")}}
	return in
}

// keysOf returns the value of a charge in a dimension.
var keysOf = map[string]func(c *bill.Charge) string{
	ServiceDim:  func(c *bill.Charge) string { return c.ServiceName },
	ResourceDim: func(c *bill.Charge) string { return c.ResourceID },
	CategoryDim: func(c *bill.Charge) string { return c.ChargeCategory },
	PurchaseDim: purchaseOf,
	CurrencyDim: func(c *bill.Charge) string { return c.BillingCurrency },
	"tag:team": func(c *bill.Charge) string {
		if len(c.Tags) == 2 {
			return "a"
		}
		return ""
	},
}

func TestAsk_AddsUpToTheSameHoweverItIsSplit(t *testing.T) {
	r := seed.Fixed(t, 1, 2)
	for round := range 6 {
		s := owned(t)
		if round%2 == 1 {
			s.store.rolling = worthwhile{} // always
		}
		charges := drawCharges(r, 600)
		s.bring(rated("ca_1", "one", now), charges[:400]...)
		s.bring(rated("ca_2", "one", now), charges[400:]...)
		for dim, keyOf := range keysOf {
			q := Question{
				From: march.Start().AddDate(0, 0, r.IntN(3)), To: march.End().AddDate(0, 0, -r.IntN(3)),
				Metric: Metrics[r.IntN(3)],
				Dims:   []string{dim}, UsageOnly: r.IntN(3) == 0,
			}
			want, total := oracle(charges, q, keyOf)
			for _, more := range [][]string{nil, {TeamDim}, {AccountDim, RegionDim}, {GroupDim, "tag:env", TypeDim}} {
				for _, q.Daily = range []bool{false, true} {
					q.Dims = append([]string{dim}, more...)
					checkAnswer(t, s.ask(q), want, total)
				}
			}
			if round == 3 {
				s.own("team_b", int64(len(dim)), "i-2")
				s.Must(s.store.Rebuild(s.ctx, testOrg, nil))
			}
			if t.Failed() {
				t.Fatalf("round %d: by %s, %+v", round, dim, q)
			}
		}
	}
}

// checkAnswer compares an answer's first dimension, its days and its total with the expected values.
func checkAnswer(t *testing.T, a Answer, want map[string]money.Amount, total money.Amount) {
	t.Helper()
	got, sum := map[string]money.Amount{}, money.Amount{}
	for _, row := range a.Rows {
		got[row.Keys[0]] = got[row.Keys[0]].Add(row.Amount)
		sum = sum.Add(row.Amount)
		if row.Days.Len() > 0 && row.Days.Sum() != row.Amount {
			t.Errorf("the days of %v are %s, all of it %s", row.Keys, row.Days.Sum(), row.Amount)
		}
	}
	equal(t, "rows", got, want)
	if a.Total != total || sum != total {
		t.Errorf("total %s, rows %s, want %s", a.Total, sum, total)
	}
	if a.Days != nil && money.Sum(a.Days...) != total {
		t.Errorf("days %s, want %s", money.Sum(a.Days...), total)
	}
}

func TestImport_IsTheSameInAnyOrder(t *testing.T) {
	r := seed.Fixed(t, 3, 4)
	charges := drawCharges(r, 500)
	var first string
	for n := range 4 {
		s := owned(t)
		s.bring(rated("ca_1", "stale", now.Add(-time.Hour)), drawCharges(r, 50)...)
		r.Shuffle(len(charges), func(i, j int) { charges[i], charges[j] = charges[j], charges[i] })
		p := s.bring(rated("ca_1", "one", now), charges...)
		if _, err := s.tryBring(rated("ca_1", "one", now.Add(time.Hour)), charges...); !errors.Is(err, ErrSame) {
			t.Fatalf("a duplicate: %v", err)
		}
		q := ofMarch(TeamDim, ServiceDim, ResourceDim, "tag:env", CategoryDim)
		q.Daily = true
		sums, err := s.store.Summaries(s.ctx, testOrg, march, march)
		s.Must(err)
		all := fmt.Sprintf("%+v %+v %+v", s.ask(q), p.ByCurrency, sums)
		if n == 0 {
			first = all
		}
		if all != first {
			t.Fatal("another order, another answer")
		}
	}
}

// TestCommit_KilledAnywhereLeavesTheOldOrTheNew makes each store call of an import fail in turn, before and after it
// has taken effect.
func TestCommit_KilledAnywhereLeavesTheOldOrTheNew(t *testing.T) {
	for _, harm := range []table.Harm{table.FailBefore, table.FailAfter} {
		s := owned(t)
		old, next := "5", "7"
		s.bring(imported("ca_1", "0", now), charge(1, "i-0", "EC2", old))
		for call := 1; ; call++ {
			if call > 60 {
				t.Fatal("an import takes more than 60 calls")
			}
			in, of := imported("ca_1", strconv.Itoa(call), now.Add(time.Duration(call)*time.Minute)),
				charge(1, "i-0", "EC2", next)
			s.faulty.Inject(table.Injection{Harm: harm, Call: call})
			before := s.faulty.CallCount()
			_, err := s.tryBring(in, of)
			done := s.faulty.CallCount()-before < call
			s.faulty.RemoveFaults()
			got := s.ask(ofMarch(TeamDim))
			if total := got.Total.String(); total != old && total != next || err == nil && total != next ||
				len(got.Rows) != 1 {
				t.Fatalf("harm %d of call %d: %v, %v after %v", harm, call, rows(got), old, err)
			}
			s.summaryAgrees()
			if _, err = s.tryBring(in, of); err != nil && !errors.Is(err, ErrSame) {
				t.Fatal(err)
			}
			equal(t, "done again", s.ask(ofMarch()).Total.String(), next)
			s.summaryAgrees()
			row, err := table.Read[summaryItem](s.ctx, s.Table, summaryKey(testOrg, march))
			s.Must(err)
			equal(t, "the stored summary is up to date", row.Of, row.Seq)
			old, next = next, strconv.Itoa(10+call)
			if done {
				break
			}
		}
		s.nothingRemains()
	}
}

func (s *fixture) summaryAgrees() {
	s.Helper()
	sums, err := s.store.Summaries(s.ctx, testOrg, march, march)
	s.Must(err)
	equal(s, "summary", sums[0].Total.Billed, s.ask(ofMarch()).Total)
}

// nothingRemains sweeps after idleKept, and checks that only the generations named by pointers are left.
func (s *fixture) nothingRemains() {
	s.Helper()
	s.Clock.Advance(idleKept + time.Hour)
	s.bring(imported("ca_2", "last", s.Clock.Now()), charge(1, "i-9", "EC2", "1"))
	page, err := s.Table.Query(s.ctx, table.Query{PK: PK(testOrg), Prefix: idlePrefix, Limit: 100})
	s.Must(err)
	equal(s, "idle generations", len(page.Items), 0)
	page, err = s.Table.Query(s.ctx, table.Query{PK: PK(testOrg), Limit: 100})
	s.Must(err)
	named, err := ChunkPartitions(testOrg, page.Items)
	s.Must(err)
	kept := map[string]bool{PK(testOrg): true}
	for _, pk := range named {
		kept[pk] = true
	}
	for _, pk := range s.faulty.written() {
		if kept[pk] {
			continue
		}
		left, err := s.Table.Query(s.ctx, table.Query{PK: pk, Limit: 10})
		s.Must(err)
		equal(s, "items left in "+pk, len(left.Items), 0)
	}
}

func TestStore_OrganizationsNeverSeeEachOther(t *testing.T) {
	s := newFixture(t)
	s.bring(imported("ca_1", "one", now), charge(1, "i-1", "EC2", "10"))
	other := imported("ca_1", "one", now)
	other.Org = otherOrg
	s.bring(other, charge(1, "i-1", "EC2", "99"))
	equal(t, "the one", rows(s.ask(ofMarch(ResourceDim))), []string{"i-1=10"})
	a, err := s.store.Ask(contextOf(s, otherOrg), otherOrg, ofMarch(ResourceDim))
	s.Must(err)
	equal(t, "the other", rows(a), []string{"i-1=99"})
	if _, err = s.store.Ask(s.ctx, otherOrg, ofMarch()); err == nil {
		t.Error("one reads what is the other's")
	}
}

func TestAsk_RefusesWhatMakesNoSense(t *testing.T) {
	s := newFixture(t)
	for name, change := range map[string]func(q *Question){
		"no days":            func(q *Question) { q.To = q.From },
		"half a day":         func(q *Question) { q.To = q.To.Add(time.Hour) },
		"too long":           func(q *Question) { q.To = q.From.AddDate(3, 0, 0) },
		"another metric":     func(q *Question) { q.Metric = "amortized" },
		"another dimension":  func(q *Question) { q.Dims = []string{"colour"} },
		"twice":              func(q *Question) { q.Dims = []string{TeamDim, TeamDim} },
		"a tag without key":  func(q *Question) { q.Dims = []string{"tag:"} },
		"a filter of nought": func(q *Question) { q.Filter = map[string][]string{"colour": {"red"}} },
		"too many": func(q *Question) {
			q.Dims = []string{"tag:1", "tag:2", "tag:3", "tag:4", "tag:5", "tag:6", "tag:7"}
		},
	} {
		q := ofMarch()
		change(&q)
		if _, err := s.store.Ask(s.ctx, testOrg, q); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v, want fault.Invalid", name, err)
		}
	}
}

func TestRollup_SaysWhatTheLinesSay(t *testing.T) {
	r := seed.Fixed(t, 15, 16)
	for range 4 {
		s := owned(t)
		s.store.rolling = worthwhile{}
		s.bring(rated("ca_1", "one", now), drawCharges(r, 500)...)
		s.own("team_b", 2, "i-0", "i-2")
		for _, rebuilt := range []bool{false, true} {
			if rebuilt {
				s.Must(s.store.Rebuild(s.ctx, testOrg, nil))
			}
			pointers, err := s.store.readPointers(s.ctx, testOrg, march, march)
			s.Must(err)
			equal(t, "blocks of the rollup", len(pointers[0].Rollup), 1)
			bare := pointers[0]
			bare.Rollup = nil
			for _, dims := range [][]string{
				nil,
				{TeamDim},
				{GroupDim, ServiceDim},
				{TypeDim, RegionDim, CurrencyDim},
				{CategoryDim, PurchaseDim},
			} {
				q := ofMarch(dims...)
				q.Metric, q.Daily = Metrics[r.IntN(3)], r.IntN(2) == 0
				of, err := s.store.ask(s.ctx, testOrg, pointers, q)
				s.Must(err)
				want, err := s.store.ask(s.ctx, testOrg, []pointer{bare}, q)
				s.Must(err)
				equal(t, "rows", rows(of), rows(want))
				equal(t, "days and total", []any{of.Days, of.Total, of.Unconverted},
					[]any{want.Days, want.Total, want.Unconverted})
			}
		}
	}
}
