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

// ListSubscriptions reads a page of the subscriptions of an organization, oldest first: one round trip a megabyte.
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

// EachSubscription hands over all subscriptions of an organization, oldest first. One round trip a megabyte.
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

// ReadSubscription reads a subscription; fault.NotFound when there is none. One round trip.
func (s *Store) ReadSubscription(ctx context.Context, org, subID string) (Subscription, error) {
	sub, err := table.Read[Subscription](ctx, s.table, subscriptionKey(org, subID))
	if fault.Is(err, fault.NotFound) {
		return sub, MissingSubscription(subID)
	}
	return sub, fault.Wrap("read subscription "+subID, err)
}

// MissingSubscription is the error of a subscription that does not exist.
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

// off stands before the ID of a subscription that is not enabled, where receivers are listed.
const off = "off "

// listed returns how a subscription stands among the receivers: its ID and its maker.
func (s *Subscription) listed() string {
	out := listedAs(s.ID, s.Maker)
	if !s.Enabled {
		out = off + out
	}
	return out
}

// listedAs joins what stands in a list of receivers. Rows of before receivers named their makers have no maker.
func listedAs(what, maker string) string { return strings.TrimSuffix(what+" "+maker, " ") }

// listing is what stands in a list of receivers: a subscription, or on of a legacy configuration.
type listing struct {
	id, maker string
	enabled   bool
}

func parseListed(how string) listing {
	how, disabled := strings.CutPrefix(how, off)
	id, maker, _ := strings.Cut(how, " ")
	return listing{id, maker, !disabled}
}

// is holds of the list of receivers in which the subscription stands.
func (s *Subscription) is() table.Cond {
	mine := listedAs(s.ID, s.Maker)
	return table.Any(table.Equal(s.ChannelID, mine), table.Equal(s.ChannelID, off+mine))
}

// CreateSubscription stores a new subscription; fault.Conflict when there is one of its channel, event type and scope.
func (s *Store) CreateSubscription(ctx context.Context, org string, next Subscription) (Subscription, error) {
	var b changes
	next.Generation = 1
	if err := b.add(org, &next); err != nil {
		return next, err
	}
	return next, s.transact(ctx, "write subscription "+next.ID, b.steps(org)...)
}

// UpdateSubscription replaces old, as it was read, by next; fault.Conflict when it has changed since, or there is
// another one of the new channel, event type and scope.
func (s *Store) UpdateSubscription(ctx context.Context, org string, old, next Subscription) (Subscription, error) {
	next.Generation = old.Generation + 1
	var b changes
	if err := b.replace(org, &old, &next); err != nil {
		return next, err
	}
	return next, s.transact(ctx, "write subscription "+next.ID, b.steps(org)...)
}

// DeleteSubscription deletes a subscription as it was read; fault.Conflict when it has changed since.
func (s *Store) DeleteSubscription(ctx context.Context, org string, sub Subscription) error {
	var b changes
	b.rows = append(b.rows, step{
		table.Delete(subscriptionKey(org, sub.ID), table.Equal("generation", sub.Generation)),
		changedSubscription(sub.ID),
	})
	b.unlist(org, &sub)
	return s.transact(ctx, "delete subscription "+sub.ID, b.steps(org)...)
}

// changes are those of some subscriptions, in one transaction: what several of them have in common is written once.
type changes struct {
	rows     []step
	lists    map[table.Key]*step // of receivers
	order    []table.Key         // in which they came
	channels map[string]int64    // by how many each channel has more
	ids      []string            // of these, in order
	named    []*Subscription     // those whose scope must exist, one of each scope
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

// add adds a subscription of which there is none.
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

// holds returns the writes by which the subscriptions count as uses of their scopes.
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

// MissingScope returns the error of a subscription for a scope that does not exist.
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

// replace puts next in the place of old, as it was read.
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

// steps returns the writes: the rows, the lists of receivers, the channels and the scopes, which must be there, and
// the count of all.
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

// FindSubscriptions tells which of the subscriptions are there already, by their channel, event type and scope: their
// ids, in the order of wanted, "" of one that is not. One round trip a hundred.
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

// readRecipients reads a list of receivers; none when there is no item.
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
