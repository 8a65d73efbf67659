package cost

import (
	"flag"
	"math/big"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"lamplighter.dev/shared/engine/table"
)

var update = flag.Bool("update", false, "measure, compute and write the page anew; it takes some minutes")

const page = root + "/docs/operations/cost.md"

// TestCost_StaysBelowWhatItWas is `make cost`.
func TestCost_StaysBelowWhatItWas(t *testing.T) {
	if !*update {
		t.Skip("SKIPPED: `make cost` measures and computes it, in some minutes")
	}
	prices := readPrices(t)
	kinds := make([]Measured, len(Workloads))
	// one bubble for all: values that a process makes once, such as a compressor, belong to a bubble
	synctest.Test(t, func(t *testing.T) {
		for _, i := range []int{0, 1, 3} {
			kinds[i] = measure(t, Workloads[i])
		}
	})
	kinds[2] = kinds[0]
	bills := make([]Bill, len(Workloads))
	for i, w := range Workloads {
		bills[i] = Compute(prices, w, kinds[i])
		if _, paid := bills[i].Total(); paid.Cmp(whole(w.Most)) > 0 {
			t.Errorf("%s: %s US dollars a month, and it was %d at most: find out what adds it (the tables of %s)",
				w.Title, dollars(paid), w.Most, page)
		}
	}
	writePage(t, "table", Table(bills))
	writePage(t, "amounts", Amounts(bills))
	writePage(t, "samples", Samples(kinds[0]))
	writePage(t, "prices", Listed(prices))
}

// writePage replaces the text between the two comments with the name.
func writePage(t *testing.T, name, text string) {
	t.Helper()
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+name+", written by `make cost` -->\n", "<!-- so far: "+name+" -->"
	before, rest, ok := strings.Cut(string(b), begin)
	_, after, there := strings.Cut(rest, end)
	if !ok || !there {
		t.Fatalf("%s has no place for the %s", page, name)
	}
	if err = os.WriteFile(page, []byte(before+begin+"\n"+text+"\n"+end+after), 0o600); err != nil {
		t.Fatal(err)
	}
}

func readPrices(t *testing.T) Prices {
	t.Helper()
	p, err := ReadPrices()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPrices_HaveADateAndEachItsSource(t *testing.T) {
	p := readPrices(t)
	if p.Date == "" || p.Region == "" || len(p.Of) < 15 {
		t.Errorf("%d prices of %s, %q", len(p.Of), p.Region, p.Date)
	}
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for name, price := range p.Of {
		if price.Source == "" || price.Unit == "" {
			t.Errorf("the price of %s has no source or no unit", name)
		}
	}
	if !strings.Contains(string(b), Listed(p)) {
		t.Errorf("%s shows other prices than prices.json: run make cost", page)
	}
}

// tiny returns the usage of an organization with few changes.
func tiny() Measured {
	pass := newSample()
	pass.Transitions["discovery"], pass.Calls["discovery"], pass.Millis["discovery"] = 292, 98, 97*250
	pass.Units["discovery"] = table.Usage{RoundTrips: 873, ReadUnits: 4068.5, WriteUnits: 199}
	return Measured{
		Pass: pass, Collection: pass, Memory: map[string]int{"discovery": 1024},
		Readers: map[string]bool{"discovery": true},
	}
}

func TestCompute_IsExactToTheLastDigit(t *testing.T) {
	bill := Compute(readPrices(t), Workloads[0], tiny())
	got := map[string]string{}
	for _, l := range bill.Lines {
		got[l.Name] = l.USD.FloatString(12)
	}
	for name, want := range map[string]string{
		"Step Functions: discovery": "1.752000000000", // 240 passes × 292 × 25 ÷ 1,000,000
		"Step Functions: actions":   "0.000000000000",
		"DynamoDB: reads":           "0.122055000000", // 240 × 4,068.5 × 0.125 ÷ 1,000,000
		"DynamoDB: writes":          "0.029850000000",
		"Lambda: requests":          "0.004704000000",
		"Lambda: memory × time":     "0.092822864112", // 240 × (98 × 4 + 873 × 5 + 24,250) ms × 1 GB
		"API Gateway":               "0.069090000000", // 180 × 5 × 21, and two for each of 420 pairs
		"KMS: keys":                 "2.000000000000",
		"Secrets Manager: reads":    "0.002352000000", // 240 × 98 ÷ 50 × 0.05 ÷ 10,000
		"logs":                      "0.012369000000", // and 19,740 × 300 bytes × 0.50 ÷ 1,000,000,000
		"firewall":                  "7.000000000000",
		"firewall: requests":        "0.011844000000",
	} {
		if got[name] != want {
			t.Errorf("%s: %s, want %s", name, got[name], want)
		}
	}
	list, paid := bill.Total()
	sum := new(big.Rat)
	for _, l := range bill.Lines {
		if !l.Apart {
			sum.Add(sum, l.USD)
		}
	}
	if list.Cmp(sum) != 0 || paid.Cmp(list) >= 0 {
		t.Errorf("list %s, sum %s, paid %s", dollars(list), dollars(sum), dollars(paid))
	}
}

func TestCompute_AThousandOrganizationsTakeAThousandTimesAsMuch(t *testing.T) {
	one, many := Compute(readPrices(t), Workloads[0], tiny()), Compute(readPrices(t), Workloads[2], tiny())
	for i, l := range one.Lines {
		times := int64(1000)
		switch l.Name {
		case "KMS: keys", "KMS: anchors of the audit log", "Secrets Manager", "alarms", "dashboard",
			"metrics of our own", "schedules", "firewall":
			times = 1
		case "S3: anchors of the audit log, put and listed", "S3: anchors of the audit log, read":
			continue // TestCompute_CountsAnchorsForTheInstallation
		}
		if want := new(big.Rat).Mul(l.USD, new(big.Rat).SetInt64(times)); many.Lines[i].USD.Cmp(want) != 0 {
			t.Errorf("%s: %s, want %s", l.Name, dollars(many.Lines[i].USD), dollars(want))
		}
	}
}

// A night of anchors has at most 18 objects, for any number of organizations.
func TestCompute_CountsAnchorsForTheInstallation(t *testing.T) {
	for i, want := range map[int][2]string{0: {"120", "90"}, 2: {"570", "540"}} { // 30 × 4 and 3, 30 × 19 and 18
		bill := Compute(readPrices(t), Workloads[i], tiny())
		got := [2]string{
			lineOf(t, bill, "S3: anchors of the audit log, put and listed").Amount.RatString(),
			lineOf(t, bill, "S3: anchors of the audit log, read").Amount.RatString(),
		}
		if got != want {
			t.Errorf("%s: %v puts and gets, want %v", Workloads[i].Title, got, want)
		}
	}
}

func TestTable_LeavesWhatStandsApartOutOfTheSum(t *testing.T) {
	m := tiny()
	plain := Compute(readPrices(t), Workloads[0], m)
	m.Template = map[string]bool{"detailed metrics": true}
	detailed := Compute(readPrices(t), Workloads[0], m)
	a, _ := plain.Total()
	b, _ := detailed.Total()
	if a.Cmp(b) != 0 ||
		!strings.Contains(Table([]Bill{detailed}), "| not in the sum: detailed metrics of the API (up to) | 75.00 |") {
		t.Errorf("%s and %s: %s", dollars(a), dollars(b), Table([]Bill{detailed}))
	}
}
