package notification

import (
	"context"
	"fmt"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// Preference is whether a user receives mail of events with a key.
type Preference struct {
	EventKey  string     `json:"eventKey"`
	Enabled   bool       `json:"enabled"`
	UpdatedAt *time.Time `json:"updatedAt"` // nil when it was never set
}

// on is the entry of a receiver without a subscription ID in a list of receivers.
const on = "on"

// maxMailed is the maximum number of users with mail of a key switched on. It is the maximum number of members of an
// organization.
const maxMailed = 5_000

// ReadPreference reads a preference. A preference that was never set is off. It takes one round trip.
func (s *Store) ReadPreference(ctx context.Context, org, user, eventKey string) (Preference, error) {
	p, err := table.Read[Preference](ctx, s.table, preferenceKey(org, user, eventKey))
	if fault.Is(err, fault.NotFound) {
		return Preference{EventKey: eventKey}, nil
	}
	return p, fault.Wrap("read the preference of "+user, err)
}

// SetPreference switches mail of events with a key on or off for a user. It takes two round trips, and more when the
// list of users is full of former members.
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

// makeRoom removes former members from a full list.
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
