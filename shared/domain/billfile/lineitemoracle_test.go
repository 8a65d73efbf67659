package billfile_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/billfile"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/costquery"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/npmpeer"
	"lamplighter.dev/shared/testkit/seed"
)

// duckDB executes the statements of its input, and prints the rows of each as JSON.
const duckDB = `
import { readFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';
const db = await (await DuckDBInstance.create(':memory:')).connect();
const text = (v) => v === null ? '' : String(v);
const answers = [];
for (const sql of JSON.parse(readFileSync(0, 'utf8'))) {
  try {
    answers.push((await db.runAndReadAll(sql)).getRowsJson().map((row) => row.map(text)));
  } catch (e) {
    throw new Error(e.message + '\\n' + sql);
  }
}
console.log(JSON.stringify(answers));`

// duckdb runs queries with DuckDB, which is installed in a folder, over the line items, and returns the rows of each.
func (k *kept) duckdb(installed string, queries []string) [][][]string {
	k.Helper()
	view := fmt.Sprintf(`CREATE VIEW line_items AS SELECT *, split_part(file, '/', 1) AS org, `+
		`regexp_extract(file, '^[^/]*/(.*)/[^/]*$', 1) AS period
		FROM (SELECT *, substr(filename, %d) AS file FROM read_parquet('%s/**/*.parquet', filename = true))`,
		len(k.dir)+2, k.dir)
	statements := []string{"SET TimeZone = 'UTC'", view}
	for _, sql := range queries {
		// Athena and DuckDB have different names for the function that returns the value of a key.
		statements = append(statements, strings.ReplaceAll(sql, "element_at(", "map_extract_value("))
	}
	cmd := exec.CommandContext(k.Context(), "node", "--no-warnings", "--input-type=module", "-e", duckDB)
	cmd.Dir = installed
	cmd.Stdin = bytes.NewReader(apitest.Value(json.Marshal(statements))(k))
	out, err := cmd.Output()
	if failed, ok := err.(*exec.ExitError); ok { //nolint:errorlint // of the line above
		k.Fatalf("%s", failed.Stderr)
	}
	k.Must(err)
	var rows [][][]string
	k.Must(json.Unmarshal(out, &rows))
	return rows[2:]
}

// TestSQL_MeansWhatTheEngineAnswers runs the SQL for Athena on DuckDB, over the same files that the engine of this
// process reads. It includes hostile values.
func TestSQL_MeansWhatTheEngineAnswers(t *testing.T) {
	installed := npmpeer.InstallNode(t, "duckdb", "@duckdb/node-api@1.5.6-r.1")
	k, r := newKept(t), seed.Fixed(t, 11, 12)
	var items []cost.LineItems
	for _, account := range []string{"ca_1", "other:v"} {
		var charges []bill.Charge
		for range 500 {
			charges = append(charges, random(r))
		}
		items = append(items, k.bring(account, importedMonth, all(charges)))
	}
	other := k.bring("ca_9", importedMonth, all([]bill.Charge{random(r)}))
	queries, sqls := make([]costquery.Query, 40), make([]string, 40)
	for i := range queries {
		queries[i] = randomQuery(r)
		k.Must(queries[i].Check())
		sqls[i] = queries[i].SQL(apitest.Org, items)
	}
	of := costquery.Query{From: importedMonth.Start(), To: importedMonth.End(), Measures: []string{"Count"}}
	answers := k.duckdb(installed, append(sqls, of.SQL("org_none", append(items, other))))
	for i := range queries {
		q := &queries[i]
		step, err := billfile.NewLineItemEngine(k.files, k.Clock).Advance(k.Context(),
			&costquery.Job{Org: apitest.Org, Query: *q, Items: items})
		k.Must(err)
		got := answerOf(k, q, answers[i])
		if want := rowsOf(step.Answer); texts(got) != texts(want) {
			t.Fatalf("%s\nDuckDB:\n%.1500s\nthe engine:\n%.1500s", sqls[i], texts(got), texts(want))
		}
	}
	if got := answers[len(queries)]; len(got) != 0 {
		t.Errorf("another organization is answered %q", got)
	}
}

func randomQuery(r *rand.Rand) costquery.Query {
	from := importedMonth.Start().AddDate(0, 0, r.IntN(28))
	q := costquery.Query{From: from, To: from.AddDate(0, 0, 1+r.IntN(28)), Limit: r.IntN(30)}
	if r.IntN(3) == 0 {
		q.From, q.To = importedMonth.Start(), importedMonth.End()
	}
	groups := []string{"RegionId", "Tags.it's", "ResourceName", "ChargePeriodStart", "BillingPeriodStart", "ResourceId"}
	r.Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
	measures := []string{"BilledCost", "EffectiveCost", "ListCost", "PricingQuantity", "Count"}
	r.Shuffle(len(measures), func(i, j int) { measures[i], measures[j] = measures[j], measures[i] })
	q.GroupBy, q.Measures = groups[:r.IntN(4)], measures[:1+r.IntN(4)]
	if len(q.GroupBy) > 0 && r.IntN(2) == 0 {
		q.OrderBy = []string{"", "-"}[r.IntN(2)] + q.GroupBy[0]
	}
	for range r.IntN(3) {
		q.Filters = append(q.Filters, costquery.Filter{
			Column: []string{"ResourceName", "Tags.it's", "RegionId"}[r.IntN(3)],
			Operator: []costquery.Operator{
				costquery.Is, costquery.IsNot, costquery.StartsWith,
				costquery.Contains,
			}[r.IntN(4)],
			Values: []string{hostile[r.IntN(len(hostile))], hostile[r.IntN(len(hostile))], "eu-"},
		})
	}
	return q
}

// answerOf returns the answer that consists of rows of SQL.
func answerOf(k *kept, q *costquery.Query, rows [][]string) [][]string {
	k.Helper()
	var all []costquery.Row
	for _, texts := range rows {
		n := len(texts) - 2*len(q.Measures)
		r := costquery.Row{Keys: texts[:n]}
		for i := n; i < len(texts); i += 2 {
			r.Amounts = append(r.Amounts, money.Sum(money.MustParse(texts[i]), money.MustParse(texts[i+1])))
		}
		all = append(all, r)
	}
	a := costquery.NewAnswer(*q, all)
	return rowsOf(&a)
}

func rowsOf(a *costquery.Answer) [][]string {
	var out [][]string
	for _, r := range a.Rows {
		row := slices.Clone(r.Keys)
		for _, amount := range r.Amounts {
			row = append(row, amount.String())
		}
		out = append(out, row)
	}
	return out
}
