package reports

import (
	"cmp"
	"slices"

	"lamplighter.dev/shared/foundation/money"
)

// cent is the unit that costs are shown in.
var cent = money.FromScaled(1, 2)

// roundedShare is the shared cost of a team in cents, with the bounds within which both parts of the team are rounded
// by less than a cent.
type roundedShare struct {
	exact, shown, least, most money.Amount
}

// roundShares rounds the shared costs of teams to cents. The rounded costs add up to the rounded sum of all shared
// costs, which is 0 when teams take over the costs of Unassigned. The parameter shown has the rounded cost of each
// team: its direct cost is shown minus its shared cost.
func roundShares(direct, shared, shown []money.Amount) []money.Amount {
	parts := make([]roundedShare, len(shared))
	missing := money.Sum(shared...).Round(2)
	for i := range parts {
		parts[i] = newRoundedShare(direct[i], shared[i], shown[i])
		missing = missing.Sub(parts[i].shown)
	}
	missing = moveCents(parts, missing, true)
	moveCents(parts, missing, false)
	out := make([]money.Amount, len(parts))
	for i := range parts {
		out[i] = parts[i].shown
	}
	return out
}

func newRoundedShare(direct, shared, shown money.Amount) roundedShare {
	p := roundedShare{
		exact: shared, shown: shared.Round(2),
		least: maxAmount(floorCent(shared), shown.Sub(ceilCent(direct))),
		most:  minAmount(ceilCent(shared), shown.Sub(floorCent(direct))),
	}
	if p.least.Cmp(p.most) <= 0 {
		p.shown = minAmount(maxAmount(p.shown, p.least), p.most)
	}
	return p
}

// moveCents adds missing to the shares, a cent for each, beginning with the shares that it brings nearest to their
// exact value. It returns the cents that it could not add. A team without a shared cost gets none. With within, no
// share leaves its bounds.
func moveCents(parts []roundedShare, missing money.Amount, within bool) money.Amount {
	step := cent
	if missing.Sign() < 0 {
		step = cent.Neg()
	}
	order := make([]int, 0, len(parts))
	for i := range parts {
		if !parts[i].exact.IsZero() {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(parts[a].lossOf(step).Cmp(parts[b].lossOf(step)), cmp.Compare(a, b))
	})
	for _, i := range order {
		moved := parts[i].shown.Add(step)
		if missing.IsZero() {
			break
		}
		if within && (moved.Cmp(parts[i].least) < 0 || moved.Cmp(parts[i].most) > 0) {
			continue
		}
		parts[i].shown, missing = moved, missing.Sub(step)
	}
	return missing
}

// lossOf returns how far the share is from its exact value after a step.
func (p *roundedShare) lossOf(step money.Amount) money.Amount {
	return p.shown.Add(step).Sub(p.exact).Abs()
}

func floorCent(a money.Amount) money.Amount {
	if r := a.Round(2); r.Cmp(a) <= 0 {
		return r
	}
	return a.Round(2).Sub(cent)
}

func ceilCent(a money.Amount) money.Amount { return floorCent(a.Neg()).Neg() }

func maxAmount(a, b money.Amount) money.Amount {
	if a.Cmp(b) < 0 {
		return b
	}
	return a
}

func minAmount(a, b money.Amount) money.Amount {
	if a.Cmp(b) > 0 {
		return b
	}
	return a
}
