package teams

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
)

// maxMembers is the maximum number of members of a team.
const maxMembers = 1_000

// roster is the stored list of the people of a team, by user ID. A user who leaves the organization stays in it,
// hidden, until the team is changed. A user who comes back has a new join time and must be added again. So the code
// that removes a user does not need to know teams.
type roster struct {
	People []entry `json:"people"`
}

type entry struct {
	User   string    `json:"user"`
	Joined time.Time `json:"joined"` // the organization
}

func rosterKey(org, teamID string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "TEAMPEOPLE", SK: teamID}
}

// rosterWrite returns the write that makes members the people of a team.
func rosterWrite(org, teamID string, members []identity.Member) (table.Write, error) {
	if len(members) == 0 {
		return table.Delete(rosterKey(org, teamID)), nil
	}
	r := roster{make([]entry, len(members))}
	for i, m := range members {
		r.People[i] = entry{m.User, m.Joined}
	}
	it, err := table.NewItem(rosterKey(org, teamID), r)
	return table.Put(it), err
}

// peopleOf reads the people of teams who belong to the organization, sorted by address. It takes two round trips, and
// one more for each further hundred people.
func (s *service) peopleOf(ctx context.Context, teamIDs []string) (map[string][]identity.Member, error) {
	keys := make([]table.Key, len(teamIDs))
	for i, id := range teamIDs {
		keys[i] = rosterKey(identity.CallerOrg(ctx), id)
	}
	items, err := s.p.Table.BatchGet(ctx, keys...)
	if err != nil {
		return nil, fmt.Errorf("read the people of %d teams: %w", len(teamIDs), err)
	}
	stored, users := map[string]roster{}, []string(nil)
	for k, it := range items {
		r, err := table.Decode[roster](it)
		if err != nil {
			return nil, err
		}
		stored[k.SK] = r
		for _, p := range r.People {
			users = append(users, p.User)
		}
	}
	members, err := s.people.ReadMembers(ctx, identity.CallerOrg(ctx), users)
	if err != nil {
		return nil, err
	}
	out := make(map[string][]identity.Member, len(stored))
	for id, r := range stored {
		out[id] = r.presentMembers(members)
	}
	return out, nil
}

// presentMembers returns the people of the roster who still belong to the organization, sorted by address.
func (r roster) presentMembers(members map[string]identity.Member) []identity.Member {
	var out []identity.Member
	for _, p := range r.People {
		if m, ok := members[p.User]; ok && m.Joined.Equal(p.Joined) {
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b identity.Member) int { return cmp.Compare(a.Email, b.Email) })
	return out
}

// namedMembers returns members with their names. It is never nil.
func (s *service) namedMembers(ctx context.Context, members []identity.Member) ([]TeamMember, error) {
	users := make([]string, len(members))
	for i, m := range members {
		users[i] = m.User
	}
	names, err := s.people.UserNames(ctx, users)
	out := make([]TeamMember, len(members))
	for i, m := range members {
		out[i] = TeamMember{m.Email, names[m.User]}
	}
	return out, err
}
