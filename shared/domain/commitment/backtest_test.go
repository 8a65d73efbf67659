package commitment

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/billfile"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/seed"
	"lamplighter.dev/shared/testkit/tabletest"
)

var update = flag.Bool("update", false, "write the back-test table of docs/commitments.md")

// simulatedBills is what the bills of an account say: the daily cost of machines on demand, and the rate of its plan.
type simulatedBills struct {
	use             Use
	effective, list money.Amount // of the covered use
}

func (s *simulatedBills) rate() money.Amount { return s.effective.MulDiv(one, s.list) }

// readSimulated reads the bills of 13 months of a simulated account with 300 resources.
func readSimulated(t *testing.T, account string) simulatedBills {
	t.Helper()
	now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	conn, err := simulated.New(tabletest.New(t), clock.NewManual(now)).Connect(t.Context(), cloud.Account{
		Org: "org_1", ID: "ca_1", Provider: simulated.Name, NativeID: account, AuthMethod: simulated.AuthMethod,
		Credentials: map[string]string{"size": "300", "kinds": "aws-ec2"},
	})
	if err != nil {
		t.Fatal(err)
	}
	biller := conn.(cloud.Biller) //nolint:forcetypeassert // the simulated cloud is one
	all, err := biller.Deliveries(t.Context(), now.AddDate(-2, 0, 0))
	if err != nil {
		t.Fatal(err)
	}
	out, days := simulatedBills{}, map[time.Time]money.Amount{}
	take := func(c *bill.Charge) error {
		if c.ChargeCategory != bill.Usage || c.ChargeClass != "" || !strings.HasPrefix(c.ResourceID, "i-") {
			return nil
		}
		switch c.PricingCategory {
		case bill.Standard:
			day := c.ChargePeriodStart.UTC().Truncate(24 * time.Hour)
			days[day] = days[day].Add(c.EffectiveCost)
		case bill.Committed:
			out.effective, out.list = out.effective.Add(c.EffectiveCost), out.list.Add(c.ListCost)
		}
		return nil
	}
	for _, d := range all {
		for _, f := range d.Files {
			r, err := biller.OpenBill(t.Context(), d, f)
			if err != nil {
				t.Fatal(err)
			}
			if _, err = billfile.Read(t.Context(), d.Form, f.Name, r, take); err != nil {
				t.Fatal(err)
			}
		}
	}
	order := slices.SortedFunc(maps.Keys(days), time.Time.Compare)
	out.use = Use{Basis: Daily, From: order[0]}
	for at := order[0]; !at.After(order[len(order)-1]); at = at.AddDate(0, 0, 1) {
		out.use.Cost = append(out.use.Cost, days[at])
	}
	return out
}

// resultOf returns the outcome of a level.
func resultOf(b Backtest, level LevelName) Outcome {
	i := slices.IndexFunc(b.Results, func(o Outcome) bool { return o.Level == level })
	return b.Results[i]
}

// The bills of simulated accounts: the best level gains most on later data, and has the least regret.
func TestTest_OnSimulatedBillsTheBestLevelGainsMost(t *testing.T) {
	var b strings.Builder
	b.WriteString("| account | rate | months | level | gain, USD | regret, USD | months with a loss |\n" +
		"|---|---|---|---|---|---|---|\n")
	for _, account := range []string{"100000000001", "100000000002", "100000000003"} {
		bills := readSimulated(t, account)
		rate := bills.rate().Round(6)
		if rate.Fixed(2) != "0.72" {
			t.Errorf("%s: the rate on the bill is %s, and the plan's 0.72", account, rate)
		}
		got := Test(&bills.use, &Offer{Kind: Plan, Rate: rate, Source: FromBill})
		if got.Months < 9 {
			t.Fatalf("%s: %d months are tested of %d days", account, got.Months, len(bills.use.Cost))
		}
		best := resultOf(got, Best)
		for _, o := range got.Results {
			if o.Level != Best && (best.Gain.Cmp(o.Gain) <= 0 || best.Regret.Cmp(o.Regret) >= 0) {
				t.Errorf("%s: best gains %s with a regret of %s, %s %s and %s", account, best.Gain, best.Regret,
					o.Level, o.Gain, o.Regret)
			}
			fmt.Fprintf(&b, "| %s | %s | %d | %s | %s | %s | %d |\n", account, rate.Fixed(4), got.Months, o.Level,
				o.Gain.Fixed(2), o.Regret.Fixed(2), o.Losses)
		}
	}
	checkPage(t, b.String())
}

// checkPage compares the table of the page between its marks, or writes it.
func checkPage(t *testing.T, table string) {
	t.Helper()
	path := filepath.Join("..", "..", "..", "docs", "commitments.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- back-test -->\n", "<!-- end of the back-test -->"
	before, rest, ok := strings.Cut(string(page), begin)
	had, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no marks %q and %q", path, begin, end)
	}
	if *update {
		next := []byte(before + begin + table + end + after)
		if err = os.WriteFile(path, next, 0o644); err != nil { //nolint:gosec // a page for everybody
			t.Fatal(err)
		}
		return
	}
	if had != table {
		t.Errorf("the back-test of docs/commitments.md differs; run this test with -update:\n%s", table)
	}
}

// No strategy gains more than the one that knew each month before, and none gains nothing.
func TestTest_RegretIsWhatKnowledgeWouldHaveGained(t *testing.T) {
	r := seed.Random(t)
	for n := range 300 {
		use := daysOf(120+r.IntN(280), func(int) money.Amount { return money.FromScaled(r.Int64N(10_000), 2) })
		o := Offer{Kind: Plan, Rate: money.FromScaled(30+r.Int64N(60), 2)}
		got := Test(&use, &o)
		if want := (len(use.Cost) - levelDays) / monthDays; got.Months != want {
			t.Fatalf("series %d: %d months of %d days, want %d", n, got.Months, len(use.Cost), want)
		}
		none := resultOf(got, None)
		if !none.Gain.IsZero() {
			t.Fatalf("series %d: no commitment gains %s", n, none.Gain)
		}
		for _, level := range got.Results {
			if level.Regret.Sign() < 0 || level.Gain.Add(level.Regret).Sub(none.Regret).Abs().Cmp(usd("0.00001")) > 0 {
				t.Fatalf("series %d: %s gains %s and regrets %s of %s", n, level.Level, level.Gain, level.Regret,
					none.Regret)
			}
		}
	}
}

// A level is chosen from the days before a month alone: a month of other use changes no choice for itself.
func TestTest_ChoosesBeforeItSees(t *testing.T) {
	use := daysOf(119, func(d int) money.Amount {
		if d < 91 {
			return usd("10")
		}
		return usd("0")
	})
	got := Test(&use, &Offer{Kind: Plan, Rate: usd("0.7")})
	for _, level := range []LevelName{Safe, Default, Best} {
		if o := resultOf(got, level); o.Gain != usd("-196") || o.Losses != 1 || o.Regret != usd("196") {
			t.Errorf("%s: %+v", level, o)
		}
	}
}

func TestTest_OfTooFewDaysHasNoResults(t *testing.T) {
	use := daysOf(118, func(int) money.Amount { return usd("1") })
	if got := Test(&use, &Offer{Kind: Plan, Rate: usd("0.7")}); got.Months != 0 || got.Results != nil {
		t.Errorf("%+v", got)
	}
}
