package notification

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/engine/table"
)

// ListSubscriptionIDs returns the IDs of the subscriptions for a scope, sorted, and the event type of each. It reads
// the list of receivers of each event type, so it takes one round trip for any number of subscriptions.
func ListSubscriptionIDs(ctx context.Context, s table.Store, org string, of event.Scope) ([]string, map[string]string,
	error,
) {
	keys, eventTypes := make([]table.Key, len(event.Types)), map[string]string{}
	for i, t := range event.Types {
		keys[i] = recipientsKey(org, t.Key, of)
	}
	items, err := s.BatchGet(ctx, keys...)
	if err != nil {
		return nil, nil, fmt.Errorf("list subscriptions for %s %s: %w", of.Type, of.ID, err)
	}
	for i, k := range keys {
		listed, err := readRecipients(items[k])
		if err != nil {
			return nil, nil, err
		}
		for _, entry := range listed {
			if subID := parseListed(entry).id; strings.HasPrefix(subID, "sub_") {
				eventTypes[subID] = event.Types[i].Key
			}
		}
	}
	return slices.Sorted(maps.Keys(eventTypes)), eventTypes, nil
}

// DeleteSubscriptionsFor deletes the subscriptions for a scope. It is idempotent. It takes two round trips, and one
// for each subscription.
func (s *Store) DeleteSubscriptionsFor(ctx context.Context, org string, of event.Scope) error {
	ids, _, err := ListSubscriptionIDs(ctx, s.table, org, of)
	if err != nil || len(ids) == 0 {
		return err
	}
	rows, err := s.readSubscriptions(ctx, org, ids)
	if err != nil {
		return err
	}
	for _, sub := range rows {
		if err = s.DeleteSubscription(ctx, org, *sub); err != nil {
			return err
		}
	}
	return nil
}
