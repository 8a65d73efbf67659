package membership

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// MaxReceived is how many pending invitations of one address are read. The limit of invitations to an address per day,
// over seven days, keeps their number below it.
const MaxReceived = 500

// Received is a pending invitation as the invited person sees it.
type Received struct {
	Invitation
	Organisation identity.Organisation
	RoleName     string
	InvitedBy    string // the inviter's address
	offer        offer
}

func newReceived(o offer) Received {
	role, _ := o.access.FindRole(o.Role)
	return Received{o.Invitation, o.organisation.Organisation, role.Name, o.inviter.Email, o}
}

// ListReceived lists the valid invitations of u's address, those that end first first. An address that is not verified
// has none. Two round trips for 20 invitations, and one more for each further 20.
func (s People) ListReceived(ctx context.Context, u identity.User) ([]Received, error) {
	pointers, err := s.listPointers(ctx, u)
	if err != nil {
		return nil, err
	}
	offers, err := s.readOffers(ctx, u.Email, pointers)
	if err != nil {
		return nil, err
	}
	var out []Received
	for i, o := range offers {
		if o.ID == pointers[i].ID && o.isValid(s.Settings.Epoch) {
			out = append(out, newReceived(o))
		}
	}
	slices.SortFunc(out, func(a, b Received) int {
		return cmp.Or(a.Expires.Compare(b.Expires), cmp.Compare(a.ID, b.ID))
	})
	return out, nil
}

// listPointers reads the pointers to the invitations of u's address. One round trip.
func (s People) listPointers(ctx context.Context, u identity.User) ([]pointer, error) {
	if !u.Verified || u.Disabled {
		return nil, nil
	}
	pk := InvitedKey(s.Settings.Pepper, "", u.Email).PK
	page, err := s.Table.Query(table.Within(ctx, pk), table.Query{PK: pk, Limit: MaxReceived})
	if err != nil {
		return nil, fmt.Errorf("look for invitations of %s: %w", u.ID, err)
	}
	return table.DecodeAll[pointer](page.Items)
}

// FindReceived returns the valid invitation of u's address with an ID, or fault.NotFound. Two round trips.
func (s People) FindReceived(ctx context.Context, u identity.User, invitationID string) (Received, error) {
	pointers, err := s.listPointers(ctx, u)
	if err != nil {
		return Received{}, err
	}
	for _, p := range pointers {
		if p.ID != invitationID {
			continue
		}
		offers, err := s.readOffers(ctx, u.Email, []pointer{p})
		if err != nil {
			return Received{}, err
		}
		if o := offers[0]; o.ID == invitationID && o.isValid(s.Settings.Epoch) {
			return newReceived(o), nil
		}
	}
	return Received{}, errNoInvitation(invitationID)
}

func errNoInvitation(invitationID string) error {
	return fault.New(fault.NotFound, "invitation %.64q does not exist: it has ended, was withdrawn or changed, or was "+
		"answered; GET /invitations lists yours", invitationID)
}

// AcceptReceived makes u a member with the role of the invitation r, as it was read. It returns fault.NotFound if r is
// not valid any more or was changed, so that u gets no other role than the one that they saw, and fault.Denied if the
// organization or u's list of organizations is full.
func (s People) AcceptReceived(ctx context.Context, u identity.User, r Received) error {
	o, err := r.offer, error(nil)
	for range acceptTries {
		var member bool
		if member, err = s.acceptOffer(ctx, u, o); err == nil && !member {
			err = errNoInvitation(r.ID)
		}
		if !isStale(err) {
			return err
		}
		offers, failed := s.readOffers(ctx, u.Email, []pointer{{r.ID, o.org, o.Inviter}})
		if failed != nil {
			return failed
		}
		if o = offers[0]; o.ID != r.ID {
			return errNoInvitation(r.ID)
		}
	}
	return err
}

// DeclineReceived ends the invitation r for the invited person. For its organization it stays as it is until it ends:
// its inviter does not learn whether the address has an account. It returns fault.NotFound if r was changed since it
// was read. One round trip.
func (s People) DeclineReceived(ctx context.Context, r Received) error {
	k := s.invitationDeletes(r.offer.org, r.Invitation)
	err := s.Table.Transact(s.withOfferPartitions(ctx, r.offer),
		table.Update(k[0].Item.Key, []table.Change{
			table.Set("declined", true), table.Set("id", id.New("inv", s.Clock.Now())),
		}, table.Equal("id", r.ID)), k[1])
	if _, changed := errors.AsType[*table.ConditionError](err); changed {
		return errNoInvitation(r.ID)
	}
	return fault.Wrap("decline an invitation to "+r.offer.org, err)
}
