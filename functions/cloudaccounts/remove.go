package cloudaccounts

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// oldest is how long an action can be in flight: the TimeoutSeconds of its machine.
const oldest = 24 * time.Hour

// remove ends an account. Its resources are forgotten by a discovery that finds no account any more, so that the answer
// does not wait for them and a process that dies loses nothing.
func (s *service) remove(ctx context.Context, in *accountInput) (rest.Deleted, error) {
	org := identity.From(ctx).Org
	a, err := s.account(ctx, org, in.AccountID)
	if err != nil {
		return rest.Deleted{}, err
	}
	audit.Note(ctx, audit.Change{Before: shown(a)})
	if err = s.idle(ctx, org, a.ID); err != nil {
		return rest.Deleted{}, err
	}
	known, err := s.registrations(ctx, org, a.ID)
	if err != nil {
		return rest.Deleted{}, err
	}
	j, ws, err := discovery.New(org, a.ID, s.p.Clock.Now())
	if err != nil {
		return rest.Deleted{}, err
	}
	for i := range known {
		ws = append(ws, table.Delete(inventory.ClusterKey(org, a.ID, known[i].ClusterName), table.Exists()))
	}
	ws = append(ws, table.Delete(inventory.AccountKey(org, a.ID), table.Exists(), table.Equal("name", a.Name), counted(known)),
		release(nativeKey(org, a.Provider, a.CloudAccountID), a.ID), release(nameKey(org, a.Name), a.ID))
	err = s.p.Table.Transact(table.Within(ctx, workqueue.Prefix), ws...)
	if _, ok := errors.AsType[*table.ConditionError](err); ok {
		return rest.Deleted{}, fault.New(fault.Conflict, "the account was changed by somebody else meanwhile: read it again")
	}
	if err != nil {
		return rest.Deleted{}, fmt.Errorf("delete account %s: %w", a.ID, err)
	}
	discovery.Run(ctx, s.p, org, j)
	return rest.Deleted{ID: a.ID}, nil
}

// counted holds while the account has as many registrations as are known. As each of those must still exist, it has no
// other: one that took the place of a known one meanwhile would outlive the account.
func counted(known []inventory.Registration) table.Cond {
	if len(known) == 0 {
		return table.Any(table.Lacks("clusters"), table.Equal("clusters", 0))
	}
	return table.Equal("clusters", len(known))
}

// idle refuses while an action is in flight in the account. One that is submitted right after the look ends as failed
// when it finds no account.
func (s *service) idle(ctx context.Context, org, accountID string) error {
	q := table.Query{
		PK: execution.ActionPK(org), From: id.Floor("act", s.p.Clock.Now().Add(-oldest)), Reverse: true, Limit: 1000,
	}
	for {
		actions, next, err := table.ReadPage[execution.Action](ctx, s.p.Table, q)
		if err != nil {
			return fmt.Errorf("look for actions in %s: %w", accountID, err)
		}
		for _, act := range actions {
			if act.CloudAccountID == accountID && !act.Status.Ended() {
				return fault.New(fault.Conflict, "the account is in use: action %s (%s of %s) is %s; wait until it has ended, or cancel it",
					act.ID, act.Action, act.ResourceUID, act.Status)
			}
		}
		if q.Cursor = next; q.Cursor == "" {
			return nil
		}
	}
}
