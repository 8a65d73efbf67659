package roles

import (
	"context"
	"errors"
	"slices"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/people/membership"
)

// Assignment is a role of a user on a scope.
type Assignment struct {
	ID        string    `json:"id" example:"asgn_01k8z3v5y0e6m9x2q4t7r1c8bd"`
	Email     string    `json:"email" doc:"Of the user"`
	RoleID    string    `json:"roleID" example:"operator"`
	RoleName  string    `json:"roleName"`
	Scope     string    `json:"scope" doc:"org, team:<id> or resource:<id>" example:"team:team_01k8z3v5y0e6m9x2q4t7r1c8bd"`
	CreatedAt time.Time `json:"createdAt"`
	CreatedBy string    `json:"createdBy" doc:"Mail address of the caller who assigned it; the user's own after founding the organization or accepting an invitation"`
}

func shownIn(a identity.Access, g membership.Assignment) Assignment {
	r, _ := a.FindRole(g.Role)
	return Assignment{g.ID, g.Email, g.Role, r.Name, g.Scope, g.CreatedAt, g.CreatedBy}
}

type assignmentsInput struct {
	rest.Page
	Email  string `query:"email" maxLength:"1024" doc:"Of this user"`
	RoleID string `query:"roleID" maxLength:"64" doc:"Of this role"`
	Scope  string `query:"scope" maxLength:"128" doc:"On this scope: org, team:<id> or resource:<id>"`
}

// matches reports whether the filters select a. An invalid address matches no assignment.
func (in *assignmentsInput) matches(a membership.Assignment, address string) bool {
	return (in.Email == "" || a.Email == address) && (in.RoleID == "" || a.Role == in.RoleID) &&
		(in.Scope == "" || a.Scope == in.Scope)
}

func (s *service) listAssignments(ctx context.Context, in *assignmentsInput) (rest.List[Assignment], error) {
	out := rest.PageOf[Assignment](nil, in.Page)
	address, _ := identity.NormalizeAddress(in.Email)
	a, err := s.readAccess(ctx)
	if err != nil {
		return out, err
	}
	err = s.people.EachAssignment(ctx, identity.CallerOrg(ctx), func(g membership.Assignment) bool {
		if in.matches(g, address) {
			out.Add(shownIn(a, g))
		}
		return true
	})
	return out, err
}

// NewAssignment is the body of POST /assignments.
type NewAssignment struct {
	Email  string `json:"email" minLength:"3" maxLength:"1024" doc:"Of somebody who belongs to the organization"`
	RoleID string `json:"roleID" minLength:"1" maxLength:"64" doc:"Of GET /roles: a system role by its name, else role_…" example:"operator"`
	Scope  string `json:"scope" minLength:"1" maxLength:"128" doc:"org, team:<id> or resource:<id>" example:"org"`
}

func (s *service) createAssignment(ctx context.Context, in *struct{ Body NewAssignment }) (Assignment, error) {
	a, err := retryChanged(func() (Assignment, error) { return s.assignOnce(ctx, in.Body) })
	if err == nil {
		audit.NoteChange(ctx, audit.Change{Target: a.ID, After: a})
	}
	return a, err
}

// retryChanged calls change, and repeats it while another request changes the same member.
func retryChanged(change func() (Assignment, error)) (a Assignment, err error) {
	for range maxChangeTries {
		if a, err = change(); !errors.Is(err, membership.ErrChanged) {
			break
		}
	}
	return a, err
}

func (s *service) assignOnce(ctx context.Context, in NewAssignment) (Assignment, error) {
	if err := s.checkScope(ctx, in.Scope); err != nil {
		return Assignment{}, err
	}
	c := identity.CallerFrom(ctx)
	a, err := s.readAccess(ctx)
	if err != nil {
		return Assignment{}, err
	}
	r, ok := a.FindRole(in.RoleID)
	if !ok {
		return Assignment{},
			fault.New(fault.Invalid, "roleID: role %.64q does not exist: GET /roles lists them", in.RoleID)
	}
	_, m, err := s.people.FindMember(ctx, c.Org, in.Email)
	if fault.Is(err, fault.NotFound) {
		return Assignment{},
			fault.NewWithCause(fault.Invalid, err, "email: %s: invite them with POST /users first", fault.Message(err))
	}
	if err != nil {
		return Assignment{}, err
	}
	g := grant.Grant{ID: id.New("asgn", s.p.Clock.Now()), Role: in.RoleID, Scope: in.Scope}
	if err = mayAssign(c, m, g, r); err != nil {
		return Assignment{}, err
	}
	row := membership.Assignment{
		ID: g.ID, Email: m.Email, Role: g.Role, Scope: g.Scope, CreatedAt: id.TimeOf(g.ID),
		CreatedBy: c.Email,
	}
	return shownIn(a, row),
		s.people.AssignRole(ctx, c.Org, m,
			membership.Given{Grant: g, Generation: a.Generation, Also: teamHoldWrites(c.Org, g.Scope)})
}

// mayAssign refuses a role that callers give to themselves, a role with policies that the caller does not hold, and
// one that the member already has on the scope.
func mayAssign(c identity.Caller, m identity.Member, g grant.Grant, r grant.Role) error {
	if m.User == c.User {
		return fault.New(fault.Denied, "permission denied: you cannot change your own roles: ask another user who may")
	}
	if err := membership.MayGrant(c, r.Policies, g.Scope); err != nil {
		return err
	}
	for _, has := range m.Grants {
		if has.Role == g.Role && has.Scope == g.Scope {
			return fault.New(fault.Conflict, "%s has the role %q on %s already, by %s", m.Email, r.Name, g.Scope,
				has.ID)
		}
	}
	return nil
}

// AssignmentInput names an assignment.
type AssignmentInput struct {
	AssignmentID string `path:"assignmentID" maxLength:"64"`
}

func (s *service) deleteAssignment(ctx context.Context, in *AssignmentInput) (rest.Deleted, error) {
	was, err := retryChanged(func() (Assignment, error) { return s.revokeOnce(ctx, in.AssignmentID) })
	if err == nil {
		audit.NoteChange(ctx, audit.Change{Target: was.ID, Before: was})
	}
	return rest.Deleted{ID: in.AssignmentID}, err
}

func (s *service) revokeOnce(ctx context.Context, assignmentID string) (Assignment, error) {
	c := identity.CallerFrom(ctx)
	g, err := s.people.ReadAssignment(ctx, c.Org, assignmentID)
	if err != nil {
		return Assignment{}, err
	}
	a, err := s.readAccess(ctx)
	if err != nil {
		return Assignment{}, err
	}
	_, m, err := s.people.ReadMember(ctx, c.Org, g.User)
	if err != nil {
		return Assignment{}, fault.Wrap("revoke "+g.ID, err)
	}
	if err = membership.MayChange(c, a, m); err != nil {
		return Assignment{}, err
	}
	left := slices.DeleteFunc(slices.Clone(m.Grants), func(has grant.Grant) bool { return has.ID == g.ID })
	if len(left) == len(m.Grants) { // it went after it was looked up
		return Assignment{}, membership.ErrChanged
	}
	return shownIn(a, g), s.people.ReplaceGrants(ctx, c.Org, m, left)
}
