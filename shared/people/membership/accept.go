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

// acceptTries limits how often one invitation is read again because it, its inviter or the roles changed in the
// meantime.
const acceptTries = 3

// AcceptInvitations makes u, who has just proved their identity, a member of all organizations that have invited their
// address, or of the organization `only` if it is not empty. It skips invitations that are no longer valid. An
// invitation that fails does not keep the others from being accepted. It takes one round trip if there are none.
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
			errs = append(errs, fault.Wrap("accept an invitation to "+p.Org+" by "+u.ID, s.acceptPointer(ctx, u, p)))
		}
	}
	return errors.Join(errs...)
}

func (s People) acceptPointer(ctx context.Context, u identity.User, p pointer) error {
	var err error
	for range acceptTries {
		var o offer
		if o, err = s.readOffer(ctx, u.Email, p); err != nil {
			return err
		}
		if o.ID != p.ID { // it was replaced after p was read, possibly by another inviter: evaluate the new one
			p.ID, p.Inviter, err = o.ID, o.Inviter, errChanged
			continue
		}
		if err = s.acceptOffer(ctx, u, o); !errors.Is(err, errChanged) && !errors.Is(err, errEnded) {
			return err
		}
	}
	return err
}

// offer is an invitation with all records that decide whether it is valid.
type offer struct {
	Invitation
	org     string
	access  identity.Access
	inviter identity.Member
	sponsor identity.User // the inviter's account
}

// readOffer reads the invitation that p points to. Records that do not exist stay zero. One round trip.
func (s People) readOffer(ctx context.Context, address string, p pointer) (offer, error) {
	inv, acc := InvitationKey(s.Settings.Pepper, p.Org, address), identity.AccessKey(p.Org)
	member, profile := identity.MemberKey(p.Org, p.Inviter), identity.UserKey(p.Inviter)
	items, err := s.Table.BatchGet(table.Within(ctx, table.OrgPK(p.Org), profile.PK), inv, acc, member, profile)
	if err != nil {
		return offer{}, fmt.Errorf("read the records of an invitation to %s: %w", p.Org, err)
	}
	o := offer{org: p.Org, Invitation: Invitation{ID: p.ID, Email: address}, access: identity.Access{Ended: true}}
	return o, errors.Join(
		decodeIfPresent(items, inv, &o.Invitation), decodeIfPresent(items, acc, &o.access),
		decodeIfPresent(items, member, &o.inviter), decodeIfPresent(items, profile, &o.sponsor),
	)
}

// decodeIfPresent decodes the item under k into to, if it exists.
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

// isValid reports whether the inviter may still grant the role of the invitation. An inviter who was removed, disabled
// or demoted must not have left a way in. An invitation from before the last restore of the store is not valid, because
// it may have been withdrawn in the lost period.
func (o offer) isValid(epoch time.Time) bool {
	if o.Role == "" || o.Created.Before(epoch) || o.access.Ended || o.inviter.User != o.Inviter || o.inviter.Disabled ||
		o.sponsor.Disabled {
		return false
	}
	policies, ok := PoliciesOfRole(o.access, o.Role)
	c := identity.Caller{Org: o.org, User: o.inviter.User, Grants: o.access.ResolveGrants(o.inviter.Grants)}
	return ok && identity.Allows(c, "users:write") && MayGrant(c, policies, grant.OrgScope) == nil
}

// acceptOffer accepts o, or deletes it if it is not valid. The membership is written on the condition that the records
// of o are unchanged.
func (s People) acceptOffer(ctx context.Context, u identity.User, o offer) error {
	if !o.isValid(s.Settings.Epoch) {
		s.Log.InfoContext(ctx, "an invitation does not hold any more", "org", o.org, "user", u.ID, "inviter", o.Inviter)
		return s.dropOffer(ctx, o)
	}
	already, err := s.addMember(s.withOfferPartitions(ctx, o), o.org, u, joining{
		grants: []grant.Grant{{Role: o.Role, Scope: grant.OrgScope}},
		judged: &o.access,
		extra: append(s.invitationDeletes(o.org, o.Invitation),
			table.Check(identity.MemberKey(o.org, o.Inviter), ifUnchanged(o.inviter)...)),
	})
	switch {
	case already:
		return s.dropOffer(ctx, o)
	case fault.Is(err, fault.Denied): // there is no room now: the invitation stays
		s.Log.WarnContext(ctx, "an invitation cannot be accepted", "org", o.org, "user", u.ID, "why",
			fault.Message(err))
		return nil
	}
	return err
}

// dropOffer deletes an invitation. It keeps a newer one for the same address.
func (s People) dropOffer(ctx context.Context, o offer) error {
	err := s.Table.Transact(s.withOfferPartitions(ctx, o), s.invitationDeletes(o.org, o.Invitation)...)
	if _, gone := errors.AsType[*table.ConditionError](err); gone {
		k := InvitedKey(s.Settings.Pepper, o.org, o.Email)
		_, err = s.Table.Write(s.withOfferPartitions(ctx, o), table.Delete(k, table.Equal("id", o.ID)))
		if _, gone = errors.AsType[*table.ConditionError](err); gone {
			return nil
		}
	}
	return fault.Wrap("end an invitation to "+o.org, err)
}

func (s People) withOfferPartitions(ctx context.Context, o offer) context.Context {
	return table.Within(ctx, InvitedKey(s.Settings.Pepper, o.org, o.Email).PK, table.OrgPK(o.org))
}
