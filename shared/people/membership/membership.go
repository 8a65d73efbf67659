package membership

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// JoinOrganisation makes u a member of org with grants. A user who is a member already keeps their grants. It returns
// fault.Denied if the organization has MaxMembers members, or if u belongs to identity.MaxOrganisations organizations.
// Three round trips.
func (s People) JoinOrganisation(ctx context.Context, org string, u identity.User, grants []grant.Grant) error {
	_, err := s.addMember(ctx, org, u, joining{grants: grants})
	return err
}

// joining holds the grants of a new member, with extra writes and conditions of the same transaction.
type joining struct {
	grants []grant.Grant
	judged *identity.Access // the roles that the grants were evaluated with, or nil
	extra  []table.Write
}

// LimitedOrganisations returns the organizations of a user as a list of identity.MaxOrganisations at most.
func LimitedOrganisations(user string) table.LimitedList {
	return table.LimitedList{PK: identity.MembershipKey(user, "").PK, Noun: "memberships of the user"}
}

// addMember adds u to org and returns false. It writes nothing and returns true if u is a member already.
func (s People) addMember(ctx context.Context, org string, u identity.User, j joining) (already bool, err error) {
	ctx = table.Within(ctx, identity.UserPrefix+u.ID, table.OrgPK(org))
	extra := j.extra
	err = LimitedOrganisations(u.ID).Add(ctx, s.Table, func(take table.Write) error {
		j.extra = append(slices.Clip(extra), take)
		already, err = s.tryAddMember(ctx, org, u, j)
		return err
	})
	return already, err
}

// tryAddMember is one attempt of addMember. Its error is a lost turn (table.IsTurnLost) if another organization was
// joined in the meantime.
func (s People) tryAddMember(ctx context.Context, org string, u identity.User, j joining) (already bool, err error) {
	already, others, err := s.checkRoom(ctx, u.ID, org)
	if err != nil || already {
		return already, err
	}
	m := NewMember(u.ID, u.Email, j.grants, s.Clock.Now())
	m.Name = u.Name
	t := step{members: 1, owners: ownerCount(m)}
	if j.judged != nil {
		t = t.requireRoles(*j.judged, j.grants)
	}
	writes, err := membershipWrites(org, m)
	if err != nil {
		return false, err
	}
	list, err := assignmentWrites(ctx, org, m, nil)
	if err != nil {
		return false, err
	}
	writes = slices.Concat([]table.Write{writes[0], t.countWrite(org), writes[1]}, list, j.extra,
		[]table.Write{CountOrganisations(u.ID, others+1)})
	err = s.Table.Transact(ctx, writes...)
	if table.IsTurnLost(err) {
		return false, err
	}
	if failed, ok := errors.AsType[*table.ConditionError](err); ok {
		if _, already = failed.Old(0); already {
			return true, nil
		}
	}
	return false, t.explainConflict("join "+org+" as "+u.ID, err)
}

// checkRoom reports whether the user belongs to org already, and to how many organizations. It returns fault.Denied if
// the user cannot join another organization.
func (s People) checkRoom(ctx context.Context, user, org string) (already bool, n int, err error) {
	k := identity.MembershipKey(user, "")
	page, err := s.Table.Query(ctx, table.Query{PK: k.PK, Prefix: k.SK, Limit: identity.MaxOrganisations})
	if err != nil {
		return false, 0, fmt.Errorf("list organizations of %s: %w", user, err)
	}
	if slices.ContainsFunc(page.Items, func(it table.Item) bool { return strings.TrimPrefix(it.SK, k.SK) == org }) {
		return true, len(page.Items), nil
	}
	if n = len(page.Items); n >= identity.MaxOrganisations {
		return false, n, fault.New(fault.Denied, "the user belongs to %d organizations, the most that a user can: "+
			"leave one first", n)
	}
	return false, n, nil
}

// CountOrganisations returns the write that stores how many organizations a user belongs to. It fails if the account
// has ended.
func CountOrganisations(user string, n int) table.Write {
	return table.Update(identity.UserKey(user), []table.Change{table.Set("organisations", n)}, table.Exists())
}

// NewMember returns a member that joined now. Each grant gets an ID, so that it can be revoked.
func NewMember(user, email string, grants []grant.Grant, now time.Time) identity.Member {
	grants = slices.Clone(grants)
	for i := range grants {
		if grants[i].Policies = nil; grants[i].ID == "" {
			grants[i].ID = id.New("asgn", now)
		}
	}
	// The first version is the time, so that a user who left and joined again differs from the former member.
	return identity.Member{User: user, Email: email, Grants: grants, Joined: now, Version: now.UnixNano()}
}

// membershipWrites returns the writes that add m to org's members, and org to the user's organizations.
func membershipWrites(org string, m identity.Member) ([]table.Write, error) {
	member, err := table.NewItem(identity.MemberKey(org, m.User), m)
	if err != nil {
		return nil, err
	}
	membership, err := table.NewItem(identity.MembershipKey(m.User, org),
		identity.Membership{Org: org, Joined: m.Joined})
	return []table.Write{table.Put(member, table.Absent()), table.Put(membership)}, err
}

