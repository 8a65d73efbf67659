package delivery

import (
	"context"
	"errors"
	"slices"
	"time"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// Partition holds the deliveries of an organization.
const Partition table.Partition = "ORG#*#DELIVERY#*"

// shards is the number of partitions of an organization's deliveries, so that the deliveries of an event with 1,000
// receivers, or of 10,000 events, are written within seconds.
const shards = 16

func spread(org string) table.Spread {
	return table.Spread{PK: table.OrgPK(org) + "DELIVERY", Shards: shards}
}

// PKs returns the partitions of an organization's deliveries. In each, the oldest delivery is first.
func PKs(org string) []string { return spread(org).PKs() }

// Access returns the access that a function needs to send, log or redeliver.
func Access() table.Access {
	return table.Access{Writes: []table.Partition{Partition, DuePartition}}
}

// Store stores the deliveries.
type Store struct {
	table table.Store
	clock clock.Clock
}

// NewStore returns a Store of deliveries.
func NewStore(s table.Store, c clock.Clock) *Store { return &Store{s, c} }

// Filter selects deliveries. Empty fields match all deliveries.
type Filter struct {
	Kinds    []Kind
	TargetID string
	Statuses []string
	EventKey string
	From, To time.Time          // creation time, From inclusive, To exclusive
	Sees     func(*Record) bool // whether the caller may see a delivery; nil means all
}

func (f *Filter) meets(r *Record) bool {
	return (len(f.Kinds) == 0 || slices.Contains(f.Kinds, r.Target.Kind)) &&
		(f.TargetID == "" || f.TargetID == r.Target.ID) &&
		rest.Among(f.Statuses, string(r.Status)) && (f.EventKey == "" || f.EventKey == r.EventKey) &&
		(f.Sees == nil || f.Sees(r))
}

// query returns the query for the deliveries in the filter's time range, newest first.
func (f *Filter) query() table.Query {
	q := table.Query{Reverse: true}
	if !f.From.IsZero() {
		q.From = id.LowestAt(prefix, f.From)
	}
	if !f.To.IsZero() {
		q.To = id.LowestAt(prefix, f.To)
	}
	return q
}

// List returns a page of the deliveries that match f, newest first. It searches the newest rest.Looked deliveries in
// the time range; Total counts the matching ones among them. It takes one set of parallel round trips per thousand.
func (s *Store) List(ctx context.Context, org string, f Filter, p rest.Page) (rest.List[Record], error) {
	r := rest.Reading[Record]{Store: s.table, Page: p, Over: PKs(org)}
	got, err := r.Filtered(table.Eventually(ctx), f.query(), func(d Record) bool { return f.meets(&d) })
	return got, fault.Wrap("list deliveries of "+org, err)
}

// Get reads a delivery. It returns fault.NotFound when it does not exist. It takes one round trip.
func (s *Store) Get(ctx context.Context, org, deliveryID string) (Record, error) {
	missing := fault.New(fault.NotFound, "delivery %.64q does not exist", deliveryID)
	if !id.IsValid(prefix, deliveryID) {
		return Record{}, missing
	}
	r, err := table.Read[Record](ctx, s.table, spread(org).Key(deliveryID))
	if fault.Is(err, fault.NotFound) {
		return r, missing
	}
	return r, fault.Wrap("read delivery "+deliveryID, err)
}

// Redeliver restarts an ended delivery now, with its whole ladder. It returns the pending delivery. It returns
// fault.Conflict when the delivery has not ended, because its next try is already planned. It takes two round trips.
func (s *Store) Redeliver(ctx context.Context, org, deliveryID string) (Record, error) {
	old, err := s.Get(ctx, org, deliveryID)
	if err != nil {
		return old, err
	}
	if !old.Status.IsFinal() {
		return old, fault.New(fault.Conflict, "delivery %s is %s and is tried next at %s: it can be redelivered when "+
			"it is delivered or parked",
			old.ID, old.Status, old.NextAttemptAt.UTC().Format(time.RFC3339))
	}
	now := s.clock.Now()
	next := old
	next.Status, next.Tries, next.NextAttemptAt, next.DeliveredAt, next.BegunAt = Pending, 0, now, time.Time{}, now
	put, list, err := s.rewrite(org, &old, &next, now)
	if err != nil {
		return old, err
	}
	list.Item.PK = nowPK
	err = s.table.Transact(table.Within(ctx, DuePrefix), put, list)
	if _, faster := errors.AsType[*table.ConditionError](err); faster {
		return old, fault.New(fault.Conflict, "delivery %s was begun again by someone else meanwhile", old.ID)
	}
	return next, fault.Wrap("redeliver "+old.ID, err)
}

// replace returns the write that replaces old by next, and sets next.Change. It does not write the window.
func (s *Store) replace(org string, old, next *Record) (table.Write, error) {
	next.Change = old.Change + 1
	w, err := table.PutFields(spread(org).Key(next.ID), *next, table.Equal("change", old.Change))
	w.Changes = slices.DeleteFunc(w.Changes, func(c table.Change) bool {
		return c.Field == "window" || c.Field == "windowSeq"
	})
	w.Changes = append(w.Changes, table.Expire(next.expires(s.clock.Now())))
	return w, err
}

// rewrite returns the writes that replace old by next and add a due row for next.
func (s *Store) rewrite(org string, old, next *Record, at time.Time) (put, list table.Write, err error) {
	d := due{Org: org, At: at, IDs: []string{next.ID}, Name: dueName(next.ID, old.Change+1)}
	next.Due = d.Name
	if put, err = s.replace(org, old, next); err != nil {
		return put, list, err
	}
	list, err = d.put()
	return put, list, err
}

// LogSent records a message that was sent without the ladder: a test, or a share by a person. The record is
// Delivered, or Parked when err is not nil. It takes one round trip.
func (s *Store) LogSent(ctx context.Context, m Message, a Answer, err error) (Record, error) {
	now := s.clock.Now()
	r := Record{
		ID: m.ID, Target: m.Target, Events: m.Events[:min(len(m.Events), MaxEvents)],
		Total: max(m.Total, len(m.Events)), Text: m.Text,
		Data: m.Data, Status: Delivered, CreatedAt: now, BegunAt: now, DeliveredAt: now, Change: 1,
	}
	if len(m.Events) > 0 {
		r.EventID, r.EventKey = m.Events[0].ID, m.Events[0].Key
	}
	if err != nil {
		r.Status, r.DeliveredAt = Parked, time.Time{}
	}
	r = r.attempted(newAttempt(now, a, err))
	it, encoding := table.NewItem(spread(m.Org).Key(r.ID), r)
	if encoding != nil {
		return r, encoding
	}
	it.Expires = r.expires(now)
	_, failed := s.table.Write(ctx, table.Put(it, table.Absent()))
	return r, fault.Wrap("log delivery "+r.ID, failed)
}

// newAttempt returns the attempt for an answer or an error.
func newAttempt(at time.Time, a Answer, err error) Attempt {
	said := a.Message
	if err != nil && said == "" {
		said = fault.Message(err)
	}
	return Attempt{At: at, Status: a.Status, Message: fault.CleanText(said, maxMessage)}
}

// maxMessage is the maximum number of characters of a receiver's response that are stored.
const maxMessage = 200

// prefix is the prefix of delivery IDs.
const prefix = "dlv"

// NewID returns the ID of a delivery without an event: a test, or a share by a person.
func NewID(at time.Time) string { return id.New(prefix, at) }
