package teams

import (
	"context"
	"slices"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/teams"
)

type pageInput struct {
	TeamInput
	rest.Page
}

func (s *service) listMembers(ctx context.Context, in *pageInput) (rest.List[TeamMember], error) {
	t, err := s.visibleTeam(ctx, in.TeamID)
	if err != nil {
		return rest.List[TeamMember]{}, err
	}
	crews, err := s.peopleOf(ctx, []string{t.ID})
	if err != nil {
		return rest.List[TeamMember]{}, err
	}
	page := rest.PageOf(crews[t.ID], in.Page)
	items, err := s.namedMembers(ctx, page.Items)
	return rest.WithItems(page, items), err
}

// NewTeamMember is the body of POST /teams/{teamID}/members.
type NewTeamMember struct {
	Email string `json:"email" minLength:"3" maxLength:"254"`
}

type addMemberInput struct {
	TeamInput
	Body NewTeamMember
}

func (s *service) addMember(ctx context.Context, in *addMemberInput) (TeamListed, error) {
	m, err := s.findMember(ctx, in.TeamID, in.Body.Email)
	if err != nil {
		return TeamListed{}, err
	}
	return s.changeCrew(ctx, in.TeamID, func(crew []identity.Member) ([]identity.Member, error) {
		if slices.ContainsFunc(crew, func(had identity.Member) bool { return had.User == m.User }) {
			return nil, nil
		}
		if len(crew) == maxMembers {
			return nil, fault.New(fault.Conflict, "the team has %d members, which is the most", len(crew))
		}
		audit.NoteChange(ctx, audit.Change{Target: in.TeamID, After: NewTeamMember{m.Email}})
		return append(crew, m), nil
	})
}

// findMember returns the member to be added to a team, or removed. The team must exist.
func (s *service) findMember(ctx context.Context, teamID, email string) (identity.Member, error) {
	if _, err := s.readTeam(ctx, teamID); err != nil {
		return identity.Member{}, err
	}
	_, m, err := s.people.FindMember(ctx, identity.CallerOrg(ctx), email)
	return m, err
}

// changeCrew changes the people of a team. how returns nil if they stay unchanged.
func (s *service) changeCrew(ctx context.Context, teamID string,
	how func([]identity.Member) ([]identity.Member, error),
) (TeamListed, error) {
	return s.changeTeam(ctx, teamID, func(t teams.Team) (*draft, error) {
		crews, err := s.peopleOf(ctx, []string{t.ID})
		if err != nil {
			return nil, err
		}
		crew, err := how(crews[t.ID])
		if crew == nil || err != nil {
			return nil, err
		}
		return &draft{Team: t, crew: crew}, nil
	})
}

type memberInput struct {
	TeamInput
	Email string `path:"email" maxLength:"254" doc:"The member's address"`
}

func (s *service) removeMember(ctx context.Context, in *memberInput) (rest.Deleted, error) {
	m, err := s.findMember(ctx, in.TeamID, in.Email)
	if err != nil {
		return rest.Deleted{}, err
	}
	_, err = s.changeCrew(ctx, in.TeamID, func(crew []identity.Member) ([]identity.Member, error) {
		n := len(crew)
		crew = slices.DeleteFunc(crew, func(had identity.Member) bool { return had.User == m.User })
		if len(crew) == n {
			return nil, fault.New(fault.NotFound, "%.254q is not a member of the team", m.Email)
		}
		audit.NoteChange(ctx, audit.Change{Target: in.TeamID, Before: NewTeamMember{m.Email}})
		return append([]identity.Member{}, crew...), nil
	})
	return rest.Deleted{ID: m.Email}, err
}
