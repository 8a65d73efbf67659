package notifier

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/receiver"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/membership"
)

// attributeUnclaimed sets the maker of each receiver in an organization that has none, and informs the owners once.
// The maker is the user with the address under which the receiver was made; if that user is not a member any more, the
// receiver is paused. A receiver without an address is attributed to the owner who joined first. It is paused like any
// other when that owner leaves or loses the right.
func (r *reviewer) attributeUnclaimed(ctx context.Context, v membership.Review) error {
	j := &receiver.Judge{Review: v, Table: r.p.Table, Now: r.p.Clock.Now()}
	all, err := r.subjects(ctx, v.Org, j)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(s receiver.Subject) bool { return s.Made.Maker != "" })
	makers, err := r.readMakers(ctx, v.Org, all)
	if err != nil || makers.owner.User == "" { // an organization without an owner is being deleted
		return errors.Join(err, membership.RemoveReview(ctx, r.p.Table, v))
	}
	if lines := makers.linesOf(all); len(lines) > 0 && !v.Told {
		if err = r.tellOwners(ctx, v, lines); err != nil {
			return err
		}
	}
	for i := range all {
		if err = r.attribute(ctx, &all[i], makers); err != nil {
			return err
		}
	}
	return membership.RemoveReview(ctx, r.p.Table, v)
}

// attribute sets the maker of a receiver. It does nothing if a change has set another maker in the meantime.
func (r *reviewer) attribute(ctx context.Context, s *receiver.Subject, makers unclaimedMakers) error {
	m := makers.of(s)
	ws, err := s.Attribute(m.User, m.Email, makers.callers, r.p.Clock.Now())
	if err != nil {
		return err
	}
	err = r.p.Table.Transact(ctx, ws...)
	if _, changed := errors.AsType[*table.ConditionError](err); changed {
		return nil
	}
	return fault.Wrap("name the maker of "+s.Noun+" "+s.ID, err)
}

// unclaimedMakers are the members that receivers without a maker can be attributed to.
type unclaimedMakers struct {
	owner     identity.Member // the first to join among the owners who are not disabled
	byAddress map[string]identity.Member
	callers   membership.Callers
}

// readMakers reads the members that the receivers are attributed to: one round trip for each 1,000 members, and one
// for each hundred makers.
func (r *reviewer) readMakers(ctx context.Context, org string, all []receiver.Subject) (unclaimedMakers, error) {
	out := unclaimedMakers{byAddress: map[string]identity.Member{}}
	for _, s := range all {
		if s.CreatedBy != "" {
			out.byAddress[s.CreatedBy] = identity.Member{}
		}
	}
	var users []string
	q := table.Query{PK: identity.MemberKey(org, "").PK, Limit: table.MaxPage}
	for {
		members, next, err := table.ReadPage[identity.Member](ctx, r.p.Table, q)
		if err != nil {
			return out, fmt.Errorf("read the members of %s: %w", org, err)
		}
		for _, m := range members {
			if out.consider(m) {
				users = append(users, m.User)
			}
		}
		if q.Cursor = next; next == "" {
			break
		}
	}
	var err error
	out.callers, err = membership.ReadCallers(ctx, r.p.Table, org, users...)
	return out, err
}

// consider adds a member who can be a maker, and reports whether it did.
func (u *unclaimedMakers) consider(m identity.Member) bool {
	_, made := u.byAddress[m.Email]
	if made {
		u.byAddress[m.Email] = m
	}
	first := m.Owns() && !m.Disabled && (u.owner.User == "" || m.Joined.Before(u.owner.Joined))
	if first {
		u.owner = m
	}
	return made || first
}

// of returns the future maker of a receiver. It is membership.NoMember if no member has the address of its maker.
func (u *unclaimedMakers) of(s *receiver.Subject) identity.Member {
	switch m := u.byAddress[s.CreatedBy]; {
	case s.CreatedBy == "":
		return u.owner
	case m.User == "":
		return identity.Member{User: membership.NoMember, Email: s.CreatedBy}
	default:
		return m
	}
}

// linesOf returns a line for each receiver whose maker is unknown or not a member any more.
func (u *unclaimedMakers) linesOf(all []receiver.Subject) []string {
	var out []string
	for i := range all {
		s := &all[i]
		switch m := u.of(s); {
		case m.User == membership.NoMember:
			out = append(out, line(s.Noun, s.Name, s.ID,
				"is paused: its maker, "+m.Email+", is no active member of the organization any more"))
		case s.CreatedBy == "":
			out = append(out, line(s.Noun, s.Name, s.ID, "goes on by the right of "+u.owner.Email+
				", because it is not on record who made it: delete it unless you know where it leads"))
		}
	}
	return out
}
