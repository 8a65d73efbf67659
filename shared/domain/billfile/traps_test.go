package billfile_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/billfile"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/race"
	"lamplighter.dev/shared/testkit/seed"
)

func TestRead_ParquetAndCSVAreTheSame(t *testing.T) {
	want, _, err := readAll("", "csv", readData(t, "focus/focus_1.0_sample_1000.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{
		"focus/focus_1.0_sample_1000.snappy.parquet",
		"focus/focus_1.0_sample_1000_tagsmap.snappy.parquet",
	} {
		got, _, err := readAll("", file, readData(t, file))
		if err != nil {
			t.Fatal(err)
		}
		if g, w := lines(t, got), lines(t, want); g != w {
			t.Errorf("%s: the first difference is near %s", file, difference(g, w))
		}
	}
}

func difference(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return "…" + a[max(0, i-80):min(len(a), i+80)] + "…"
}

// TestRead_SplitAndShuffled deals the rows of a bill out into files at random. The total must not change.
func TestRead_SplitAndShuffled(t *testing.T) {
	race.SkipSequential(t)
	random := seed.Fixed(t, 3, 4)
	files := map[string]cloud.BillForm{
		"cur.csv": "", "cur2.csv": "", "focus.csv": "", "azure.csv": "",
		"aws-cur/legacy_cur_anonymised_2023-11.csv.gz":      "",
		"gcp-billing/google_sample_billing_data_500.csv.gz": "",
		"azure-export/ms_EA_AmortizedCost_Small.csv":        cloud.AzureAmortizedForm,
		"focus/focus_1.0_sample_1000.csv.gz":                "",
	}
	for file, form := range files {
		t.Run(file, func(t *testing.T) {
			rows := oracle(t, anyData(t, file))
			_, whole, err := readAll(form, file, encode(rows...))
			if err != nil {
				t.Fatal(err)
			}
			for range 5 {
				if got := describe(dealt(t, form, rows, random)); got != describe(whole) {
					t.Errorf("got  %s\nwant %s", got, describe(whole))
				}
			}
		})
	}
}

func anyData(t *testing.T, file string) []byte {
	t.Helper()
	if strings.Contains(file, "/") {
		return readData(t, file)
	}
	return fixture(t, file)
}

// dealt reads the rows in random order in up to seven files, some of them gzipped.
func dealt(t *testing.T, form cloud.BillForm, rows [][]string, random *rand.Rand) billfile.Totals {
	t.Helper()
	body := slices.Clone(rows[1:])
	random.Shuffle(len(body), func(i, j int) { body[i], body[j] = body[j], body[i] })
	files := make([][][]string, 1+random.IntN(7))
	for _, row := range body {
		i := random.IntN(len(files))
		files[i] = append(files[i], row)
	}
	var sum billfile.Totals
	for _, file := range files {
		b := encode(append([][]string{rows[0]}, file...)...)
		if random.IntN(2) == 0 {
			b = zipped(b)
		}
		_, totals, err := readAll(form, "part", b)
		if err != nil {
			t.Fatal(err)
		}
		sum.Merge(totals)
	}
	return sum
}

// TestRead_FinalReport reads a month before and after its invoice, which fills in the invoice ID. Leading zeros of an
// account are kept.
func TestRead_FinalReport(t *testing.T) {
	for file, want := range map[string]string{
		"aws-cur/koku_2023-06-01-not-final.csv": " 9999999999999",
		"aws-cur/koku_2023-06-01.csv":           "987654321 0099999999999",
	} {
		charges, _, err := readAll("", file, readData(t, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range charges {
			if got := c.InvoiceID + " " + c.SubAccountID; got != want || c.BillingCurrency != "NOK" {
				t.Errorf("%s: invoice and account %q in %s, want %q in NOK", file, got, c.BillingCurrency, want)
			}
		}
	}
}

// TestRead_CurrenciesApart keeps four currencies of one billing account apart.
func TestRead_CurrenciesApart(t *testing.T) {
	_, totals, err := readAll("", "google", readData(t, "gcp-billing/google_sample_billing_data_500.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	net := map[string]money.Amount{}
	for _, m := range totals.Months {
		net[m.Currency] = net[m.Currency].Add(m.Billed)
	}
	want := map[string]string{"USD": "1255613.0601", "EUR": "451968.5541", "GBP": "573288.1351", "AUD": "347430.6703"}
	for currency, amount := range want {
		if net[currency].String() != amount || len(net) != len(want) {
			t.Errorf("%s: %s, want %s", currency, net[currency], amount)
		}
	}
}

// TestRead_GoogleCostTypes checks that the type roundoff of the sample is an adjustment, and that use over midnight
// counts on the day of its start.
func TestRead_GoogleCostTypes(t *testing.T) {
	charges, _, err := readAll("", "google", readData(t, "gcp-billing/google_sample_billing_data_500.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, c := range charges {
		count[c.ChargeCategory]++
	}
	if count[bill.Usage] != 300 || count[bill.Adjustment] != 104 || count[bill.Tax] != 96 {
		t.Errorf("%v", count)
	}
	first := charges[0]
	if first.ChargePeriodStart.Format("2006-01-02T15:04") != "2026-04-02T18:54" ||
		first.ChargePeriodEnd.Sub(first.ChargePeriodStart).Hours() != 24 {
		t.Errorf("from %s to %s", first.ChargePeriodStart, first.ChargePeriodEnd)
	}
}

// TestReadBlocks_Few reads only the requested columns from each kind of file.
func TestReadBlocks_Few(t *testing.T) {
	for _, file := range []string{"focus/focus_1.0_sample_1000.csv.gz", "focus/focus_1.0_sample_1000.snappy.parquet"} {
		var billed money.Amount
		totals, err := billfile.ReadBlocks(t.Context(), []string{"BilledCost", "ServiceName"}, file,
			inMemory(readData(t, file)), func(b *bill.Block) error {
				if len(b.Texts) != 1 || len(b.Amounts) != 1 || len(b.Times) != 0 || b.Tags != nil {
					t.Fatalf("not the columns that were asked for: %+v", b)
				}
				for row := range b.Rows {
					if b.Texts["ServiceName"].At(row) == "" {
						t.Fatalf("row %d has no service", row)
					}
					billed = billed.Add(b.Amounts["BilledCost"].At(row))
				}
				return nil
			})
		if err != nil || totals.Rows != 1000 || len(totals.Months) != 0 || billed.String() != "20.52022672899" {
			t.Errorf("%s: %d rows, %s: %v", file, totals.Rows, billed, err)
		}
	}
	_, err := billfile.ReadBlocks(t.Context(), []string{"Cost"}, "f", inMemory(fixture(t, "focus.csv")),
		func(*bill.Block) error { return nil })
	if got := fault.Message(err); got != `f: "Cost" is none of the columns of FOCUS that are read` {
		t.Error(got)
	}
}

// TestRead_BigQueryObjects reads objects that span several lines: 108 rows that cost 6220, and credits of 2200.
func TestRead_BigQueryObjects(t *testing.T) {
	files, err := filepath.Glob(strings.TrimSuffix(dataPath(t, "gcp-billing/cud_test_1_1_export.json"),
		"cud_test_1_1_export.json") + "cud_test_*.json")
	if err != nil || len(files) != 19 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	var rows int64
	var cost, credits money.Amount
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		charges, totals, err := readAll("", filepath.Base(file), b)
		if err != nil {
			t.Fatal(err)
		}
		rows += totals.Rows
		for _, c := range charges {
			if c.ChargeCategory == bill.Credit {
				credits = credits.Add(c.BilledCost)
			} else {
				cost = cost.Add(c.BilledCost)
			}
		}
	}
	if rows != 108 || cost.String() != "6220" || credits.String() != "-2200" {
		t.Errorf("%d rows, cost %s, credits %s", rows, cost, credits)
	}
}

// TestRead_AzureHeaders finds the columns in every known spelling.
func TestRead_AzureHeaders(t *testing.T) {
	cases := []struct{ file, want string }{
		{"opencost-headersets/Enterprise.csv", "2021-05 CAD 1: 0 0 0"},
		{"opencost-headersets/EnterpriseCamel.csv", "2021-02 USD 1: 0.012 0.012 0.012"},
		{"opencost-headersets/German.csv", "2021-02 USD 1: 0.075 0.075 0.075"},
		{"opencost-headersets/PayAsYouGo.csv", "2021-02 USD 1: 0.075 0.075 0.075"},
		{"opencost-headersets/YA.csv", "2021-02 USD 1: 0.075 0.075 0.075"},
		{"koku_camel_azure_version_2.csv", "2023-08 USD 4: 0.0000262412 0.0000262412 0.0000262412"},
		{"koku_costreport_a243c6f2-199f-4074-9a2c-40e671cf1584.csv", "2019-07 USD 3: 0.00011016 0.00011016 0.00011016"},
		{"koku_azure_camelCased.csv", "2019-07 USD 3: 0.00011016 0.00011016 0.00011016"},
	}
	for _, c := range cases {
		t.Run(c.file, func(t *testing.T) {
			charges, totals, err := readAll("", c.file, readData(t, "azure-export/"+c.file))
			if err != nil {
				t.Fatal(err)
			}
			if _, got, _ := strings.Cut(describe(totals), "; "); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			first := &charges[0]
			if first.SubAccountID == "" || first.ServiceName == "" || first.ResourceID == "" || first.RegionID == "" ||
				first.Quantity.IsZero() {
				t.Errorf("a column was not found: %+v", first)
			}
		})
	}
	for _, file := range []string{"koku_empty_frame.csv", "ms_EA_NoRows.csv"} {
		if _, totals, err := readAll("", file, readData(t, "azure-export/"+file)); err != nil || totals.Rows != 0 {
			t.Errorf("%s: %d rows, %v", file, totals.Rows, err)
		}
	}
}

func TestRead_AzureRefuses(t *testing.T) {
	cases := []struct{ file, want string }{
		{"koku_azure_version_2.csv", `f, row 1: "MC" is not a currency; one of ISO 4217 is needed, like USD`},
		{"opencost-values/Template.csv", "f: columns are missing: BillingCurrency; export all columns"},
		{"opencost-headersets/BOM.csv", `f, row 1: column "PreTaxCost": it is empty, and must not be`},
	}
	for _, c := range cases {
		_, _, err := readAll("", "f", readData(t, "azure-export/"+c.file))
		if got := fault.Message(err); got != c.want || !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %s, want %s", c.file, got, c.want)
		}
	}
}

// TestRead_AzureTags reads tags without the braces of an object, dates with the month first, and JSON in a
// neighbouring cell.
func TestRead_AzureTags(t *testing.T) {
	charges, _, err := readAll("", "f", readData(t, "azure-export/ms_EA_ActualCost_Small.csv"))
	if err != nil {
		t.Fatal(err)
	}
	c := charges[1]
	tagged := slices.ContainsFunc(c.Tags, func(t bill.Tag) bool { return t == bill.Tag{Key: "org", Value: "trey"} })
	if !tagged || len(c.Tags) != 5 || c.ChargePeriodStart.Format("2006-01-02") != "2023-09-04" {
		t.Errorf("%v on %s", c.Tags, c.ChargePeriodStart)
	}
}

// TestRead_AzureBoth adds up a period that is delivered as actual and as amortized cost. No cost counts twice. The use
// of a reservation costs 0 in the actual file and more in the amortized one.
func TestRead_AzureBoth(t *testing.T) {
	actual, sum, err := readAll(cloud.AzureActualForm, "actual", readData(t, "azure-export/ms_EA_ActualCost_Small.csv"))
	if err != nil {
		t.Fatal(err)
	}
	amortized, other, err := readAll(cloud.AzureAmortizedForm, "amortized",
		readData(t, "azure-export/ms_EA_AmortizedCost_Small.csv"))
	if err != nil {
		t.Fatal(err)
	}
	sum.Merge(other)
	var billed, effective money.Amount
	for _, m := range sum.Months {
		billed, effective = billed.Add(m.Billed), effective.Add(m.Effective)
	}
	if billed.String() != "8.5450077867419368" || effective.String() != "16.296932136636644627485419" {
		t.Errorf("billed %s, effective %s", billed, effective)
	}
	var spread money.Amount
	for _, c := range slices.Concat(actual, amortized) {
		if c.PricingCategory != bill.Committed {
			continue
		}
		if !c.BilledCost.IsZero() || c.CommitmentID == "" {
			t.Errorf("use under a commitment is billed %s: %+v", c.BilledCost, c)
		}
		spread = spread.Add(c.EffectiveCost)
	}
	if spread.String() != "0.499152000468" {
		t.Errorf("what is spread over use is %s", spread)
	}
}

// TestRead_Commitments checks the rules of FOCUS for commitments on its own examples. The purchase of a commitment has
// an effective cost of 0. The covered use and the unused part are billed at 0, and their effective cost adds up to the
// purchase.
func TestRead_Commitments(t *testing.T) {
	for _, file := range flexibility(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			charges, _, err := readAll("", "example", inDollars(t, b))
			if err != nil {
				t.Fatal(err)
			}
			var purchased, used money.Amount
			for _, c := range charges {
				switch {
				case c.CommitmentID == "":
				case c.ChargeCategory == bill.Purchase && c.EffectiveCost.IsZero():
					purchased = purchased.Add(c.BilledCost)
				case c.ChargeCategory == bill.Usage && c.BilledCost.IsZero() &&
					(c.CommitmentStatus == "Used" || c.CommitmentStatus == "Unused"):
					used = used.Add(c.EffectiveCost)
				default:
					t.Errorf("neither a purchase nor use that it covers: %+v", c)
				}
			}
			if purchased != used || used.IsZero() {
				t.Errorf("%s was purchased, %s is effective", purchased, used)
			}
		})
	}
}

func flexibility(t *testing.T) []string {
	t.Helper()
	folder := dataPath(t, "focus/spec-examples/commitment_discount_flexibility")
	files, err := filepath.Glob(filepath.Join(folder, "*.csv"))
	if err != nil || len(files) != 4 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	return files
}

// inDollars adds the currency column, which the examples leave out.
func inDollars(t *testing.T, b []byte) []byte {
	t.Helper()
	rows := oracle(t, b)
	if slices.Contains(rows[0], "BillingCurrency") {
		return b
	}
	rows[0] = append(rows[0], "BillingCurrency")
	for i := range rows[1:] {
		rows[i+1] = append(rows[i+1], "USD")
	}
	return encode(rows...)
}

// refusedExamples violate the specification themselves: they contain an hour beyond 24, or amounts in the format of a
// spreadsheet.
var refusedExamples = map[string]string{
	"commitment_discount_purchase_scenario_2.csv": `column "ChargePeriodEnd": "2023-02-01T30:00:00Z" is not a time`,
	"commitment_discount_purchase_scenario_3.csv": `column "ChargePeriodEnd": "2023-02-01T30:00:00Z" is not a time`,
	"simple_saas_agreements_a1.csv":               `column "BilledCost": "$10,000.00" is not an amount`,
	"simple_saas_agreements_a2.csv":               `column "BilledCost": "$50,000.00" is not an amount`,
	"simple_saas_agreements_a3.csv":               `column "BilledCost": "$1,000.00" is not an amount`,
	"simple_saas_agreements_b.csv":                `column "BilledCost": "$50,000.00" is not an amount`,
	"simple_saas_agreements_c.csv":                `column "BilledCost": "$10,100.00" is not an amount`,
}

// TestRead_SpecExamples reads all examples of the specification, with byte order marks and dates like 4/1/25.
func TestRead_SpecExamples(t *testing.T) {
	read := 0
	err := filepath.WalkDir(dataPath(t, "focus/spec-examples"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		charges, _, err := readAll("", d.Name(), inDollars(t, b))
		if want := refusedExamples[d.Name()]; want != "" {
			if !strings.Contains(fault.Message(err), want) {
				t.Errorf("%v, want %s", err, want)
			}
			return nil
		}
		if err != nil || len(charges) == 0 || len(charges[0].BillingCurrency) != 3 {
			t.Errorf("%s: %d charges, %v", d.Name(), len(charges), err)
		}
		read++
		return nil
	})
	if err != nil || read != 19 {
		t.Errorf("%d files read: %v", read, err)
	}
}

// TestRead_UnblendedIsBilled adds up a report with all types of lines. The billed total equals AWS's invoice, because
// negation lines cancel the use under savings plans.
func TestRead_UnblendedIsBilled(t *testing.T) {
	rows := oracle(t, fixture(t, "cur.csv"))
	i := slices.Index(rows[0], "lineItem/UnblendedCost")
	var want money.Amount
	for _, row := range rows[1:] {
		want = want.Add(money.MustParse(row[i]))
	}
	_, totals, err := readAll("", "cur.csv", fixture(t, "cur.csv"))
	if err != nil || totals.Months[0].Billed != want {
		t.Errorf("billed %s, want %s: %v", totals.Months[0].Billed, want, err)
	}
}
