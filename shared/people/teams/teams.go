// Package teams stores the teams of organizations, and keeps their names unique. The members of a team are stored by
// functions/teams, its resources by shared/domain/inventory. Both write them in one transaction with the team.
package teams

import (
	"context"
	"fmt"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// MaxTeams is how many teams an organization can have. It keeps the owners in the index of resources within one page.
const MaxTeams = 500

// Team is a group of users with the resources that it owns: a role granted on the team applies to these resources. The
// inventory stores the resources. Generation counts the changes of the team, including those of its resources.
type Team struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"`
	Generation  int64     `json:"generation"`
	CreatedAt   time.Time `json:"createdAt"`
	UpdatedAt   time.Time `json:"updatedAt"`
	// when its resources were changed last; zero if an earlier version changed them
	ResourcesChangedAt time.Time `json:"resourcesChangedAt,omitzero"`
}

// DefinedAt returns when the resources of the team were changed last, or a later change of the team.
func (t *Team) DefinedAt() time.Time {
	if t.ResourcesChangedAt.IsZero() {
		return t.UpdatedAt
	}
	return t.ResourcesChangedAt
}

// Key returns the key of a team.
func Key(org, teamID string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "TEAM", SK: teamID}
}

// names returns the names of an organization's teams.
func names(org string) table.UniqueNames {
	return table.UniqueNames{PK: table.OrgPK(org) + NamePartition.Name(), Noun: "team", IDAttr: "teamID"}
}

// Limited returns the teams of an organization as a list of MaxTeams at most.
func Limited(org string) table.LimitedList {
	return table.LimitedList{PK: names(org).PK, Noun: "teams"}
}

// Store stores the teams of organizations.
type Store struct{ table table.Store }

// New returns the Store of t.
func New(t table.Store) Store { return Store{t} }

// Get reads a team. It returns fault.NotFound if there is none. One round trip.
func (s Store) Get(ctx context.Context, org, teamID string) (Team, error) {
	t, err := table.Read[Team](ctx, s.table, Key(org, teamID))
	if fault.Is(err, fault.NotFound) {
		return t, fault.NewWithCause(fault.NotFound, err, "team %.64q does not exist", teamID)
	}
	if err != nil {
		return t, fmt.Errorf("read team %s: %w", teamID, err)
	}
	return t, nil
}

// List lists the teams of an organization, oldest first.
func (s Store) List(ctx context.Context, org string) ([]Team, error) {
	var items []table.Item
	q := table.Query{PK: Key(org, "").PK, Limit: MaxTeams}
	for {
		page, err := s.table.Query(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("list teams of %s: %w", org, err)
		}
		items = append(items, page.Items...)
		if q.Cursor = page.Next; q.Cursor == "" {
			return table.DecodeAll[Team](items)
		}
	}
}

// Create stores a new team with generation 1, in one transaction with the extra writes. It returns fault.Conflict if
// another team has its name, and fault.NotFound if a condition of an extra write fails.
func (s Store) Create(ctx context.Context, org string, t Team, extra ...table.Write) (Team, error) {
	return s.writeTeam(ctx, org, Team{}, t, extra)
}

// Update replaces old, as it was read, by next with the next generation, in one transaction with the extra writes. It
// returns fault.Conflict if the team has changed since it was read, or if another team has its new name, and
// fault.NotFound if a condition of an extra write fails.
func (s Store) Update(ctx context.Context, org string, old, next Team, extra ...table.Write) (Team, error) {
	return s.writeTeam(ctx, org, old, next, extra)
}

// writeTeam writes a team and its name in one transaction. The zero old means a new team.
func (s Store) writeTeam(ctx context.Context, org string, old, t Team, extra []table.Write) (Team, error) {
	cond := table.Absent()
	if t.Generation = old.Generation + 1; old.ID != "" {
		cond = table.Equal("generation", old.Generation)
	}
	put, err := table.PutFields(Key(org, t.ID), t, cond)
	if err != nil {
		return t, err
	}
	renamed, err := names(org).Rename(old.Name, t.Name, t.ID)
	if err != nil {
		return t, err
	}
	ws := append([]table.Write{put}, renamed...)
	err = s.table.Transact(ctx, append(ws, extra...)...)
	return t, table.ExplainLost(err, "write team "+t.ID, func(lost *table.ConditionError) error {
		if lost.Failed[0].Index >= len(ws) {
			return fault.NewWithCause(fault.NotFound, lost, "a resource that team %s was to own was removed "+
				"in the meantime; read the resources and try again", t.ID)
		}
		if taken := names(org).Refusal(lost, t.Name); taken != nil {
			return taken
		}
		return errChanged(t.ID)
	})
}

func errChanged(teamID string) error {
	return fault.New(fault.Conflict, "team %s was changed by someone else meanwhile; read it and try again", teamID)
}

// Hold returns the write that counts a role granted on the team as a change of the team, so that the team is not
// deleted at the same time. It fails if there is no such team.
func Hold(org, teamID string) table.Write {
	return table.Update(Key(org, teamID), []table.Change{table.Add("generation", 1)}, table.Exists())
}

// Delete deletes a team as it was read, in one transaction with the extra writes. It returns fault.Conflict if it has
// changed since.
func (s Store) Delete(ctx context.Context, org string, t Team, extra ...table.Write) error {
	ws := append([]table.Write{
		table.Delete(Key(org, t.ID), table.Equal("generation", t.Generation)), names(org).Release(t.Name),
	}, extra...)
	err := s.table.Transact(ctx, ws...)
	if fault.Is(err, fault.Conflict) {
		return errChanged(t.ID)
	}
	if err != nil {
		return fmt.Errorf("delete team %s: %w", t.ID, err)
	}
	return nil
}
