package inventory

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// Bounds of teams. What the index holds of a team is small, so that all of them stay within one page of its partition.
const (
	MaxTeams = 500
	MaxOwned = 10_000 // resources of a team
)

// Team owns resources: what somebody may do on the team they may do on these. Its people are no concern of the inventory.
// Generation counts its changes.
type Team struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"`
	Generation  int64     `json:"generation"`
	CreatedAt   time.Time `json:"createdAt"`
	UpdatedAt   time.Time `json:"updatedAt"`
}

// TeamKey is where a team is stored.
func TeamKey(org, teamID string) table.Key {
	return table.Key{PK: table.TenantPK(org) + "TEAM", SK: teamID}
}

func ownerKey(org, teamID string) table.Key { return indexKey(org, setPrefix+teamID) }

// teamNameKey keeps the name of a team unique in its organization, without regard to case.
func teamNameKey(org, name string) table.Key {
	return table.Key{PK: table.TenantPK(org) + "TEAMNAME", SK: strings.ToLower(name)}
}

// Team reads a team; fault.NotFound when there is none. One round trip.
func (s *Store) Team(ctx context.Context, org, teamID string) (Team, error) {
	t, err := table.Read[Team](ctx, s.table, TeamKey(org, teamID))
	if fault.Is(err, fault.NotFound) {
		return t, fault.Cause(fault.NotFound, err, "team %.64q does not exist", teamID)
	}
	if err != nil {
		return t, fmt.Errorf("read team %s: %w", teamID, err)
	}
	return t, nil
}

// Teams lists the teams of an organization, oldest first.
func (s *Store) Teams(ctx context.Context, org string) ([]Team, error) {
	var items []table.Item
	q := table.Query{PK: TeamKey(org, "").PK, Limit: MaxTeams}
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

// Ownership is a team with the ids of what it owns. Nil Resources are those that it has.
type Ownership struct {
	Team
	Resources []string
}

// CreateTeam stores a new team, and does the extra writes with it, of which only those of HoldAccounts have conditions;
// fault.Conflict when another one has its name.
func (s *Store) CreateTeam(ctx context.Context, org string, t Ownership, extra ...table.Write) (Team, error) {
	if t.Resources == nil {
		t.Resources = []string{}
	}
	return s.writeTeam(ctx, org, Team{}, t, extra)
}

// UpdateTeam replaces old, as it was read, by next, and does the extra writes with it, as CreateTeam does. fault.Conflict when the team has
// changed since it was read, or another one has its new name.
func (s *Store) UpdateTeam(ctx context.Context, org string, old Team, next Ownership, extra ...table.Write) (Team, error) {
	return s.writeTeam(ctx, org, old, next, extra)
}

// writeTeam writes all there is of a team in one transaction. The zero old is that of a new team.
func (s *Store) writeTeam(ctx context.Context, org string, old Team, next Ownership, extra []table.Write) (Team, error) {
	t, cond := next.Team, table.Absent()
	if t.Generation = old.Generation + 1; old.ID != "" {
		cond = table.Equal("generation", old.Generation)
	}
	row, err := table.Row(TeamKey(org, t.ID), t)
	if err != nil {
		return t, err
	}
	names, err := renamed(org, old, t)
	if err != nil {
		return t, err
	}
	owned, err := ownedWrites(org, t, next.Resources)
	if err != nil {
		return t, err
	}
	ws := append(append([]table.Write{table.Put(row, cond)}, names...), owned...)
	err = s.table.Transact(ctx, append(ws, extra...)...)
	if lost, ok := errors.AsType[*table.ConditionError](err); ok {
		if gone := accountGone(lost, len(ws)); gone != nil {
			return t, gone
		}
		if _, taken := lost.Old(1); taken && len(names) > 0 {
			return t, fault.New(fault.Conflict, "name: a team named %.64q exists already; choose another name", t.Name)
		}
		return t, changedTeam(t.ID)
	}
	if err != nil {
		return t, fmt.Errorf("write team %s: %w", t.ID, err)
	}
	return t, nil
}

func changedTeam(teamID string) error {
	return fault.New(fault.Conflict, "team %s was changed by someone else meanwhile; read it and try again", teamID)
}

// renamed are the writes that take the new name, and give the old one back.
func renamed(org string, old, t Team) ([]table.Write, error) {
	from, to := teamNameKey(org, old.Name), teamNameKey(org, t.Name)
	if old.ID != "" && from == to {
		return nil, nil
	}
	it, err := table.Row(to, struct {
		TeamID string `json:"teamID"`
	}{t.ID})
	ws := []table.Write{table.Put(it, table.Absent())}
	if old.ID != "" {
		ws = append(ws, table.Delete(from))
	}
	return ws, err
}

// ownedWrites are the writes that tell the index what the team owns; none when that stays as it is.
func ownedWrites(org string, t Team, resources []string) ([]table.Write, error) {
	if resources == nil {
		return nil, nil
	}
	it, err := table.Row(ownerKey(org, t.ID), owner{t.ID, t.Generation, len(resources)})
	if err != nil || len(resources) == 0 {
		return []table.Write{table.Put(it), table.Delete(memberKey(org, t.ID))}, err
	}
	set := make([]place, len(resources))
	for i, id := range resources {
		u, ok := parseID(id)
		if !ok {
			return nil, fault.New(fault.Invalid, "resources: %.64q is not the id of a resource", id)
		}
		set[i] = place{u, 1, 1}
	}
	members, err := table.Row(memberKey(org, t.ID), memberItem{t.Generation, encodePlaces(set)})
	return []table.Write{table.Put(it), table.Put(members)}, err
}

// Hold is the write by which a role that somebody is given on a team counts as a change of it, so that nobody deletes the
// team at the same time. It fails when there is no such team.
func Hold(org, teamID string) table.Write {
	return table.Update(TeamKey(org, teamID), []table.Change{table.Add("generation", 1)}, table.Exists())
}

// DeleteTeam removes a team as it was read, and does the extra writes with it; fault.Conflict when it has changed since.
func (s *Store) DeleteTeam(ctx context.Context, org string, t Team, extra ...table.Write) error {
	ws := append([]table.Write{
		table.Delete(TeamKey(org, t.ID), table.Equal("generation", t.Generation)), table.Delete(teamNameKey(org, t.Name)),
		table.Delete(ownerKey(org, t.ID)), table.Delete(memberKey(org, t.ID)),
	}, extra...)
	err := s.table.Transact(ctx, ws...)
	if fault.Is(err, fault.Conflict) {
		return changedTeam(t.ID)
	}
	if err != nil {
		return fmt.Errorf("delete team %s: %w", t.ID, err)
	}
	return nil
}
