package membership

import (
	"errors"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// ownerCount returns 1 if m counts as an owner of the organization, else 0. A disabled owner does not count.
func ownerCount(m identity.Member) int64 {
	if m.Owns() && !m.Disabled {
		return 1
	}
	return 0
}

// step changes the counts of an organization. Its conditions: the organization has not ended, has room, and keeps an
// owner.
type step struct {
	members, owners int64
	generation      *int64 // generation of the custom roles that grants were evaluated with, or nil
	roles           int64  // increase of the number of changes of the roles
}

func (t step) isNoop() bool { return t == step{} }

func (t step) countWrite(org string) table.Write {
	var changes []table.Change
	conds := []table.Cond{table.Exists(), table.NotEqual("ended", true)}
	if t.members != 0 {
		changes = append(changes, table.Add("members", t.members))
	}
	if t.members > 0 {
		conds = append(conds, table.Less("members", MaxMembers))
	}
	if t.owners != 0 {
		changes = append(changes, table.Add("owners", t.owners))
	}
	if t.owners < 0 {
		conds = append(conds, table.Greater("owners", -t.owners))
	}
	if t.roles != 0 {
		changes = append(changes, table.Add("generation", t.roles))
	}
	if t.generation != nil {
		conds = append(conds, table.Equal("generation", *t.generation))
	}
	if len(changes) == 0 {
		return table.Check(identity.AccessKey(org), conds...)
	}
	return table.Update(identity.AccessKey(org), changes, conds...)
}

// requireRoles returns t with the condition that the organization's custom roles are unchanged, if one of the grants
// has a custom role. Granting a custom role counts as a change of the roles, so that the role is not deleted at the
// same time.
func (t step) requireRoles(a identity.Access, given []grant.Grant) step {
	for _, g := range given {
		if _, system := grant.SystemRole(g.Role); !system {
			t.generation, t.roles = &a.Generation, 1
		}
	}
	return t
}

// explainRefusal returns the reason why the counts were not changed. The item holds the counts as they are. If the
// roles have changed, it returns errChanged.
func (t step) explainRefusal(it table.Item) error {
	if it.Data == nil {
		return errEnded
	}
	a, err := table.Decode[identity.Access](it)
	switch {
	case err != nil:
		return err
	case a.Ended:
		return errEnded
	case t.owners < 0 && a.Owners <= -t.owners:
		return errLastOwner
	case t.members > 0 && a.Members >= MaxMembers:
		return fault.New(fault.Denied, "the organization has %d members, the most that it can have: remove some first",
			a.Members)
	}
	return errChanged
}

var (
	errLastOwner = fault.New(fault.Conflict,
		"the last owner cannot be removed or demoted: make another member an owner first")

	errEnded   = fault.New(fault.NotFound, "the organization is being deleted")
	errChanged = fault.New(fault.Conflict,
		"the member was changed by someone else at the same time: read it again, then repeat")
)

// explainConflict returns the error for clients, if a condition of a transaction failed. The first write of the
// transaction must be the member's, the second must change the counts. It returns all other errors unchanged.
func (t step) explainConflict(op string, err error) error {
	failed, ok := errors.AsType[*table.ConditionError](err)
	if !ok {
		return fault.Wrap(op, err)
	}
	if it, of := failed.Old(1); of && !t.isNoop() {
		return t.explainRefusal(it)
	}
	return errChanged
}
