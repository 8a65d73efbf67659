package notification

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"lamplighter.dev/shared/domain/receiver"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// ListSubscriptions reads a page of an organization's subscriptions, oldest first. It takes one round trip per
// megabyte.
func (s *Store) ListSubscriptions(ctx context.Context, org string, skip, limit int) ([]Subscription, error) {
	q := table.Query{PK: subscriptionKey(org, "").PK, Prefix: "sub_", Skip: skip, Limit: min(limit, table.MaxPage)}
	var out []Subscription
	for {
		page, next, err := table.ReadPage[Subscription](ctx, s.table, q)
		if err != nil {
			return nil, fmt.Errorf("list subscriptions of %s: %w", org, err)
		}
		out = append(out, page...)
		if q.Cursor = next; next == "" || len(out) >= limit {
			return out[:min(len(out), limit)], nil
		}
	}
}

// EachSubscription calls f for all subscriptions of an organization, oldest first. It takes one round trip per
// megabyte.
func (s *Store) EachSubscription(ctx context.Context, org string, f func(*Subscription)) error {
	q := table.Query{PK: subscriptionKey(org, "").PK, Prefix: "sub_", Limit: table.MaxPage}
	for {
		page, next, err := table.ReadPage[Subscription](ctx, s.table, q)
		if err != nil {
			return fmt.Errorf("list subscriptions of %s: %w", org, err)
		}
		for i := range page {
			f(&page[i])
		}
		if q.Cursor = next; next == "" {
			return nil
		}
	}
}

// ReadSubscription reads a subscription. It returns fault.NotFound when it does not exist. It takes one round trip.
func (s *Store) ReadSubscription(ctx context.Context, org, subID string) (Subscription, error) {
	sub, err := table.Read[Subscription](ctx, s.table, subscriptionKey(org, subID))
	if fault.Is(err, fault.NotFound) {
		return sub, MissingSubscription(subID)
	}
	return sub, fault.Wrap("read subscription "+subID, err)
}

// MissingSubscription returns the error for a subscription that does not exist.
func MissingSubscription(subID string) error {
	return fault.New(fault.NotFound, "subscription %.64q does not exist", subID)
}

func changedSubscription(subID string) error {
	return fault.New(fault.Conflict, "subscription %s was changed by someone else meanwhile; read it and try again",
		subID)
}

func duplicate(next *Subscription) error {
	return fault.New(fault.Conflict,
		"there is a subscription of channel %s to %s for this scope already: change that one, or send several to "+
			"/notifications/subscriptions/bulk",
		next.ChannelID, next.EventType)
}

// off prefixes the entry of a disabled subscription in a list of receivers.
const off = "off "

// listed returns the subscription's entry in a list of receivers: its ID and its maker.
func (s *Subscription) listed() string {
	out := listedAs(s.ID, s.Maker)
	if !s.Enabled {
		out = off + out
	}
	return out
}

// listedAs joins an ID and a maker to an entry in a list of receivers. Old entries have no maker.
func listedAs(what, maker string) string { return strings.TrimSuffix(what+" "+maker, " ") }

// listing is a parsed entry in a list of receivers. id is the ID of a subscription, or on for a legacy configuration.
type listing struct {
	id, maker string
	enabled   bool
}

func parseListed(how string) listing {
	how, disabled := strings.CutPrefix(how, off)
	id, maker, _ := strings.Cut(how, " ")
	return listing{id, maker, !disabled}
}

// is returns the condition that the list of receivers contains the subscription.
func (s *Subscription) is() table.Cond {
	mine := listedAs(s.ID, s.Maker)
	return table.Any(table.Equal(s.ChannelID, mine), table.Equal(s.ChannelID, off+mine))
}

// CreateSubscription stores a new subscription. It returns fault.Conflict when one with its channel, event type and
// scope exists.
func (s *Store) CreateSubscription(ctx context.Context, org string, next Subscription) (Subscription, error) {
	var b changes
	next.Generation = 1
	if err := b.add(org, &next); err != nil {
		return next, err
	}
	return next, s.transact(ctx, "write subscription "+next.ID, b.steps(org)...)
}

// UpdateSubscription replaces old, as it was read, by next. It returns fault.Conflict when the subscription has
// changed since, or when another one has the new channel, event type and scope.
func (s *Store) UpdateSubscription(ctx context.Context, org string, old, next Subscription) (Subscription, error) {
	next.Generation = old.Generation + 1
	var b changes
	if err := b.replace(org, &old, &next); err != nil {
		return next, err
	}
	return next, s.transact(ctx, "write subscription "+next.ID, b.steps(org)...)
}

// DeleteSubscription deletes a subscription, as it was read. It returns fault.Conflict when it has changed since.
func (s *Store) DeleteSubscription(ctx context.Context, org string, sub Subscription) error {
	var b changes
	b.rows = append(b.rows, step{
		table.Delete(subscriptionKey(org, sub.ID), table.Equal("generation", sub.Generation)),
		changedSubscription(sub.ID),
	})
	b.unlist(org, &sub)
	return s.transact(ctx, "delete subscription "+sub.ID, b.steps(org)...)
}

// changes collects the writes for several subscriptions in one transaction. Shared items are written once.
type changes struct {
	rows     []step
	lists    map[table.Key]*step // of receivers
	order    []table.Key         // of lists, in the order of insertion
	channels map[string]int64    // by channel ID: the change of its number of subscriptions
	ids      []string            // of channels, in the order of insertion
	named    []*Subscription     // one subscription per scope that must exist
}

