package rehearsal

import (
	"context"

	"lamplighter.dev/functions/executor/rescaling"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/foundation/fault"
)

// starter starts the stopped groups of a rehearsal: in its cloud, without the executor's actions.
type starter struct{ *trial }

var _ rescaling.Starter = starter{}

// Obstacles returns why groups cannot be raised.
func (s starter) Obstacles(context.Context, readiness.PrecheckQuery) (map[string]string, error) {
	return s.blocked, nil
}

// StartProblem returns none.
func (starter) StartProblem(context.Context, string, readiness.PolicyTarget) (string, error) {
	return "", nil
}

// Start starts a group at the size that it was stopped at. It has ended when all instances are in service.
func (s starter) Start(ctx context.Context, of rescaling.StartRequest) (rescaling.Start, error) {
	t, out := of.Target, rescaling.Start{ActionID: "act_" + of.Target.UID}
	if of.ActionID == "" {
		got := s.conn.Act(ctx, cloud.Start, t.Type, t.Region, []cloud.Target{{UID: t.UID, Snapshot: s.stopped[t.UID]}})
		return out, got[0].Err
	}
	states, err := s.conn.Read(ctx, t.Type, t.Region, []string{t.UID})
	out.Ended = err == nil && len(states) == 1 && states[0].Status == cloud.Running
	return out, err
}

// Remember makes the next start of a group restore a size.
func (s starter) Remember(_ context.Context, m rescaling.Memory) error {
	s.stopped[m.Target.UID] = m.Snapshot
	return nil
}

// stop stops a group before the rehearsal begins.
func (s *trial) stop(ctx context.Context, g cloud.Resource) error {
	states, err := s.conn.Read(ctx, g.Type, g.Region, []string{g.UID})
	if err != nil {
		return err
	}
	if len(states) != 1 {
		return fault.New(fault.Internal, "the simulated cloud has lost %s", g.UID)
	}
	s.stopped[g.UID] = states[0].Snapshot
	return s.conn.Act(ctx, cloud.Stop, g.Type, g.Region,
		[]cloud.Target{{UID: g.UID, Snapshot: states[0].Snapshot}})[0].Err
}
