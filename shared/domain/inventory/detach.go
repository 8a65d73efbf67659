package inventory

import (
	"context"
	"fmt"
	"slices"

	"lamplighter.dev/shared/domain/inventory/index"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/teams"
)

// Use is a static group or a team that names resources of an account.
type Use struct {
	Kind      string `json:"kind"` // "resource group", "team"
	ID        string `json:"id"`
	Name      string `json:"name"`
	Resources int    `json:"resources"` // how many of the account
}

// UsesOf lists the static groups and the teams that name resources of an account, oldest first. Three round trips at
// most.
func (s *Store) UsesOf(ctx context.Context, org, accountID string) ([]Use, error) {
	v, err := s.openIndexWith(ctx, org, func(string) bool { return true })
	if err != nil {
		return nil, err
	}
	out := v.groupsWith(accountID)
	owners := v.ownersWith(accountID)
	if len(owners) == 0 {
		return out, nil
	}
	teams, err := teams.New(s.table).List(ctx, org)
	for _, t := range teams {
		if n := owners[t.ID]; n > 0 {
			out = append(out, Use{"team", t.ID, t.Name, n})
		}
	}
	return out, err
}

// groupsWith returns the static groups that have members in an account.
func (v *view) groupsWith(accountID string) []Use {
	unlock := v.st.RLockByID()
	defer unlock()
	var out []Use
	for i := range v.groups {
		if g := &v.groups[i]; g.Selector == nil && g.Size > 0 {
			if n := inAccount(v.st, v.sets.members[g.ID], accountID); n > 0 {
				out = append(out, Use{"resource group", g.ID, g.Name, n})
			}
		}
	}
	return out
}

// ownersWith returns, by team, the number of an account's resources that the team owns. Teams without any are left
// out.
func (v *view) ownersWith(accountID string) map[string]int {
	unlock := v.st.RLockByID()
	defer unlock()
	out := map[string]int{}
	for i := range v.owners {
		if t := &v.owners[i]; t.Size > 0 {
			if n := inAccount(v.st, v.sets.members[t.ID], accountID); n > 0 {
				out[t.ID] = n
			}
		}
	}
	return out
}

// inAccount counts the resources of a set that an account has. It needs the lock of RLockByID.
func inAccount(st *index.State, m *memberSet, accountID string) int {
	n := 0
	if m == nil {
		return n
	}
	each(st, m, func(r index.Row) {
		if r.Word(index.AccountRef) == accountID {
			n++
		}
	})
	return n
}

// detachTries is how often Detach retries a group or a team after a concurrent change.
const detachTries = 20

// Detach takes the resources of an account out of every static group and every team that names them. It is idempotent.
// Call it before the resources are deleted: without their records, the owners cannot be found any more. Once the
// account is deleted, no resource of it can be added (see HoldAccounts), so Detach leaves nothing behind.
func (s *Store) Detach(ctx context.Context, org, accountID string) error {
	uses, err := s.UsesOf(ctx, org, accountID)
	if err != nil || len(uses) == 0 {
		return err
	}
	found, err := s.accountIDs(ctx, org, accountID)
	if err != nil {
		return err
	}
	for _, u := range uses {
		if err = s.detach(ctx, org, u, found); err != nil {
			return fmt.Errorf("take the resources of %s out of %s: %w", accountID, u.ID, err)
		}
	}
	return nil
}

func (s *Store) accountIDs(ctx context.Context, org, accountID string) (map[string]bool, error) {
	v, err := s.openIndex(ctx, org)
	if err != nil {
		return nil, err
	}
	unlock := v.st.RLockByID()
	defer unlock()
	out := map[string]bool{}
	for r := range v.st.Rows() {
		if r.Word(index.AccountRef) == accountID {
			out[formatID(r.ID())] = true
		}
	}
	return out, nil
}

func (s *Store) detach(ctx context.Context, org string, u Use, from map[string]bool) error {
	once := s.detachGroup
	if u.Kind == "team" {
		once = s.detachTeam
	}
	var err error
	for range detachTries {
		if err = once(ctx, org, u.ID, from); !fault.Is(err, fault.Conflict) {
			break
		}
	}
	if fault.Is(err, fault.NotFound) { // it was deleted meanwhile
		return nil
	}
	return err
}

func (s *Store) detachGroup(ctx context.Context, org, groupID string, from map[string]bool) error {
	g, err := s.ReadGroup(ctx, org, groupID)
	if err != nil || g.Selector != nil {
		return err
	}
	places, err := s.ListPlacements(ctx, org, groupID)
	if err != nil {
		return err
	}
	kept := slices.DeleteFunc(slices.Clone(places), func(p GroupPlacement) bool { return from[p.ResourceID] })
	if len(kept) == len(places) {
		return nil
	}
	next := g
	next.UpdatedAt = s.clock.Now()
	_, err = s.UpdateGroup(ctx, org, g, Grouping{next, append([]GroupPlacement{}, kept...)})
	return err
}

func (s *Store) detachTeam(ctx context.Context, org, teamID string, from map[string]bool) error {
	stored := teams.New(s.table)
	t, err := stored.Get(ctx, org, teamID)
	if err != nil {
		return err
	}
	owned, err := s.ListOwned(ctx, org, teamID)
	if err != nil {
		return err
	}
	kept := slices.DeleteFunc(slices.Clone(owned), func(id string) bool { return from[id] })
	if len(kept) == len(owned) {
		return nil
	}
	next := t
	next.UpdatedAt = s.clock.Now()
	ws, err := Own(org, teamID, t.Generation+1, kept)
	if err != nil {
		return err
	}
	_, err = stored.Update(ctx, org, t, next, ws...)
	return err
}

// Locate splits ids. It returns the ids that are no resources of the organization, in their order, and the accounts of
// the others. It takes one round trip.
func (s *Store) Locate(ctx context.Context, org string, ids []string) (unknown, accounts []string, err error) {
	v, err := s.openIndex(ctx, org)
	if err != nil {
		return nil, nil, err
	}
	unlock := v.st.RLockByID()
	defer unlock()
	for _, id := range ids {
		r, ok := rowOfRecord(v.st, id)
		if !ok {
			unknown = append(unknown, id)
			continue
		}
		if a := r.Word(index.AccountRef); !slices.Contains(accounts, a) {
			accounts = append(accounts, a)
		}
	}
	return unknown, accounts, nil
}

// maxHeld limits the accounts of the resources that are put into a group or a team at once. Each account is a write of
// the transaction.
const maxHeld = 80

// HoldAccounts returns the writes that count the naming of resources, in a group or a team, as a use of their
// accounts, so that an account cannot be deleted at the same time. The writes fail if an account is gone.
func HoldAccounts(org string, accounts []string) ([]table.Write, error) {
	if len(accounts) > maxHeld {
		return nil, fault.New(fault.Invalid, "the resources are in %d cloud accounts; send those of %d accounts at "+
			"most at a time", len(accounts), maxHeld)
	}
	out := make([]table.Write, len(accounts))
	for i, a := range accounts {
		out[i] = table.Update(AccountKey(org, a), []table.Change{table.Add("uses", 1)}, table.Exists())
	}
	return out, nil
}

// accountGone returns the error for a refused write from the n-th on; these are the writes of HoldAccounts.
func accountGone(lost *table.ConditionError, n int) error {
	for _, f := range lost.Failed {
		if f.Index >= n {
			return fault.New(fault.NotFound,
				"a cloud account of these resources was disconnected meanwhile, and they leave the inventory; read "+
					"what is there and try again")
		}
	}
	return nil
}
