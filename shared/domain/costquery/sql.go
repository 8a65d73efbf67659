package costquery

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"lamplighter.dev/shared/domain/cost"
)

// Table is the SQL table of line items. Its columns are those of the Parquet files, and two that identify the folder
// of a row: org, and period, which is cost.LineItems.Path.
const Table = "line_items"

// SQL returns the question as SQL for Athena, restricted to these periods of the organization. It selects Keys and
// then, for each measure, the sum of whole units and the sum of the rest, both as text, which must be added: DECIMAL
// has 38 digits, and an amount up to 76. (An amount that does not fit into its column is exact in x_ExactAmounts.) One
// row beyond the limit means that there are more rows.
// Every value is a quoted literal with its quotes doubled, so it remains text.
func (q *Query) SQL(org string, items []cost.LineItems) string {
	var selected, order []string
	for i, name := range q.keys() {
		selected, order = append(selected, textOf(name)), append(order, strconv.Itoa(i+1))
	}
	grouped := strings.Join(order, ", ")
	for _, name := range q.Measures {
		selected = append(selected, "CAST("+wholeOf(name)+" AS VARCHAR)", "CAST("+restOf(name)+" AS VARCHAR)")
	}
	return fmt.Sprintf("SELECT %s FROM %s WHERE %s GROUP BY %s ORDER BY %s, %s LIMIT %d", strings.Join(selected, ", "),
		Table,
		strings.Join(q.conditions(org, items), " AND "), grouped, q.firstOrder(), grouped, cmp.Or(q.Limit, MaxRows)+1)
}

func (q *Query) firstOrder() string {
	column, measure, descending := q.sorting()
	by := strconv.Itoa(column + 1)
	if column < 0 {
		by = orderOf(q.Measures[measure])
	}
	if descending {
		by += " DESC"
	}
	return by
}

func (q *Query) conditions(org string, items []cost.LineItems) []string {
	periods := make([]string, len(items))
	for i := range items {
		periods[i] = items[i].Path()
	}
	out := []string{"org = " + quote(org), "period IN (" + quoteAll(periods) + ")"}
	if !q.wholeMonths() {
		first := "CAST(date_trunc('month', BillingPeriodStart) AS DATE)"
		last := "CAST(date_trunc('month', BillingPeriodStart) + INTERVAL '1' MONTH - INTERVAL '1' DAY AS DATE)"
		out = append(out,
			fmt.Sprintf("least(greatest(CAST(ChargePeriodStart AS DATE), %s), %s) BETWEEN DATE %s AND DATE %s", first,
				last,
				quote(q.From.Format(time.DateOnly)), quote(q.To.AddDate(0, 0, -1).Format(time.DateOnly))))
	}
	for i := range items {
		if l := &items[i]; len(l.Left) > 0 {
			out = append(out, leftOut(l))
		}
	}
	for i := range q.Filters {
		out = append(out, q.Filters[i].sql())
	}
	return out
}

// leftOut returns the condition that a row is not excluded by cost.LineItems.Leaves.
func leftOut(l *cost.LineItems) string {
	return fmt.Sprintf("NOT (period = %s AND CASE WHEN COALESCE(SubAccountId, '') = '' THEN %s ELSE "+
		"lower(regexp_extract(SubAccountId, '[^/]*$')) END IN (%s))",
		quote(l.Path()), quote(l.Unnamed), quoteAll(l.Left))
}

func (f *Filter) sql() string {
	column := textOf(f.Column)
	switch f.Operator {
	case Is:
		return column + " IN (" + quoteAll(f.Values) + ")"
	case IsNot:
		return column + " NOT IN (" + quoteAll(f.Values) + ")"
	case IsEmpty:
		return column + " = ''"
	case IsPresent:
		return column + " <> ''"
	case StartsWith:
		return eachOr(f.Values, "starts_with("+column+", ", ")")
	case Contains:
		return eachOr(f.Values, "strpos("+column+", ", ") > 0")
	}
	return "FALSE" // Check knows no other
}

// eachOr returns the condition that holds for any of the values. before and after enclose each literal.
func eachOr(values []string, before, after string) string {
	each := make([]string, len(values))
	for i, v := range values {
		each[i] = before + quote(v) + after
	}
	return "(" + strings.Join(each, " OR ") + ")"
}

// textOf returns the expression of a column as text, empty if it has no value.
func textOf(name string) string {
	if key, ok := strings.CutPrefix(name, tagPrefix); ok {
		return "COALESCE(element_at(Tags, " + quote(key) + "), '')"
	}
	switch name {
	case "ChargePeriodStart":
		return "CAST(CAST(ChargePeriodStart AS DATE) AS VARCHAR)"
	case "BillingPeriodStart":
		return "substr(CAST(CAST(BillingPeriodStart AS DATE) AS VARCHAR), 1, 7)"
	}
	return "COALESCE(" + name + ", '')"
}

// exactly are the positions of measures in x_ExactAmounts, from 1.
var exactly = map[string]int{"BilledCost": 1, "EffectiveCost": 2, "ListCost": 3, "PricingQuantity": 5}

// wholeOf returns the sum of a measure in whole units. The rest of each amount is in restOf.
func wholeOf(measure string) string {
	n := exactly[measure]
	if n == 0 {
		return "COUNT(*)"
	}
	return fmt.Sprintf("SUM(CASE WHEN x_ExactAmounts <> '' THEN CAST(split_part(split_part(x_ExactAmounts, ' ', %d), "+
		"'.', 1) AS DECIMAL(38, 0)) ELSE CAST(%s - %s AS DECIMAL(38, 0)) END)", n, measure, fraction(measure))
}

// restOf returns the sum of the fractions of a measure: each amount without its whole units (wholeOf).
func restOf(measure string) string {
	n := exactly[measure]
	if n == 0 {
		return "0"
	}
	text := fmt.Sprintf("split_part(x_ExactAmounts, ' ', %d)", n)
	places := "COALESCE(NULLIF(split_part(" + text + ", '.', 2), ''), '0')"
	return "SUM(CASE WHEN x_ExactAmounts <> '' THEN CAST(concat(CASE WHEN starts_with(" + text +
		", '-') THEN '-0.' ELSE '0.' END, " + places + ") AS DECIMAL(38, 30)) " +
		"ELSE CAST(" + fraction(measure) + " AS DECIMAL(38, 30)) END)"
}

// fraction returns the value of a column without its whole units, with the sign of the value. The nearest whole unit in
// its place could have a digit more than the column holds: that of 999999999999.9 does.
func fraction(measure string) string { return "(" + measure + " % 1)" }

// orderOf returns the sum of a measure to 16 places, by which groups are ordered.
func orderOf(measure string) string {
	if exactly[measure] == 0 {
		return wholeOf(measure)
	}
	return "CAST(" + wholeOf(measure) + " AS DECIMAL(38, 16)) + CAST(" + restOf(measure) + " AS DECIMAL(38, 16))"
}

func quoteAll(all []string) string {
	quoted := make([]string, len(all))
	for i, s := range all {
		quoted[i] = quote(s)
	}
	return strings.Join(quoted, ", ")
}

// quote returns a text as a literal. In the SQL of Athena only a quote ends a literal, and only another quote escapes
// it.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
