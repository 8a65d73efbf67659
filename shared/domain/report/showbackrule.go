package report

import (
	"cmp"

	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// MaxShowbackShares is the most teams in a rule.
const MaxShowbackShares = 100

// Check returns fault.Invalid with field and value if the rule cannot be applied.
func (r ShowbackRule) Check() error {
	if len(r.Shares) == 0 || len(r.Shares) > MaxShowbackShares {
		return fault.New(fault.Invalid, "shares: %d teams, between 1 and %d are wanted", len(r.Shares),
			MaxShowbackShares)
	}
	if r.Method != Even && r.Method != Proportional && r.Method != Fixed {
		return fault.New(fault.Invalid, "split: %.64q is none of even, proportional, fixed", r.Method)
	}
	if !r.From.IsZero() && !r.To.IsZero() && !r.From.Before(r.To) {
		return fault.New(fault.Invalid, "validTo: %s is not after validFrom, %s", r.To.Format("2006-01-02"),
			r.From.Format("2006-01-02"))
	}
	return r.checkShares()
}

func (r ShowbackRule) checkShares() error {
	seen, sum, hundred := map[string]bool{}, money.Amount{}, money.FromInt(100)
	for _, s := range r.Shares {
		if s.TeamID == "" || seen[s.TeamID] {
			return fault.New(fault.Invalid, "shares: team %.64q is named twice, or not at all", s.TeamID)
		}
		seen[s.TeamID] = true
		if r.Method == Fixed && s.Percent.Sign() <= 0 {
			return fault.New(fault.Invalid, "shares: %s percent of team %.64q, more than 0 are wanted", s.Percent,
				s.TeamID)
		}
		sum = sum.Add(s.Percent)
	}
	if r.Method == Fixed && sum.Cmp(hundred) > 0 {
		return fault.New(fault.Invalid, "shares: the percents add up to %s, 100 at most are wanted", sum)
	}
	return nil
}

// inOrder compares rules by their order, then by ID.
func inOrder(a, b ShowbackRule) int {
	return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.ID, b.ID))
}
