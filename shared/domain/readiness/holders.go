package readiness

import (
	"context"
	"fmt"
	"slices"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// Holders are the plans that hold an autoscaler policy and are neither completed nor cancelled.
type Holders struct {
	Plans []fault.Use
	// Unheld is a write for the transaction that deletes the policy. It fails when a plan claims the policy
	// meanwhile.
	Unheld table.Write
}

// HoldersOf returns the holders of policies, by policy ID, with an entry for every given ID. It takes two round
// trips, and one for each further hundred policies or plans.
func (s *Store) HoldersOf(ctx context.Context, org string, policyIDs ...string) (map[string]Holders, error) {
	out := make(map[string]Holders, len(policyIDs))
	claims, err := s.readClaims(ctx, org, policyIDs)
	if err != nil {
		return nil, err
	}
	plans, err := s.readPlans(ctx, org, claims)
	if err != nil {
		return nil, err
	}
	for _, policyID := range policyIDs {
		key, c := claimKey(org, policyID), claims[policyID]
		h := Holders{Unheld: table.Check(key, table.Absent())}
		if c.Version > 0 {
			h.Unheld = table.Delete(key, table.Equal("version", c.Version))
		}
		for _, w := range c.Windows {
			if p, ok := plans[w.PlanID]; ok && p.Status.HoldsWindow() {
				use := fault.Use{Kind: "event readiness plan", ID: p.ID, Name: p.Name, Policy: "event-readiness:read"}
				h.Plans = append(h.Plans, use)
			}
		}
		out[policyID] = h
	}
	return out, nil
}

func (s *Store) readClaims(ctx context.Context, org string, policyIDs []string) (map[string]claim, error) {
	out := make(map[string]claim, len(policyIDs))
	keys := make([]table.Key, len(policyIDs))
	for i, policyID := range policyIDs {
		keys[i] = claimKey(org, policyID)
	}
	if len(keys) == 0 {
		return out, nil
	}
	items, err := s.table.BatchGet(ctx, keys...)
	if err != nil {
		return nil, fmt.Errorf("read the plans of %d autoscaler policies: %w", len(keys), err)
	}
	for k, it := range items {
		if out[k.SK], err = table.Decode[claim](it); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *Store) readPlans(ctx context.Context, org string, claims map[string]claim) (map[string]Plan, error) {
	var keys []table.Key
	for _, c := range claims {
		for _, w := range c.Windows {
			if k := Key(org, w.PlanID); !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
	}
	out := make(map[string]Plan, len(keys))
	if len(keys) == 0 {
		return out, nil
	}
	items, err := s.table.BatchGet(ctx, keys...)
	if err != nil {
		return nil, fmt.Errorf("read %d event readiness plans: %w", len(keys), err)
	}
	for _, it := range items {
		p, err := table.Decode[Plan](it)
		if err != nil {
			return nil, err
		}
		out[p.ID] = p
	}
	return out, nil
}
