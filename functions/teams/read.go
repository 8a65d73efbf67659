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

// TeamBrief is a team as lists have it.
type TeamBrief struct {
	ID            string    `json:"id" example:"team_01k6v0e4y0c2b7m9q8r5t3w1xz"`
	Name          string    `json:"name"`
	Description   string    `json:"description"`
	MemberCount   int       `json:"memberCount"`
	ResourceCount int       `json:"resourceCount"`
	CreatedAt     time.Time `json:"createdAt"`
	UpdatedAt     time.Time `json:"updatedAt"`
}

// Team is a team with all that belongs to it.
type Team struct {
	TeamBrief
	Members   []TeamMember `json:"members"`
	Resources []string     `json:"resources" doc:"Our ids of what the team owns (res_…)"`
}

// TeamMember is a member of a team.
type TeamMember struct {
	Email string `json:"email"`
	Name  string `json:"name"`
}

func callerOrg(ctx context.Context) string { return identity.CallerFrom(ctx).Org }

func brief(t teams.Team, people, owned int) TeamBrief {
	return TeamBrief{t.ID, t.Name, t.Description, people, owned, t.CreatedAt, t.UpdatedAt}
}

// readTeam reads a team. What cannot be the id of one needs no look-up.
func (s *service) readTeam(ctx context.Context, teamID string) (teams.Team, error) {
	if !id.IsValid("team", teamID) {
		return teams.Team{}, missing(teamID)
	}
	return s.teams.Get(ctx, callerOrg(ctx), teamID)
}

func missing(teamID string) error {
	return fault.New(fault.NotFound, "team %.64q does not exist", teamID)
}

// visibleTeam reads a team that the caller may see.
func (s *service) visibleTeam(ctx context.Context, teamID string) (teams.Team, error) {
	if !sees(identity.CallerFrom(ctx).Scopes(reading), teamID) {
		return teams.Team{}, missing(teamID)
	}
	return s.readTeam(ctx, teamID)
}

// sees reports whether a team is among those that scopes show. A grant on a resource shows no team.
func sees(scopes grant.Scopes, teamID string) bool {
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
	owned, err := s.inventory.ListOwned(ctx, callerOrg(ctx), t.ID)
	return Team{brief(t, len(persons), len(owned)), persons, owned}, err
}

type listInput struct {
	rest.Page
	rest.Sort[teams.Team, orders]
}

// orders are what teams can be sorted by. Those of one name, which are no two, and of one moment come by id.
type orders struct{}

var _ rest.Orders[teams.Team] = orders{}

func (orders) Orders() []rest.Order[teams.Team] {
	return []rest.Order[teams.Team]{
		rest.OrderByText("name", func(t teams.Team) string { return t.Name }),
		rest.OrderByTime("createdAt", func(t teams.Team) time.Time { return t.CreatedAt }),
	}
}

func (s *service) listTeams(ctx context.Context, in *listInput) (rest.List[TeamBrief], error) {
	all, err := s.teams.List(ctx, callerOrg(ctx))
	if err != nil {
		return rest.List[TeamBrief]{}, err
	}
	scopes := identity.CallerFrom(ctx).Scopes(reading)
	all = slices.DeleteFunc(all, func(t teams.Team) bool { return !sees(scopes, t.ID) })
	in.Apply(all)
	page := rest.PageOf(all, in.Page)
	items, err := s.newBriefs(ctx, page.Items)
	return rest.WithItems(page, items), err
}

// newBriefs are teams as lists have them.
func (s *service) newBriefs(ctx context.Context, some []teams.Team) ([]TeamBrief, error) {
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
	owned, err := s.inventory.OwnedCounts(ctx, callerOrg(ctx), ids)
	if err != nil {
		return nil, err
	}
	out := make([]TeamBrief, len(some))
	for i, t := range some {
		out[i] = brief(t, len(people[t.ID]), owned[t.ID])
	}
	return out, nil
}
