package membership

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

const (
	// InvitationTTL is how long an invitation can be accepted.
	InvitationTTL = 7 * 24 * time.Hour
	// MaxInvitations is how many pending invitations an organization can have.
	MaxInvitations = 500
	// InvitedPrefix is the prefix of the partitions that list the organizations that have invited an address.
	InvitedPrefix = "INVITED#"
)

// Invitation is pending until a user with its address, which they have verified, accepts it. The user becomes a member
// with Role, unless the inviter may no longer grant that role.
type Invitation struct {
	ID      string    `json:"id"` // changes with each change of the invitation, so that a stale one is not accepted
	Email   string    `json:"email"`
	Name    string    `json:"name"`
	Role    string    `json:"role"`
	Inviter string    `json:"inviter"` // ID of the user who gives the role
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires"`
	// The invited person has declined. The organization does not learn that, and shows the invitation until it ends.
	Declined bool `json:"declined,omitempty"`
}

// pointer is an invitation in the partition of the invited address.
type pointer struct {
	ID      string `json:"id"`
	Org     string `json:"org"`
	Inviter string `json:"inviter"`
}

// InvitationKey returns the key of an organization's invitation of an address.
func InvitationKey(pepper []byte, org, address string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "INVITE", SK: identity.Digest(pepper, "invitation", address)}
}

// InvitedKey returns the key of the same invitation in the partition of the address. Neither key contains the address.
func InvitedKey(pepper []byte, org, address string) table.Key {
	return table.Key{PK: InvitedPrefix + identity.Digest(pepper, "invitation", address), SK: org}
}

// LimitedInvitations returns the invitations of an organization as a list of MaxInvitations at most.
func LimitedInvitations(org string) table.LimitedList {
	return table.LimitedList{PK: identity.AccessKey(org).PK, Noun: "invitations"}
}

// ListInvitations lists the pending invitations of org, sorted by address. One round trip.
func (s People) ListInvitations(ctx context.Context, org string) ([]Invitation, error) {
	pk := InvitationKey(nil, org, "").PK
	page, err := s.Table.Query(table.Within(ctx, pk), table.Query{PK: pk, Limit: MaxInvitations})
	if err != nil {
		return nil, fmt.Errorf("list invitations of %s: %w", org, err)
	}
	out, err := table.DecodeAll[Invitation](page.Items)
	slices.SortFunc(out, func(a, b Invitation) int { return strings.Compare(a.Email, b.Email) })
	return out, err
}

// ReadInvitation reads the invitation of an address. If there is none, it returns the same fault.NotFound as
// FindMember. One round trip.
func (s People) ReadInvitation(ctx context.Context, org, email string) (Invitation, error) {
	address, err := identity.NormalizeAddress(email)
	if err != nil {
		return Invitation{}, errNoSuchMember(email)
	}
	k := InvitationKey(s.Settings.Pepper, org, address)
	inv, err := table.Read[Invitation](table.Within(ctx, k.PK), s.Table, k)
	if fault.Is(err, fault.NotFound) {
		return inv, errNoSuchMember(address)
	}
	return inv, fault.Wrap("read an invitation of "+org, err)
}

// StoreInvitation stores inv, valid from now, in place of old as it was read, with extra writes such as its mail. The
// zero old means that there was none. It returns fault.Conflict if old has changed since. One round trip.
func (s People) StoreInvitation(ctx context.Context, org string, old, inv Invitation, extra ...table.Write) (Invitation,
	error,
) {
	now := s.Clock.Now()
	inv.ID, inv.Created, inv.Expires, inv.Declined = id.New("inv", now), now, now.Add(InvitationTTL), false
	return s.replaceInvitation(ctx, org, invitationChange{old, inv}, extra...)
}

// AmendInvitation stores inv in place of old, as it was read, with the same expiry. A declined invitation stays
// declined.
func (s People) AmendInvitation(ctx context.Context, org string, old, inv Invitation) (Invitation, error) {
	inv.ID = id.New("inv", s.Clock.Now())
	return s.replaceInvitation(ctx, org, invitationChange{old, inv})
}

// invitationChange is an invitation as it was read, and its new state. The zero old means that there was none.
type invitationChange struct{ old, next Invitation }

// replaceInvitation writes an invitation in the partition of its organization and, unless it is declined, in that of
// its address, with the extra writes.
func (s People) replaceInvitation(ctx context.Context, org string, c invitationChange,
	extra ...table.Write) (Invitation,
	error,
) {
	inv, cond := c.next, table.Absent()
	if c.old.ID != "" {
		cond = table.Equal("id", c.old.ID)
	}
	own, invited := InvitationKey(s.Settings.Pepper, org, inv.Email), InvitedKey(s.Settings.Pepper, org, inv.Email)
	put, err := table.PutFields(own, inv, cond)
	if err != nil {
		return inv, err
	}
	put.Changes = append(put.Changes, table.Expire(inv.Expires))
	writes := []table.Write{put, step{}.countWrite(org)}
	if !inv.Declined {
		pointing, err := table.PutFields(invited, pointer{inv.ID, org, inv.Inviter})
		if err != nil {
			return inv, err
		}
		pointing.Changes = append(pointing.Changes, table.Expire(inv.Expires))
		writes = append(writes, pointing)
	}
	err = s.Table.Transact(table.Within(ctx, own.PK, invited.PK, table.OrgPK(org)), append(writes, extra...)...)
	return inv, invitationFailed("invite to "+org, err)
}

// invitationFailed returns the error for clients of a transaction whose first write is an invitation's and whose second
// checks that the organization has not ended.
func invitationFailed(op string, err error) error {
	failed, ok := errors.AsType[*table.ConditionError](err)
	if !ok || table.IsTurnLost(err) {
		return fault.Wrap(op, err)
	}
	if it, of := failed.Old(1); of {
		return step{}.explainRefusal(it)
	}
	return fault.New(fault.Conflict,
		"the invitation was changed or accepted at the same time: read it again, then repeat")
}

// WithdrawInvitation deletes the invitation inv, as it was read. One round trip.
func (s People) WithdrawInvitation(ctx context.Context, org string, inv Invitation) error {
	writes := s.invitationDeletes(org, inv)
	ctx = table.Within(ctx, writes[0].Item.PK, writes[1].Item.PK)
	err := s.Table.Transact(ctx, writes...)
	if _, changed := errors.AsType[*table.ConditionError](err); changed {
		return invitationFailed("", err)
	}
	return fault.Wrap("withdraw an invitation of "+org, err)
}

// invitationDeletes returns the writes that delete inv, on the condition that it is unchanged.
func (s People) invitationDeletes(org string, inv Invitation) []table.Write {
	own, invited := InvitationKey(s.Settings.Pepper, org, inv.Email), InvitedKey(s.Settings.Pepper, org, inv.Email)
	return []table.Write{
		table.Delete(own, table.Equal("id", inv.ID)),
		table.Delete(invited, table.Any(table.Absent(), table.Equal("id", inv.ID))),
	}
}
