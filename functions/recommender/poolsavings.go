package recommender

import (
	"slices"
	"strings"

	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/foundation/money"
)

// usdPlaces is the number of decimal places of the amounts of a saving.
const usdPlaces = 4

// poolSaving is what a recommendation saves at the nodes of a pool in a month. Gross is the share of the pool's cost
// that the freed requests hold. Claims are the part that the bill falls by, at the machines that can be removed.
type poolSaving struct {
	gross          money.Amount
	claims         []recommendation.Claim
	basis, version string
}

// poolPlan is what happens to a pool if recommendations are carried out.
type poolPlan struct {
	freed   map[string]room // by id of the recommendation, on all nodes
	removed []poolNode      // because of the recommendations
	left    *nodePool       // the nodes that stay, with all pods
}

// plan lowers requests of a pool. First it removes the nodes that can go without any recommendation: they are no saving
// of lower requests. Then it lowers the requests, and removes further nodes.
func (p *nodePool) plan(cuts map[string][]requestCut) poolPlan {
	out := poolPlan{freed: p.clone().apply(cuts), left: p.clone()}
	out.left.removeNodes()
	out.left.apply(cuts)
	out.removed = out.left.removeNodes()
	return out
}

// savings returns what each recommendation saves at the pool, by id, if all of them are carried out: its share, by what
// it frees, of the cost of the nodes that can be removed. Freed requests that are worth less than these nodes save only
// their worth.
func (p *nodePool) savings(cuts map[string][]requestCut) map[string]poolSaving {
	size, cost := p.totals()
	plan := p.plan(cuts)
	shares := newCutShares(plan.freed, size)
	worth := cost.Mul(amountOfShare(min(shares.larger, 1)))
	gross, saved := shares.split(worth), machinesOf(plan.removed)
	net := shares.split(smallerAmount(worth, saved.cost()))
	out := map[string]poolSaving{}
	for i, recID := range shares.ids {
		out[recID] = poolSaving{
			gross: gross[i], claims: saved.take(net[i]), basis: p.basis(), version: p.nodes[0].machine.version,
		}
	}
	return out
}

// basis returns recommendation.Billed if the cost of each node is from the bill.
func (p *nodePool) basis() string {
	if slices.ContainsFunc(p.nodes, func(n poolNode) bool { return n.machine.basis != recommendation.Billed }) {
		return recommendation.Estimated
	}
	return recommendation.Billed
}

// cutShares are the shares of a pool that recommendations free, in the order of their ids.
type cutShares struct {
	ids    []string
	shares []float64
	larger float64 // of the sum of freed cores and the sum of freed memory
}

func newCutShares(freed map[string]room, size room) (out cutShares) {
	var sum room
	for recID := range freed {
		out.ids = append(out.ids, recID)
	}
	slices.Sort(out.ids)
	for _, recID := range out.ids {
		f := freed[recID]
		sum = sum.plus(f)
		out.shares = append(out.shares, shareOf(f.milli, size.milli)+shareOf(f.mib, size.mib))
	}
	out.larger = max(shareOf(sum.milli, size.milli), shareOf(sum.mib, size.mib))
	return out
}

// split splits an amount by the shares, rounded down.
func (c *cutShares) split(a money.Amount) []money.Amount {
	all := 0.0
	for _, share := range c.shares {
		all += share
	}
	out := make([]money.Amount, len(c.shares))
	for i, share := range c.shares {
		if all > 0 {
			out[i] = roundDown(a.Mul(amountOfShare(share / all)))
		}
	}
	return out
}

// shareDigits is the precision of shares: they are rounded down, so that all of them are at most 1.
const shareDigits = 9

func amountOfShare(share float64) money.Amount {
	return money.FromScaled(int64(share*1e9), shareDigits)
}

func roundDown(a money.Amount) money.Amount {
	out := a.Round(usdPlaces)
	if out.Cmp(a) > 0 {
		return out.Sub(money.FromScaled(1, usdPlaces))
	}
	return out
}

func smallerAmount(a, b money.Amount) money.Amount {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

// savedMachines are the machines of removed nodes, with what is still to be claimed of each.
type savedMachines []nodeMachine

func machinesOf(removed []poolNode) (out savedMachines) {
	for i := range removed {
		out = append(out, removed[i].machine)
	}
	slices.SortStableFunc(out, func(a, b nodeMachine) int { return strings.Compare(a.resourceID, b.resourceID) })
	return out
}

func (m savedMachines) cost() (sum money.Amount) {
	for i := range m {
		sum = sum.Add(m[i].cost)
	}
	return sum
}

// take takes an amount from the machines, one after the other, and returns the claims at them without the charges that
// commitments continue. At most recommendation.MaxClaims machines are claimed: what is left of the amount counts 0.
func (m savedMachines) take(a money.Amount) (out []recommendation.Claim) {
	for i := range m {
		one := &m[i]
		part := smallerAmount(a, one.cost)
		if part.Sign() <= 0 {
			continue
		}
		goesOn := one.committed.MulDiv(part, one.cost)
		a, one.cost, one.committed = a.Sub(part), one.cost.Sub(part), one.committed.Sub(goesOn)
		out = addClaim(out, recommendation.Claim{
			ResourceID: one.resourceID, USD: roundDown(positive(part.Sub(goesOn))), Cost: one.whole,
		})
	}
	return out[:min(len(out), recommendation.MaxClaims)]
}

// addClaim adds a claim. There is one claim for each resource.
func addClaim(to []recommendation.Claim, c recommendation.Claim) []recommendation.Claim {
	i := slices.IndexFunc(to, func(one recommendation.Claim) bool { return one.ResourceID == c.ResourceID })
	if i < 0 {
		return append(to, c)
	}
	to[i].USD = to[i].USD.Add(c.USD)
	return to
}
