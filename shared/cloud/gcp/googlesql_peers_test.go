package gcp_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/clouds/bigqueryengine"
	"lamplighter.dev/shared/testkit/clouds/gcptwin"
	"lamplighter.dev/shared/testkit/npmpeer"
	"lamplighter.dev/shared/testkit/seed"
)

// recorder answers each query with one month, and keeps the texts of the queries.
type recorder struct{ queries []string }

func (r *recorder) Query(sql string) (columns []string, rows []map[string]string, err error) {
	r.queries = append(r.queries, sql)
	return []string{"month", "day"}, []map[string]string{{"month": "202603", "day": "2026-03-04"}}, nil
}

// queriesOf returns a table, and the queries that the product has for it.
func queriesOf(t *testing.T, id string, schema []bigqueryengine.Column) bigqueryengine.Table {
	t.Helper()
	r := &recorder{}
	tw := &gcptwin.Cloud{Engine: r}
	tw.AddBillingTable(gcptwin.BillingTable{
		Project: gcptwin.Project, Dataset: "billing", Location: "EU", ID: id, Columns: columnNames(schema),
	})
	bills := openBills(t, tw, cloud.BillSettings{Dataset: "billing"})
	deliveries, err := bills.Deliveries(t.Context(), month(1))
	if err != nil || len(deliveries) != 1 {
		t.Fatalf("%+v, %v", deliveries, err)
	}
	file, err := bills.OpenBill(t.Context(), deliveries[0], deliveries[0].Files[0])
	if err == nil {
		_, err = file.Read(make([]byte, 1))
	}
	if err != nil || len(r.queries) != 2 {
		t.Fatalf("%d queries: %v", len(r.queries), err)
	}
	return bigqueryengine.Table{Name: gcptwin.Project + ".billing." + id, Columns: schema, Queries: r.queries}
}

// TestBillQuery_IsAcceptedByGoogleSQL has Google's own parser and type checker read each query, for each set of
// columns. All values are texts, and all amounts decimals.
func TestBillQuery_IsAcceptedByGoogleSQL(t *testing.T) {
	npmpeer.SkipUnlessWanted(t)
	tables := []bigqueryengine.Table{
		queriesOf(t, standard, oldSchema(t)), queriesOf(t, focusExport, focusSchema),
		queriesOf(t, focusExport, without(focusSchema, "x_Labels", "x_CurrencyConversionRate", "x_ExportTime")),
	}
	for _, missing := range subsets(optional) {
		tables = append(tables, queriesOf(t, detailed, without(exportSchema, missing...)))
	}
	amounts := []string{"BilledCost", "EffectiveCost", "ListCost", "ContractedCost", "PricingQuantity"}
	for i, analyses := range bigqueryengine.Analyze(t, tables) {
		for j, a := range analyses {
			if a.Error != "" {
				t.Errorf("%s\n%s", a.Error, tables[i].Queries[j])
			}
			for column, of := range a.Columns {
				if want := of == "BIGNUMERIC"; of != "STRING" && !want || want != slices.Contains(amounts, column) {
					t.Errorf("%s is a %s", column, of)
				}
			}
		}
	}
}

// TestExactAmount_IsTheExportedOneInGoogleSQL has GoogleSQL convert amounts of FLOAT64 as the queries do. An amount
// of up to 15 digits, as Google exports costs, is the exported one. An amount of more digits is one of 17, which is
// the same FLOAT64.
func TestExactAmount_IsTheExportedOneInGoogleSQL(t *testing.T) {
	npmpeer.SkipUnlessWanted(t)
	r := seed.Random(t)
	var sql, exported []string
	for range 2000 {
		amount := r.NormFloat64() * pick(r, 1e9, 1e3, 1, 1e-3, 1e-6)
		exported = append(exported, strconv.FormatFloat(amount, 'g', 1+r.IntN(17), 64))
		sql = append(sql, gcp.ExactAmount("CAST("+exported[len(exported)-1]+" AS FLOAT64)"))
	}
	answers := bigqueryengine.Analyze(t, []bigqueryengine.Table{{
		Name: "none", Queries: []string{"SELECT " + strings.Join(sql, ", ")},
	}})
	got := literals(answers[0][0].Tree)
	if len(got) != len(exported) {
		t.Fatalf("%d literals of %d amounts: %s", len(got), len(exported), answers[0][0].Error)
	}
	for i, text := range exported {
		if !isAmount(got[i], text) {
			t.Errorf("%s is %s, want %s", sql[i], got[i], text)
		}
	}
}

// isAmount reports whether got is the exported amount.
func isAmount(got, exported string) bool {
	value, _ := strconv.ParseFloat(exported, 64)
	short := strconv.FormatFloat(value, 'g', 15, 64)
	if back, _ := strconv.ParseFloat(short, 64); back != value {
		back, _ = strconv.ParseFloat(got, 64)
		return back == value
	}
	return money.MustParse(got).Cmp(money.MustParse(short)) == 0
}

// literals returns the values of the decimals in a tree of GoogleSQL.
func literals(tree string) (out []string) {
	for _, line := range strings.Split(tree, "Literal(type=BIGNUMERIC, value=")[1:] {
		value, _, _ := strings.Cut(line, ",")
		out = append(out, value)
	}
	return out
}

// subsets returns all sets of some of the names.
func subsets(names []string) (out [][]string) {
	for set := range 1 << len(names) {
		var some []string
		for i, name := range names {
			if set>>i&1 == 1 {
				some = append(some, name)
			}
		}
		out = append(out, some)
	}
	return out
}
