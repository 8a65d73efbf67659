package cost

import (
	"math/big"
	"slices"
	"testing"
	"testing/synctest"

	"lamplighter.dev/functions"
	"lamplighter.dev/shared/engine/table"
)

// lineOf returns the line of a name.
func lineOf(t *testing.T, b Bill, name string) Line {
	t.Helper()
	i := slices.IndexFunc(b.Lines, func(l Line) bool { return l.Name == name })
	if i < 0 {
		t.Fatalf("there is no line %q", name)
	}
	return b.Lines[i]
}

// used returns a Sample of a function that reads some units.
func used(function string, calls int, readUnits float64) Sample {
	out := newSample()
	out.Calls[function], out.Units[function] = calls, table.Usage{ReadUnits: readUnits}
	return out
}

func TestCompute_TakesEachFreeAllowanceOffOnce(t *testing.T) {
	p, m := readPrices(t), tiny()
	m.First = newSample()
	m.First.Transitions["billing-sync"], m.First.Transitions["bulk-action"] = 3000, 3000
	free := map[string]*big.Rat{}
	for _, l := range Compute(p, Workloads[0], m).Lines {
		if free[l.Unit] == nil {
			free[l.Unit] = new(big.Rat)
		}
		free[l.Unit].Add(free[l.Unit], l.Free)
	}
	for name, price := range p.Of {
		each, _ := new(big.Rat).SetString(price.USD)
		most := each.Mul(each, big.NewRat(price.Free, price.Per))
		if got := free[price.Unit]; got != nil && got.Cmp(most) > 0 {
			t.Errorf("%s: %s US dollars are free, and AWS gives %s", name, got.FloatString(4), most.FloatString(4))
		}
	}
	if got, want := free["state transitions"].FloatString(2), "0.10"; got != want {
		t.Errorf("%s US dollars of transitions are free, want %s, the 4,000 once", got, want)
	}
}

// The other lines of a free allowance get the part of it that is left.
func TestCompute_SpreadsAFreeAllowanceOverItsLines(t *testing.T) {
	m := Measured{First: newSample()} // of two accounts
	m.First.Transitions["action"], m.First.Transitions["discovery"] = 1500, 1500
	bill := Compute(readPrices(t), Workloads[0], m)
	for name, want := range map[string]string{
		"Step Functions: actions":   "0.075", // 3,000
		"Step Functions: discovery": "0.025", // the other 1,000
		"Step Functions: bills":     "0.000",
	} {
		if got := lineOf(t, bill, name).Free.FloatString(3); got != want {
			t.Errorf("%s: %s US dollars are free, want %s", name, got, want)
		}
	}
}

func TestCompute_CountsWorkForEachOrganizationOrOnce(t *testing.T) {
	for _, tt := range []struct {
		what      string
		m         Measured
		one, many string // read units a month of one organization and of a thousand, times 0.125 ÷ 1,000,000
	}{
		{"a run of a worker with nobody to work for", Measured{
			Bare: map[string]Sample{"anomalycheck": used("anomalycheck", 1, 17)},
		}, "12240", "12240"}, // 17 × 720
		{"a check of each organization in each hour", Measured{
			Costs: Costs{Days: 30, Accounts: 2, Rest: used("anomalycheck", 0, 720*11)},
		}, "7920", "7920000"},
		{"estimates of half a month", Measured{
			Costs: Costs{Days: 15, Accounts: 2, Rest: used("pricesync", 0, 1000)},
		}, "2000", "2000000"},
		{"lists of prices, which all organizations share", Measured{
			Costs: Costs{Days: 30, Accounts: 2, Shared: used("pricesync", 0, 5000)},
		}, "5000", "5000"},
		{"bills of each account, one of which was measured", Measured{
			Costs: Costs{Days: 30, Accounts: 1, Bills: used("billingsync", 0, 50)},
		}, "100", "100000"},
		{"updates of the costs of a large organization, two of which were measured", Measured{
			Costs: Costs{Days: 2, Accounts: 1, Renewals: 2, Renewed: used("billingsync", 0, 10)},
		}, "4500", "4500000"}, // 5 × 30 × 30
		{"refreshes, two of which were measured", Measured{
			Refreshes: used("auth", 2, 20), RefreshCount: 2,
		}, "33600", "33600000"}, // 5 × 32 × 21 × 10
		{"a round of the notifier that reads a unit for the organization", Measured{
			Bare:  map[string]Sample{"notifier": used("notifier", 1, 9)},
			Found: map[string]Sample{"notifier": used("notifier", 1, 10)},
		}, "432000", "43588800"}, // (9 + 1) × 43,200; (9 + 1,000) × 43,200
	} {
		one := lineOf(t, Compute(readPrices(t), Workloads[0], tt.m), "DynamoDB: reads")
		many := lineOf(t, Compute(readPrices(t), Workloads[2], tt.m), "DynamoDB: reads")
		if one.Amount.RatString() != tt.one || many.Amount.RatString() != tt.many {
			t.Errorf("%s: %s of one and %s of a thousand, want %s and %s", tt.what, one.Amount.RatString(),
				many.Amount.RatString(), tt.one, tt.many)
		}
	}
}

