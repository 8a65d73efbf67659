package cost

import (
	"context"
	"slices"

	"lamplighter.dev/shared/foundation/money"
)

// ResourceCost is the billed cost of a resource in a month.
type ResourceCost struct {
	Billed money.Amount // in USD, so far; negative when credits prevail
}

// ResourceCosts returns the billed costs of an organization's resources in a month, by native ID, without estimates.
// It takes the round trips of Ask.
func (s *Store) ResourceCosts(ctx context.Context, org string, m Month) (map[string]ResourceCost, error) {
	pointers, err := s.readPointers(ctx, org, m, m)
	if err != nil {
		return nil, err
	}
	billed := slices.DeleteFunc(pointers, func(p pointer) bool { return p.Estimated })
	a, err := s.ask(ctx, org, billed,
		Question{From: m.Start(), To: m.End(), Metric: Billed, Dims: []string{ResourceDim}})
	if err != nil {
		return nil, err
	}
	out := make(map[string]ResourceCost, len(a.Rows))
	for i := range a.Rows {
		if uid := a.Rows[i].Keys[0]; uid != "" {
			out[uid] = ResourceCost{a.Rows[i].Amount}
		}
	}
	return out, nil
}
