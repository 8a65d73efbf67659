package pricing

import "lamplighter.dev/shared/foundation/money"

// The prices of a core and of a gibibyte for an hour, by whose proportion OpenCost divides the price of a node between them.
var (
	baseCore = money.FromScaled(31611, 6)
	baseGiB  = money.FromScaled(4237, 6)
)

// NodeRate is what a core and a gibibyte of a node cost for an hour.
type NodeRate struct{ Core, GiB money.Amount }

// SplitNode divides the price of an hour of a node between its cores and its memory, such that both together are the price.
func SplitNode(hourly, cores, gib money.Amount) NodeRate {
	base := baseCore.Mul(cores).Add(baseGiB.Mul(gib))
	return NodeRate{Core: baseCore.MulDiv(hourly, base), GiB: baseGiB.MulDiv(hourly, base)}
}

// Workload is what a workload takes of a node: the larger of what it asks for and what it uses.
type Workload struct{ Cores, GiB money.Amount }

// Allocate returns what each workload of a node costs for an hour, and what is left idle: together they are the node's price. Workloads
// that take more than the node has share its price by what they take, and nothing is idle.
func Allocate(hourly money.Amount, node Workload, all []Workload) (costs []money.Amount, idle money.Amount) {
	if len(all) == 0 {
		return nil, hourly
	}
	r := SplitNode(hourly, node.Cores, node.GiB)
	costs, sum := make([]money.Amount, len(all)), money.Amount{}
	for i, w := range all {
		costs[i] = r.Core.Mul(w.Cores).Add(r.GiB.Mul(w.GiB))
		sum.Increase(&costs[i])
	}
	if sum.Cmp(hourly) <= 0 {
		return costs, hourly.Sub(sum)
	}
	return hourly.SplitByWeight(costs, money.Scale), money.Amount{}
}
