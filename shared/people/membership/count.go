package membership

import (
	"errors"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// ownerCount returns what a member adds to the organization's count of owners: one who is disabled cannot act as one.
func ownerCount(m identity.Member) int64 {
	if m.Owns() && !m.Disabled {
		return 1
	}
	return 0
}

// step moves the counts of an organization, on condition that it lives, has room, and keeps an owner.
type step struct {
	members, owners int64
	generation      *int64 // of its custom roles, when what is granted was judged by them
	roles           int64  // what it counts as changes of them
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

// demandRoles demands that the organization's own roles are those by which grants were judged, if one of them is among these.
// To give one counts as a change of the roles, so that it is not deleted at the same time.
func (t step) demandRoles(a identity.Access, given []grant.Grant) step {
	for _, g := range given {
		if _, system := grant.SystemRole(g.Role); !system {
			t.generation, t.roles = &a.Generation, 1
		}
	}
	return t
}

// refusal says why the counts did not move; it.Data is what they were. A change of the roles in between is errChanged.
func (t step) refusal(it table.Item) error {
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
		return fault.New(fault.Denied, "the organization has %d members, and more are not possible: remove some first",
			a.Members)
	}
	return errChanged
}

var (
	errLastOwner = fault.New(fault.Conflict,
		"the last owner cannot be removed or demoted: make somebody else an owner first")

	errEnded   = fault.New(fault.NotFound, "the organization is being deleted")
	errChanged = fault.New(fault.Conflict,
		"the member was changed by somebody else at the same time: read it again, then repeat")
)

// explainConflict turns the failed conditions of a transaction whose first write is a member's and whose second moves the counts
// into what the client is told. Any other error stays.
func (t step) explainConflict(op string, err error) error {
	failed, ok := errors.AsType[*table.ConditionError](err)
	if !ok {
		return fault.Wrap(op, err)
	}
	if it, of := failed.Old(1); of && !t.isNoop() {
		return t.refusal(it)
	}
	return errChanged
}
