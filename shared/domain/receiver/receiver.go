// Package receiver stores the external services that receive an organization's events. Webhooks are signed requests
// to the organization's own programs (https://www.standardwebhooks.com). Integrations are connected third-party
// services, such as Jira and PagerDuty for issues and incidents, or hosts of code and images. Each is a named row
// with a filter of events. Store, Filter and Audience store, find and match both kinds.
package receiver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/displayname"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// Most is the maximum number of receivers of a kind in an organization; one read returns all.
const Most = 50

// MaxName is the maximum length of a name, in characters.
const MaxName = 100

// Row is the part that all receivers have. Each change increments Generation and requires its old value.
type Row struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Filter
	Made
	Enabled    bool      `json:"enabled"`
	CreatedBy  string    `json:"createdBy"`
	CreatedAt  time.Time `json:"createdAt"`
	UpdatedAt  time.Time `json:"updatedAt"`
	Generation int       `json:"generation"`
	FailingAt  time.Time `json:"failingAt,omitzero"` // since when deliveries fail; zero when they do not
	FailingWhy string    `json:"failingWhy,omitempty"`
}

// Base returns the common part of a receiver.
func (r *Row) Base() *Row { return r }

// Check normalizes and validates the name and the filter. The error is fault.Invalid and names the field.
func (r *Row) Check() (err error) {
	if r.Name, err = displayname.CleanName("name", r.Name, MaxName); err != nil {
		return err
	}
	return r.Filter.Check()
}

// Kind describes a kind of receivers and its storage.
type Kind struct {
	Target    delivery.Kind   // the kind in deliveries
	Noun      string          // in error messages
	Prefix    string          // of ids
	Partition table.Partition // of an organization; also holds names
}

// Pointer is a *T whose T embeds a Row.
type Pointer[T any] interface {
	*T
	Base() *Row
}

// Store stores the receivers of a kind.
type Store[T any, P Pointer[T]] struct {
	table table.Store
	kind  Kind
}

// NewStore returns a store of the kind on t.
func NewStore[T any, P Pointer[T]](t table.Store, k Kind) *Store[T, P] { return &Store[T, P]{t, k} }

const namePrefix = "NAME#"

// Key returns the key of a row in the kind's partition.
func (k Kind) Key(org, sk string) table.Key {
	return table.Key{PK: table.OrgPK(org) + k.Partition.Name(), SK: sk}
}

// names returns the unique names of an organization's receivers of this kind.
func (k Kind) names(org string) table.UniqueNames {
	return table.UniqueNames{PK: k.Key(org, "").PK, Prefix: namePrefix, Noun: k.Noun}
}

// List lists the receivers of an organization, oldest first, at most Most. It takes one round trip.
func (s *Store[T, P]) List(ctx context.Context, org string) ([]T, error) {
	out, _, err := table.ReadPage[T](ctx, s.table,
		table.Query{PK: s.kind.Key(org, "").PK, Prefix: s.kind.Prefix + "_", Limit: Most + 1})
	return out, fault.Wrap("list "+s.kind.Noun+"s of "+org, err)
}

// Read reads a receiver. It returns fault.NotFound when it does not exist. It takes one round trip.
func (s *Store[T, P]) Read(ctx context.Context, org, receiverID string) (T, error) {
	var none T
	if !id.IsValid(s.kind.Prefix, receiverID) {
		return none, s.missing(receiverID)
	}
	out, err := table.Read[T](ctx, s.table, s.kind.Key(org, receiverID))
	if fault.Is(err, fault.NotFound) {
		return none, s.missing(receiverID)
	}
	return out, fault.Wrap("read "+s.kind.Noun+" "+receiverID, err)
}

func (s *Store[T, P]) missing(receiverID string) error {
	return fault.New(fault.NotFound, "%s %.64q does not exist", s.kind.Noun, receiverID)
}

// Create stores a new receiver together with the writes holds, in one transaction. It returns fault.Conflict when
// another receiver has its name or when there are Most already.
func (s *Store[T, P]) Create(ctx context.Context, org string, next P, holds ...table.Write) error {
	limited := table.LimitedList{PK: s.kind.Key(org, "").PK, Noun: s.kind.Noun + "s"}
	return limited.Add(ctx, s.table, func(take table.Write) error {
		all, err := s.List(ctx, org)
		if err != nil {
			return err
		}
		if len(all) >= Most {
			return fault.New(fault.Conflict, "the organization has %d %ss, which is the most; delete one first",
				len(all), s.kind.Noun)
		}
		var none T
		return s.write(ctx, org, &none, next, append(slices.Clip(holds), take))
	})
}

// Update replaces old, as it was read, by next. It returns fault.Conflict when the receiver has changed since, or
// when another receiver has the new name.
func (s *Store[T, P]) Update(ctx context.Context, org string, old, next P, holds ...table.Write) error {
	return s.write(ctx, org, old, next, holds)
}

