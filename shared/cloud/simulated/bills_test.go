package simulated

import (
	"compress/gzip"
	"encoding/csv"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/race"
	"lamplighter.dev/shared/testkit/tabletest"
)

var billedAt = time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)

// biller connects an account with these settings at a time.
func biller(t *testing.T, at time.Time, settings map[string]string) cloud.Biller {
	t.Helper()
	c, err := New(tabletest.New(t), clock.NewManual(at)).Connect(t.Context(), account(settings))
	if err != nil {
		t.Fatal(err)
	}
	return c.(cloud.Biller)
}

// rowsIn reads all files of a delivery: their rows by the names of their columns.
func rowsIn(t *testing.T, b cloud.Biller, d cloud.Delivery) []map[string]string {
	t.Helper()
	var out []map[string]string
	for _, f := range d.Files {
		r, err := b.OpenBill(t.Context(), d, f)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(r)
		if err != nil {
			t.Fatal(err)
		}
		cells, err := csv.NewReader(z).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if int64(len(cells)-1) != f.Rows {
			t.Errorf("%s has %d rows; its delivery says %d", f.Name, len(cells)-1, f.Rows)
		}
		for _, row := range cells[1:] {
			named := map[string]string{}
			for i, name := range cells[0] {
				named[name] = row[i]
			}
			out = append(out, named)
		}
	}
	return out
}

func sumOf(t *testing.T, rows []map[string]string, column string) money.Amount {
	t.Helper()
	var out money.Amount
	for _, r := range rows {
		a, err := money.Parse(r[column])
		if err != nil {
			t.Fatal(err)
		}
		out = out.Add(a)
	}
	return out
}

func TestBills_OfThirteenMonthsAddUpToThePlanInEachShape(t *testing.T) {
	race.SkipRepetition(t)
	for form, column := range map[string]string{"cur": "lineItem/UnblendedCost", "focus": "BilledCost"} {
		t.Run(form, func(t *testing.T) {
			settings := map[string]string{"size": "300", "bills": form, "kinds": "*"}
			b := biller(t, billedAt, settings)
			all, err := b.Deliveries(t.Context(), billedAt.AddDate(-2, 0, 0))
			if err != nil || len(all) != 13 {
				t.Fatalf("%d deliveries, %v; want 13", len(all), err)
			}
			plan, err := Planted(account(settings), billedAt)
			if err != nil {
				t.Fatal(err)
			}
			for i, d := range all {
				m, rows := plan.Months[i], rowsIn(t, b, d)
				if got := sumOf(t, rows, column); got != m.Billed || d.Rows != m.Rows || !d.Period.Equal(m.Period) ||
					int64(len(rows)) != m.Rows {
					t.Errorf("%s: %s in %d rows; planted %s in %d", d.Period, got, len(rows), m.Billed, m.Rows)
				}
				if form == "focus" && sumOf(t, rows, "EffectiveCost") != m.Effective {
					t.Errorf("%s: effective %s; planted %s", d.Period, sumOf(t, rows, "EffectiveCost"), m.Effective)
				}
				control, currency, ok, err := b.ControlTotal(t.Context(), d.Period)
				if control != m.Billed.String() || currency != "USD" || !ok || err != nil {
					t.Errorf("%s: control total %s %s, %t, %v", d.Period, control, currency, ok, err)
				}
				if m.Tax.Sign() <= 0 || m.Credit.Sign() >= 0 || m.Purchase.Sign() <= 0 || m.Unused.Sign() <= 0 ||
					m.Support.Sign() <= 0 {
					t.Errorf("%s lacks something: %+v", d.Period, m)
				}
			}
		})
	}
}

// The covered usage and the unused part add up to the cost of the plan, and both forms of a bill have the same totals.
func TestBills_SpreadThePlanOverWhatItCovers(t *testing.T) {
	for _, form := range []string{"cur", "focus"} {
		plan, err := Planted(account(map[string]string{"bills": form}), billedAt)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range plan.Months {
			if m.Billed != m.Effective {
				t.Errorf("%s of %s: billed %s, effective %s", m.Period, form, m.Billed, m.Effective)
			}
		}
	}
}

