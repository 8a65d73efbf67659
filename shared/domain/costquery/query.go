// Package costquery defines free questions about line items: their filters, the FOCUS columns to group by, and the
// sums. The grammar is fixed, so that a question can be checked, priced and limited before any data is read.
package costquery

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"lamplighter.dev/shared/foundation/fault"
)

// The limits of a question.
const (
	MaxGroups    = 8       // columns to group by
	MaxFilters   = 20      // conditions
	MaxValues    = 100     // values of a condition
	MaxRows      = 10_000  // rows of an answer
	MaxDistinct  = 200_000 // groups in memory during the answer
	MaxMonths    = 36      // from its first day to its last
	maxValueSize = 1024
	maxText      = 64 << 10 // bytes of all values: Athena takes a query of 256 KB
)

// Query asks for the sums of the line items between From and To that match all Filters, for each combination of
// GroupBy. A line item counts on the same day as in reports: a charge for a time outside of the billed month counts on
// the first or last day of the month.
type Query struct {
	From time.Time `json:"from"` // a day
	To   time.Time `json:"to"`   // a day, exclusive
	// columns: "ServiceName", "Tags.team", "ChargePeriodStart" (days), "BillingPeriodStart" (months)
	GroupBy []string `json:"groupBy,omitempty"`
	// "BilledCost", "EffectiveCost", "ListCost", "PricingQuantity", "Count"
	Measures []string `json:"measures,omitempty"`
	Filters  []Filter `json:"filters,omitempty"`
	// a column or a measure of the question; with the prefix "-", descending. Empty: the first measure, descending
	OrderBy string `json:"orderBy,omitempty"`
	Limit   int    `json:"limit,omitempty"` // rows; 0 means MaxRows
}

// Operator compares a column with values.
type Operator string

// The operators. Comparisons of text are case-sensitive.
const (
	Is         Operator = "is"          // any of the values
	IsNot      Operator = "is_not"      // none of the values
	StartsWith Operator = "starts_with" // any of the values
	Contains   Operator = "contains"    // any of the values
	IsEmpty    Operator = "is_empty"    // takes no values
	IsPresent  Operator = "is_present"  // takes no values
)

// Filter is a condition on a column.
type Filter struct {
	Column   string   `json:"column"`
	Operator Operator `json:"operator"`
	Values   []string `json:"values,omitempty"`
}

// Check returns fault.Invalid for an invalid question, with the field and its value.
func (q *Query) Check() error {
	if !q.From.Before(q.To) {
		return fault.New(fault.Invalid, "to: %s is not after from, %s", q.To.Format(time.DateOnly),
			q.From.Format(time.DateOnly))
	}
	if q.To.After(q.From.AddDate(0, MaxMonths, 0)) {
		return fault.New(fault.Invalid, "to: %s is more than %d months after from, %s", q.To.Format(time.DateOnly),
			MaxMonths, q.From.Format(time.DateOnly))
	}
	if q.Limit < 0 || q.Limit > MaxRows {
		return fault.New(fault.Invalid, "limit: %d, between 1 and %d are wanted", q.Limit, MaxRows)
	}
	for _, check := range []func() error{q.checkColumns, q.checkMeasures, q.checkFilters, q.checkOrder} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (q *Query) checkColumns() error {
	if len(q.GroupBy) > MaxGroups {
		return fault.New(fault.Invalid, "groupBy: %d columns, %d at most", len(q.GroupBy), MaxGroups)
	}
	for i, name := range q.GroupBy {
		if err := checkColumn("groupBy", name); err != nil {
			return err
		}
		if slices.Contains(q.GroupBy[:i], name) {
			return fault.New(fault.Invalid, "groupBy: %q stands there twice", name)
		}
	}
	return nil
}

func (q *Query) checkMeasures() error {
	if len(q.Measures) == 0 {
		return fault.New(fault.Invalid, "measures: name at least one of %s", strings.Join(Measures(), ", "))
	}
	for i, name := range q.Measures {
		if !slices.Contains(Measures(), name) {
			return fault.New(fault.Invalid, "measures: %.64q is none of %s", name, strings.Join(Measures(), ", "))
		}
		if slices.Contains(q.Measures[:i], name) {
			return fault.New(fault.Invalid, "measures: %q stands there twice", name)
		}
	}
	return nil
}

func (q *Query) checkFilters() error {
	if len(q.Filters) > MaxFilters {
		return fault.New(fault.Invalid, "filters: %d, %d at most", len(q.Filters), MaxFilters)
	}
	size := 0
	for _, f := range q.Filters {
		if err := f.check(); err != nil {
			return err
		}
		for _, v := range f.Values {
			size += len(v)
		}
	}
	if size > maxText {
		return fault.New(fault.Invalid, "filters: their values have %d bytes together, %d at most", size, maxText)
	}
	return nil
}

func (f *Filter) check() error {
	if err := checkColumn("filters", f.Column); err != nil {
		return err
	}
	switch f.Operator {
	case IsEmpty, IsPresent:
		if len(f.Values) > 0 {
			return fault.New(fault.Invalid, "filters: %s of %s takes no values", f.Operator, f.Column)
		}
	case Is, IsNot, StartsWith, Contains:
		if len(f.Values) == 0 || len(f.Values) > MaxValues {
			return fault.New(fault.Invalid, "filters: %s of %s has %d values, between 1 and %d are wanted", f.Operator,
				f.Column, len(f.Values), MaxValues)
		}
	default:
		return fault.New(fault.Invalid,
			"filters: %.64q is none of is, is_not, starts_with, contains, is_empty, is_present", f.Operator)
	}
	for _, v := range f.Values {
		if err := f.checkValue(v); err != nil {
			return err
		}
	}
	return nil
}

func (f *Filter) checkValue(v string) error {
	switch {
	case len(v) > maxValueSize:
		return fault.New(fault.Invalid, "filters: a value of %s has %d bytes, %d at most", f.Column, len(v),
			maxValueSize)
	case !isText(v):
		return fault.New(fault.Invalid, "filters: the value %.64q of %s is no text", v, f.Column)
	case v == "" && (f.Operator == StartsWith || f.Operator == Contains):
		return fault.New(fault.Invalid,
			"filters: %s of %s has an empty value, which every text meets; is_empty asks for none", f.Operator,
			f.Column)
	}
	return nil
}

// isText reports whether every engine reads s unchanged.
func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

func (q *Query) checkOrder() error {
	name, _ := strings.CutPrefix(q.OrderBy, "-")
	if name == "" || slices.Contains(q.GroupBy, name) || slices.Contains(q.Measures, name) {
		return nil
	}
	return fault.New(fault.Invalid, "orderBy: %.64q is no column and no measure of the question", q.OrderBy)
}

func checkColumn(field, name string) error {
	if isColumn(name) {
		return nil
	}
	return fault.New(fault.Invalid, "%s: %.64q is none of %s, Tags.<key>", field, name, strings.Join(Columns(), ", "))
}
