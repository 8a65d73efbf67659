package rehearsal

import (
	"context"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// mostSteps bounds a rehearsal. glance is the interval of looks at its groups until they have their capacity.
const (
	mostSteps = 2000
	glance    = 5 * time.Second
)

// carryOut runs the plan to its end, as its machine does.
func (s *trial) carryOut(ctx context.Context) error {
	if err := s.begin(); err != nil {
		return err
	}
	r, in := s.runner(), readiness.Input{Org: s.plan.Org, PlanID: s.plan.ID, Run: s.plan.Run}
	for range mostSteps {
		got, err := r.Advance(ctx, in)
		if err != nil {
			return fault.Wrap("rehearse", err)
		}
		if got.Done {
			return s.end(ctx)
		}
		if err = s.passUntil(ctx, got.At); err != nil {
			return err
		}
	}
	return fault.New(fault.Unavailable, "the rehearsal did not come to its end: its plan is too long for it")
}

// begin records the planned size of each target.
func (s *trial) begin() error {
	s.out.Targets = make([]readiness.RehearsedTarget, len(s.plan.Targets))
	for i, t := range s.plan.Targets {
		size, err := s.plan.Scaled(t, t.Original())
		if err != nil {
			return err
		}
		s.out.Targets[i] = readiness.RehearsedTarget{
			PolicyID: t.PolicyID, Original: t.Original(), Scaled: size,
			Shortfall: size.Desired - t.OriginalDesired,
		}
	}
	return nil
}

// passUntil advances the clock, and looks at the groups while one lacks its capacity.
func (s *trial) passUntil(ctx context.Context, until time.Time) error {
	for now := s.clock.Now(); now.Before(until); now = s.clock.Now() {
		left, err := s.look(ctx)
		if err != nil {
			return err
		}
		if !left || now.Before(s.plan.ScaleUpAt()) {
			s.clock.Advance(until.Sub(now))
			return ctx.Err()
		}
		s.clock.Advance(clock.Earliest(until, now.Add(glance)).Sub(now))
	}
	return ctx.Err()
}

// look records which groups have their capacity now. It reports whether some do not.
func (s *trial) look(ctx context.Context) (left bool, err error) {
	now := s.clock.Now()
	for i := range s.out.Targets {
		t := &s.out.Targets[i]
		if !t.ReachedAt.IsZero() || s.blocked[s.groups[i].UID] != "" {
			continue
		}
		there, err := s.inService(ctx, s.groups[i], t.Scaled)
		if err != nil {
			return true, err
		}
		if !there {
			left = true
			continue
		}
		t.ReachedAt = now
		if !now.After(s.plan.EventStart) {
			t.Shortfall = 0
		}
	}
	return left && now.Before(s.plan.ScaleDownAt()), nil
}

// inService reports whether all machines of a group are in service.
func (s *trial) inService(ctx context.Context, g cloud.Resource, want readiness.Size) (bool, error) {
	a, err := s.scaler().ReadAutoscaling(ctx, g.Type, g.Region, g.UID)
	if err != nil || a.Desired < want.Desired {
		return false, err
	}
	states, err := s.conn.Read(ctx, g.Type, g.Region, []string{g.UID})
	return err == nil && len(states) == 1 && states[0].Status == cloud.Running, err
}

// end records the final state of the plan and its targets.
func (s *trial) end(ctx context.Context) error {
	p, err := s.plans.Get(ctx, s.plan.Org, s.plan.ID)
	if err != nil {
		return err
	}
	s.out.Status = p.Status
	for i := range s.out.Targets {
		g, t := s.groups[i], &s.out.Targets[i]
		a, err := s.scaler().ReadAutoscaling(ctx, g.Type, g.Region, g.UID)
		if err != nil {
			return err
		}
		t.Restored = readiness.Size{Min: a.Min, Max: a.Max, Desired: a.Desired} == t.Original ||
			s.blocked[g.UID] != "" && a.RunsNothing()
	}
	q := readiness.Logs(p.Org, p.ID)
	q.Reverse, q.Limit = false, 1000
	s.out.Log, _, err = table.ReadPage[readiness.Line](ctx, s.store, q)
	return err
}
