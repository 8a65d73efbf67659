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

// maxActionTime is how long an action can be in flight: the TimeoutSeconds of its machine.
const maxActionTime = 24 * time.Hour

type removeInput struct {
	AccountID string `path:"accountID" maxLength:"64"`
	Detach    bool   `query:"detach" default:"false" doc:"Remove its resources from groups, teams and schedules, and delete records that are only for it"`
}

// used is an account and its uses.
type used struct {
	connection.Account
	UsedBy []fault.Use `json:"usedBy,omitempty"`
}

// removeAccount deletes an account. A discovery that finds the account gone forgets its resources, so the answer need
// not wait for that, and the work survives the death of a process.
func (s *service) removeAccount(ctx context.Context, in *removeInput) (rest.Deleted, error) {
	org := identity.CallerOrg(ctx)
	a, err := s.readAccount(ctx, org, in.AccountID)
	if err != nil {
		return rest.Deleted{}, err
	}
	if err = s.checkIdle(ctx, org, a.ID); err != nil {
		return rest.Deleted{}, err
	}
	uses, err := s.usesOf(ctx, org, a.ID)
	if err != nil {
		return rest.Deleted{}, err
	}
	audit.NoteChange(ctx, audit.Change{Before: used{connection.NewRecord(a), uses.allUses()}})
	if err = uses.refusal(ctx, a, in.Detach); err != nil {
		return rest.Deleted{}, err
	}
	if err = s.endUses(ctx, org, a.ID, uses); err != nil {
		return rest.Deleted{}, err
	}
	j, err := s.endAccount(ctx, org, a)
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

// endAccount deletes the account a. Its condition is that no resource of the account joined a group or a team since a
// was read. It returns the discovery that will forget the resources.
func (s *service) endAccount(ctx context.Context, org string, a inventory.Account) (discovery.Job, error) {
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
	ws = append(ws,
		table.Delete(inventory.AccountKey(org, a.ID), table.Exists(), table.Equal("name", a.Name),
			sameRegistrations(known),
			sameCount("uses", a.Uses)),
		connection.Release(connection.NativeKey(org, a.Provider, a.CloudAccountID), a.ID),
		connection.Release(connection.NameKey(org, a.Name), a.ID), discovery.RemoveDue(a.ID))
	// the costs of its bills are removed from the organization's costs
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

// sameRegistrations is the condition that the account has as many registrations as are known. Because each known one
// must still exist, there is no other: a registration that replaced a known one meanwhile would outlive the account.
func sameRegistrations(known []inventory.Registration) table.Cond {
	return sameCount("clusters", int64(len(known)))
}

// sameCount is the condition that a count is n. An absent count is 0.
func sameCount(field string, n int64) table.Cond {
	if n == 0 {
		return table.Any(table.Lacks(field), table.Equal(field, 0))
	}
	return table.Equal(field, n)
}

// checkIdle refuses while an action is in flight in the account. An action that is submitted right after the check
// fails, because its account is gone.
func (s *service) checkIdle(ctx context.Context, org, accountID string) error {
	const some = 1000
	q := table.Query{From: id.LowestAt("act", s.p.Clock.Now().Add(-maxActionTime)), Reverse: true}
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
