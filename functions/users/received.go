package users

import (
	"context"
	"net/http"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/membership"
)

const (
	receivedPath   = "/invitations"
	invitationPath = receivedPath + "/{invitationID}"
)

func (s service) receivedOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "listInvitations", Method: http.MethodGet, Path: receivedPath, SignedIn: true,
		Statuses: []int{http.StatusBadRequest}, Summary: "List the caller's invitations",
		Description: "Organizations that have invited the caller's address, those that end first first. A caller " +
			"without an organization has them too: log in, accept, then POST /auth/refresh with the organization's " +
			"id as tenantID. A session of single sign-on sees none, because it works in one organization only.",
	}, s.listInvitations)
	rest.Handle(g, rest.Op{
		ID: "acceptInvitation", Method: http.MethodPost, Path: invitationPath + "/accept", SignedIn: true,
		Session: true, Statuses: []int{http.StatusForbidden, http.StatusNotFound, http.StatusConflict},
		Summary: "Accept an invitation",
		Description: "Makes the caller a member with the role of the invitation, and shows the organization's " +
			"members the caller's name. Before, they learn nothing, not even whether the address has an account. " +
			"The organization that the caller works in by default stays the one that they made or joined first. " +
			"404: it has ended, was withdrawn or changed, or its inviter may not give the role any more. 403: the " +
			"organization is full, or the caller belongs to 200; or the session is one of single sign-on.",
	}, s.acceptInvitation)
	rest.Handle(g, rest.Op{
		ID: "declineInvitation", Method: http.MethodPost, Path: invitationPath + "/decline", SignedIn: true,
		Session: true, Statuses: []int{http.StatusForbidden, http.StatusNotFound},
		Summary: "Decline an invitation",
		Description: "It is gone for the caller. The organization is not told, and sees the invitation until it " +
			"ends by itself: a decline does not show that the address has an account.",
	}, s.declineInvitation)
}

// ReceivedInvitation is an invitation as the invited person sees it.
type ReceivedInvitation struct {
	ID           string               `json:"id" example:"inv_01k8z3v5y0e6m9x2q4t7r1c8bd"`
	Organisation InvitingOrganisation `json:"organisation"`
	Role         string               `json:"role" doc:"The name of a system role, or the id of one of the organization's" example:"viewer"`
	RoleName     string               `json:"roleName" example:"viewer"`
	InvitedBy    string               `json:"invitedBy" doc:"The inviter's address" example:"ada@example.com"`
	ExpiresAt    time.Time            `json:"expiresAt" doc:"It can be accepted until then"`
}

// InvitingOrganisation is the organization of an invitation.
type InvitingOrganisation struct {
	ID   string `json:"id" doc:"Send it as tenantID after accepting"`
	Name string `json:"name" doc:"Name of the organization"`
}

func newReceivedInvitation(r membership.Received) ReceivedInvitation {
	return ReceivedInvitation{
		r.ID, InvitingOrganisation{r.Organisation.ID, r.Organisation.Name}, r.Role, r.RoleName, r.InvitedBy, r.Expires,
	}
}

// listInvitations takes three round trips for 20 invitations.
func (s service) listInvitations(ctx context.Context, in *struct{ rest.Page }) (rest.List[ReceivedInvitation], error) {
	if identity.CallerFrom(ctx).SSO {
		return rest.PageOf[ReceivedInvitation](nil, in.Page), nil
	}
	u, err := s.readCaller(ctx)
	if err != nil {
		return rest.List[ReceivedInvitation]{}, err
	}
	all, err := s.ListReceived(ctx, u)
	return rest.MapItems(rest.PageOf(all, in.Page), newReceivedInvitation), err
}

// readCaller reads the caller's account.
func (s service) readCaller(ctx context.Context) (identity.User, error) {
	k := identity.UserKey(identity.CallerFrom(ctx).User)
	u, err := table.Read[identity.User](table.Within(ctx, k.PK), s.Table, k)
	return u, fault.Wrap("read one's own account", err)
}

// InvitationInput names an invitation of the caller.
type InvitationInput struct {
	InvitationID string `path:"invitationID" maxLength:"64"`
}

// findReceived returns the caller's account and their invitation. The audit row of the request does not go into the log
// of the organization that the caller works in.
func (s service) findReceived(ctx context.Context, in *InvitationInput) (identity.User, membership.Received, error) {
	audit.NotePersonal(ctx)
	if identity.CallerFrom(ctx).SSO {
		return identity.User{}, membership.Received{}, fault.New(fault.Denied,
			"permission denied: a session of single sign-on works in its organization only; log in with your "+
				"password, Google or GitHub to answer invitations")
	}
	u, err := s.readCaller(ctx)
	if err != nil {
		return u, membership.Received{}, err
	}
	r, err := s.FindReceived(ctx, u, in.InvitationID)
	return u, r, err
}

func (s service) acceptInvitation(ctx context.Context, in *InvitationInput) (ReceivedInvitation, error) {
	u, r, err := s.findReceived(ctx, in)
	if err != nil {
		return ReceivedInvitation{}, err
	}
	out := newReceivedInvitation(r)
	audit.NoteChange(ctx, audit.Change{Target: u.Email, After: out})
	return out, s.AcceptReceived(ctx, u, r)
}

func (s service) declineInvitation(ctx context.Context, in *InvitationInput) (ReceivedInvitation, error) {
	_, r, err := s.findReceived(ctx, in)
	if err != nil {
		return ReceivedInvitation{}, err
	}
	out := newReceivedInvitation(r)
	audit.NoteChange(ctx, audit.Change{Target: r.ID, Before: out})
	return out, s.DeclineReceived(ctx, r)
}
