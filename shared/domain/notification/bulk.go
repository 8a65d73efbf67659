package notification

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/engine/table"
)

// Upserted counts the subscriptions that a bulk request created and updated.
type Upserted struct{ Created, Updated int }

// togetherInBulk is the number of subscriptions per transaction. Each takes at most five writes: its row, its list of
// receivers, its channel and two of its scope.
const togetherInBulk = (table.MaxTransact - 1) / 5

// UpsertSubscriptions creates or updates subscriptions. An update changes only enabled. Each subscription carries a
// new ID in case it does not exist. If several have the same channel, event type and scope, the last one wins. It
// writes in several transactions; after an error, call it again to complete the rest.
func (s *Store) UpsertSubscriptions(ctx context.Context, org string, all []Subscription) (Upserted, error) {
	var done Upserted
	all = lastOfEach(all)
	found, err := s.FindSubscriptions(ctx, org, all)
	if err != nil {
		return done, err
	}
	rows, err := s.readSubscriptions(ctx, org, found)
	if err != nil {
		return done, err
	}
	for len(all) > 0 {
		n := min(togetherInBulk, len(all))
		var b changes
		for i := range all[:n] {
			if err = b.upsert(org, rows[found[i]], &all[i], &done); err != nil {
				return done, err
			}
		}
		if err = s.transact(ctx, "write subscriptions of "+org, b.steps(org)...); err != nil {
			return done, err
		}
		all, found = all[n:], found[n:]
	}
	return done, nil
}

func (b *changes) upsert(org string, old *Subscription, next *Subscription, done *Upserted) error {
	if old == nil {
		done.Created++
		next.Generation = 1
		return b.add(org, next)
	}
	done.Updated++
	resumed := next.Enabled && !old.PausedAt.IsZero()
	if old.Enabled == next.Enabled && !resumed {
		return nil
	}
	changed := *old
	changed.Enabled, changed.UpdatedAt, changed.Generation = next.Enabled, next.UpdatedAt, old.Generation+1
	if next.Enabled {
		changed.Made = next.Made
	}
	return b.replace(org, old, &changed)
}

// lastOfEach keeps the last subscription per channel, event type and scope, in the order of first occurrence.
func lastOfEach(all []Subscription) []Subscription {
	at := map[place]int{}
	var out []Subscription
	for i := range all {
		p := all[i].place()
		if n, again := at[p]; again {
			out[n] = all[i]
			continue
		}
		at[p] = len(out)
		out = append(out, all[i])
	}
	return out
}

func (s *Store) readSubscriptions(ctx context.Context, org string, ids []string) (map[string]*Subscription, error) {
	var keys []table.Key
	for _, id := range ids {
		if id != "" {
			keys = append(keys, subscriptionKey(org, id))
		}
	}
	out := map[string]*Subscription{}
	if len(keys) == 0 {
		return out, nil
	}
	items, err := s.table.BatchGet(ctx, keys...)
	if err != nil {
		return nil, fmt.Errorf("read subscriptions of %s: %w", org, err)
	}
	for _, it := range items {
		sub, err := table.Decode[Subscription](it)
		if err != nil {
			return nil, err
		}
		out[sub.ID] = &sub
	}
	return out, nil
}
