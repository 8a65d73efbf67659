package membership

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// acceptTries limits how often one invitation is read again because it, its inviter or the roles changed in the
// meantime.
const acceptTries = 3

// AcceptForProvider makes u, whom the identity provider of org has vouched for, a member with the role of org's
// invitation of their address, if there is a valid one. Signing in through an organization's own provider is consent to
// belong to it. It takes one round trip if there is no invitation.
func (s People) AcceptForProvider(ctx context.Context, u identity.User, org string) error {
	k := InvitedKey(s.Settings.Pepper, org, u.Email)
	p, err := table.Read[pointer](table.Within(ctx, k.PK), s.Table, k)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for an invitation of %s to %s: %w", u.ID, org, err)
	}
	for range acceptTries {
		var all []offer
		if all, err = s.readOffers(ctx, u.Email, []pointer{p}); err != nil {
			return err
		}
		o := all[0]
		if o.ID != p.ID { // it was replaced after p was read, possibly by another inviter: evaluate the new one
			p.ID, p.Inviter, err = o.ID, o.Inviter, errChanged
			continue
		}
		if _, err = s.acceptOffer(ctx, u, o); !isStale(err) {
			return err
		}
	}
	return err
}

// isStale reports whether an offer could not be accepted because its records have changed since they were read.
func isStale(err error) bool { return errors.Is(err, errChanged) || errors.Is(err, errEnded) }

// offer is an invitation with all records that decide whether it is valid, and the organization's name.
type offer struct {
	Invitation
	organisation identity.OrganisationRecord
	access       identity.Access
	inviter      identity.Member
	sponsor      identity.User // the inviter's account
	org          string
}

// offersAtOnce is the number of invitations that one round trip reads: five records each, a hundred in all.
const offersAtOnce = 20

// readOffers reads the invitations that pointers lead to, in the same order. Records that do not exist stay zero. One
// round trip for offersAtOnce invitations.
func (s People) readOffers(ctx context.Context, address string, pointers []pointer) ([]offer, error) {
	out := make([]offer, 0, len(pointers))
	for some := range slices.Chunk(pointers, offersAtOnce) {
		offers, err := s.readFewOffers(ctx, address, some)
		if err != nil {
			return nil, err
		}
		out = append(out, offers...)
	}
	return out, nil
}

func (s People) readFewOffers(ctx context.Context, address string, pointers []pointer) ([]offer, error) {
	var keys []table.Key
	var within []string
	for _, p := range pointers {
		keys = append(keys, s.offerKeys(address, p)...)
		within = append(within, table.OrgPK(p.Org), identity.UserPrefix+p.Inviter)
	}
	items, err := s.Table.BatchGet(table.Within(ctx, within...), distinct(keys)...)
	if err != nil {
		return nil, fmt.Errorf("read the records of %d invitations: %w", len(pointers), err)
	}
	out := make([]offer, len(pointers))
	for i, p := range pointers {
		k, o := s.offerKeys(address, p), &out[i]
		*o = offer{org: p.Org, Invitation: Invitation{ID: p.ID, Email: address}, access: identity.Access{Ended: true}}
		if err = errors.Join(
			decodeIfPresent(items, k[0], &o.Invitation), decodeIfPresent(items, k[1], &o.access),
			decodeIfPresent(items, k[2], &o.inviter), decodeIfPresent(items, k[3], &o.sponsor),
			decodeIfPresent(items, k[4], &o.organisation),
		); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// offerKeys returns the keys of an invitation, and of the roles, the inviter as member and as user, and the record of
// its organization.
func (s People) offerKeys(address string, p pointer) []table.Key {
	return []table.Key{
		InvitationKey(s.Settings.Pepper, p.Org, address), identity.AccessKey(p.Org),
		identity.MemberKey(p.Org, p.Inviter), identity.UserKey(p.Inviter), identity.OrganisationKey(p.Org),
	}
}

// distinct returns keys without repetitions. One person may invite an address to several organizations.
func distinct(keys []table.Key) []table.Key {
	seen := make(map[table.Key]bool, len(keys))
	return slices.DeleteFunc(keys, func(k table.Key) bool {
		again := seen[k]
		seen[k] = true
		return again
	})
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
	if o.Role == "" || o.Declined || o.Created.Before(epoch) || o.access.Ended || o.inviter.User != o.Inviter ||
		o.inviter.Disabled || o.sponsor.Disabled {
		return false
	}
	policies, ok := PoliciesOfRole(o.access, o.Role)
	c := identity.Caller{Org: o.org, User: o.inviter.User, Grants: o.access.ResolveGrants(o.inviter.Grants)}
	return ok && identity.Allows(c, "users:write") && MayGrant(c, policies, grant.OrgScope) == nil
}

// acceptOffer makes u a member if o is valid, and reports whether u is one now. The membership is written on the
// condition that the records of o are unchanged. An invitation that is not valid stays: if it vanished, its
// organization would learn that the address has an account.
func (s People) acceptOffer(ctx context.Context, u identity.User, o offer) (bool, error) {
	if !o.isValid(s.Settings.Epoch) {
		return false, nil
	}
	audit.NoteActor(ctx, o.org, u.ID, u.Email)
	already, err := s.addMember(s.withOfferPartitions(ctx, o), o.org, u, joining{
		grants: []grant.Grant{{Role: o.Role, Scope: grant.OrgScope}},
		judged: &o.access,
		extra: append(s.invitationDeletes(o.org, o.Invitation),
			table.Check(identity.MemberKey(o.org, o.Inviter), ifUnchanged(o.inviter)...)),
	})
	if already {
		return true, s.dropOffer(ctx, o)
	}
	return err == nil, err
}

// dropOffer deletes an invitation of a member. It keeps a newer one for the same address.
func (s People) dropOffer(ctx context.Context, o offer) error {
	err := s.Table.Transact(s.withOfferPartitions(ctx, o), s.invitationDeletes(o.org, o.Invitation)...)
	if _, replaced := errors.AsType[*table.ConditionError](err); replaced {
		return nil
	}
	return fault.Wrap("end an invitation to "+o.org, err)
}

func (s People) withOfferPartitions(ctx context.Context, o offer) context.Context {
	return table.Within(ctx, InvitedKey(s.Settings.Pepper, o.org, o.Email).PK, table.OrgPK(o.org))
}
