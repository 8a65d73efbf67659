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
	// MaxInvitations is how many invitations of an organization can wait at the same time.
	MaxInvitations = 500
	// InvitedPrefix begins the partitions that tell which organizations wait for an address.
	InvitedPrefix = "INVITED#"
)

// Invitation waits for somebody to prove an address, by logging in with it. Whoever does becomes a member with Role,
// unless the inviter may not give that any more.
type Invitation struct {
	ID      string    `json:"id"` // another one with each change: what is accepted is what was read
	Email   string    `json:"email"`
	Name    string    `json:"name"`
	Role    string    `json:"role"`
	Inviter string    `json:"inviter"` // usr_…, who gives the role
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires"`
}

// pointer is what an address's own partition says of an invitation.
type pointer struct {
	ID      string `json:"id"`
	Org     string `json:"org"`
	Inviter string `json:"inviter"`
}

// InvitationKey returns where an organization's invitation of an address is.
func InvitationKey(pepper []byte, org, address string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "INVITE", SK: identity.Digest(pepper, "invitation", address)}
}

// InvitedKey returns where the address's side of the same is. The address itself is in neither key.
func InvitedKey(pepper []byte, org, address string) table.Key {
	return table.Key{PK: InvitedPrefix + identity.Digest(pepper, "invitation", address), SK: org}
}

// LimitedInvitations returns the invitations of an organization as a list of MaxInvitations at most.
func LimitedInvitations(org string) table.LimitedList {
	return table.LimitedList{PK: identity.AccessKey(org).PK, Noun: "invitations"}
}

// ListInvitations lists what waits in org, in the order of the addresses. One round trip.
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

// ReadInvitation reads the one of an address; fault.NotFound, worded as of Find, when there is none. One round trip.
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

// StoreInvitation stores inv, valid from now, in place of old as it was read (the zero Invitation when there was none), together
// with extra writes: the mail, for one. fault.Conflict when old has changed since. One round trip.
func (s People) StoreInvitation(ctx context.Context, org string, old, inv Invitation, extra ...table.Write) (Invitation,
	error) {
	now := s.Clock.Now()
	inv.ID, inv.Created, inv.Expires = id.New("inv", now), now, now.Add(InvitationTTL)
	return s.keep(ctx, org, old, inv, extra...)
}

// AmendInvitation stores inv in place of old, as it was read. How long it is valid stays.
func (s People) AmendInvitation(ctx context.Context, org string, old, inv Invitation) (Invitation, error) {
	inv.ID = id.New("inv", s.Clock.Now())
	return s.keep(ctx, org, old, inv)
}

func (s People) keep(ctx context.Context, org string, old, inv Invitation, extra ...table.Write) (Invitation, error) { //nolint:revive // a change is from one to another
	cond := table.Absent()
	if old.ID != "" {
		cond = table.Equal("id", old.ID)
	}
	own, invited := InvitationKey(s.Settings.Pepper, org, inv.Email), InvitedKey(s.Settings.Pepper, org, inv.Email)
	put, err := table.PutFields(own, inv, cond)
	if err != nil {
		return inv, err
	}
	pointing, err := table.PutFields(invited, pointer{inv.ID, org, inv.Inviter})
	if err != nil {
		return inv, err
	}
	put.Changes = append(put.Changes, table.Expire(inv.Expires))
	pointing.Changes = append(pointing.Changes, table.Expire(inv.Expires))
	t := step{}
	writes := append([]table.Write{put, t.countWrite(org), pointing}, extra...)
	err = s.Table.Transact(table.Within(ctx, own.PK, invited.PK, table.OrgPK(org)), writes...)
	return inv, invitationFailed("invite to "+org, err)
}

// invitationFailed explains a transaction whose first write is an invitation's and whose second checks that the
// organization lives.
func invitationFailed(op string, err error) error {
	failed, ok := errors.AsType[*table.ConditionError](err)
	if !ok || table.IsTurnLost(err) {
		return fault.Wrap(op, err)
	}
	if it, of := failed.Old(1); of {
		return step{}.refusal(it)
	}
	return fault.New(fault.Conflict,
		"the invitation was changed or accepted at the same time: read it again, then repeat")
}

// WithdrawInvitation ends the invitation inv, as it was read. One round trip.
func (s People) WithdrawInvitation(ctx context.Context, org string, inv Invitation) error {
	writes := s.invitationDeletes(org, inv)
	ctx = table.Within(ctx, writes[0].Item.PK, writes[1].Item.PK)
	err := s.Table.Transact(ctx, writes...)
	if _, changed := errors.AsType[*table.ConditionError](err); changed {
		return invitationFailed("", err)
	}
	return fault.Wrap("withdraw an invitation of "+org, err)
}

// invitationDeletes returns the writes that end inv, on condition that it is as it was read.
func (s People) invitationDeletes(org string, inv Invitation) []table.Write {
	own, invited := InvitationKey(s.Settings.Pepper, org, inv.Email), InvitedKey(s.Settings.Pepper, org, inv.Email)
	return []table.Write{
		table.Delete(own, table.Equal("id", inv.ID)),
		table.Delete(invited, table.Any(table.Absent(), table.Equal("id", inv.ID))),
	}
}
