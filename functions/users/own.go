package users

import (
	"context"
	"regexp"
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

	Preferences identity.ConsolePreferences `json:"preferences" doc:"How the user wants to see the web console"`
}

func showProfile(u identity.User) Profile {
	return Profile{
		ID: u.ID, Email: u.Email, Name: u.Name, EmailVerified: u.Verified, CreatedAt: u.Created,
		UpdatedAt: u.Updated, SecondFactor: u.HasSecondFactor(), Preferences: u.Preferences,
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

	Preferences *ChangedPreferences `json:"preferences,omitempty" doc:"Only the members present change; null clears one"`
}

// ChangedPreferences are the preferences to change.
type ChangedPreferences struct {
	Theme     rest.Patch[string] `json:"theme,omitzero" enum:"light,dark" doc:"null: that of the system"`
	StartPage rest.Patch[string] `json:"startPage,omitzero" maxLength:"1000" doc:"A path below /console, which begins with one slash; null: the overview"`
	TimeZone  rest.Patch[string] `json:"timeZone,omitzero" maxLength:"64" doc:"An IANA time zone; null: that of the device"`
}

// apply returns the preferences with the changes, or fault.Invalid.
func (c *ChangedPreferences) apply(to identity.ConsolePreferences) (identity.ConsolePreferences, error) {
	if c == nil {
		return to, nil
	}
	c.Theme.Apply(&to.Theme)
	c.StartPage.Apply(&to.StartPage)
	c.TimeZone.Apply(&to.TimeZone)
	if !ownPath.MatchString(to.StartPage) {
		return to, fault.New(fault.Invalid, "preferences.startPage: %q is no path below /console; send one that "+
			"begins with one slash, such as /resources", to.StartPage)
	}
	if _, err := time.LoadLocation(to.TimeZone); err != nil || to.TimeZone == "Local" {
		return to, fault.New(fault.Invalid, "preferences.timeZone: %q is no IANA time zone; send one such as "+
			"Europe/Berlin", to.TimeZone)
	}
	return to, nil
}

// ownPath matches a path with a query that leads to no other host, or "".
var ownPath = regexp.MustCompile(`^(/([A-Za-z0-9_.~%:@?=&,+-][A-Za-z0-9_.~%:@?=&,+/-]*)?)?$`)

type renameInput struct{ Body ChangedProfile }

func (s service) updateProfile(ctx context.Context, in *renameInput) (Profile, error) {
	if in.Body.Name.Null {
		return Profile{}, fault.New(fault.Invalid, "name: it cannot be null")
	}
	before, err := s.getProfile(ctx, nil)
	if err != nil {
		return before, err
	}
	after, err := in.Body.apply(before)
	if err != nil || !in.Body.Name.Sent && after == before {
		return before, err
	}
	k := identity.UserKey(before.ID)
	after.UpdatedAt = s.Clock.Now()
	audit.NoteChange(ctx, audit.Change{Target: after.Email, Before: before, After: after, Final: true})
	err = s.Table.Transact(table.Within(ctx, k.PK), table.Update(k, in.Body.changes(after), table.Exists()))
	if err != nil || !in.Body.Name.Sent {
		return after, fault.Wrap("change profile of "+before.ID, err)
	}
	return after, s.CopyName(table.WithoutAttachment(ctx), before.ID, after.Name)
}

// apply returns the profile with the changes, or fault.Invalid.
func (c *ChangedProfile) apply(p Profile) (Profile, error) {
	var err error
	if c.Name.Sent {
		if p.Name, err = displayname.CleanName("name", c.Name.Value, 100); err != nil {
			return p, err
		}
	}
	p.Preferences, err = c.Preferences.apply(p.Preferences)
	return p, err
}

// changes returns the writes of the fields that were sent.
func (c *ChangedProfile) changes(after Profile) []table.Change {
	out := []table.Change{table.Set("updated", after.UpdatedAt)}
	if c.Name.Sent {
		out = append(out, table.Set("name", after.Name))
	}
	if c.Preferences != nil {
		out = append(out, table.Set("preferences", after.Preferences))
	}
	return out
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
