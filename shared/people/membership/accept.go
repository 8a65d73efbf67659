package membership

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// acceptTries bounds how often one invitation is looked at again because it, its inviter or the roles changed meanwhile.
const acceptTries = 3

// AcceptInvitations makes u, who has just proved to be u, a member of the organizations that have invited the address; of only that
// one when only is not "". An invitation that does not hold any more goes without effect. One round trip when there is
// none; one that fails does not keep the others from being accepted.
func (s People) AcceptInvitations(ctx context.Context, u identity.User, only string) error {
	if !u.Verified || u.Disabled {
		return nil
	}
	k := InvitedKey(s.Settings.Pepper, "", u.Email)
	page, err := s.Table.Query(table.Within(ctx, k.PK), table.Query{PK: k.PK, Limit: identity.MaxOrganisations})
	if err != nil {
		return fmt.Errorf("look for invitations of %s: %w", u.ID, err)
	}
	waiting, err := table.DecodeAll[pointer](page.Items)
	if err != nil {
		return err
	}
	var errs []error
	for _, p := range waiting {
		if only == "" || only == p.Org {
			errs = append(errs, fault.Wrap("accept an invitation to "+p.Org+" by "+u.ID, s.accept(ctx, u, p)))
		}
	}
	return errors.Join(errs...)
}

func (s People) accept(ctx context.Context, u identity.User, p pointer) error {
	var err error
	for range acceptTries {
		var o offer
		if o, err = s.offer(ctx, u.Email, p); err != nil {
			return err
		}
		if o.ID != p.ID { // it was replaced after p was read, maybe by another inviter: judge that one
			p.ID, p.Inviter, err = o.ID, o.Inviter, errChanged
			continue
		}
		if err = s.take(ctx, u, o); !errors.Is(err, errChanged) && !errors.Is(err, errEnded) {
			return err
		}
	}
	return err
}

// offer is an invitation with all that decides whether it holds.
type offer struct {
	Invitation
	org     string
	access  identity.Access
	inviter identity.Member
	sponsor identity.User // the inviter's account
}

// offer reads the invitation that p points to. What is gone stays zero. One round trip.
func (s People) offer(ctx context.Context, address string, p pointer) (offer, error) {
	inv, acc := InvitationKey(s.Settings.Pepper, p.Org, address), identity.AccessKey(p.Org)
	member, profile := identity.MemberKey(p.Org, p.Inviter), identity.UserKey(p.Inviter)
	items, err := s.Table.BatchGet(table.Within(ctx, table.OrgPK(p.Org), profile.PK), inv, acc, member, profile)
	if err != nil {
		return offer{}, fmt.Errorf("read what an invitation to %s hangs on: %w", p.Org, err)
	}
	o := offer{org: p.Org, Invitation: Invitation{ID: p.ID, Email: address}, access: identity.Access{Ended: true}}
	return o, errors.Join(
		decodeIfPresent(items, inv, &o.Invitation), decodeIfPresent(items, acc, &o.access),
		decodeIfPresent(items, member, &o.inviter), decodeIfPresent(items, profile, &o.sponsor),
	)
}

// decodeIfPresent reads the item under k into to, if it is there.
func decodeIfPresent[T any](items map[table.Key]table.Item, k table.Key, to *T) error {
	it, ok := items[k]
	if !ok {
		return nil
	}
	v, err := table.Decode[T](it)
	if err == nil {
		*to = v
	}
	return err
}

// holds reports whether the inviter may give now what they promised then. Who was removed, locked out or demoted must not
// have left a way in, and what was promised before the store was restored may have been withdrawn since.
func (o offer) holds(epoch time.Time) bool {
	if o.Role == "" || o.Created.Before(epoch) || o.access.Ended || o.inviter.User != o.Inviter || o.inviter.Disabled ||
		o.sponsor.Disabled {
		return false
	}
	policies, ok := PoliciesOfRole(o.access, o.Role)
	c := identity.Caller{Org: o.org, User: o.inviter.User, Grants: o.access.ResolveGrants(o.inviter.Grants)}
	return ok && identity.Allows(c, "users:write") && MayGrant(c, policies, grant.OrgScope) == nil
}

// take accepts o, or ends it when it does not hold. What was judged must still be so when the membership is written.
func (s People) take(ctx context.Context, u identity.User, o offer) error {
	if !o.holds(s.Settings.Epoch) {
		s.Log.InfoContext(ctx, "an invitation does not hold any more", "org", o.org, "user", u.ID, "inviter", o.Inviter)
		return s.drop(ctx, o)
	}
	already, err := s.addMember(s.reach(ctx, o), o.org, u, joining{
		grants: []grant.Grant{{Role: o.Role, Scope: grant.OrgScope}},
		judged: &o.access,
		extra: append(s.invitationDeletes(o.org, o.Invitation),
			table.Check(identity.MemberKey(o.org, o.Inviter), ifUnchanged(o.inviter)...)),
	})
	switch {
	case already:
		return s.drop(ctx, o)
	case fault.Is(err, fault.Denied): // no room now: the invitation goes on waiting
		s.Log.WarnContext(ctx, "an invitation cannot be accepted", "org", o.org, "user", u.ID, "why",
			fault.Message(err))
		return nil
	}
	return err
}

// drop ends an invitation without effect; what has replaced it meanwhile stays.
func (s People) drop(ctx context.Context, o offer) error {
	err := s.Table.Transact(s.reach(ctx, o), s.invitationDeletes(o.org, o.Invitation)...)
	if _, gone := errors.AsType[*table.ConditionError](err); gone {
		k := InvitedKey(s.Settings.Pepper, o.org, o.Email)
		_, err = s.Table.Write(s.reach(ctx, o), table.Delete(k, table.Equal("id", o.ID)))
		if _, gone = errors.AsType[*table.ConditionError](err); gone {
			return nil
		}
	}
	return fault.Wrap("end an invitation to "+o.org, err)
}

func (s People) reach(ctx context.Context, o offer) context.Context {
	return table.Within(ctx, InvitedKey(s.Settings.Pepper, o.org, o.Email).PK, table.OrgPK(o.org))
}
