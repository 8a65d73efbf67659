package teams

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/displayname"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/people/teams"
)

// maxName is the maximum number of characters of a name.
const maxName = 128

// NewTeam is the body of POST /teams.
type NewTeam struct {
	Name        string   `json:"name" minLength:"1" maxLength:"128"`
	Description string   `json:"description,omitempty" maxLength:"500"`
	Members     []string `json:"members,omitempty" maxItems:"1000" doc:"Addresses of members of the organization"`
	Resources   []string `json:"resources,omitempty" maxItems:"10000" doc:"Our ids of resources (res_…)"`
}

func (s *service) createTeam(ctx context.Context, in *struct{ Body NewTeam }) (Team, error) {
	now := s.p.Clock.Now()
	t := teams.Team{
		ID: id.New("team", now), Description: in.Body.Description, CreatedAt: now, UpdatedAt: now,
		ResourcesChangedAt: now,
	}
	var err error
	if t.Name, err = displayname.CleanName("name", in.Body.Name, maxName); err != nil {
		return Team{}, err
	}
	crew, err := s.findCrew(ctx, in.Body.Members)
	if err != nil {
		return Team{}, err
	}
	owned, held, err := s.existingResources(ctx, in.Body.Resources)
	if err != nil {
		return Team{}, err
	}
	roster, err := rosterWrite(identity.CallerOrg(ctx), t.ID, crew)
	if err != nil {
		return Team{}, err
	}
	ownership, err := inventory.Own(identity.CallerOrg(ctx), t.ID, 1, owned)
	if err != nil {
		return Team{}, err
	}
	rebuilt, err := s.rebuildWrites(ctx, true)
	if err != nil {
		return Team{}, err
	}
	if t, err = s.addTeam(ctx, t, slices.Concat(ownership, held, []table.Write{roster}, rebuilt)); err != nil {
		return Team{}, err
	}
	out, err := s.teamWithMembers(ctx, t)
	audit.NoteChange(ctx, audit.Change{Target: t.ID, After: out})
	return out, err
}

// rebuildWrites returns the writes that rebuild the costs if the resources of a team have changed.
func (s *service) rebuildWrites(ctx context.Context, changed bool) ([]table.Write, error) {
	if !changed {
		return nil, nil
	}
	w, err := billimport.AddRebuild(identity.CallerOrg(ctx), s.p.Clock.Now())
	return []table.Write{w}, err
}

// addTeam stores a new team with the extra writes, if the organization has room for one more.
func (s *service) addTeam(ctx context.Context, t teams.Team, extra []table.Write) (teams.Team, error) {
	org := identity.CallerOrg(ctx)
	err := teams.Limited(org).Add(ctx, s.p.Table, func(take table.Write) error {
		err := s.checkRoom(ctx)
		if err == nil {
			t, err = s.teams.Create(table.Within(ctx, workqueue.Prefix), org, t, append(slices.Clip(extra), take)...)
		}
		return err
	})
	return t, err
}

// checkRoom refuses one team more than the maximum.
func (s *service) checkRoom(ctx context.Context) error {
	all, err := s.teams.List(ctx, identity.CallerOrg(ctx))
	if err == nil && len(all) >= teams.MaxTeams {
		return fault.New(fault.Invalid, "the organization has %d teams, which is the most; delete one first", len(all))
	}
	return err
}

// findCrew returns the members of the organization with the addresses, each once.
func (s *service) findCrew(ctx context.Context, emails []string) ([]identity.Member, error) {
	all, err := s.people.MembersByEmail(ctx, identity.CallerOrg(ctx), emails)
	if fault.Is(err, fault.NotFound) {
		return nil, fault.NewWithCause(fault.Invalid, err, "members: %s", fault.Message(err))
	}
	if err != nil {
		return nil, err
	}
	out, had := []identity.Member{}, map[string]bool{}
	for _, m := range all {
		if !had[m.User] {
			had[m.User], out = true, append(out, m)
		}
	}
	return out, nil
}

// existingResources returns the ids, each once, and the writes that hold the accounts of the resources. The error
// names unknown ids. The result is never nil.
func (s *service) existingResources(ctx context.Context, ids []string) ([]string, []table.Write, error) {
	out := append([]string{}, missingFrom(nil, ids)...)
	if len(out) == 0 {
		return out, nil, nil
	}
	unknown, accounts, err := s.inventory.Locate(ctx, identity.CallerOrg(ctx), out)
	if err != nil {
		return out, nil, err
	}
	if len(unknown) > 0 {
		return out, nil, fault.New(fault.Invalid, "resources: no resource has the id %s", quoteIDs(unknown))
	}
	held, err := inventory.HoldAccounts(identity.CallerOrg(ctx), accounts)
	return out, held, err
}

// maxMentioned is how many of many IDs an error names.
const maxMentioned = 10

func quoteIDs(ids []string) string {
	var out []string
	for _, id := range ids[:min(len(ids), maxMentioned)] {
		out = append(out, fmt.Sprintf("%.64q", id))
	}
	text := strings.Join(out, ", ")
	if len(ids) > maxMentioned {
		text += " and others"
	}
	return text
}