func (s *Store[T, P]) write(ctx context.Context, org string, old, next P, holds []table.Write) error {
	was, is := old.Base(), next.Base()
	is.Generation = was.Generation + 1
	cond := table.Absent()
	if was.ID != "" {
		cond = table.Equal("generation", was.Generation)
	}
	put, err := table.PutFields(s.kind.Key(org, is.ID), *next, cond)
	if err != nil {
		return err
	}
	names, err := s.kind.names(org).Rename(was.Name, is.Name, is.ID)
	if err != nil {
		return err
	}
	ws := append([]table.Write{put}, names...)
	err = s.table.Transact(ctx, append(ws, holds...)...)
	return table.ExplainLost(err, "write "+s.kind.Noun+" "+is.ID, func(lost *table.ConditionError) error {
		return s.refused(org, lost, is)
	})
}

// refused returns the error for a write of next with a failed condition: on its name, on its filter, else on its
// generation.
func (s *Store[T, P]) refused(org string, lost *table.ConditionError, next *Row) error {
	if taken := s.kind.names(org).Refusal(lost, next.Name); taken != nil {
		return taken
	}
	if last := lost.Failed[len(lost.Failed)-1]; last.Index > 0 {
		return next.Missing()
	}
	return s.changed(next.ID)
}

func (s *Store[T, P]) changed(receiverID string) error {
	return fault.New(fault.Conflict, "%s %s was changed by someone else meanwhile; read it and try again", s.kind.Noun,
		receiverID)
}

// Delete deletes a receiver, as it was read. It returns fault.Conflict when it has changed since.
func (s *Store[T, P]) Delete(ctx context.Context, org string, r P) error {
	b := r.Base()
	err := s.table.Transact(ctx, table.Delete(s.kind.Key(org, b.ID), table.Equal("generation", b.Generation)),
		s.kind.names(org).Release(b.Name))
	if _, changed := errors.AsType[*table.ConditionError](err); changed {
		return s.changed(b.ID)
	}
	return fault.Wrap("delete "+s.kind.Noun+" "+b.ID, err)
}

// ReceiversFor lists the receivers with a scope in their filter, oldest first. It takes one round trip.
func (s *Store[T, P]) ReceiversFor(ctx context.Context, org string, of event.Scope) ([]T, error) {
	all, err := s.List(ctx, org)
	return slices.DeleteFunc(all, func(r T) bool {
		b := P(&r).Base()
		return b.ScopeType != of.Type || b.ScopeID != of.ID
	}), err
}

// Matcher finds the receivers of a kind for an event.
type Matcher[T any, P Pointer[T]] struct {
	store    *Store[T, P]
	audience *Audience
	takes    func(P) bool
}

// NewMatcher returns a Matcher for the receivers accepted by takes. a decides which makers may read an event.
func NewMatcher[T any, P Pointer[T]](s *Store[T, P], a *Audience, takes func(P) bool) *Matcher[T, P] {
	return &Matcher[T, P]{s, a, takes}
}

// Match returns the receivers of each event: enabled receivers whose filter matches, that takes accepts, and whose
// makers may read the event now. It takes one round trip for all events, and for each event with receivers those of
// Audience.WhoMayRead.
func (m *Matcher[T, P]) Match(ctx context.Context, org string, events []event.Event) ([][]delivery.Target, error) {
	all, err := m.store.List(ctx, org)
	if err != nil {
		return nil, fmt.Errorf("match %d events: %w", len(events), err)
	}
	out := make([][]delivery.Target, len(events))
	return out, EachEvent(ctx, events, func(ctx context.Context, i int) error {
		var err error
		out[i], err = m.matchOne(ctx, org, all, &events[i])
		return err
	})
}

func (m *Matcher[T, P]) matchOne(ctx context.Context, org string, all []T, e *event.Event) ([]delivery.Target, error) {
	var wanting []*Row
	var makers []string
	for i := range all {
		r := P(&all[i])
		if b := r.Base(); b.Enabled && b.Matches(*e) && m.takes(r) {
			wanting, makers = append(wanting, b), append(makers, b.Maker)
		}
	}
	if len(wanting) == 0 {
		return nil, nil
	}
	if err := m.audience.NoteUnclaimed(ctx, org, makers); err != nil {
		return nil, err
	}
	may, err := m.audience.WhoMayRead(ctx, org, e, makers...)
	if err != nil {
		return nil, err
	}
	var out []delivery.Target
	for _, b := range wanting {
		if may[b.Maker] {
			out = append(out, delivery.Target{Kind: m.store.kind.Target, ID: b.ID})
		}
	}
	return out, nil
}

// eventsAtOnce is the number of events that are matched at the same time.
const eventsAtOnce = 8

// EachEvent calls do with the index of each event, several at the same time, and returns the first error.
func EachEvent(ctx context.Context, events []event.Event, do func(ctx context.Context, i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(eventsAtOnce)
	for i := range events {
		g.Go(func() error {
			if err := do(ctx, i); err != nil {
				return fmt.Errorf("find who is told of %s: %w", events[i].ID, err)
			}
			return nil
		})
	}
	return g.Wait()
}
