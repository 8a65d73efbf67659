package remediating

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// actionReason is the reason of the actions of workflows.
const actionReason = "remediation"

// stopping stops a resource, and starts it again to undo that. Both are actions of the executor: they keep captured
// sizes, have a log and a history, and respect overrides.
type stopping struct{ subject }

var _ change = (*stopping)(nil)

// stopLimits are the effects of a stop that a start does not give back, by type.
var stopLimits = map[string][]string{
	cloud.AWSEC2: {
		"a public IPv4 address that is no Elastic IP is replaced at the start",
		"data on instance store volumes is lost",
		"the start may lack capacity in its zone",
	},
	cloud.AWSRDS:     {"AWS starts it again after 7 days"},
	cloud.AWSAurora:  {"AWS starts it again after 7 days"},
	cloud.AzureVM:    {"a dynamic public IP address and the temporary disk are lost", "the start may lack capacity"},
	cloud.GCPCompute: {"an ephemeral external IP address is replaced at the start", "data on local SSDs is lost"},
}

func (s *stopping) read(ctx context.Context) (cloud.State, error) {
	got, err := s.conn.Read(ctx, s.t.ResourceType, s.t.Region, []string{s.t.ResourceUID})
	if err != nil {
		return cloud.State{}, err
	}
	if len(got) == 0 {
		return cloud.State{}, cloud.ErrNotFound("the resource no longer exists at its provider")
	}
	return got[0], nil
}

func (s *stopping) plan(ctx context.Context, _ inventory.Listed) (p remediation.Plan, native json.RawMessage,
	err error,
) {
	state, err := s.read(ctx)
	switch {
	case err != nil:
		return p, nil, err
	case state.Unschedulable != "":
		return p, nil, fault.New(fault.Conflict, "its resource cannot be stopped: %s", state.Unschedulable)
	case state.Status != cloud.Running:
		return p, nil, fault.New(fault.Conflict, "its resource is %s, and only a running one is stopped", state.Status)
	}
	return remediation.Plan{
		Calls: []string{
			fmt.Sprintf("stop %s %s in %s, as POST /actions does", s.t.ResourceType, s.t.ResourceUID, s.t.Region),
		},
		Before: map[string]string{"status": string(cloud.Running)},
		After:  map[string]string{"status": string(cloud.Stopped)},
		Limits: stopLimits[s.t.ResourceType], Watch: watchTime,
	}, state.Snapshot, nil
}

func (s *stopping) mark(t *remediation.Target) []table.Write {
	t.ActionID = id.New("act", s.r.Clock.Now())
	return nil
}

func (s *stopping) call(ctx context.Context) error { return s.submit(ctx, cloud.Stop, s.t.ActionID) }

func (s *stopping) submit(ctx context.Context, verb cloud.Verb, actionID string) error {
	t := s.t
	a, err := s.r.Submit(ctx, s.org, execution.Request{
		ID: actionID, Verb: verb, ResourceUID: t.ResourceUID, Provider: t.Provider, ResourceType: t.ResourceType,
		CloudAccountID: t.CloudAccountID, Region: t.Region, Reason: actionReason,
		ChangedBy: execution.ChangedBy(actionReason, s.workflowID),
	})
	if err == nil && a.ID != actionID {
		return fault.New(fault.Conflict, "a %s of the resource by somebody else is in flight (%s)", verb, a.ID)
	}
	return err
}

// action reads the progress of an action. there is false if it was never created.
func (s *stopping) action(ctx context.Context, actionID string) (p progress, there bool, err error) {
	a, err := table.Read[execution.Action](ctx, s.r.Table, execution.ActionKey(s.org, actionID))
	switch {
	case fault.Is(err, fault.NotFound):
		return p, false, nil
	case err != nil:
		return p, false, fmt.Errorf("read action %s: %w", actionID, err)
	case a.Status == execution.Succeeded:
		p.reached = true
	case a.Status == execution.Failed:
		p.broken = a.ErrorMessage
	}
	return p, true, nil
}

func (s *stopping) look(ctx context.Context) (progress, error) {
	if !s.t.ReachedAt.IsZero() {
		return s.stillStopped(ctx)
	}
	p, there, err := s.action(ctx, s.t.ActionID)
	if err != nil || there && p.broken == "" {
		return p, err
	}
	if !there {
		return p, s.call(ctx)
	}
	state, err := s.read(ctx)
	if err != nil && cloud.ClassOf(err).Retryable() {
		return progress{}, err
	}
	p.unchanged = err == nil && state.Status == cloud.Running
	return p, nil
}

// stillStopped looks at a resource that was stopped.
func (s *stopping) stillStopped(ctx context.Context) (progress, error) {
	state, err := s.read(ctx)
	if err != nil {
		return progress{}, err
	}
	if state.Status == cloud.Stopped {
		return progress{reached: true}, nil
	}
	return progress{
		broken: strings.TrimSpace(fmt.Sprintf("validation: it was stopped, and is %s again %s", state.Status,
			state.Reason)),
	}, nil
}

func (s *stopping) markUndo(t *remediation.Target) []table.Write {
	t.UndoID = id.New("act", s.r.Clock.Now())
	return nil
}

func (s *stopping) undo(ctx context.Context, _ remediation.Capture) error {
	return s.submit(ctx, cloud.Start, s.t.UndoID)
}

func (s *stopping) back(ctx context.Context, c remediation.Capture) (progress, error) {
	if s.t.UndoID == "" {
		p, there, err := s.action(ctx, s.t.ActionID)
		if err != nil || there && !p.reached && p.broken == "" {
			return progress{waits: true}, err // the stop is under way, because the workflow was given up
		}
		state, err := s.read(ctx)
		return progress{reached: err == nil && state.Status == cloud.Running}, err
	}
	p, there, err := s.action(ctx, s.t.UndoID)
	if err == nil && !there {
		return p, s.undo(ctx, c)
	}
	return p, err
}
