package report

import (
	"maps"
	"slices"
	"time"

	"lamplighter.dev/shared/foundation/money"
)

// ShowbackMethod is how a rule splits a cost.
type ShowbackMethod string

// The methods.
const (
	Even ShowbackMethod = "even" // the same for each team
	// Proportional splits by the direct cost of each team, and evenly while no team has a direct cost.
	Proportional ShowbackMethod = "proportional"
	Fixed        ShowbackMethod = "fixed" // by percent; a remainder to 100 % stays unassigned
)

// ShowbackShare is the part of a team in a rule. Percent applies only to Fixed: more than 0, up to 100.
type ShowbackShare struct {
	TeamID  string       `json:"teamID"`
	Percent money.Amount `json:"percent"`
}

// ShowbackRule determines which costs are shared, and between which teams.
type ShowbackRule struct {
	ID    string
	Order int // rules apply from the lowest; ties by ID
	// dimension → any of these values; all dimensions must match. An empty selector matches every cost
	Selector map[string][]string
	Method   ShowbackMethod
	Shares   []ShowbackShare
	From, To time.Time // the days on which the rule applies, To exclusive; zero means no limit
}

// SharedCost is a part of the unowned cost of a day: its value in each dimension of the rules, and its amount.
type SharedCost struct {
	Day    time.Time
	Values map[string]string
	Amount money.Amount
}

// ShowbackResult is the split of a day's costs.
type ShowbackResult struct {
	Teams      map[string]money.Amount // the amount that each team received in addition to its direct cost
	Unassigned money.Amount
	FellBack   []string // IDs of proportional rules that split evenly, because no team has a direct cost
}

// ShowbackDimensions returns the dimensions of the rules' selectors, sorted and without duplicates.
func ShowbackDimensions(rules []ShowbackRule) []string {
	seen := map[string]bool{}
	for _, r := range rules {
		for dim := range r.Selector {
			seen[dim] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// ApplyShowback splits the costs of one day. direct is the direct cost of each team on that day. Teams and Unassigned
// of the result always add up to the costs, exactly to the last digit.
func ApplyShowback(rules []ShowbackRule, costs []SharedCost, direct map[string]money.Amount) ShowbackResult {
	ordered := slices.Clone(rules)
	slices.SortFunc(ordered, inOrder)
	taken := make([]money.Amount, len(ordered)) // a rule splits the sum of its matching costs once
	out := ShowbackResult{Teams: map[string]money.Amount{}}
	for _, c := range costs {
		if i := slices.IndexFunc(ordered, func(r ShowbackRule) bool { return r.takes(c) }); i >= 0 {
			taken[i] = taken[i].Add(c.Amount)
		} else {
			out.Unassigned = out.Unassigned.Add(c.Amount)
		}
	}
	for i, r := range ordered {
		if !taken[i].IsZero() {
			out.add(r, taken[i], direct)
		}
	}
	return out
}

func (out *ShowbackResult) add(r ShowbackRule, amount money.Amount, direct map[string]money.Amount) {
	weights, rest, fellBack := r.weights(direct)
	if fellBack {
		out.FellBack = append(out.FellBack, r.ID)
	}
	parts := amount.SplitByWeight(append(weights, rest), money.Scale)
	for i, s := range r.Shares {
		out.Teams[s.TeamID] = out.Teams[s.TeamID].Add(parts[i])
	}
	out.Unassigned = out.Unassigned.Add(parts[len(r.Shares)])
}

// weights returns the weight of each share, and the weight of the part that stays unassigned.
func (r ShowbackRule) weights(direct map[string]money.Amount) (weights []money.Amount, rest money.Amount,
	fellBack bool,
) {
	weights = make([]money.Amount, len(r.Shares))
	for i, s := range r.Shares {
		switch r.Method {
		case Fixed:
			weights[i] = s.Percent
		case Proportional:
			weights[i] = positive(direct[s.TeamID])
		case Even:
			weights[i] = money.FromInt(1)
		}
	}
	sum := money.Sum(weights...)
	if r.Method == Fixed || len(weights) == 0 {
		return weights, positive(money.FromInt(100).Sub(sum)), false
	}
	if sum.IsZero() {
		for i := range weights {
			weights[i] = money.FromInt(1)
		}
		return weights, rest, true
	}
	return weights, rest, false
}

// positive returns a, or 0 if credits have made it negative, because no team takes a negative share.
func positive(a money.Amount) money.Amount {
	if a.Sign() < 0 {
		return money.Amount{}
	}
	return a
}

func (r ShowbackRule) takes(c SharedCost) bool {
	if !r.From.IsZero() && c.Day.Before(r.From) || !r.To.IsZero() && !c.Day.Before(r.To) {
		return false
	}
	for dim, values := range r.Selector {
		if !slices.Contains(values, c.Values[dim]) {
			return false
		}
	}
	return true
}
