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

func org(ctx context.Context) string { return identity.From(ctx).Org }

func brief(t teams.Team, people, owned int) TeamBrief {
	return TeamBrief{t.ID, t.Name, t.Description, people, owned, t.CreatedAt, t.UpdatedAt}
}

// read reads a team. What cannot be the id of one needs no look-up.
func (s *service) read(ctx context.Context, teamID string) (teams.Team, error) {
	if !id.Valid("team", teamID) {
		return teams.Team{}, missing(teamID)
	}
	return s.teams.Get(ctx, org(ctx), teamID)
}

func missing(teamID string) error {
	return fault.New(fault.NotFound, "team %.64q does not exist", teamID)
}

// seen reads a team that the caller may see.
func (s *service) seen(ctx context.Context, teamID string) (teams.Team, error) {
	if !sees(identity.From(ctx).Scopes(reading), teamID) {
		return teams.Team{}, missing(teamID)
	}
	return s.read(ctx, teamID)
}

// sees tells whether a team is among those that scopes show. A grant on a resource shows no team.
func sees(scopes grant.Scopes, teamID string) bool {
	return scopes.All || slices.Contains(scopes.Teams, teamID)
}

func (s *service) get(ctx context.Context, in *TeamInput) (Team, error) {
	t, err := s.seen(ctx, in.TeamID)
	if err != nil {
		return Team{}, err
	}
	return s.whole(ctx, t)
}

// whole is a team with its members and resources.
func (s *service) whole(ctx context.Context, t teams.Team) (Team, error) {
	people, err := s.peopleOf(ctx, []string{t.ID})
	if err != nil {
		return Team{}, err
	}
	persons, err := s.named(ctx, people[t.ID])
	if err != nil {
		return Team{}, err
	}
	owned, err := s.inventory.Owned(ctx, org(ctx), t.ID)
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

func (s *service) list(ctx context.Context, in *listInput) (rest.List[TeamBrief], error) {
	all, err := s.teams.List(ctx, org(ctx))
	if err != nil {
		return rest.List[TeamBrief]{}, err
	}
	scopes := identity.From(ctx).Scopes(reading)
	all = slices.DeleteFunc(all, func(t teams.Team) bool { return !sees(scopes, t.ID) })
	in.Apply(all)
	page := rest.PageOf(all, in.Page)
	items, err := s.briefs(ctx, page.Items)
	return rest.WithItems(page, items), err
}

// briefs are teams as lists have them.
func (s *service) briefs(ctx context.Context, some []teams.Team) ([]TeamBrief, error) {
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
	owned, err := s.inventory.OwnedCounts(ctx, org(ctx), ids)
	if err != nil {
		return nil, err
	}
	out := make([]TeamBrief, len(some))
	for i, t := range some {
		out[i] = brief(t, len(people[t.ID]), owned[t.ID])
	}
	return out, nil
}
