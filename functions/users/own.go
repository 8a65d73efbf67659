package users

import (
	"context"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/displayname"
	"lamplighter.dev/shared/foundation/fault"
)

// Profile is the caller's own account.
type Profile struct {
	ID            string    `json:"id" doc:"The account" example:"usr_01k8z3v5y0e6m9x2q4t7r1c8bd"`
	Email         string    `json:"email" doc:"Its address" example:"ada@example.com"`
	Name          string    `json:"name" doc:"The user's name"`
	EmailVerified bool      `json:"emailVerified" doc:"They have proved to read mails to the address"`
	CreatedAt     time.Time `json:"createdAt" doc:"When it was made"`
	UpdatedAt     time.Time `json:"updatedAt" doc:"When it was changed last"`
	SecondFactor  bool      `json:"secondFactor" doc:"Whether a second factor is set up (GET /auth/mfa)"`
}

func showProfile(u identity.User) Profile {
	return Profile{
		ID: u.ID, Email: u.Email, Name: u.Name, EmailVerified: u.Verified, CreatedAt: u.Created,
		UpdatedAt: u.Updated, SecondFactor: u.HasSecondFactor(),
	}
}

func (s service) getProfile(ctx context.Context, _ *struct{}) (Profile, error) {
	k := identity.UserKey(identity.CallerFrom(ctx).User)
	u, err := table.Read[identity.User](table.Within(ctx, k.PK), s.Table, k)
	if err != nil {
		return Profile{}, fault.Wrap("read one's own profile", err)
	}
	return showProfile(u), nil
}

// ChangedProfile is the body of PATCH /users/me.
type ChangedProfile struct {
	Name rest.Patch[string] `json:"name,omitzero" minLength:"1" maxLength:"100" doc:"The new name"`
}

type renameInput struct{ Body ChangedProfile }

func (s service) updateProfile(ctx context.Context, in *renameInput) (Profile, error) {
	if in.Body.Name.Null {
		return Profile{}, fault.New(fault.Invalid, "name: it cannot be null")
	}
	before, err := s.getProfile(ctx, nil)
	if err != nil || !in.Body.Name.Sent {
		return before, err
	}
	name, err := displayname.CleanName("name", in.Body.Name.Value, 100)
	if err != nil {
		return before, err
	}
	k, after := identity.UserKey(before.ID), before
	after.Name, after.UpdatedAt = name, s.Clock.Now()
	audit.NoteChange(ctx, audit.Change{Target: after.Email, Before: before, After: after, Final: true})
	err = s.Table.Transact(table.Within(ctx, k.PK), table.Update(k,
		[]table.Change{table.Set("name", name), table.Set("updated", after.UpdatedAt)}, table.Exists()))
	if err != nil {
		return after, fault.Wrap("rename "+before.ID, err)
	}
	return after, s.CopyName(table.WithoutAttachment(ctx), before.ID, name)
}

func (s service) leaveOrganisation(ctx context.Context, _ *struct{}) (rest.Deleted, error) {
	c := identity.CallerFrom(ctx)
	if c.Org == "" {
		return rest.Deleted{}, fault.New(fault.Denied, "you are in no organization")
	}
	u, m, err := s.ReadMember(ctx, c.Org, c.User)
	if err != nil {
		return rest.Deleted{}, err
	}
	return s.removeMember(ctx, found{user: u, member: m})
}
