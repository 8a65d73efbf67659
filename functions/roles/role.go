package roles

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/foundation/displayname"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// Role is a role as clients see it.
type Role struct {
	ID          string     `json:"id" doc:"The name of a system role, else role_…" example:"role_01k8z3v5y0e6m9x2q4t7r1c8bd"`
	Name        string     `json:"name" example:"Night shift"`
	Description string     `json:"description"`
	Policies    []string   `json:"policies" doc:"Policies of GET /policies, *:*, <resource>:* or *:read" example:"[\"actions:execute\"]"`
	System      bool       `json:"system" doc:"Built in: it cannot be changed or deleted"`
	CreatedAt   *time.Time `json:"createdAt" doc:"Null for a system role"`
	UpdatedAt   *time.Time `json:"updatedAt" doc:"Null for a system role"`
}

func newCustomRole(r identity.CustomRole) Role {
	return Role{r.ID, r.Name, r.Description, r.Policies, false, &r.CreatedAt, &r.UpdatedAt}
}

func systemRole(r grant.Role) Role {
	return Role{ID: r.Name, Name: r.Name, Description: r.Description, Policies: r.Policies, System: true}
}

type listRolesInput struct {
	rest.Page
	rest.Sort[Role, roleOrders]
}

// roleOrders are the sort orders of roles. The list's own order is that of GET /roles without sort_by.
type roleOrders struct{}

var _ rest.Orders[Role] = roleOrders{}

func (roleOrders) Orders() []rest.Order[Role] {
	return []rest.Order[Role]{
		{},
		rest.OrderByText("name", func(r Role) string { return r.Name }),
		rest.OrderByTime("createdAt", func(r Role) time.Time { return timeOf(r.CreatedAt) }),
		rest.OrderByTime("updatedAt", func(r Role) time.Time { return timeOf(r.UpdatedAt) }),
	}
}

// timeOf returns the time at t, or the zero time for nil: system roles are older than all others.
func timeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

func (s *service) listRoles(ctx context.Context, in *listRolesInput) (rest.List[Role], error) {
	a, err := s.readAccess(ctx)
	if err != nil {
		return rest.List[Role]{}, err
	}
	var own, all []Role
	for _, r := range a.Roles {
		own = append(own, newCustomRole(r))
	}
	slices.SortFunc(own, func(a, b Role) int {
		return cmp.Or(cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), cmp.Compare(a.ID, b.ID))
	})
	for _, r := range grant.SystemRoles() {
		all = append(all, systemRole(r))
	}
	all = append(all, own...)
	in.Apply(all)
	return rest.PageOf(all, in.Page), nil
}

// RoleInput names a role. It is exported because the framework ignores unexported embedded structs.
type RoleInput struct {
	RoleID string `path:"roleID" maxLength:"64"`
}

func (s *service) getRole(ctx context.Context, in *RoleInput) (Role, error) {
	if r, ok := grant.SystemRole(in.RoleID); ok {
		return systemRole(r), nil
	}
	a, err := s.readAccess(ctx)
	if err != nil {
		return Role{}, err
	}
	r, err := findRole(a, in.RoleID)
	return newCustomRole(r), err
}

func findRole(a identity.Access, ref string) (identity.CustomRole, error) {
	r, ok := a.Roles[ref]
	if !ok {
		return r, fault.New(fault.NotFound, "role %.64q does not exist", ref)
	}
	return r, nil
}

const maxName = 64

// NewRole is the body of POST /roles.
type NewRole struct {
	Name        string   `json:"name" minLength:"1" maxLength:"64"`
	Description string   `json:"description,omitempty" maxLength:"200"`
	Policies    []string `json:"policies" minItems:"1" maxItems:"128" doc:"Policies of GET /policies, *:*, <resource>:* or *:read"`
}

func (s *service) createRole(ctx context.Context, in *struct{ Body NewRole }) (Role, error) {
	now := s.p.Clock.Now()
	r := identity.CustomRole{
		ID: id.New("role", now), Name: in.Body.Name, Description: in.Body.Description, Policies: in.Body.Policies,
		CreatedAt: now, UpdatedAt: now,
	}
	if err := checkRole(&r); err != nil {
		return Role{}, err
	}
	if err := mayMake(ctx, r); err != nil {
		return Role{}, err
	}
	err := s.changeRoles(ctx, func(a identity.Access) error {
		if len(a.Roles) >= identity.MaxRoles {
			return fault.New(fault.Conflict,
				"the organization has %d roles of its own, which is the most: delete one first", len(a.Roles))
		}
		audit.NoteChange(ctx, audit.Change{Target: r.ID, After: newCustomRole(r), Final: true})
		return putRole(a, r)
	})
	return newCustomRole(r), err
}

// checkRole normalizes the name, and refuses an invalid role.
func checkRole(r *identity.CustomRole) error {
	var err error
	if r.Name, err = displayname.CleanName("name", r.Name, maxName); err != nil {
		return err
	}
	return checkGrantable(r.Policies)
}

// checkGrantable refuses policies that a role cannot contain.
func checkGrantable(policies []string) error {
	if len(policies) == 0 {
		return fault.New(fault.Invalid, "policies: a role has at least one: GET /policies lists them")
	}
	for i, p := range policies {
		if !grant.IsGrantable(p) {
			return fault.New(fault.Invalid,
				"policies: %.64q is not one: GET /policies lists them; *:*, <resource>:* and *:read are accepted too",
				p)
		}
		if slices.Contains(policies[:i], p) {
			return fault.New(fault.Invalid, "policies: %q is named twice; name each once", p)
		}
	}
	return nil
}

// putRole adds r to the roles of a, or replaces it, if no other role has its name.
func putRole(a identity.Access, r identity.CustomRole) error {
	for _, other := range grant.SystemRoles() {
		if strings.EqualFold(other.Name, r.Name) {
			return fault.New(fault.Conflict, "name: %q is the name of a system role; choose another", r.Name)
		}
	}
	for _, other := range a.Roles {
		if other.ID != r.ID && strings.EqualFold(other.Name, r.Name) {
			return fault.New(fault.Conflict, "name: there is a role %q already, %s", other.Name, other.ID)
		}
	}
	a.Roles[r.ID] = r
	return nil
}
