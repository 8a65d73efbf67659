package execution

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
)

// EndIdle ends the action of o if it waits for capacity, so that nothing is under way; Message and At of o are the
// reason and the time. It reports whether the action has ended. An action that an executor resumes at the same moment
// continues.
func EndIdle(ctx context.Context, s table.Store, org string, o Outcome) (bool, error) {
	if !o.Action.Idle {
		return o.Action.Status.IsFinal(), nil
	}
	o.Status, o.Unstarted = Failed, true
	if err := SettleActions(ctx, s, org, []Outcome{o}); err != nil {
		return false, err
	}
	a, err := table.Read[Action](ctx, s, ActionKey(org, o.Action.ID))
	if err != nil {
		return false, fmt.Errorf("read action %s: %w", o.Action.ID, err)
	}
	return a.Status.IsFinal(), nil
}

// EndedBy returns the reason for the end of an action that waits for capacity when the opposite action is requested.
func EndedBy(v cloud.Verb, by string) string {
	return fmt.Sprintf("it waited for capacity, and was ended by a %s, asked for by %s", v, by)
}

// supersede ends the opposite action in flight on the resource if it waits for capacity. Then the resource is free.
func (s submission) supersede(ctx context.Context, res inventory.Resource) (bool, error) {
	if res.ActionType == s.Verb {
		return false, nil
	}
	a, err := table.Read[Action](ctx, s.p.Table, ActionKey(s.org, res.ActionID))
	if err != nil {
		return false, fmt.Errorf("read action %s in flight: %w", res.ActionID, err)
	}
	if !a.Idle {
		return false, nil
	}
	return EndIdle(ctx, s.p.Table, s.org,
		Outcome{Action: a, Message: EndedBy(s.Verb, s.ChangedBy), At: s.p.Clock.Now()})
}
