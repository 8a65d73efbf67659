package gcp_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/bigqueryengine"
	"lamplighter.dev/shared/testkit/clouds/gcptwin"
	"lamplighter.dev/shared/testkit/seed"
)

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// randomRow returns a row of few projects, days and prices, so that rows are added up, with the values that are hard:
// amounts below a billionth and of 17 digits, two rates on a day, texts that are null, empty or hostile, rows that are
// still in the streaming buffer.
func randomRow(r *rand.Rand) bigqueryengine.Row {
	day := fmt.Sprintf("2026-03-%02d", 1+r.IntN(2))
	amount := func() string {
		return pick(r, "0", "3e-10", "-7.5e-06", "0.1", "0.30000000000000004", "2.3198314011096954e-05", "123456789.1", "-40")
	}
	var credits []any
	for range r.IntN(3) {
		credits = append(credits, keyed{
			"name": pick[any](r, nil, "", "Committed use"), "full_name": pick[any](r, nil, "", "Committed use, 3 years"),
			"id": pick[any](r, nil, "CUD-1"), "amount": amount(),
		})
	}
	var labels, tags []any
	for i := range r.IntN(3) {
		labels = append(labels, keyed{"key": fmt.Sprint("k", i), "value": pick[any](r, nil, "", "a", `'"\ é`+"\n")})
		tags = append(tags, keyed{"namespace": pick[any](r, nil, "", "acme"), "key": fmt.Sprint("t", i), "value": "v"})
	}
	return bigqueryengine.Row{
		"billing_account_id": "01-AB", "service": keyed{"id": "S", "description": "Compute Engine"},
		"sku":              keyed{"id": "E2", "description": pick[any](r, nil, "E2 Core", "Spot Preemptible E2 Core")},
		"usage_start_time": day + pick(r, "T00:00:00Z", "T12:30:00Z", "T23:59:59.999999Z"),
		"usage_end_time":   day + "T23:59:59.999999Z", "export_time": day + "T23:59:59Z",
		"project":  pick[any](r, keyed{"id": "p-1", "name": "One"}, keyed{"id": nil, "name": nil}),
		"location": keyed{"location": "europe", "region": pick[any](r, nil, "europe-west1")},
		"resource": keyed{"name": "vm", "global_name": pick[any](r, nil, "//compute/vm")},
		"labels":   labels, "tags": tags, "credits": credits, "cost": amount(), "currency": "EUR",
		"currency_conversion_rate": pick[any](r, "0.92", "0.93"), "cost_at_list": pick[any](r, nil, amount()),
		"usage":     keyed{"amount_in_pricing_units": pick[any](r, nil, amount()), "pricing_unit": "hour"},
		"invoice":   keyed{"month": pick(r, "202603", "202604")},
		"cost_type": pick[any](r, nil, "regular", "regular", "tax", "adjustment", "rounding_error"),
		// nothing tells the seller of Google's own services in early rows
		"seller_name": pick[any](r, nil, "Acme"), "_PARTITIONTIME": pick[any](r, nil, day+"T00:00:00Z", "2026-04-02T00:00:00Z"),
	}
}

func TestBillQuery_OnAnEngineOfRandomRows(t *testing.T) {
	r, e := seed.Random(t), bigqueryengine.Start(t)
	var rows []bigqueryengine.Row
	for range 600 {
		rows = append(rows, randomRow(r))
	}
	sameLines(t, readQueried(t, engineTwin(e, detailed, exportSchema, rows)), readGoogle(t, asJSON(t, rows, nil)))
}

// randomBillingRow is a row of the twin.
func randomBillingRow(r *rand.Rand) gcptwin.BillingRow {
	day := fmt.Sprintf("2026-03-%02d", 1+r.IntN(3))
	row := usage(pick(r, "202602", "202603", "202604"), day, pick(r, "1.5", "0.1", "3e-10", "-2", "123456789.1"))
	row.Partition = pick(r, "", day, "2026-02-28", "2026-04-05")
	row.Exported = day + pick(r, "T01:02:03.000004Z", "T23:06:07.000000Z")
	row.CostType = pick(r, "regular", "regular", "tax", "adjustment", "rounding_error")
	row.Resource, row.SKU = pick(r, "", vm), pick(r, "E2", "Spot Preemptible E2")
	row.Labels = pick(r, `[]`, `[{"key":"team","value":"a"}]`, `[{"key":"team","value":"b"},{"key":"env","value":""}]`)
	if r.IntN(2) == 0 {
		row.Credits = map[string]string{"Sustained use": "-0.5", "Free tier": "-3e-10"}
	}
	return row
}

// asExported returns the row of the twin as a table has it.
func asExported(row gcptwin.BillingRow) bigqueryengine.Row {
	credits := []any{}
	for name, amount := range row.Credits {
		credits = append(credits, keyed{"name": name, "amount": amount})
	}
	out := bigqueryengine.Row{
		"billing_account_id": "01-AB", "project": keyed{"id": row.Project}, "service": keyed{"description": row.Service},
		"sku": keyed{"id": row.SKU, "description": row.SKU}, "location": keyed{"region": row.Region},
		"resource": keyed{"global_name": row.Resource}, "currency": row.Currency, "cost_type": row.CostType,
		"cost": row.Cost, "credits": credits, "labels": jsonOf(row.Labels), "invoice": keyed{"month": row.Month},
		"usage_start_time": row.Day + "T05:00:00Z", "export_time": row.Exported, "_PARTITIONTIME": nil,
	}
	if row.Partition != "" {
		out["_PARTITIONTIME"] = row.Partition + "T00:00:00Z"
	}
	return out
}

func jsonOf(text string) (value any) {
	_ = json.Unmarshal([]byte(text), &value) // a list of the lines above
	return value
}

// TestTwin_AnswersLikeAnEngine compares the answers of the twin, which parses no SQL, with those of an engine over the
// same rows: listed months with their fingerprints, and each line.
func TestTwin_AnswersLikeAnEngine(t *testing.T) {
	r, e := seed.Random(t), bigqueryengine.Start(t)
	for _, c := range []struct {
		table  string
		schema []bigqueryengine.Column
	}{
		{detailed, exportSchema},
		{detailed, without(exportSchema, "tags", "currency_conversion_rate", "cost_at_list", "seller_name")},
		{standard, without(exportSchema, "resource", "tags")},
	} {
		var rows []gcptwin.BillingRow
		var exported []bigqueryengine.Row
		for range 300 {
			row := randomBillingRow(r)
			rows, exported = append(rows, row), append(exported, asExported(row))
		}
		engine := engineTwin(e, c.table, c.schema, exported)
		twin := &gcptwin.Cloud{}
		twin.AddBillingTable(gcptwin.BillingTable{
			Project: gcptwin.Project, Dataset: "billing", Location: "EU", ID: c.table, Columns: columnNames(c.schema),
		})
		twin.AddBillingRows(c.table, rows...)
		answersAlike(t, twin, engine)
	}
}

// answersAlike compares what the product reads from both.
func answersAlike(t *testing.T, twin, engine *gcptwin.Cloud) {
	t.Helper()
	for m := range 3 {
		got, err := openBills(t, twin, cloud.BillSettings{}).Deliveries(t.Context(), month(2+m))
		want, wantErr := openBills(t, engine, cloud.BillSettings{}).Deliveries(t.Context(), month(2+m))
		if err != nil || wantErr != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("from %s the twin lists\n%+v, %v\nthe engine\n%+v, %v", month(2+m), got, err, want, wantErr)
		}
	}
	sameLines(t, readQueried(t, twin), readQueried(t, engine))
}
