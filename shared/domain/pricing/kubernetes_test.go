package pricing_test

import (
	"testing"

	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/foundation/money"
)

// TestAllocate_AddsUpToThePriceOfTheNode: what workloads cost and what is idle is what the node costs, whatever they take.
func TestAllocate_AddsUpToThePriceOfTheNode(t *testing.T) {
	price, node := amount(t, "0.192"), pricing.Workload{Cores: money.FromInt(4), GiB: money.FromInt(16)}
	half := pricing.Workload{Cores: money.FromInt(2), GiB: money.FromInt(8)}
	for name, c := range map[string]struct {
		all  []pricing.Workload
		idle string
	}{
		"nothing runs":          {nil, "0.192"},
		"half of it is taken":   {[]pricing.Workload{half}, "0.096"},
		"all of it is taken":    {[]pricing.Workload{half, half}, "0.000"},
		"more than it is asked": {[]pricing.Workload{half, half, half}, "0.000"},
	} {
		costs, idle := pricing.Allocate(price, node, c.all)
		if sum := money.Sum(costs...).Add(idle); sum != price || idle.Fixed(3) != c.idle {
			t.Errorf("%s: %s in all, %s of it idle; want %s and %s", name, sum, idle.Fixed(3), price, c.idle)
		}
	}
	if r := pricing.SplitNode(price, node.Cores, node.GiB); r.Core.Cmp(r.GiB) <= 0 || r.Core.MulInt(4).Add(r.GiB.MulInt(16)).Sub(price).Abs().Cmp(amount(t, "0.000000000001")) > 0 {
		t.Errorf("a core costs %s and a gibibyte %s", r.Core, r.GiB)
	}
}
