package notification

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// Limits for deleting a channel's subscriptions: the number per transaction, at two writes each, and the number of
// concurrent transactions.
const (
	removedTogether = table.MaxTransact / 2
	removing        = 8
)

// DeleteChannel deletes a channel with all its subscriptions. The channel is hidden from the first write on. If the
// call is interrupted, call it again to complete the deletion. It takes 3 round trips, and one for each thousand
// subscriptions of the organization and for each 50 of the channel.
func (s *Store) DeleteChannel(ctx context.Context, org, channelID string) error {
	row, err := s.endChannel(ctx, org, channelID)
	if err != nil {
		return err
	}
	all, err := listAll[Subscription](ctx, s.table, subscriptionKey(org, "").PK, "sub_")
	if err != nil {
		return fmt.Errorf("list subscriptions of %s: %w", org, err)
	}
	own := slices.DeleteFunc(all, func(sub Subscription) bool { return sub.ChannelID != channelID })
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(removing)
	for some := range slices.Chunk(own, removedTogether) {
		g.Go(func() error { return s.removeTogether(gctx, org, some) })
	}
	if err = g.Wait(); err != nil {
		return fault.Wrap("delete subscriptions of "+channelID, err)
	}
	counts := []table.Change{table.Add("channels", -1), table.Add("subscriptions", -row.Subscriptions)}
	if field := row.personalCount(); field != "" {
		counts = append(counts, table.Add(field, -1))
	}
	return s.transact(ctx, "delete channel "+channelID,
		step{
			table.Delete(ChannelKey(org, channelID), table.Equal("generation", row.Generation)),
			MissingChannel(channelID),
		},
		step{table.Update(countsKey(org), counts), nil})
}

// endChannel hides a channel and releases its name, so that no subscription can be added.
func (s *Store) endChannel(ctx context.Context, org, channelID string) (channelRow, error) {
	row, err := s.channelRow(ctx, org, channelID)
	if err != nil || row.Ended {
		return row, err
	}
	end := table.Update(ChannelKey(org, channelID),
		[]table.Change{table.Set("ended", true), table.Add("generation", 1)},
		table.Equal("generation", row.Generation))
	err = s.transact(ctx, "delete channel "+channelID, step{end, changedChannel(channelID)},
		step{row.names(org).Release(row.Name), nil})
	if err != nil {
		return row, err
	}
	return s.channelRow(ctx, org, channelID) // includes all subscriptions added before the end
}

// removeTogether deletes subscriptions of an ended channel in one transaction. DeleteChannel updates the counts.
func (s *Store) removeTogether(ctx context.Context, org string, some []Subscription) error {
	var ws []table.Write
	for i := range some {
		sub := &some[i]
		ws = append(ws, table.Delete(subscriptionKey(org, sub.ID)),
			table.Update(recipientsKey(org, sub.EventType, sub.Scope()), []table.Change{table.Remove(sub.ChannelID)}))
	}
	return s.table.Transact(ctx, ws...)
}