// ReplaceGrants replaces the grants of the member old, as it was read, in one transaction with the extra writes. It
// returns fault.Conflict if the member has changed since, or if the last owner would be demoted. Extra writes may only
// touch org, unless ctx allows more. One round trip.
func (s People) ReplaceGrants(ctx context.Context, org string, old identity.Member, grants []grant.Grant,
	extra ...table.Write,
) error {
	next := old
	next.Grants = NewMember(old.User, old.Email, grants, s.Clock.Now()).Grants
	if err := checkGrantCount(next); err != nil {
		return err
	}
	return s.replaceMember(ctx, org, swap{old, next, step{owners: ownerCount(next) - ownerCount(old)}, extra})
}

// MemberChange is a member as it was read, its new state, and the roles that its new grants were evaluated with.
type MemberChange struct {
	Old, New identity.Member
	Judged   identity.Access
}

// ChangeMember changes the grants and the lock of a member of org, and returns the new state. It returns fault.Conflict
// like ReplaceGrants, and also if the newly granted roles have changed since they were evaluated. One round trip.
func (s People) ChangeMember(ctx context.Context, org string, c MemberChange) (identity.Member, error) {
	var given []grant.Grant
	for _, g := range c.New.Grants {
		if !slices.ContainsFunc(c.Old.Grants, func(o grant.Grant) bool { return o.ID == g.ID && o.Role == g.Role }) {
			given = append(given, g)
		}
	}
	if err := checkGrantCount(c.New); err != nil {
		return c.Old, err
	}
	c.New.Grants = NewMember(c.Old.User, c.Old.Email, c.New.Grants, s.Clock.Now()).Grants
	c.New.Version = c.Old.Version + 1
	t := step{owners: ownerCount(c.New) - ownerCount(c.Old)}.requireRoles(c.Judged, given)
	return c.New, s.replaceMember(ctx, org, swap{old: c.Old, next: c.New, step: t})
}

// checkGrantCount returns an error if m has more grants than a member can have.
func checkGrantCount(m identity.Member) error {
	if len(m.Grants) > identity.MaxGrants {
		return fault.New(fault.Conflict, "%s has %d grants, the most that a member can have: revoke some first",
			m.Email,
			identity.MaxGrants)
	}
	return nil
}

// swap replaces a member's state, and changes the counts by a step.
type swap struct {
	old, next identity.Member
	step      step
	extra     []table.Write
}

func (s People) replaceMember(ctx context.Context, org string, w swap) error {
	w.next.Version = w.old.Version + 1
	put, err := table.PutFields(identity.MemberKey(org, w.old.User), w.next, ifUnchanged(w.old)...)
	if err != nil {
		return err
	}
	list, err := assignmentWrites(ctx, org, w.next, w.old.Grants)
	if err != nil {
		return err
	}
	writes := []table.Write{put}
	if !w.step.isNoop() {
		writes = append(writes, w.step.countWrite(org))
	}
	review, err := AddReview(Review{Org: org, User: w.old.User, Email: w.old.Email, At: s.Clock.Now()})
	if err != nil {
		return err
	}
	err = s.Table.Transact(table.Within(ctx, table.OrgPK(org), ReviewPrefix),
		slices.Concat(writes, list, w.extra, []table.Write{review})...)
	return w.step.explainConflict("change member "+w.old.User+" of "+org, err)
}

// RemoveMember removes the member old, as it was read, from org with all grants. It also deletes an invitation that was
// sent while they joined. It returns fault.Conflict like ReplaceGrants.
func (s People) RemoveMember(ctx context.Context, org string, old identity.Member, extra ...table.Write) error {
	extra = append(slices.Clip(extra), table.Delete(InvitationKey(s.Settings.Pepper, org, old.Email)),
		table.Delete(InvitedKey(s.Settings.Pepper, org, old.Email)))
	return s.removeMember(ctx, org, old, func(ctx context.Context, ws ...table.Write) error {
		return s.Table.Transact(ctx, append(ws, extra...)...)
	})
}

// removeMember removes the member old, as it was read, with all grants. The function commit makes the writes in one
// transaction.
func (s People) removeMember(ctx context.Context, org string, old identity.Member,
	commit func(context.Context, ...table.Write) error,
) error {
	t := step{members: -1, owners: -ownerCount(old)}
	gone := old
	gone.Grants = nil
	list, err := assignmentWrites(ctx, org, gone, old.Grants)
	if err != nil {
		return err
	}
	review, err := AddReview(Review{Org: org, User: old.User, Email: old.Email, Left: true, At: s.Clock.Now()})
	if err != nil {
		return err
	}
	writes := slices.Concat([]table.Write{
		table.Delete(identity.MemberKey(org, old.User), ifUnchanged(old)...), t.countWrite(org),
		table.Delete(identity.MembershipKey(old.User, org)),
	}, list, []table.Write{review})
	ctx = table.Within(ctx, identity.UserPrefix+old.User, table.OrgPK(org), InvitedPrefix, ReviewPrefix)
	return t.explainConflict("remove member "+old.User+" of "+org, commit(ctx, writes...))
}

// ifUnchanged returns the conditions that a member is as it was read.
func ifUnchanged(m identity.Member) []table.Cond {
	if m.Version == 0 { // written before members had versions
		return []table.Cond{table.Exists(), table.Any(table.Lacks("version"), table.Equal("version", 0))}
	}
	return []table.Cond{table.Equal("version", m.Version)}
}