func TestCompute_CountsLineItemsInS3(t *testing.T) {
	bills := newSample()
	bills.Puts, bills.Gets = 120, 10 // of two accounts in a month
	m := Measured{
		Costs: Costs{Days: 30, Accounts: 2, Bills: bills},
		Bytes: map[string]int{"line items": 400_000}, // of an account
	}
	for i, want := range map[int][3]string{0: {"0.0008", "124", "10"}, 2: {"0.8000", "124000", "10000"}} {
		bill := Compute(readPrices(t), Workloads[i], m)
		got := [3]string{
			lineOf(t, bill, "S3: line items").Amount.FloatString(4),
			lineOf(t, bill, "S3: objects put and listed").Amount.RatString(), // and four of the archive
			lineOf(t, bill, "S3: objects read").Amount.RatString(),
		}
		if got != want {
			t.Errorf("%s: %v GB, puts and gets; want %v", Workloads[i].Title, got, want)
		}
	}
}

func TestRuns_AreThoseOfTheDeclaredSchedules(t *testing.T) {
	times := map[string]int{
		"rate(1 minute)": minutes, "rate(1 hour)": hours, "cron(15 1-5 * * ? *)": days * priceRuns,
		"cron(0 6 * * ? *)": days, "cron(20 2 * * ? *)": days,
	}
	declared := map[string]bool{}
	for _, f := range functions.All() {
		if f.Schedule == "" {
			continue
		}
		declared[f.Name] = true
		if want := times[f.Schedule]; want == 0 || runs[f.Name] != want {
			t.Errorf("%s runs %d times a month, and its schedule %s says %d", f.Name, runs[f.Name], f.Schedule, want)
		}
	}
	for worker := range runs {
		if !declared[worker] {
			t.Errorf("%s has runs and no schedule", worker)
		}
	}
}

// linking returns the write units of linking audit log entries.
func linking(s Sample) float64 { return s.Units["auditlinker"].WriteUnits }

func abs(n int) int { return max(n, -n) }

// A small organization has each kind of work in its measurement.
func TestMeasure_CountsEachKindOfWork(t *testing.T) {
	if *update {
		t.Skip("SKIPPED: a process has one bubble, and `make cost` measures in it")
	}
	synctest.Test(t, func(t *testing.T) {
		w := Workload{Organizations: 1, Accounts: 1, PerAccount: 60, GroupSize: 5, Users: 1, CostDays: days}
		m := measure(t, w)
		for what, ok := range map[string]bool{
			"the notifier of bulk actions":              m.Bulks.Calls["notifier"] > 0,
			"the bills of an account each day":          abs(m.Costs.Bills.Transitions["bill-account"]-3*days) <= 3,
			"line items, put each day":                  m.Costs.Bills.Puts >= days,
			"stored line items":                         m.Bytes["line items"] > 0,
			"the anomaly check of each hour":            m.Costs.Rest.Units["anomalycheck"].ReadUnits >= hours,
			"the evaluation of all rules each night":    m.Costs.Rest.Units["recommender"].ReadUnits >= 16*days,
			"estimates of days, written each night":     m.Costs.Rest.Units["pricesync"].WriteUnits >= days,
			"the linking of a request's audit entry":    linking(m.Requests["PUT /resource-groups/{groupID}"]) > 0,
			"the linking of a refresh's audit entry":    linking(m.Refreshes) > 0 && m.RefreshCount == 3*w.Users,
			"no linking of a request that only reads":   linking(m.Requests["GET /resource-groups"]) == 0,
			"prices, fetched each night":                m.Costs.Shared.Units["pricesync"].WriteUnits >= days,
			"the first import with the first discovery": m.First.Puts > 0,
			"the metrics of the days before the first night": m.First.Units["discovery"].WriteUnits >
				3*m.Collection.Units["discovery"].WriteUnits,
		} {
			if !ok {
				t.Errorf("not counted: %s", what)
			}
		}
		for worker := range runs {
			if m.Bare[worker].Calls[worker] != 1 {
				t.Errorf("a run of %s: %+v", worker, m.Bare[worker])
			}
			if eachMinute(worker) && m.Found[worker].Calls[worker] != 1 {
				t.Errorf("a run of %s with an organization: %+v", worker, m.Found[worker])
			}
		}
	})
}
