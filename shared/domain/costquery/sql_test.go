package costquery_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/costquery"
	"lamplighter.dev/shared/testkit/chargeblocks"
)

var update = flag.Bool("update", false, "write the golden file anew")

var items = []cost.LineItems{
	{
		Provider: "aws", AccountID: "ca_1", Month: cost.MonthOf(on(1)), Generation: "01k1", Footers: 100,
		Columns: map[string]int64{
			"BilledCost": 2000, "BillingCurrency": 10, "Tags": 700, "ServiceName": 50,
			"x_ExactAmounts": 5, "BillingPeriodStart": 3, "ChargePeriodStart": 4,
		},
	},
	{
		Provider: "other", AccountID: "other:v", Month: cost.MonthOf(on(1)), Generation: "01k2", Footers: 10,
		Columns: map[string]int64{"BilledCost": 1},
	},
}

func TestSQL_NamesTheOrganizationAndItsFolders(t *testing.T) {
	q := costquery.Query{
		From: on(2), To: on(9), GroupBy: []string{"ServiceName", "Tags.it's", "BillingPeriodStart"},
		Measures: []string{"BilledCost", "Count"}, OrderBy: "Tags.it's", Limit: 5,
	}
	for _, o := range []costquery.Operator{costquery.Is, costquery.IsNot, costquery.StartsWith, costquery.Contains} {
		q.Filters = append(q.Filters, costquery.Filter{Column: "RegionId", Operator: o, Values: []string{"eu'", "us"}})
	}
	q.Filters = append(q.Filters, costquery.Filter{Column: "Tags.a", Operator: costquery.IsEmpty},
		costquery.Filter{Column: "SkuId", Operator: costquery.IsPresent})
	if err := q.Check(); err != nil {
		t.Fatal(err)
	}
	got := strings.NewReplacer(" FROM ", "\nFROM ", " WHERE ", "\nWHERE ", " AND ", "\nAND ", " GROUP ",
		"\nGROUP ").Replace(q.SQL("org_1", items)) + "\n"
	const golden = "testdata/query.sql"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || got != string(want) {
		t.Errorf("%v: got\n%s", err, got)
	}
}

// TestSQL_NoValueBreaksOut removes the literals from SQL like Athena. The rest must be the same for all values.
func TestSQL_NoValueBreaksOut(t *testing.T) {
	ask := func(text string) string {
		q := costquery.Query{
			From: on(1), To: on(32), Measures: []string{"Count"}, GroupBy: []string{"Tags." + text},
			OrderBy: "Tags." + text,
		}
		for _, o := range []costquery.Operator{
			costquery.Is, costquery.IsNot, costquery.StartsWith,
			costquery.Contains,
		} {
			q.Filters = append(q.Filters, costquery.Filter{Column: "Tags." + text, Operator: o, Values: []string{text}})
		}
		if err := q.Check(); err != nil {
			t.Fatal(err)
		}
		return withoutLiterals(t, q.SQL("org_1", items))
	}
	want := ask("plain")
	for _, text := range []string{
		"'", "''", "'''", `\'`, `\`, "' OR 1=1 --", "'; DROP TABLE line_items; --", "a\nb",
		"/*", "\"", "`", "?", "') UNION SELECT * FROM line_items --", "\u2019", "ʼ",
	} {
		if got := ask(text); got != want {
			t.Errorf("%q breaks out: %s", text, got)
		}
	}
	for _, text := range []string{"\x00", "a\xffb"} {
		q := month(costquery.Query{Filters: []costquery.Filter{{"RegionId", costquery.Is, []string{text}}}})
		if q.Check() == nil {
			t.Errorf("%q is a text", text)
		}
	}
}

func withoutLiterals(t *testing.T, sql string) string {
	t.Helper()
	var b strings.Builder
	inside := false
	for _, c := range strings.ReplaceAll(sql, "''", "") {
		if c == '\'' {
			inside = !inside
		} else if !inside {
			b.WriteRune(c)
		}
	}
	if inside {
		t.Fatalf("a literal does not end: %s", sql)
	}
	return b.String()
}

func TestScan_CountsTheColumnsThatAreRead(t *testing.T) {
	for name, c := range map[string]struct {
		query costquery.Query
		want  int64
	}{
		"all of a month": {
			costquery.Query{From: on(1), To: on(32), Measures: []string{"BilledCost"}},
			110 + 2000 + 10 + 5 + 1,
		},
		"days of it": {
			costquery.Query{From: on(2), To: on(32), Measures: []string{"BilledCost"}},
			110 + 2000 + 10 + 5 + 1 + 7,
		},
		"a filter by tag": {costquery.Query{
			From: on(1), To: on(32), Measures: []string{"Count"},
			Filters: []costquery.Filter{{"Tags.x", costquery.IsEmpty, nil}},
		}, 110 + 10 + 700},
		"a column and a tag": {costquery.Query{
			From: on(1), To: on(32), Measures: []string{"Count"},
			GroupBy: []string{"ServiceName", "Tags.x", "Tags.y"},
		}, 110 + 10 + 700 + 50},
	} {
		if got := c.query.Scan(items); got != c.want {
			t.Errorf("%s: %d bytes, want %d", name, got, c.want)
		}
	}
}

func TestCheckScan_RefusesWhatReadsTooMuch(t *testing.T) {
	q := month(costquery.Query{})
	large := []cost.LineItems{{Columns: map[string]int64{"BilledCost": costquery.MaxScanned + 1}}}
	if err := q.CheckScan(large); err == nil || !strings.Contains(err.Error(), "53687091201 bytes") ||
		!strings.Contains(err.Error(), "53687091200 at most") {
		t.Error(err)
	}
	if err := q.CheckScan(make([]cost.LineItems, 1001)); err == nil || !strings.Contains(err.Error(), "1001") {
		t.Error(err)
	}
	if err := q.CheckScan(items); err != nil {
		t.Error(err)
	}
}

func TestPrice_IsWhatAthenaTakes(t *testing.T) {
	for scanned, want := range map[int64]string{
		0: "0.000000", 1: "0.000050", 10_000_000: "0.000050",
		10_000_001: "0.000055", 1_000_000_000_000: "5.000000",
	} {
		if got := costquery.Price(scanned).Fixed(6); got != want {
			t.Errorf("%d bytes cost %s, want %s", scanned, got, want)
		}
	}
}

func TestRun_CountsOnTheDayOfReports(t *testing.T) {
	early, late := lines[0], lines[0]
	early.ChargePeriodStart, late.ChargePeriodStart = on(-40), on(60)
	first := costquery.Query{From: on(1), To: on(2), Measures: []string{"Count"}}
	got, err := costquery.Run(t.Context(), first, chargeblocks.FromCharges(early, late))
	if err != nil || len(got.Rows) != 1 || got.Rows[0].Amounts[0].String() != "1" {
		t.Errorf("on the first day: %+v, %v", got, err)
	}
	got, err = costquery.Run(t.Context(), costquery.Query{From: on(31), To: on(32), Measures: []string{"Count"}},
		chargeblocks.FromCharges(early, late))
	if err != nil || len(got.Rows) != 1 || got.Rows[0].Amounts[0].String() != "1" {
		t.Errorf("on the last day: %+v, %v", got, err)
	}
}
