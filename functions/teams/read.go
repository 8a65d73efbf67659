package teams

import (
	"context"
	"slices"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/people/teams"
)

// TeamBrief holds the fields of a team that lists and single reads share.
type TeamBrief struct {
	ID            string    `json:"id" example:"team_01k6v0e4y0c2b7m9q8r5t3w1xz"`
	Name          string    `json:"name"`
	Description   string    `json:"description"`
	MemberCount   int       `json:"memberCount"`
	ResourceCount int       `json:"resourceCount"`
	CreatedAt     time.Time `json:"createdAt"`
	UpdatedAt     time.Time `json:"updatedAt"`
}

// TeamListed is a team in a list. Members and Resources hold at most the first maxListed ones; the counts are
// complete.
type TeamListed struct {
	TeamBrief
	Members   []TeamMember `json:"members" doc:"The first 100 members, by address; memberCount counts all"`
	Resources []string     `json:"resources" doc:"Our ids of the first 100 resources that the team owns; resourceCount counts all"`
}

// maxListed is how many members and resources of one team a list of teams contains. It keeps a page of 100 teams
// below 2 MB.
const maxListed = 100

// Team is a team with all its members and resources.
type Team struct {
	TeamBrief
	Members   []TeamMember `json:"members"`
	Resources []string     `json:"resources" doc:"The ids of the team's resources (res_…)"`
}

// TeamMember is a member of a team.
type TeamMember struct {
	Email string `json:"email"`
	Name  string `json:"name"`
}

func newBrief(t teams.Team, people, owned int) TeamBrief {
	return TeamBrief{t.ID, t.Name, t.Description, people, owned, t.CreatedAt, t.UpdatedAt}
}

// readTeam reads a team. A malformed ID is reported as missing without a look-up.
func (s *service) readTeam(ctx context.Context, teamID string) (teams.Team, error) {
	if !id.IsValid("team", teamID) {
		return teams.Team{}, missingTeam(teamID)
	}
	return s.teams.Get(ctx, identity.CallerOrg(ctx), teamID)
}

func missingTeam(teamID string) error {
	return fault.New(fault.NotFound, "team %.64q does not exist", teamID)
}

// visibleTeam reads a team that the caller may see.
func (s *service) visibleTeam(ctx context.Context, teamID string) (teams.Team, error) {
	if !seesTeam(identity.CallerFrom(ctx).Scopes(reading), teamID) {
		return teams.Team{}, missingTeam(teamID)
	}
	return s.readTeam(ctx, teamID)
}

// seesTeam reports whether scopes include a team. A grant on a resource includes no team.
func seesTeam(scopes grant.Scopes, teamID string) bool {
	return scopes.All || slices.Contains(scopes.Teams, teamID)
}

func (s *service) getTeam(ctx context.Context, in *TeamInput) (Team, error) {
	t, err := s.visibleTeam(ctx, in.TeamID)
	if err != nil {
		return Team{}, err
	}
	return s.teamWithMembers(ctx, t)
}

// teamWithMembers returns a team with its members and resources.
func (s *service) teamWithMembers(ctx context.Context, t teams.Team) (Team, error) {
	people, err := s.peopleOf(ctx, []string{t.ID})
	if err != nil {
		return Team{}, err
	}
	persons, err := s.namedMembers(ctx, people[t.ID])
	if err != nil {
		return Team{}, err
	}
	owned, err := s.inventory.ListOwned(ctx, identity.CallerOrg(ctx), t.ID)
	return Team{newBrief(t, len(persons), len(owned)), persons, owned}, err
}

type listInput struct {
	rest.Page
	rest.Sort[teams.Team, orders]
	Search string `query:"search" maxLength:"128" doc:"Part of name or description, ignoring case"`
}

// orders are the sort orders of teams. Teams with equal keys are sorted by ID.
type orders struct{}

var _ rest.Orders[teams.Team] = orders{}

func (orders) Orders() []rest.Order[teams.Team] {
	return []rest.Order[teams.Team]{
		rest.OrderByText("name", func(t teams.Team) string { return t.Name }),
		rest.OrderByTime("createdAt", func(t teams.Team) time.Time { return t.CreatedAt }),
	}
}

func (s *service) listTeams(ctx context.Context, in *listInput) (rest.List[TeamListed], error) {
	all, err := s.teams.List(ctx, identity.CallerOrg(ctx))
	if err != nil {
		return rest.List[TeamListed]{}, err
	}
	scopes := identity.CallerFrom(ctx).Scopes(reading)
	all = slices.DeleteFunc(all, func(t teams.Team) bool {
		return !seesTeam(scopes, t.ID) || !rest.Matches(in.Search, t.Name, t.Description)
	})
	in.Apply(all)
	page := rest.PageOf(all, in.Page)
	items, err := s.listedTeams(ctx, page.Items)
	return rest.WithItems(page, items), err
}

// listedTeams returns teams as in lists, in five round trips and one more for each further hundred members.
func (s *service) listedTeams(ctx context.Context, some []teams.Team) ([]TeamListed, error) {
	if len(some) == 0 {
		return nil, nil
	}
	ids := make([]string, len(some))
	for i, t := range some {
		ids[i] = t.ID
	}
	people, err := s.peopleOf(ctx, ids)
	if err != nil {
		return nil, err
	}
	named, err := s.namedFirst(ctx, people)
	if err != nil {
		return nil, err
	}
	owned, err := s.inventory.OwnedFirst(ctx, identity.CallerOrg(ctx), ids, maxListed)
	if err != nil {
		return nil, err
	}
	out := make([]TeamListed, len(some))
	for i, t := range some {
		o := owned[t.ID]
		out[i] = TeamListed{newBrief(t, len(people[t.ID]), o.Count), orNone(named[t.ID]), orNone(o.IDs)}
	}
	return out, nil
}

// namedFirst returns the first members of each team with their names.
func (s *service) namedFirst(ctx context.Context, people map[string][]identity.Member) (map[string][]TeamMember,
	error,
) {
	var users []string
	for _, members := range people {
		for _, m := range members[:min(len(members), maxListed)] {
			users = append(users, m.User)
		}
	}
	names, err := s.people.UserNames(ctx, users)
	if err != nil {
		return nil, err
	}
	out := make(map[string][]TeamMember, len(people))
	for id, members := range people {
		for _, m := range members[:min(len(members), maxListed)] {
			out[id] = append(out[id], TeamMember{m.Email, names[m.User]})
		}
	}
	return out, nil
}

// orNone returns list, or an empty list instead of nil, which would be null in JSON.
func orNone[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
