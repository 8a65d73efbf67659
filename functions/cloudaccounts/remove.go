package cloudaccounts

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// oldest is how long an action can be in flight: the TimeoutSeconds of its machine.
const oldest = 24 * time.Hour

type removeInput struct {
	AccountID string `path:"accountID" maxLength:"64"`
	Detach    bool   `query:"detach" default:"false" doc:"Take its resources out of groups, teams and schedules, and delete the records that are for it alone"`
}

// used is an account and its uses.
type used struct {
	connection.Account
	UsedBy []fault.Use `json:"usedBy,omitempty"`
}

// removeAccount ends an account. Its resources are forgotten by a discovery that finds no account any more, so that the answer
// does not wait for them and a process that dies loses nothing.
func (s *service) removeAccount(ctx context.Context, in *removeInput) (rest.Deleted, error) {
	org := identity.CallerOrg(ctx)
	a, err := s.readAccount(ctx, org, in.AccountID)
	if err != nil {
		return rest.Deleted{}, err
	}
	if err = s.idle(ctx, org, a.ID); err != nil {
		return rest.Deleted{}, err
	}
	uses, err := s.usesOf(ctx, org, a.ID)
	if err != nil {
		return rest.Deleted{}, err
	}
	audit.NoteChange(ctx, audit.Change{Before: used{connection.NewRecord(a), uses.all()}})
	if err = uses.refusal(ctx, a, in.Detach); err != nil {
		return rest.Deleted{}, err
	}
	if err = s.endUses(ctx, org, a.ID, uses); err != nil {
		return rest.Deleted{}, err
	}
	j, err := s.end(ctx, org, a)
	if err != nil {
		return rest.Deleted{}, err
	}
	err = errors.Join(inventory.New(s.p).Detach(ctx, org, a.ID), scheduling.New(s.p).DetachAccount(ctx, org, a.ID))
	if err != nil { // the discovery that forgets the resources does it again
		s.p.Log.WarnContext(ctx, "resources not yet taken out of groups, teams and schedules", "account", a.ID, "error",
			err)
	}
	discovery.StartMachine(ctx, s.p, org, j)
	return rest.Deleted{ID: a.ID}, nil
}

// end deletes the account a, as it was read: nobody has put a resource of it into a group or a team since. It gives
// the discovery that is to forget its resources.
func (s *service) end(ctx context.Context, org string, a inventory.Account) (discovery.Job, error) {
	known, err := inventory.ReadRegistrations(ctx, s.p.Table, org, a.ID)
	if err != nil {
		return discovery.Job{}, err
	}
	j, ws, err := discovery.NewJob(org, a.ID, s.p.Clock.Now())
	if err != nil {
		return discovery.Job{}, err
	}
	for i := range known {
		ws = append(ws, table.Delete(inventory.ClusterKey(org, a.ID, known[i].ClusterName), table.Exists()))
	}
	ws = append(ws, table.Delete(inventory.AccountKey(org, a.ID), table.Exists(), table.Equal("name", a.Name), counted(known), unchanged("uses", a.Uses)),
		connection.Release(connection.NativeKey(org, a.Provider, a.CloudAccountID), a.ID),
		connection.Release(connection.NameKey(org, a.Name), a.ID), discovery.RemoveDue(a.ID))
	// its bills give way to those of accounts that are still connected
	rebuilt, err := billimport.AddRebuild(org, s.p.Clock.Now())
	if err != nil {
		return j, err
	}
	err = s.p.Table.Transact(table.Within(ctx, workqueue.Prefix, discovery.DuePrefix), append(ws, rebuilt)...)
	if _, ok := errors.AsType[*table.ConditionError](err); ok {
		return j, fault.New(fault.Conflict, "the account was changed by somebody else meanwhile: read it again")
	}
	if err != nil {
		return j, fmt.Errorf("delete account %s: %w", a.ID, err)
	}
	return j, nil
}

// counted holds while the account has as many registrations as are known. As each of those must still exist, it has no
// other: one that took the place of a known one meanwhile would outlive the account.
func counted(known []inventory.Registration) table.Cond {
	return unchanged("clusters", int64(len(known)))
}

// unchanged holds while a count is n; one that is not there is 0.
func unchanged(field string, n int64) table.Cond {
	if n == 0 {
		return table.Any(table.Lacks(field), table.Equal(field, 0))
	}
	return table.Equal(field, n)
}

// idle refuses while an action is in flight in the account. One that is submitted right after the look ends as failed
// when it finds no account.
func (s *service) idle(ctx context.Context, org, accountID string) error {
	const some = 1000
	q := table.Query{From: id.LowestAt("act", s.p.Clock.Now().Add(-oldest)), Reverse: true}
	for m := table.NewMerge(s.p.Table, q, execution.ActionPKs(org)...); ; {
		items, err := m.Next(ctx, some)
		if err != nil {
			return fmt.Errorf("look for actions in %s: %w", accountID, err)
		}
		actions, err := table.DecodeAll[execution.Action](items)
		if err != nil {
			return err
		}
		for _, act := range actions {
			if act.CloudAccountID == accountID && !act.Status.IsFinal() {
				return fault.New(fault.Conflict,
					"the account is in use: action %s (%s of %s) is %s; wait until it has ended, or cancel it",
					act.ID, act.Action, act.ResourceUID, act.Status)
			}
		}
		if len(items) < some {
			return nil
		}
	}
}
