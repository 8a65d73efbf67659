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

// JoinOrganisation makes u a member of org with grants; one who is a member already stays what they are. It is fault.Denied when the
// organization has MaxMembers members, or u belongs to identity.MaxOrganisations organizations. Three round trips.
func (s People) JoinOrganisation(ctx context.Context, org string, u identity.User, grants []grant.Grant) error {
	_, err := s.addMember(ctx, org, u, joining{grants: grants})
	return err
}

// joining is with what a user joins, and what else is written with it or must hold then.
type joining struct {
	grants []grant.Grant
	judged *identity.Access // by which the grants were judged; nil when nothing was
	extra  []table.Write
}

// LimitedOrganisations returns the organizations of a user as a list of identity.MaxOrganisations at most.
func LimitedOrganisations(user string) table.LimitedList {
	return table.LimitedList{PK: identity.MembershipKey(user, "").PK, Noun: "memberships of the user"}
}

// addMember reports whether u was a member already, in which case nothing is written.
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

// tryAddMember is addMember, unless another organization was joined meanwhile: table.IsTurnLost.
func (s People) tryAddMember(ctx context.Context, org string, u identity.User, j joining) (already bool, err error) {
	if already, err = s.room(ctx, u.ID, org); err != nil || already {
		return already, err
	}
	m := NewMember(u.ID, u.Email, j.grants, s.Clock.Now())
	t := step{members: 1, owners: ownerCount(m)}
	if j.judged != nil {
		t = t.demandRoles(*j.judged, j.grants)
	}
	writes, err := membershipWrites(org, m)
	if err != nil {
		return false, err
	}
	list, err := assignmentWrites(ctx, org, m, nil)
	if err != nil {
		return false, err
	}
	writes = slices.Concat([]table.Write{writes[0], t.countWrite(org), writes[1]}, list, j.extra)
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

// room reports whether the user belongs to org already, and refuses one organization too many.
func (s People) room(ctx context.Context, user, org string) (bool, error) {
	k := identity.MembershipKey(user, "")
	page, err := s.Table.Query(ctx, table.Query{PK: k.PK, Prefix: k.SK, Limit: identity.MaxOrganisations})
	if err != nil {
		return false, fmt.Errorf("list organizations of %s: %w", user, err)
	}
	if slices.ContainsFunc(page.Items, func(it table.Item) bool { return strings.TrimPrefix(it.SK, k.SK) == org }) {
		return true, nil
	}
	if n := len(page.Items); n >= identity.MaxOrganisations {
		return false, fault.New(fault.Denied, "the user belongs to %d organizations, and more are not possible", n)
	}
	return false, nil
}

// NewMember returns a member as of now. Each grant gets an id by which it can be revoked.
func NewMember(user, email string, grants []grant.Grant, now time.Time) identity.Member {
	grants = slices.Clone(grants)
	for i := range grants {
		if grants[i].Policies = nil; grants[i].ID == "" {
			grants[i].ID = id.New("asgn", now)
		}
	}
	// It begins with the time so that somebody who left and came back is not taken for who they were.
	return identity.Member{User: user, Email: email, Grants: grants, Joined: now, Version: now.UnixNano()}
}

// membershipWrites returns the writes that put m into org, seen from the organization and from the user.
func membershipWrites(org string, m identity.Member) ([]table.Write, error) {
	member, err := table.NewItem(identity.MemberKey(org, m.User), m)
	if err != nil {
		return nil, err
	}
	membership, err := table.NewItem(identity.MembershipKey(m.User, org),
		identity.Membership{Org: org, Joined: m.Joined})
	return []table.Write{table.Put(member, table.Absent()), table.Put(membership)}, err
}

// ReplaceGrants returns the member old, as it was read, other grants, together with extra writes, all or none. fault.Conflict when
// the member has changed since, or the last owner would go. Extra writes may touch org only, unless ctx allows more. One
// round trip.
func (s People) ReplaceGrants(ctx context.Context, org string, old identity.Member, grants []grant.Grant,
	extra ...table.Write) error {
	next := old
	next.Grants = NewMember(old.User, old.Email, grants, s.Clock.Now()).Grants
	if err := roomFor(next); err != nil {
		return err
	}
	return s.replaceMember(ctx, org, swap{old, next, step{owners: ownerCount(next) - ownerCount(old)}, extra})
}

// MemberChange is a member as it was read, as it shall be, and by which Access its new grants were judged.
type MemberChange struct {
	Old, New identity.Member
	Judged   identity.Access
}

// ChangeMember changes a member of org: what they may do, whether they are locked out. fault.Conflict as of Regrant, and when
// the roles that are given anew have changed since they were judged. It gives the member as they are now. One round trip.
func (s People) ChangeMember(ctx context.Context, org string, c MemberChange) (identity.Member, error) {
	var given []grant.Grant
	for _, g := range c.New.Grants {
		if !slices.ContainsFunc(c.Old.Grants, func(o grant.Grant) bool { return o.ID == g.ID && o.Role == g.Role }) {
			given = append(given, g)
		}
	}
	if err := roomFor(c.New); err != nil {
		return c.Old, err
	}
	c.New.Grants = NewMember(c.Old.User, c.Old.Email, c.New.Grants, s.Clock.Now()).Grants
	c.New.Version = c.Old.Version + 1
	t := step{owners: ownerCount(c.New) - ownerCount(c.Old)}.demandRoles(c.Judged, given)
	return c.New, s.replaceMember(ctx, org, swap{old: c.Old, next: c.New, step: t})
}

// roomFor refuses more grants than a member can have.
func roomFor(m identity.Member) error {
	if len(m.Grants) > identity.MaxGrants {
		return fault.New(fault.Conflict, "%s has %d grants, and more are not possible: revoke some first", m.Email,
			identity.MaxGrants)
	}
	return nil
}

// swap puts a member in place of who they were, and moves the counts by a step.
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

// RemoveMember takes the member old, as it was read, out of org, with all that they may do there and every way back in: an
// invitation that was sent while they joined goes too. fault.Conflict as of Regrant.
func (s People) RemoveMember(ctx context.Context, org string, old identity.Member, extra ...table.Write) error {
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
		table.Delete(InvitationKey(s.Settings.Pepper, org, old.Email)),
		table.Delete(InvitedKey(s.Settings.Pepper, org, old.Email)),
	}, list, extra, []table.Write{review})
	ctx = table.Within(ctx, identity.UserPrefix+old.User, table.OrgPK(org), InvitedPrefix, ReviewPrefix)
	return t.explainConflict("remove member "+old.User+" of "+org, s.Table.Transact(ctx, writes...))
}

// ifUnchanged demands that a member is as it was read.
func ifUnchanged(m identity.Member) []table.Cond {
	if m.Version == 0 { // written before there were versions
		return []table.Cond{table.Exists(), table.Any(table.Lacks("version"), table.Equal("version", 0))}
	}
	return []table.Cond{table.Equal("version", m.Version)}
}
