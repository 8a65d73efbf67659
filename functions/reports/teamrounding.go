package reports

import (
	"slices"

	"lamplighter.dev/shared/foundation/money"
)

// cent is the unit that costs are shown in.
var cent = money.FromScaled(1, 2)

// roundedTeam is the exact costs of a team and its costs in cents. Each of them, and the direct cost between them, is
// the whole cent below or above its exact amount.
type roundedTeam struct{ direct, shared, cost, share money.Amount }

// roundTeams rounds the costs of teams and their shared costs to cents. The costs add up to the rounded sum of all
// costs. The shared costs add up to the rounded sum of all shared costs, which is 0 when teams take over the costs of
// Unassigned. A team's direct cost is its cost minus its shared cost.
//
// It rounds by the largest remainder. Where the shares cannot add up then, it moves a cent of the costs from one team
// to another. Amounts whose rows and columns must add up can always be rounded to a whole cent next to each of them
// (Bacharach, Matrix rounding problems, Management Science 12, 1966), and with two columns one such move is enough for
// each missing cent: the path that changes the flow passes the sum of all costs once.
func roundTeams(direct, shared []money.Amount) (costs, shares []money.Amount) {
	sums := make([]money.Amount, len(direct))
	for i := range direct {
		sums[i] = direct[i].Add(shared[i])
	}
	costs, shares = cents(sums), make([]money.Amount, len(shared))
	teams := make([]roundedTeam, len(direct))
	missing := money.Sum(shared...).Round(2)
	for i := range teams {
		teams[i] = newRoundedTeam(direct[i], shared[i], costs[i])
		missing = missing.Sub(teams[i].share)
	}
	step := cent.MulInt(int64(missing.Sign()))
	missing = moveShares(teams, missing, step)
	for !missing.IsZero() && moveCost(teams, step) {
		missing = missing.Sub(step)
	}
	for i := range teams {
		costs[i], shares[i] = teams[i].cost, teams[i].share
	}
	return costs, shares
}

func newRoundedTeam(direct, shared, shown money.Amount) roundedTeam {
	least := maxAmount(floorCent(shared), shown.Sub(ceilCent(direct)))
	most := minAmount(ceilCent(shared), shown.Sub(floorCent(direct)))
	return roundedTeam{direct, shared, shown, minAmount(maxAmount(shared.Round(2), least), most)}
}

// moveShares adds missing to the shared costs, a cent for each team that has room, beginning with the teams that it
// brings nearest to their exact amount, and takes it from their direct costs. It returns the cents that remain.
func moveShares(teams []roundedTeam, missing, step money.Amount) money.Amount {
	order := make([]int, len(teams))
	loss := make([]money.Amount, len(teams))
	for i := range teams {
		order[i], loss[i] = i, teams[i].share.Add(step).Sub(teams[i].shared).Abs()
	}
	slices.SortStableFunc(order, func(a, b int) int { return loss[a].Cmp(loss[b]) })
	for _, i := range order {
		if missing.IsZero() {
			break
		}
		r := &teams[i]
		if share := r.share.Add(step); isNextTo(share, r.shared) && isNextTo(r.cost.Sub(share), r.direct) {
			r.share, missing = share, missing.Sub(step)
		}
	}
	return missing
}

// moveCost adds a cent to the cost and the shared cost of one team, and takes it from the cost and the direct cost of
// another. It returns false if no team has room for it.
func moveCost(teams []roundedTeam, step money.Amount) bool {
	to := nearest(teams, func(r *roundedTeam) (loss money.Amount, fits bool) {
		share, all := r.share.Add(step), r.cost.Add(step)
		return all.Sub(r.exact()).Abs(), isNextTo(share, r.shared) && isNextTo(all, r.exact())
	})
	from := nearest(teams, func(r *roundedTeam) (loss money.Amount, fits bool) {
		own, all := r.cost.Sub(r.share).Sub(step), r.cost.Sub(step)
		return all.Sub(r.exact()).Abs(), isNextTo(own, r.direct) && isNextTo(all, r.exact())
	})
	if to < 0 || from < 0 {
		return false
	}
	teams[to].cost, teams[to].share = teams[to].cost.Add(step), teams[to].share.Add(step)
	teams[from].cost = teams[from].cost.Sub(step)
	return true
}

// nearest returns the first team with the smallest loss of those that a change fits, or -1.
func nearest(teams []roundedTeam, change func(*roundedTeam) (loss money.Amount, fits bool)) int {
	best, least := -1, money.Amount{}
	for i := range teams {
		if loss, fits := change(&teams[i]); fits && (best < 0 || loss.Cmp(least) < 0) {
			best, least = i, loss
		}
	}
	return best
}

func (r *roundedTeam) exact() money.Amount { return r.direct.Add(r.shared) }

// isNextTo reports whether cents is the whole cent below or above an amount, or the amount itself.
func isNextTo(cents, exact money.Amount) bool {
	return cents == floorCent(exact) || cents == ceilCent(exact)
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
