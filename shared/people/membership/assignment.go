package membership

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// Assignment is a grant of a member as an item of the organization's list of assignments. Authorization reads the
// member's own item. Both are written in one transaction, so they never differ.
type Assignment struct {
	ID        string    `json:"id"`
	User      string    `json:"user"`
	Email     string    `json:"email"`
	Role      string    `json:"role"`
	Scope     string    `json:"scope"`
	CreatedAt time.Time `json:"createdAt"`
	CreatedBy string    `json:"createdBy"` // e-mail address
}

// assignmentKey returns the key of an assignment in the list.
func assignmentKey(org, id string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "ASSIGN", SK: id}
}

// assignmentWrites returns the writes that update the list of assignments for the member m, who had the grants
// `before`.
func assignmentWrites(ctx context.Context, org string, m identity.Member, before []grant.Grant) ([]table.Write, error) {
	var out []table.Write
	had := map[string]grant.Grant{}
	for _, g := range before {
		had[g.ID] = g
		if g.ID != "" && !slices.ContainsFunc(m.Grants, func(now grant.Grant) bool { return now.ID == g.ID }) {
			out = append(out, table.Delete(assignmentKey(org, g.ID)))
		}
	}
	for _, g := range m.Grants {
		if was, ok := had[g.ID]; ok && was.Role == g.Role && was.Scope == g.Scope {
			continue
		}
		it, err := table.NewItem(assignmentKey(org, g.ID), Assignment{
			ID: g.ID, User: m.User, Email: m.Email, Role: g.Role, Scope: g.Scope,
			CreatedAt: id.TimeOf(g.ID), CreatedBy: cmp.Or(identity.CallerFrom(ctx).Email, m.Email),
		})
		if err != nil {
			return nil, err
		}
		out = append(out, table.Put(it))
	}
	return out, nil
}

// NewOrgWrites returns the writes that make the user the only member and owner of a new organization.
func NewOrgWrites(ctx context.Context, org string, u identity.User, now time.Time) ([]table.Write, error) {
	m := NewMember(u.ID, u.Email, []grant.Grant{{Role: grant.Owner, Scope: grant.OrgScope}}, now)
	m.Name = u.Name
	access, err := table.NewItem(identity.AccessKey(org), identity.Access{Members: 1, Owners: 1})
	if err != nil {
		return nil, err
	}
	in, err := membershipWrites(org, m)
	if err != nil {
		return nil, err
	}
	list, err := assignmentWrites(ctx, org, m, nil)
	return slices.Concat([]table.Write{table.Put(access, table.Absent())}, in, list), err
}

// ReadAssignment reads an assignment of org. It returns fault.NotFound if there is none. One round trip.
func (s People) ReadAssignment(ctx context.Context, org, assignment string) (Assignment, error) {
	if id.IsValid("asgn", assignment) {
		k := assignmentKey(org, assignment)
		a, err := table.Read[Assignment](table.Within(ctx, k.PK), s.Table, k)
		if !fault.Is(err, fault.NotFound) {
			return a, fault.Wrap("read assignment "+assignment, err)
		}
	}
	return Assignment{}, fault.New(fault.NotFound, "assignment %.64q does not exist", assignment)
}

// assignmentsPerPage is the number of assignments of one read.
const assignmentsPerPage = 2_000

// EachAssignment calls see for each assignment of org, oldest first, until see returns false. It does not collect them,
// because there may be MaxMembers times identity.MaxGrants.
func (s People) EachAssignment(ctx context.Context, org string, see func(Assignment) (more bool)) error {
	q := table.Query{PK: assignmentKey(org, "").PK, Limit: assignmentsPerPage}
	for {
		page, err := s.Table.Query(table.Within(ctx, q.PK), q)
		if err != nil {
			return fmt.Errorf("list assignments of %s: %w", org, err)
		}
		some, err := table.DecodeAll[Assignment](page.Items)
		if err != nil {
			return err
		}
		for _, a := range some {
			if !see(a) {
				return nil
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return nil
		}
	}
}

// ErrChanged says that a record has changed since it was read and evaluated.
var ErrChanged = errChanged

// Given is a grant, and the generation of the organization's roles that it was evaluated with.
type Given struct {
	grant.Grant
	Generation int64
	// writes and conditions of the same transaction, for example that the team of the scope exists
	Also []table.Write
}

// AssignRole adds a grant to the member old, as it was read. It returns fault.Conflict if the member has
// identity.MaxGrants grants, and ErrChanged if the member or the organization's roles have changed since: then read and
// evaluate again. A grant of a custom role counts as a change of the roles, so that the role is not deleted at the same
// time. One round trip.
func (s People) AssignRole(ctx context.Context, org string, old identity.Member, g Given) error {
	if len(old.Grants) >= identity.MaxGrants {
		return fault.New(fault.Conflict, "%s has %d grants, the most that a member can have: revoke some first",
			old.Email,
			len(old.Grants))
	}
	next := old
	next.Grants = NewMember(old.User, old.Email, append(slices.Clone(old.Grants), g.Grant), s.Clock.Now()).Grants
	t := step{owners: ownerCount(next) - ownerCount(old), generation: &g.Generation}
	if _, system := grant.SystemRole(g.Role); !system {
		t.roles = 1
	}
	return s.replaceMember(ctx, org, swap{old: old, next: next, step: t, extra: g.Also})
}