// ChangedTeam is the body of PUT /teams/{teamID}.
type ChangedTeam struct {
	Name        rest.Patch[string]   `json:"name,omitzero" minLength:"1" maxLength:"128"`
	Description rest.Patch[string]   `json:"description,omitzero" maxLength:"500"`
	Members     rest.Patch[[]string] `json:"members,omitzero" maxItems:"1000" doc:"Addresses of members of the organization"`
	Resources   rest.Patch[[]string] `json:"resources,omitzero" maxItems:"10000" doc:"Our ids of resources (res_…)"`
}

type updateInput struct {
	TeamInput
	Body ChangedTeam
}

func (s *service) updateTeam(ctx context.Context, in *updateInput) (Team, error) {
	old, err := s.readTeam(ctx, in.TeamID)
	if err != nil {
		return Team{}, err
	}
	before, err := s.teamWithMembers(ctx, old)
	if err != nil {
		return Team{}, err
	}
	t, err := s.applyChange(ctx, old, before, in.Body)
	if err != nil {
		return Team{}, err
	}
	out, err := s.teamWithMembers(ctx, t)
	audit.NoteChange(ctx, audit.Change{Target: t.ID, Before: before, After: out})
	return out, err
}

// applyChange applies the sent changes to a team. old is the stored team, before is the client's view of it.
func (s *service) applyChange(ctx context.Context, old teams.Team, before Team, sent ChangedTeam) (teams.Team, error) {
	d := draft{Team: old}
	sent.Name.Apply(&d.Name)
	sent.Description.Apply(&d.Description)
	var err error
	if d.Name, err = displayname.CleanName("name", d.Name, maxName); err != nil {
		return old, err
	}
	if sent.Members.Sent {
		if d.crew, err = s.findCrew(ctx, sent.Members.Value); err != nil {
			return old, err
		}
	}
	if sent.Resources.Sent {
		if d.owned, d.held, err = s.replaceResources(ctx, before, sent.Resources.Value); err != nil {
			return old, err
		}
	}
	return s.storeDraft(ctx, old, d)
}

// replaceResources returns the new resources of a team, and the writes that hold their accounts.
func (s *service) replaceResources(ctx context.Context, before Team, next []string) ([]string, []table.Write, error) {
	owned, held, err := s.existingResources(ctx, next)
	if err == nil && len(missingFrom(before.Resources, owned)) > 0 {
		err = s.mayGive(ctx, before.ID)
	}
	return owned, held, err
}

// draft is the new state of a team. A nil crew, and nil owned, stay unchanged.
type draft struct {
	teams.Team
	crew  []identity.Member
	owned []string
	held  []table.Write // the holds on the accounts of new resources in owned
}

// storeDraft replaces old, the team as it was read.
func (s *service) storeDraft(ctx context.Context, old teams.Team, d draft) (teams.Team, error) {
	d.UpdatedAt = s.p.Clock.Now()
	extra := slices.Clone(d.held)
	if d.crew != nil {
		w, err := rosterWrite(identity.CallerOrg(ctx), old.ID, d.crew)
		if err != nil {
			return old, err
		}
		extra = append(extra, w)
	}
	if d.owned != nil {
		d.ResourcesChangedAt = d.UpdatedAt
		ws, err := inventory.Own(identity.CallerOrg(ctx), old.ID, old.Generation+1, d.owned)
		if err != nil {
			return old, err
		}
		extra = append(extra, ws...)
	}
	rebuilt, err := s.rebuildWrites(ctx, d.owned != nil)
	if err != nil {
		return old, err
	}
	return s.teams.Update(table.Within(ctx, workqueue.Prefix), identity.CallerOrg(ctx), old, d.Team,
		append(extra, rebuilt...)...)
}

// maxChangeTries is how often a change is retried because another request changed the team.
const maxChangeTries = 8

// changeTeam changes a team. how returns nil if there is nothing to change.
func (s *service) changeTeam(ctx context.Context, teamID string, how func(teams.Team) (*draft, error)) (TeamListed,
	error,
) {
	for try := 1; ; try++ {
		out, err := s.changeOnce(ctx, teamID, how)
		if !fault.Is(err, fault.Conflict) || try == maxChangeTries {
			return out, err
		}
	}
}

func (s *service) changeOnce(ctx context.Context, teamID string, how func(teams.Team) (*draft, error)) (TeamListed,
	error,
) {
	t, err := s.readTeam(ctx, teamID)
	if err != nil {
		return TeamListed{}, err
	}
	d, err := how(t)
	if err != nil {
		return TeamListed{}, err
	}
	if d != nil {
		if t, err = s.storeDraft(ctx, t, *d); err != nil {
			return TeamListed{}, err
		}
	}
	out, err := s.listedTeams(ctx, []teams.Team{t})
	if err != nil {
		return TeamListed{}, err
	}
	return out[0], nil
}
