package budgets

import (
	"compress/gzip"
	"encoding/csv"
	"math"
	"slices"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/budgeting"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/race"
	"lamplighter.dev/shared/testkit/tabletest"
)

// The bills of the back-test: 13 months of the demo's clouds. The last month is not over.
var (
	firstBilled = time.Date(2025, 12, 1, 0, 0, 0, 0, time.UTC)
	billedUntil = time.Date(2026, 12, 5, 9, 0, 0, 0, time.UTC)
	demoClouds  = []cloud.Account{
		{NativeID: "123456789012", Credentials: map[string]string{"size": "200", "bills": "focus"}},
		{NativeID: "210987654321", Credentials: map[string]string{
			"size": "40", "seed": "2", "regions": "eu-central-1", "bills": "focus",
		}},
		{NativeID: "321098765432", Credentials: map[string]string{
			"size": "60", "seed": "3", "regions": "eu-west-1", "kinds": "aws-ec2,kubernetes-*", "bills": "focus",
		}},
	}
)

// backtest reads the bills of the demo as they were at earlier times.
type backtest struct {
	*testing.T
	store table.Store
	known map[string]*daily // by account and delivery
}

// daily is the cost by day: of all charges, and of usage alone.
type daily struct{ billed, usage map[time.Time]money.Amount }

func newDaily() *daily { return &daily{map[time.Time]money.Amount{}, map[time.Time]money.Amount{}} }

// readAt returns the costs of all clouds as they were billed at a time.
func (b *backtest) readAt(at time.Time) *daily {
	b.Helper()
	out := newDaily()
	for _, a := range demoClouds {
		a.Provider = simulated.Name
		c, err := simulated.New(b.store, clock.NewManual(at)).Connect(b.Context(), a)
		if err != nil {
			b.Fatal(err)
		}
		biller := c.(cloud.Biller) //nolint:errcheck // the simulated cloud is one
		deliveries, err := biller.Deliveries(b.Context(), firstBilled)
		if err != nil {
			b.Fatal(err)
		}
		for _, d := range deliveries {
			out.add(b.read(a.NativeID, biller, d))
		}
	}
	return out
}

func (d *daily) add(more *daily) {
	for day, a := range more.billed {
		d.billed[day] = d.billed[day].Add(a)
	}
	for day, a := range more.usage {
		d.usage[day] = d.usage[day].Add(a)
	}
}

// read reads a delivery once.
func (b *backtest) read(account string, from cloud.Biller, d cloud.Delivery) *daily {
	b.Helper()
	key := account + d.Fingerprint
	if b.known[key] != nil {
		return b.known[key]
	}
	out := newDaily()
	b.known[key] = out
	for _, f := range d.Files {
		r, err := from.OpenBill(b.Context(), d, f)
		if err != nil {
			b.Fatal(err)
		}
		z, err := gzip.NewReader(r)
		if err != nil {
			b.Fatal(err)
		}
		rows, err := csv.NewReader(z).ReadAll()
		if err != nil {
			b.Fatal(err)
		}
		b.addRows(rows, out)
	}
	return out
}

// addRows adds the rows of a FOCUS file, the first of which names the columns.
func (b *backtest) addRows(rows [][]string, to *daily) {
	b.Helper()
	at := func(column string) int { return slices.Index(rows[0], column) }
	cost, category, start := at("BilledCost"), at("ChargeCategory"), at("ChargePeriodStart")
	for _, row := range rows[1:] {
		began, err := time.Parse(time.RFC3339, row[start])
		if err != nil {
			b.Fatal(err)
		}
		day, amount := began.Truncate(24*time.Hour), money.MustParse(row[cost])
		to.billed[day] = to.billed[day].Add(amount)
		if row[category] == "Usage" {
			to.usage[day] = to.usage[day].Add(amount)
		}
	}
}

// history returns the costs as a budget sees them at a time.
func (d *daily) history(now time.Time) *budgeting.History {
	b := budgeting.Budget{Period: budgeting.Month}
	h := &budgeting.History{First: b.Needed(now), Settled: budgeting.LatestSettled(now)}
	for day := h.First; day.Before(now); day = day.AddDate(0, 0, 1) {
		h.Billed, h.Usage = append(h.Billed, d.billed[day]), append(h.Usage, d.usage[day])
	}
	return h
}

// Forecasts of eleven months from bills as they were on four days, against the final bills. The figures are those of
// docs/operations/anomalies.md.
func TestForecast_OfElevenMonthsOfTheDemo(t *testing.T) {
	race.SkipRepetition(t)
	b := &backtest{t, tabletest.New(t), map[string]*daily{}}
	final := b.readAt(billedUntil)
	for _, c := range []struct {
		day  int
		most float64 // percent
	}{{3, 5}, {7, 4}, {14, 4}, {21, 2}} {
		var errorSum float64
		inside := 0
		for n := 1; n <= 11; n++ {
			month := firstBilled.AddDate(0, n, 0)
			now := month.AddDate(0, 0, c.day-1).Add(9 * time.Hour)
			budget := budgeting.Budget{Amount: money.FromInt(1), Period: budgeting.Month}
			got := budget.Stand(b.readAt(now).history(now), now).Forecast
			truth := final.sum(month)
			errorSum += math.Abs(got.Mean.Sub(truth).Float64() / truth.Float64())
			if got.Low.Cmp(truth) <= 0 && got.High.Cmp(truth) >= 0 {
				inside++
			}
		}
		mape := 100 * errorSum / 11
		t.Logf("from day %d: MAPE %.1f %%, truth in the interval %d of 11 times", c.day, mape, inside)
		if mape > c.most || inside < 8 {
			t.Errorf("from day %d: want a MAPE of at most %.0f %%, and the truth inside 8 times", c.day, c.most)
		}
	}
}

// sum returns the cost of a month.
func (d *daily) sum(month time.Time) (out money.Amount) {
	for day := month; day.Before(month.AddDate(0, 1, 0)); day = day.AddDate(0, 0, 1) {
		out = out.Add(d.billed[day])
	}
	return out
}
