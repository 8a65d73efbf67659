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

// Assignment is a grant of a member as the organization's list of assignments has it. The member's own row is what decides;
// this one is written with it in one transaction, so that the two never differ.
type Assignment struct {
	ID        string    `json:"id"`
	User      string    `json:"user"`
	Email     string    `json:"email"`
	Role      string    `json:"role"`
	Scope     string    `json:"scope"`
	CreatedAt time.Time `json:"createdAt"`
	CreatedBy string    `json:"createdBy"` // an e-mail address
}

// assignmentKey returns where an assignment is listed.
func assignmentKey(org, id string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "ASSIGN", SK: id}
}

// assignmentWrites returns the writes that make the list of assignments follow a member, who had the grants before.
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

// NewOrgWrites returns the writes that make the user the one member and owner of a new organization.
func NewOrgWrites(ctx context.Context, org string, u identity.User, now time.Time) ([]table.Write, error) {
	m := NewMember(u.ID, u.Email, []grant.Grant{{Role: grant.Owner, Scope: grant.OrgScope}}, now)
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

// ReadAssignment reads one assignment of org; fault.NotFound when there is none. One round trip.
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

// listPage is how many assignments are read at once.
const listPage = 2_000

// EachAssignment returns each assignment of org to see, the oldest first, until see tells that it has seen enough. They are as
// many as MaxMembers and identity.MaxGrants allow, so they are not gathered here.
func (s People) EachAssignment(ctx context.Context, org string, see func(Assignment) (more bool)) error {
	q := table.Query{PK: assignmentKey(org, "").PK, Limit: listPage}
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

// ErrChanged is that something has changed since it was read and judged.
var ErrChanged = errChanged

// Given is a grant, and the generation of the organization's roles by which it was judged.
type Given struct {
	grant.Grant
	Generation int64
	Also       []table.Write // what is written with it, or must hold then: that the team of its scope is there
}

// AssignRole returns the member old, as it was read, one more grant. It is fault.Conflict when the member has as many as can be,
// and ErrChanged when the member, or the organization's roles, have changed since: read and judge again then. A grant of a
// custom role counts as a change of the roles, so that nobody deletes the role at the same time. One round trip.
func (s People) AssignRole(ctx context.Context, org string, old identity.Member, g Given) error {
	if len(old.Grants) >= identity.MaxGrants {
		return fault.New(fault.Conflict, "%s has %d grants, and more are not possible: revoke some first", old.Email,
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
