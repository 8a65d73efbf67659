package readiness

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// Window is the time during which a plan holds a policy.
type Window struct {
	PlanID string    `json:"planID"`
	From   time.Time `json:"from"`
	To     time.Time `json:"to"`
}

// overlaps reports whether two windows overlap. A window may begin when another one ends.
func (w Window) overlaps(o Window) bool { return w.From.Before(o.To) && o.From.Before(w.To) }

// mostWindows is the maximum number of plans that hold one policy.
const mostWindows = 200

// claim is the windows that hold a policy. Each write requires the old version, so that of two overlapping plans only
// one is stored.
type claim struct {
	Windows []Window `json:"windows"`
	Version int64    `json:"version"`
}

func claimKey(org, policyID string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "EVENTCLAIM", SK: policyID}
}

// claims returns the writes after which the plan holds exactly the policies now during its window. before are the
// policies that it held. It takes one round trip. The writes fail when a newly held policy does not exist. An
// overlapping window of another plan is fault.Conflict.
func (s *Store) claims(ctx context.Context, p *Plan, before, now []string) ([]table.Write, error) {
	all := slices.Compact(slices.Sorted(slices.Values(slices.Concat(before, now))))
	keys := make([]table.Key, len(all))
	for i, policyID := range all {
		keys[i] = claimKey(p.Org, policyID)
	}
	if len(keys) == 0 {
		return nil, nil
	}
	found, err := s.table.BatchGet(ctx, keys...)
	if err != nil {
		return nil, fmt.Errorf("read what holds the targets of %s: %w", p.ID, err)
	}
	var out []table.Write
	for i, k := range keys {
		w, err := s.claim(p, found[k], k, slices.Contains(now, all[i]))
		if err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	for _, policyID := range now {
		if !slices.Contains(before, policyID) {
			out = append(out, table.Check(PolicyKey(p.Org, policyID), table.Exists()))
		}
	}
	return out, nil
}

// claim returns the write that adds the plan's window to the policy of a row, or removes it. It also removes windows
// that are over.
func (s *Store) claim(p *Plan, row table.Item, k table.Key, hold bool) (table.Write, error) {
	c, cond := claim{}, table.Absent()
	if row.Data != nil {
		var err error
		if c, err = table.Decode[claim](row); err != nil {
			return table.Write{}, err
		}
		cond = table.Equal("version", c.Version)
	}
	c.Windows = slices.DeleteFunc(c.Windows, func(w Window) bool {
		return w.PlanID == p.ID || !w.To.After(s.clock.Now())
	})
	if hold {
		if err := p.fits(k.SK, c.Windows); err != nil {
			return table.Write{}, err
		}
		c.Windows = append(c.Windows, p.Window())
	}
	if len(c.Windows) == 0 && row.Data != nil {
		return table.Delete(k, cond), nil
	}
	c.Version++
	return table.PutFields(k, c, cond)
}

// fits returns an error when the plan's window overlaps that of another plan on the policy.
func (p *Plan) fits(policyID string, others []Window) error {
	for _, o := range others {
		if o.overlaps(p.Window()) {
			return fault.New(fault.Conflict,
				"targets: policy %s is held by plan %s from %s to %s, which overlaps this plan's window from %s to %s",
				policyID, o.PlanID, p.show(o.From), p.show(o.To), p.show(p.ScaleUpAt()), p.show(p.ScaleDownAt()))
		}
	}
	if len(others) >= mostWindows {
		return fault.New(fault.Conflict, "targets: policy %s is the target of %d plans, which is the most", policyID,
			len(others))
	}
	return nil
}
