package gcp_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/billfile"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/clouds/bigqueryengine"
	"lamplighter.dev/shared/testkit/clouds/gcptwin"
)

// inMemory is a file of a bill.
type inMemory struct{ *bytes.Reader }

func (inMemory) Close() error { return nil }

// readGoogle reads Google's own columns with the importer's reader.
func readGoogle(t *testing.T, text []byte) (out []bill.Charge) {
	t.Helper()
	_, err := billfile.Read(t.Context(), cloud.GoogleForm, "export", inMemory{bytes.NewReader(text)}, collect(&out))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func collect(to *[]bill.Charge) func(*bill.Charge) error {
	return func(c *bill.Charge) error {
		*to = append(*to, *c)
		return nil
	}
}

// readQueried lists the deliveries of the twin, and reads them as an import does.
func readQueried(t *testing.T, tw *gcptwin.Cloud) (out []bill.Charge) {
	t.Helper()
	bills := openBills(t, tw, cloud.BillSettings{Dataset: "billing"})
	deliveries, err := bills.Deliveries(t.Context(), time.Date(2018, 1, 1, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range deliveries {
		for _, f := range d.Files {
			r, err := bills.OpenBill(t.Context(), d, f)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := billfile.Read(t.Context(), d.Form, f.Name, r, collect(&out)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return out
}

// lines adds up charges by day and everything that is no amount. A query answers such sums.
func lines(charges []bill.Charge) map[string]string {
	sums := map[string][5]money.Amount{}
	for i := range charges {
		c := charges[i]
		amounts := [5]money.Amount{c.BilledCost, c.EffectiveCost, c.ListCost, c.ContractedCost, c.Quantity}
		c.BilledCost, c.EffectiveCost, c.ListCost = money.Amount{}, money.Amount{}, money.Amount{}
		c.ContractedCost, c.Quantity = money.Amount{}, money.Amount{}
		c.ChargePeriodStart, c.ChargePeriodEnd = c.ChargePeriodStart.UTC().Truncate(24*time.Hour), time.Time{}
		key := strings.ReplaceAll(fmt.Sprintf("%+v", c), " +0000 UTC", "")
		sum := sums[key]
		for j := range sum {
			sum[j] = sum[j].Add(amounts[j])
		}
		sums[key] = sum
	}
	out := map[string]string{}
	for key, sum := range sums {
		out[key] = fmt.Sprint(sum)
	}
	return out
}

// sameLines requires the same sums.
func sameLines(t *testing.T, got, want []bill.Charge) {
	t.Helper()
	g, w := lines(got), lines(want)
	differing := 0
	for _, key := range slices.Sorted(maps.Keys(w)) {
		if g[key] != w[key] && differing < 3 {
			differing++
			t.Errorf("%s\nthe query: %s\nthe reader: %s", key, cmp.Or(g[key], "no such line"), w[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(g)) {
		if w[key] == "" && differing < 6 {
			differing++
			t.Errorf("%s\nthe query: %s\nthe reader: no such line", key, g[key])
		}
	}
	if len(g) == 0 || len(g) != len(w) {
		t.Errorf("%d lines, want %d", len(g), len(w))
	}
}

func TestBillQuery_OnAnEngineAnswersWhatTheReaderReads(t *testing.T) {
	e := bigqueryengine.Start(t)
	cases := []struct {
		name, table string
		schema      []bigqueryengine.Column
		export      exported
	}{
		{"the sample of a detailed export", detailed, exportSchema, sampleExport(t)},
		{"a standard export of an early schema", standard, oldSchema(t), objectExport(t)},
		{
			"a standard export of 2020, with costs of a millionth", standard, without(exportSchema, "resource", "tags"),
			flattenedExport(t, "gcp-billing/koku_202011_2020-11-08_2020-11-11.csv"),
		},
		{"a detailed export of 2022", detailed, exportSchema, flattenedExport(t, "gcp-billing/koku_2022-08-01_5.csv")},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			sameLines(t, readQueried(t, engineTwin(e, c.table, c.schema, c.export.rows)), readGoogle(t, c.export.text))
		})
	}
}

// optional are the columns that an export may lack. The queries name them where the table has them.
var optional = []string{"seller_name", "resource", "currency_conversion_rate", "tags", "cost_at_list"}

func TestBillQuery_OnAnEngineOfEachSetOfColumns(t *testing.T) {
	e, sample := bigqueryengine.Start(t), sampleExport(t)
	for set := range 1 << len(optional) {
		var missing []string
		for i, column := range optional {
			if set>>i&1 == 1 {
				missing = append(missing, column)
			}
		}
		t.Run("without "+strings.Join(missing, ", "), func(t *testing.T) {
			tw := engineTwin(e, detailed, without(exportSchema, missing...), sample.rows)
			sameLines(t, readQueried(t, tw), readGoogle(t, asJSON(t, sample.rows, missing)))
		})
	}
}

// asJSON writes the rows without these columns.
func asJSON(t *testing.T, rows []bigqueryengine.Row, missing []string) []byte {
	t.Helper()
	var out bytes.Buffer
	for _, row := range rows {
		row = maps.Clone(row)
		for _, column := range missing {
			delete(row, column)
		}
		if err := json.NewEncoder(&out).Encode(row); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}
