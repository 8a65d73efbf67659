package notification

import (
	"context"
	"errors"
	"fmt"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// Personal is the access needed for ForgetUser.
var Personal = table.Access{Writes: []table.Partition{
	ChannelPartition, ChannelNamePartition, SubscriptionPartition, RecipientPartition, PreferencePartition,
}}

// ForgetUser removes a user's mail preferences and personal channels in org, with the subscriptions of these channels.
// After a failure, call it again to complete the removal.
func (s *Store) ForgetUser(ctx context.Context, org, user string) error {
	if err := s.removePreferences(ctx, org, user); err != nil {
		return err
	}
	all, err := listAll[channelRow](ctx, s.table, ChannelKey(org, "").PK, "chn_") // with half deleted ones
	if err != nil {
		return fmt.Errorf("list channels of %s: %w", org, err)
	}
	for i := range all {
		if all[i].Personal != user {
			continue
		}
		if err = s.DeleteChannel(ctx, org, all[i].ID); err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	count := (&Channel{Personal: user}).personalCount()
	_, err = s.table.Write(ctx, table.Update(countsKey(org), []table.Change{table.Remove(count)}, table.Has(count)))
	if _, none := errors.AsType[*table.ConditionError](err); none {
		return nil
	}
	return fault.Wrap("remove the count of personal channels of "+user, err)
}

func (s *Store) removePreferences(ctx context.Context, org, user string) error {
	k := preferenceKey(org, user, "")
	all, err := listAll[Preference](ctx, s.table, k.PK, k.SK)
	if err != nil {
		return fmt.Errorf("list the mail preferences of %s in %s: %w", user, org, err)
	}
	for _, p := range all {
		err = s.table.Transact(ctx, table.Delete(preferenceKey(org, user, p.EventKey)),
			table.Update(mailedKey(org, p.EventKey), []table.Change{table.Remove(user)}))
		if err != nil {
			return fmt.Errorf("remove the preference of %s for %s: %w", user, p.EventKey, err)
		}
	}
	return nil
}
