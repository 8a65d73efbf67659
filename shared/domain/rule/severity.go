package rule

import (
	"slices"

	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// Severity tells how urgent a recommendation is. A greater value is more urgent.
type Severity uint8

// The severities.
const (
	Info Severity = iota
	LowSeverity
	MediumSeverity
	HighSeverity
	Critical
)

var severities = []string{"info", "low", "medium", "high", "critical"}

// String returns info, low, medium, high or critical.
func (s Severity) String() string { return severities[min(int(s), len(severities)-1)] }

// ParseSeverity reads info, low, medium, high or critical. The kind of an error is Invalid.
func ParseSeverity(text string) (Severity, error) {
	i := slices.Index(severities, text)
	if i < 0 {
		return 0, fault.New(fault.Invalid, "severity is %q: give info, low, medium, high or critical",
			fault.CleanText(text, 40))
	}
	return Severity(i), nil
}

// amountSeverities are the greatest severities of rows that save less than an amount of USD a month.
var amountSeverities = []struct {
	below int64
	most  Severity
}{{1, Info}, {10, LowSeverity}, {100, MediumSeverity}}

// SeverityAt returns the severity of a row that saves a net amount of USD a month. A row about money is less severe
// the less it saves: below $1 it is info, below $10 low at most, below $100 medium at most. Other rows, and rows of
// rules without savings, have the severity that is given.
func (r *Rule) SeverityAt(given Severity, monthly money.Amount) Severity {
	if !r.Category.IsCost() || r.Savings.Form == SavesNothing {
		return given
	}
	return LowerSeverity(given, monthly)
}

// LowerSeverity returns the severity of a row about money: below $1 a month it is info, below $10 low at most, below
// $100 medium at most.
func LowerSeverity(given Severity, monthly money.Amount) Severity {
	for _, limit := range amountSeverities {
		if monthly.Cmp(money.FromInt(limit.below)) < 0 {
			return min(given, limit.most)
		}
	}
	return given
}
