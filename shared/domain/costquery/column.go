package costquery

import (
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/foundation/money"
)

// timeColumns are the columns of times that a question may name, with the form of their values.
var timeColumns = map[string]string{"BillingPeriodStart": "2006-01", "ChargePeriodStart": time.DateOnly}

// columns are the columns that a question may name, under their names in FOCUS 1.2.
var columns = slices.Sorted(slices.Values(append(bill.TextColumns(), "BillingPeriodStart", "ChargePeriodStart")))

// currency is always a column of the answer if a question sums money, because amounts of different currencies are
// never added.
const currency = "BillingCurrency"

const tagPrefix = bill.TagsColumn + "."

// Columns returns the columns that a question may name, sorted. Tags.<key> is permitted in addition.
func Columns() []string { return slices.Clone(columns) }

// isColumn reports whether a question may name the column.
func isColumn(name string) bool {
	_, tag := tagKey(name)
	return tag || slices.Contains(columns, name)
}

// tagKey returns the key of the column of a tag.
func tagKey(name string) (string, bool) {
	key, ok := strings.CutPrefix(name, tagPrefix)
	return key, ok && key != "" && len(key) <= maxValueSize && isText(key)
}

// count is the measure that is 1 for each line.
const count = "Count"

// Measures returns the columns that can be summed, sorted.
func Measures() []string {
	return []string{"BilledCost", count, "EffectiveCost", "ListCost", "PricingQuantity"}
}

// measure is a column that is summed.
type measure struct {
	name   string
	amount *bill.Column[money.Amount] // nil for a column that was not read, which is 0
	one    money.Amount
}

func (m *measure) use(b *bill.Block) {
	m.amount, m.one = b.Amounts[m.name], money.Amount{}
	if m.name == count {
		m.one = money.FromInt(1)
	}
}

func (m *measure) at(row int) *money.Amount {
	if m.amount == nil {
		return &m.one
	}
	return &m.amount.Words[m.amount.Numbers[row]]
}
