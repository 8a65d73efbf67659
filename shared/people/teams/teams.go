// Package teams keeps the teams of organizations: their records and the names that only one can have. Who is in a team is the
// affair of functions/teams, what it owns that of shared/domain/inventory; both write it together with the team.
package teams

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// MaxTeams is how many teams an organization can have: what the index of resources holds of all of them stays within one page.
const MaxTeams = 500

// Team is people and resources: what somebody may do on the team they may do on these. Its resources stand in the inventory,
// which counts their changes by the team's: a change of what it owns is one of the team. Generation counts its changes.
type Team struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"`
	Generation  int64     `json:"generation"`
	CreatedAt   time.Time `json:"createdAt"`
	UpdatedAt   time.Time `json:"updatedAt"`
}

// Key returns where a team is stored.
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

// Store reads and writes the teams of organizations.
type Store struct{ table table.Store }

// New returns the teams that t holds.
func New(t table.Store) Store { return Store{t} }

// Get reads a team; fault.NotFound when there is none. One round trip.
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

// Create stores a new team, of generation 1, and does the extra writes with it; fault.Conflict when another one has its name,
// fault.NotFound when a condition of an extra write does not hold.
func (s Store) Create(ctx context.Context, org string, t Team, extra ...table.Write) (Team, error) {
	return s.write(ctx, org, Team{}, t, extra)
}

// Update replaces old, as it was read, by next, of the next generation, and does the extra writes with it. fault.Conflict when
// the team has changed since it was read, or another one has its new name; fault.NotFound when a condition of an extra write does
// not hold.
func (s Store) Update(ctx context.Context, org string, old, next Team, extra ...table.Write) (Team, error) {
	return s.write(ctx, org, old, next, extra)
}

// write writes all there is of a team in one transaction. The zero old is that of a new team.
func (s Store) write(ctx context.Context, org string, old, t Team, extra []table.Write) (Team, error) {
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
	if table.IsTurnLost(err) {
		return t, err
	}
	if lost, ok := errors.AsType[*table.ConditionError](err); ok {
		if lost.Failed[0].Index >= len(ws) {
			return t, fault.NewWithCause(fault.NotFound, err, "what team %s was to own was removed meanwhile; read "+
				"what is there and try again", t.ID)
		}
		if taken := names(org).Refusal(lost, t.Name); taken != nil {
			return t, taken
		}
		return t, changed(t.ID)
	}
	if err != nil {
		return t, fmt.Errorf("write team %s: %w", t.ID, err)
	}
	return t, nil
}

func changed(teamID string) error {
	return fault.New(fault.Conflict, "team %s was changed by someone else meanwhile; read it and try again", teamID)
}

// Hold returns the write by which a role that somebody is given on a team counts as a change of it, so that nobody deletes the
// team at the same time. It fails when there is no such team.
func Hold(org, teamID string) table.Write {
	return table.Update(Key(org, teamID), []table.Change{table.Add("generation", 1)}, table.Exists())
}

// Delete removes a team as it was read, and does the extra writes with it; fault.Conflict when it has changed since.
func (s Store) Delete(ctx context.Context, org string, t Team, extra ...table.Write) error {
	ws := append([]table.Write{
		table.Delete(Key(org, t.ID), table.Equal("generation", t.Generation)), names(org).Release(t.Name),
	}, extra...)
	err := s.table.Transact(ctx, ws...)
	if fault.Is(err, fault.Conflict) {
		return changed(t.ID)
	}
	if err != nil {
		return fmt.Errorf("delete team %s: %w", t.ID, err)
	}
	return nil
}