func TestBills_PlantOneAnomalyOfEachDimension(t *testing.T) {
	plan, err := Planted(account(nil), billedAt)
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]int{}
	for _, a := range plan.Anomalies {
		have[a.Dimension]++
		if a.Excess.Cmp(money.FromInt(10)) <= 0 || a.Date.Weekday() != time.Wednesday {
			t.Errorf("%+v", a)
		}
	}
	for _, d := range anomalyDimensions {
		if have[d] == 0 {
			t.Errorf("none of %s: %v", d, have)
		}
	}
}

func TestBills_AreTheSameAtAnyTimeOfADay(t *testing.T) {
	settings := map[string]string{"size": "50"}
	first, err := biller(t, billedAt, settings).Deliveries(t.Context(), billedAt)
	if err != nil || len(first) != 1 {
		t.Fatalf("%d, %v", len(first), err)
	}
	for name, tt := range map[string]struct {
		at   time.Time
		same bool
	}{
		"hours later": {billedAt.Add(5 * time.Hour), true},
		"a day later": {billedAt.Add(24 * time.Hour), false},
	} {
		got, err := biller(t, tt.at, settings).Deliveries(t.Context(), billedAt)
		if err != nil || (got[0].Fingerprint == first[0].Fingerprint) != tt.same ||
			got[0].DeliveredAt.Before(first[0].DeliveredAt) || got[0].Final {
			t.Errorf("%s: %+v, %v", name, got[0], err)
		}
	}
}

// One month in three is restated on the tenth of the next one, after it was closed.
func TestBills_RestateAClosedMonth(t *testing.T) {
	settings := map[string]string{"size": "50"}
	var restated int
	for month := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC); month.Year() == 2026; month = month.AddDate(0, 1, 0) {
		var plans [3]PlannedMonth
		for i, at := range []time.Time{month.AddDate(0, 1, 0), month.AddDate(0, 1, 5), month.AddDate(0, 1, 9)} {
			plan, err := Planted(account(settings), at)
			if err != nil {
				t.Fatal(err)
			}
			i0 := slices.IndexFunc(plan.Months, func(m PlannedMonth) bool { return m.Period.Equal(month) })
			plans[i] = plan.Months[i0]
		}
		if plans[0].Final || !plans[1].Final || plans[0].Billed != plans[1].Billed || plans[1].Restated {
			t.Errorf("%s before it is restated: %+v", month, plans)
		}
		if plans[2].Restated {
			restated++
			if plans[2].Billed == plans[1].Billed || plans[2].Correction.Sign() >= 0 {
				t.Errorf("%s restated: %+v", month, plans[2])
			}
		}
	}
	if restated != 4 {
		t.Errorf("%d months of a year are restated; want 4", restated)
	}
}

func TestBills_CostLessAtWeekends(t *testing.T) {
	settings := map[string]string{"size": "200", "bills": "focus"}
	b := biller(t, billedAt, settings)
	all, err := b.Deliveries(t.Context(), time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	days, usage := map[bool]int64{}, map[bool]money.Amount{}
	for _, r := range rowsIn(t, b, all[0]) {
		at, err := time.Parse(time.RFC3339, r["ChargePeriodStart"])
		if err != nil {
			t.Fatal(err)
		}
		rests := at.Weekday() == time.Saturday || at.Weekday() == time.Sunday
		if r["ResourceId"] != "" && !strings.Contains(r["ResourceId"], "cluster") {
			usage[rests] = usage[rests].Add(money.MustParse(r["BilledCost"]))
		}
	}
	for at := time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC); at.Month() == 9; at = at.AddDate(0, 0, 1) {
		days[at.Weekday() == time.Saturday || at.Weekday() == time.Sunday]++
	}
	if weekend, weekday := usage[true].DivInt(days[true]),
		usage[false].DivInt(days[false]); weekend.MulInt(10).Cmp(weekday.MulInt(8)) > 0 {
		t.Errorf("a day of a weekend costs %s, another %s", weekend.Fixed(2), weekday.Fixed(2))
	}
}

