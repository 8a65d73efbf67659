package billfile_test

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/race"
)

// control is a row of control_totals.csv.
type control struct{ dimension, key, measure, rows, total string }

// controls reads the control totals of bills, by file. It skips other files.
func controls(t *testing.T) map[string][]control {
	t.Helper()
	records, err := csv.NewReader(bytes.NewReader(readData(t, "control_totals.csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]control{}
	for _, r := range records[1:] {
		if !strings.HasPrefix(r[0], "anomaly/") {
			out[r[0]] = append(out[r[0]], control{r[1], r[2], r[3], r[4], r[5]})
		}
	}
	return out
}

// charged is a row of a file, as read by encoding/csv, with the charges that bill.Read returned for it.
type charged struct {
	row     map[string]string
	charges []bill.Charge
}

// charge reads a file in both ways: the rows give the key of a total, the charges its amount. No row of these files is
// dropped. Of Google's rows, the charges after the first are credits.
func charge(t *testing.T, form cloud.BillForm, name string, b []byte) []charged {
	t.Helper()
	rows := oracle(t, b)
	charges, totals, err := readAll(form, name, b)
	if err != nil || totals.Rows != int64(len(rows)-1) {
		t.Fatalf("%d rows of %d: %v", totals.Rows, len(rows)-1, err)
	}
	var out []charged
	for _, row := range rows[1:] {
		fields := map[string]string{}
		for i, value := range row {
			fields[rows[0][i]] = value
		}
		n := 1
		for n < len(charges) && charges[n].ProviderName == "Google Cloud" && charges[n].ChargeCategory == bill.Credit {
			n++
		}
		out = append(out, charged{fields, charges[:n]})
		charges = charges[n:]
	}
	return out
}

// oracle reads CSV with the standard library.
func oracle(t testing.TB, b []byte) [][]string {
	t.Helper()
	b = bytes.TrimPrefix(plain(t, b), []byte("\ufeff"))
	r := csv.NewReader(bytes.NewReader(b))
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func plain(t testing.TB, b []byte) []byte {
	t.Helper()
	if !bytes.HasPrefix(b, []byte{0x1f, 0x8b}) {
		return b
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func encode(rows ...[]string) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.WriteAll(rows)
	return b.Bytes()
}

func zipped(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(b)
	_ = w.Close()
	return out.Bytes()
}

// measures computes the measures of the control totals from a row and its charges. BlendedCost is not read by design:
// in all of these files it equals the unblended cost, which the totals confirm.
var measures = map[string]func(charged) money.Amount{
	"BilledCost":                billed,
	"EffectiveCost":             effective,
	"ListCost":                  list,
	"ContractedCost":            func(c charged) money.Amount { return c.charges[0].ContractedCost },
	"UnblendedCost":             unblended,
	"BlendedCost":               unblended,
	"publicOnDemandCost":        list,
	"Cost":                      effective,
	"CostInBillingCurrency":     billed,
	"costinbillingcurrency":     billed,
	"paygcostinbillingcurrency": list,
	"cost":                      func(c charged) money.Amount { return c.charges[0].BilledCost },
	"credits(json sum)":         func(c charged) money.Amount { return billed(charged{charges: c.charges[1:]}) },
	"net=cost+credits":          billed,
	"cost_at_list":              list,
}

func billed(c charged) (sum money.Amount) {
	for i := range c.charges {
		sum = sum.Add(c.charges[i].BilledCost)
	}
	return sum
}

func effective(c charged) (sum money.Amount) {
	for i := range c.charges {
		sum = sum.Add(c.charges[i].EffectiveCost)
	}
	return sum
}

func list(c charged) (sum money.Amount) {
	for i := range c.charges {
		sum = sum.Add(c.charges[i].ListCost)
	}
	return sum
}

// unblended returns the billed cost. For use under a savings plan, which is billed at 0, it returns the on-demand
// cost.
func unblended(c charged) money.Amount {
	if c.row["lineItem/LineItemType"] == "SavingsPlanCoveredUsage" && billed(c).IsZero() {
		return list(c)
	}
	return billed(c)
}

// keys returns the value of a control total's dimension. It comes from the charge if the charge has it, else from the
// row.
var keys = map[string]func(charged) string{
	"all":                           func(charged) string { return "*" },
	"all_mixed_currency_DO_NOT_SUM": func(charged) string { return "*" },
	"billing_month":                 month,
	"provider":                      func(c charged) string { return c.charges[0].ProviderName },
	"provider|billing_month":        func(c charged) string { return c.charges[0].ProviderName + "|" + month(c) },
	"provider|service": func(c charged) string {
		return c.charges[0].ProviderName + "|" + c.charges[0].ServiceName
	},
	"charge_category":  func(c charged) string { return c.charges[0].ChargeCategory },
	"charge_day":       day,
	"usage_day":        day,
	"usage_month":      func(c charged) string { return day(c)[:7] },
	"region":           func(c charged) string { return orNull(c.charges[0].RegionID) },
	"service_category": func(c charged) string { return orNull(c.charges[0].ServiceCategory) },
	"sub_account":      func(c charged) string { return orNull(c.charges[0].SubAccountID) },
	"usage_account":    func(c charged) string { return c.charges[0].SubAccountID },
	"line_type":        func(c charged) string { return c.row["lineItem/LineItemType"] },
	"product":          func(c charged) string { return c.row["lineItem/ProductCode"] },
	"charge_type|pricing_model": func(c charged) string {
		return c.row["ChargeType"] + "|" + c.row["PricingModel"]
	},
	"date":               func(c charged) string { return c.row["Date"] },
	"meter_category":     func(c charged) string { return c.charges[0].ServiceName },
	"meter":              func(c charged) string { return c.charges[0].ServiceName },
	"subscription":       func(c charged) string { return c.charges[0].SubAccountID },
	"service":            func(c charged) string { return c.charges[0].ServiceName },
	"currency":           currencyOf,
	"currency|cost_type": func(c charged) string { return currencyOf(c) + "|" + c.row["cost_type"] },
	"currency|invoice_month": func(c charged) string {
		return currencyOf(c) + "|" + strings.ReplaceAll(month(c), "-", "")
	},
	"currency|project": func(c charged) string { return currencyOf(c) + "|" + c.charges[0].SubAccountID },
	"currency|service": func(c charged) string { return currencyOf(c) + "|" + c.charges[0].ServiceName },
}

func month(c charged) string      { return c.charges[0].BillingPeriodStart.Format("2006-01") }
func day(c charged) string        { return c.charges[0].ChargePeriodStart.Format("2006-01-02") }
func currencyOf(c charged) string { return c.charges[0].BillingCurrency }

func orNull(s string) string {
	if s == "" {
		return "NULL"
	}
	return s
}

// mended repairs files that cannot be imported unchanged. Other tests show that a bill without a currency is refused.
var mended = map[string]func([][]string) [][]string{
	"azure-export/koku_azure_version_2.csv": func(rows [][]string) [][]string {
		i := slices.Index(rows[0], "BillingCurrencyCode")
		for _, row := range rows[1:] {
			row[i] = strings.ReplaceAll(row[i], "MC", "USD")
		}
		return rows
	},
	"azure-export/opencost-values/Template.csv": func(rows [][]string) [][]string {
		for i := range rows {
			rows[i] = append(rows[i], make([]string, len(rows[0])-len(rows[i]))...)
		}
		for i, currency := range append([]string{"currency"}, slices.Repeat([]string{"USD"}, len(rows)-1)...) {
			rows[i] = append(rows[i], currency)
		}
		return rows
	},
}

func TestRead_ControlTotals(t *testing.T) {
	race.SkipSequential(t)
	for file, all := range controls(t) {
		t.Run(file, func(t *testing.T) {
			b := readData(t, file)
			if mend, found := mended[file]; found {
				b = encode(mend(oracle(t, b))...)
			}
			var form cloud.BillForm
			if strings.Contains(file, "Amortized") {
				form = cloud.AzureAmortizedForm
			}
			rows := charge(t, form, file, b)
			for _, c := range all {
				if got := total(t, rows, c); got != c.total {
					t.Errorf("%s %s %s: %s, want %s", c.dimension, c.key, c.measure, got, c.total)
				}
			}
			t.Logf("%d control totals", len(all))
		})
	}
}

func total(t *testing.T, rows []charged, c control) string {
	t.Helper()
	measure, key := measures[c.measure], keys[c.dimension]
	if measure == nil || key == nil {
		t.Fatalf("no way to tell %s by %s", c.measure, c.dimension)
	}
	var sum money.Amount
	for _, r := range rows {
		if key(r) == c.key {
			sum = sum.Add(measure(r))
		}
	}
	return sum.String()
}

// TestRead_CreditsColumn checks that the list of credits and its flattened columns are not mixed up.
func TestRead_CreditsColumn(t *testing.T) {
	differing := 0
	for _, c := range charge(t, cloud.GoogleForm, "google",
		readData(t, "gcp-billing/google_sample_billing_data_500.csv.gz")) {
		var credits []struct{ ID string }
		if err := json.Unmarshal([]byte(c.row["credits"]), &credits); err != nil {
			t.Fatal(err)
		}
		if len(c.charges) != 1+len(credits) {
			t.Fatalf("%d charges of a row with %d credits", len(c.charges), len(credits))
		}
		if len(credits) > 0 && credits[0].ID != c.row["credits_id"] {
			differing++
		}
	}
	if differing != 171 {
		t.Errorf("%d rows whose flattened credits_id differs from the list, want 171", differing)
	}
}