func (b *changes) list(k table.Key) *step {
	if b.lists[k] == nil {
		if b.lists == nil {
			b.lists = map[table.Key]*step{}
		}
		b.lists[k] = &step{Write: table.Update(k, nil)}
		b.order = append(b.order, k)
	}
	return b.lists[k]
}

func (b *changes) count(channelID string, by int64) {
	if b.channels == nil {
		b.channels = map[string]int64{}
	}
	if _, known := b.channels[channelID]; !known {
		b.ids = append(b.ids, channelID)
	}
	b.channels[channelID] += by
}

// add adds a new subscription.
func (b *changes) add(org string, next *Subscription) error {
	it, err := table.NewItem(subscriptionKey(org, next.ID), *next)
	b.rows = append(b.rows, step{table.Put(it, table.Absent()), changedSubscription(next.ID)})
	b.enlist(org, next)
	return err
}

func (b *changes) enlist(org string, next *Subscription) {
	l := b.list(recipientsKey(org, next.EventType, next.Scope()))
	l.Changes = append(l.Changes, table.Set(next.ChannelID, next.listed()))
	l.If = append(l.If, table.Lacks(next.ChannelID))
	l.refused = duplicate(next)
	b.count(next.ChannelID, 1)
	if !slices.ContainsFunc(b.named, func(s *Subscription) bool { return s.Scope() == next.Scope() }) {
		b.named = append(b.named, next)
	}
}

// holds returns the writes that count the subscriptions as uses of their scopes.
func (b *changes) holds(org string) []step {
	var out []step
	for _, sub := range b.named {
		ws, _ := receiver.HoldScope(org, sub.Scope())
		for _, w := range ws {
			out = append(out, step{w, MissingScope(sub)})
		}
	}
	return out
}

// MissingScope returns the error for a subscription to a scope that does not exist.
func MissingScope(sub *Subscription) error {
	return fault.New(fault.Invalid, "scopeID: %.64q: there is no such %s; send the id of one that exists", sub.ScopeID,
		sub.ScopeType)
}

func (b *changes) unlist(org string, sub *Subscription) {
	l := b.list(recipientsKey(org, sub.EventType, sub.Scope()))
	l.Changes = append(l.Changes, table.Remove(sub.ChannelID))
	l.If = append(l.If, sub.is())
	l.refused = changedSubscription(sub.ID)
	b.count(sub.ChannelID, -1)
}

// replace replaces old, as it was read, by next.
func (b *changes) replace(org string, old, next *Subscription) error {
	put, err := table.PutFields(subscriptionKey(org, next.ID), *next, table.Equal("generation", old.Generation))
	if err != nil {
		return err
	}
	b.rows = append(b.rows, step{put, changedSubscription(next.ID)})
	if old.place() != next.place() {
		b.unlist(org, old)
		b.enlist(org, next)
		return nil
	}
	l := b.list(recipientsKey(org, next.EventType, next.Scope()))
	l.Changes = append(l.Changes, table.Set(next.ChannelID, next.listed()))
	l.If = append(l.If, old.is())
	l.refused = changedSubscription(next.ID)
	return nil
}

// steps returns all writes: the rows, the lists of receivers, the channels and scopes, which must exist, and the
// organization's count.
func (b *changes) steps(org string) []step {
	out := b.rows
	for _, k := range b.order {
		out = append(out, *b.lists[k])
	}
	sum := int64(0)
	for _, id := range b.ids {
		by := b.channels[id]
		sum += by
		gone := fault.New(fault.Invalid, "channelID: %.64q: there is no such channel; send the id of one that exists",
			id)
		w := table.Update(ChannelKey(org, id), []table.Change{table.Add("subscriptions", by)}, table.Exists(),
			table.Lacks("ended"))
		out = append(out, step{w, gone})
	}
	if sum != 0 {
		out = append(out, counted(org, "subscriptions", sum, MaxSubscriptions))
	}
	return append(out, b.holds(org)...)
}

// FindSubscriptions returns the IDs of existing subscriptions with the channel, event type and scope of wanted, in
// the order of wanted. The ID is "" when no subscription exists. It takes one round trip per hundred.
func (s *Store) FindSubscriptions(ctx context.Context, org string, wanted []Subscription) ([]string, error) {
	keys := make([]table.Key, len(wanted))
	for i := range wanted {
		keys[i] = recipientsKey(org, wanted[i].EventType, wanted[i].Scope())
	}
	items, err := s.table.BatchGet(ctx, keys...)
	if err != nil {
		return nil, fmt.Errorf("find subscriptions of %s: %w", org, err)
	}
	out := make([]string, len(wanted))
	for i, k := range keys {
		listed, err := readRecipients(items[k])
		if err != nil {
			return nil, err
		}
		out[i] = parseListed(listed[wanted[i].ChannelID]).id
	}
	return out, nil
}

// readRecipients decodes a list of receivers. It returns nil for an empty item.
func readRecipients(it table.Item) (map[string]string, error) {
	if it.Data == nil {
		return nil, nil
	}
	var out map[string]string
	if err := json.Unmarshal(it.Data, &out); err != nil {
		return nil, fmt.Errorf("decode receivers %s: %w", it.SK, err)
	}
	return out, nil
}