func TestBills_HaveTheFaultThatIsAskedFor(t *testing.T) {
	open := func(t *testing.T, fault string) (cloud.Biller, cloud.Delivery) {
		t.Helper()
		b := biller(t, billedAt,
			map[string]string{"size": "20", "billFault": fault, "billFaultMonth": "2026-10", "bills": "focus"})
		all, err := b.Deliveries(t.Context(), time.Date(2026, 10, 5, 0, 0, 0, 0, time.UTC))
		if err != nil || len(all) != 2 {
			t.Fatalf("%d, %v", len(all), err)
		}
		rowsIn(t, b, all[1]) // the other month is whole
		return b, all[0]
	}
	healthy, sound := open(t, "")
	rows := rowsIn(t, healthy, sound)
	content := func(b cloud.Biller, d cloud.Delivery, file int) (string, error) {
		r, err := b.OpenBill(t.Context(), d, d.Files[file])
		if err != nil {
			return "", err
		}
		z, err := gzip.NewReader(r)
		if err != nil {
			return "", err
		}
		got, err := io.ReadAll(z)
		return string(got), err
	}
	for fault, check := range map[string]func(cloud.Biller, cloud.Delivery) bool{
		truncatedBill: func(b cloud.Biller, d cloud.Delivery) bool { _, err := content(b, d, 0); return err != nil },
		brokenRow: func(b cloud.Biller, d cloud.Delivery) bool {
			got, _ := content(b, d, 0)
			return strings.Contains(got, "12,3O")
		},
		wrongMonth: func(b cloud.Biller, d cloud.Delivery) bool {
			got, _ := content(b, d, 0)
			return strings.Contains(got, ",2026-11-01T00:00:00Z,2026-11-01T00:00:00Z,Usage")
		},
		wrongRows: func(_ cloud.Biller, d cloud.Delivery) bool { return d.Rows == int64(len(rows))+1 },
		wrongTotal: func(b cloud.Biller, d cloud.Delivery) bool {
			total, _, _, _ := b.ControlTotal(t.Context(), d.Period)
			return money.MustParse(total) == sumOf(t, rows, "BilledCost").MulInt(11).DivInt(10)
		},
		missingFile: func(b cloud.Biller, d cloud.Delivery) bool {
			_, err := content(b, d, len(d.Files)-1)
			return cloud.ClassOf(err) == cloud.NotFound
		},
	} {
		if b, d := open(t, fault); !check(b, d) || d.Fingerprint == sound.Fingerprint {
			t.Errorf("%s does not show in %+v", fault, d)
		}
	}
}

func TestBills_RefuseWhatTheyCannotBe(t *testing.T) {
	for name, settings := range map[string]map[string]string{
		"a shape that is none": {"bills": "xml"}, "a fault that is none": {"billFault": "rust"},
	} {
		if _, err := New(tabletest.New(t), clock.System{}).Connect(t.Context(),
			account(settings)); cloud.ClassOf(err) != cloud.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := biller(t, billedAt, map[string]string{"bills": "none"}).Deliveries(t.Context(), billedAt)
	wantClass(t, err, cloud.NotFound)
	_, err = biller(t, billedAt, map[string]string{"denied": "billing"}).Deliveries(t.Context(), billedAt)
	wantClass(t, err, cloud.Denied)
	b := biller(t, billedAt, nil)
	all, err := b.Deliveries(t.Context(), billedAt)
	if err != nil {
		t.Fatal(err)
	}
	all[0].Fingerprint = "of yesterday"
	_, err = b.OpenBill(t.Context(), all[0], all[0].Files[0])
	wantClass(t, err, cloud.Transient)
}

func BenchmarkBills_OfThirteenMonths(b *testing.B) {
	s, err := parseSettings(account(map[string]string{"size": "200"}))
	if err != nil {
		b.Fatal(err)
	}
	c := &conn{settings: s, clk: clock.NewManual(billedAt)}
	for b.Loop() {
		for _, m := range s.billsAt(billedAt) {
			c.deliveryOf(m)
			for file := range m.fileCount() {
				t, err := m.openFile(file, "")
				if err != nil {
					b.Fatal(err)
				}
				if _, err = io.Copy(io.Discard, cloud.NewPagedBill(t.page)); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
}
