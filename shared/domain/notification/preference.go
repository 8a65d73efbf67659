package notification

import (
	"context"
	"fmt"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// Preference is whether a user wants mail of the events of a key.
type Preference struct {
	EventKey  string     `json:"eventKey"`
	Enabled   bool       `json:"enabled"`
	UpdatedAt *time.Time `json:"updatedAt"` // nil: it was never set
}

// on stands in a list of receivers for who has no subscription that could be named.
const on = "on"

// maxMailed is how many users can have mail of a key switched on: as many as an organization can have members.
const maxMailed = 5_000

// ReadPreference reads a preference; one that was never set is off. One round trip.
func (s *Store) ReadPreference(ctx context.Context, org, user, eventKey string) (Preference, error) {
	p, err := table.Read[Preference](ctx, s.table, preferenceKey(org, user, eventKey))
	if fault.Is(err, fault.NotFound) {
		return Preference{EventKey: eventKey}, nil
	}
	return p, fault.Wrap("read the preference of "+user, err)
}

// SetPreference switches mail of the events of a key on or off for a user. Two round trips; more when the list of
// users is full of those who have left.
func (s *Store) SetPreference(ctx context.Context, org, user string, p Preference) error {
	it, err := table.NewItem(preferenceKey(org, user, p.EventKey), p)
	if err != nil {
		return err
	}
	change := table.Remove(user)
	if p.Enabled {
		change = table.Set(user, on)
		if err = s.makeRoom(ctx, org, p.EventKey); err != nil {
			return err
		}
	}
	return fault.Wrap("write the preference of "+user,
		s.table.Transact(ctx, table.Put(it), table.Update(mailedKey(org, p.EventKey), []table.Change{change})))
}

// makeRoom takes users who are no members any more out of a list that is full.
func (s *Store) makeRoom(ctx context.Context, org, eventKey string) error {
	k := mailedKey(org, eventKey)
	items, err := s.table.BatchGet(ctx, k)
	if err != nil {
		return fmt.Errorf("read who has mail of %s: %w", eventKey, err)
	}
	users, err := readRecipients(items[k])
	if err != nil || len(users) < maxMailed {
		return err
	}
	keys := make([]table.Key, 0, len(users))
	for user := range users {
		keys = append(keys, identity.MemberKey(org, user))
	}
	members, err := s.table.BatchGet(ctx, keys...)
	if err != nil {
		return fmt.Errorf("read members of %s: %w", org, err)
	}
	var gone []table.Change
	for user := range users {
		if _, member := members[identity.MemberKey(org, user)]; !member {
			gone = append(gone, table.Remove(user))
		}
	}
	if len(gone) == 0 {
		return nil
	}
	_, err = s.table.Write(ctx, table.Update(k, gone))
	return fault.Wrap("forget who has left "+org, err)
}
