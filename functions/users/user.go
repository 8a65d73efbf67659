package users

import (
	"context"
	"fmt"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/membership"
)

// These are the statuses of a user in an organization.
const (
	active   = "active"
	disabled = "disabled"
	invited  = "invited"
)

// User is a member of the organization, or an invited person.
type User struct {
	Email         string     `json:"email" doc:"The address; it names the user in paths" example:"ada@example.com"`
	Name          string     `json:"name" doc:"The user's name"`
	Status        string     `json:"status" enum:"active,disabled,invited" doc:"disabled: kept out of this organization"`
	Roles         []HeldRole `json:"roles" doc:"The user's roles; for an invited person the promised role"`
	EmailVerified bool       `json:"emailVerified" doc:"They have proved to read mails to the address"`
	JoinedAt      *time.Time `json:"joinedAt" doc:"Null while invited"`
	InvitedAt     *time.Time `json:"invitedAt" doc:"When the newest invitation was sent; null for members"`
	ExpiresAt     *time.Time `json:"expiresAt" doc:"When the invitation ends; null for members"`
}

// HeldRole is a role that a user has on a scope.
type HeldRole struct {
	RoleID       string  `json:"roleID" doc:"The name of a system role, or the id of one of the organization's" example:"viewer"`
	Scope        string  `json:"scope" doc:"org, team:<id> or resource:<id>" example:"org"`
	AssignmentID *string `json:"assignmentID" doc:"The id for revoking it; null while invited"`
}

// newMemberUser returns the client's view of a member.
func newMemberUser(u identity.User, m identity.Member) User {
	out := User{
		Email: m.Email, Name: u.Name, Status: active, Roles: []HeldRole{}, EmailVerified: u.Verified,
		JoinedAt: &m.Joined,
	}
	if m.Disabled {
		out.Status = disabled
	}
	for _, g := range m.Grants {
		out.Roles = append(out.Roles, HeldRole{RoleID: g.Role, Scope: g.Scope, AssignmentID: rest.Optional(g.ID)})
	}
	return out
}

// newInvitedUser returns the client's view of an invited person.
func newInvitedUser(inv membership.Invitation) User {
	return User{
		Email: inv.Email, Name: inv.Name, Status: invited, Roles: []HeldRole{{RoleID: inv.Role, Scope: grant.OrgScope}},
		InvitedAt: &inv.Created, ExpiresAt: &inv.Expires,
	}
}

// EmailInput names the user of a request. It is exported because the framework ignores unexported embedded structs.
type EmailInput struct {
	Email string `path:"email" maxLength:"1024" doc:"The address" example:"ada@example.com"`
}

// found is a user of the organization: a member or an invited person.
type found struct {
	user       identity.User
	member     identity.Member
	invitation membership.Invitation // its ID is empty for a member
}

func (f found) userRecord() User {
	if f.invitation.ID != "" {
		return newInvitedUser(f.invitation)
	}
	return newMemberUser(f.user, f.member)
}

// findUser returns the user with an address. The error is fault.NotFound if the organization has no such user. It
// takes two round trips for a member, else three.
func (s service) findUser(ctx context.Context, email string) (found, error) {
	u, m, err := s.FindMember(ctx, identity.CallerOrg(ctx), email)
	if !fault.Is(err, fault.NotFound) {
		return found{user: u, member: m}, err
	}
	inv, err := s.ReadInvitation(ctx, identity.CallerOrg(ctx), email)
	return found{invitation: inv}, err
}

func (s service) getUser(ctx context.Context, in *EmailInput) (User, error) {
	f, err := s.findUser(ctx, in.Email)
	if err != nil {
		return User{}, err
	}
	return f.userRecord(), nil
}

// readAccess reads the organization's roles.
func (s service) readAccess(ctx context.Context) (identity.Access, error) {
	a, err := table.Read[identity.Access](ctx, s.Table, identity.AccessKey(identity.CallerOrg(ctx)))
	if err != nil {
		return a, fmt.Errorf("read roles of %s: %w", identity.CallerOrg(ctx), err)
	}
	return a, nil
}

// mayGive refuses a role that does not exist, and one that permits more than the caller may.
func mayGive(ctx context.Context, a identity.Access, role string) error {
	policies, ok := membership.PoliciesOfRole(a, role)
	if !ok {
		return fault.New(fault.Invalid, "role: there is no role %.64q; GET /roles lists them", role)
	}
	return membership.MayGrant(identity.CallerFrom(ctx), policies, grant.OrgScope)
}

// mayTouch refuses to change an invitation to a role that permits more than the caller may.
func mayTouch(ctx context.Context, a identity.Access, inv membership.Invitation) error {
	if inv.ID == "" {
		return nil
	}
	m := identity.Member{Email: inv.Email, Grants: []grant.Grant{{Role: inv.Role, Scope: grant.OrgScope}}}
	return membership.MayChange(identity.CallerFrom(ctx), a, m)
}
