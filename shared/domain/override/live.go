package override

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// Held is a live override in the list of live overrides.
type Held struct {
	ID         string    `json:"id"`
	ResourceID string    `json:"resourceID,omitempty"`
	GroupID    string    `json:"groupID,omitempty"`
	Action     Action    `json:"action"`
	ExpiresAt  time.Time `json:"expiresAt"`
	WakeLinkID string    `json:"wakeLinkID,omitempty"`
	Maker      string    `json:"maker,omitempty"` // as in Override
}

// Since returns when the override began.
func (h Held) Since() time.Time { return id.TimeOf(h.ID) }

// Live is the overrides of an organization that have not ended. It is one item, so that an action on a resource needs
// no additional round trip to read it. Overrides whose time is over stay in it until they are ended.
type Live struct {
	Change    int64  `json:"change"` // number of changes of the list; each change is conditioned on it
	Overrides []Held `json:"overrides"`
}

// LiveKey returns where the list is stored.
func LiveKey(org string) table.Key { return table.Key{PK: PK(org), SK: "LIVE"} }

// ReadLive reads the list: one round trip.
func ReadLive(ctx context.Context, s table.Store, org string) (Live, error) {
	it, err := s.Get(ctx, LiveKey(org))
	if err != nil && !fault.Is(err, fault.NotFound) {
		return Live{}, fmt.Errorf("read live overrides of %s: %w", org, err)
	}
	return DecodeLive(it)
}

// DecodeLive reads the list from its item; the zero item is an empty list.
func DecodeLive(it table.Item) (Live, error) {
	if it.Data == nil {
		return Live{}, nil
	}
	return table.Decode[Live](it)
}

// At returns the overrides in force at a time, newest first. If two hold one resource, the first of them in this order
// holds it.
func (l Live) At(at time.Time) []Held {
	out := slices.DeleteFunc(slices.Clone(l.Overrides), func(h Held) bool { return !at.Before(h.ExpiresAt) })
	slices.SortFunc(out, func(a, b Held) int { return strings.Compare(b.ID, a.ID) })
	return out
}

// Expired returns the overrides whose time is over at a time, the earliest end first.
func (l Live) Expired(at time.Time) []Held {
	out := slices.DeleteFunc(slices.Clone(l.Overrides), func(h Held) bool { return at.Before(h.ExpiresAt) })
	slices.SortFunc(out, func(a, b Held) int { return a.ExpiresAt.Compare(b.ExpiresAt) })
	return out
}

// With returns the list with o. It returns fault.Conflict if the list is full, or if the wake link of o already has a
// live override.
func (l Live) With(o Override) (Live, error) {
	if len(l.Overrides) >= MaxLive {
		return l, fault.New(
			fault.Conflict, "the organization has %d live overrides, which is the most: end some first",
			len(l.Overrides))
	}
	if o.WakeLinkID != "" && slices.ContainsFunc(l.At(o.CreatedAt), func(h Held) bool {
		return h.WakeLinkID == o.WakeLinkID
	}) {
		return l, fault.New(fault.Conflict, "wake link %s has started it already", o.WakeLinkID)
	}
	l.Overrides = append(slices.Clone(l.Overrides),
		Held{o.ID, o.ResourceID, o.GroupID, o.Action, o.ExpiresAt, o.WakeLinkID, o.Maker})
	return l, nil
}

// Without returns the list without the override of the id.
func (l Live) Without(overrideID string) Live {
	l.Overrides = slices.DeleteFunc(slices.Clone(l.Overrides), func(h Held) bool { return h.ID == overrideID })
	return l
}

// Write returns the write that stores the list. It fails if the list was changed since it was read.
func (l Live) Write(org string) (table.Write, error) {
	unchanged := table.Equal("change", l.Change)
	if l.Change == 0 {
		unchanged = table.Any(table.Absent(), table.Lacks("change"))
	}
	l.Change++
	return table.PutFields(LiveKey(org), l, unchanged)
}

// Holding maps resources to the overrides that hold them at one time.
type Holding map[string]Held

// Holding finds the resources that the overrides in force at a time hold (Reach). If several overrides are on one
// resource, the newest holds it, no matter whether it is on the resource or on a group.
func (l Live) Holding(ctx context.Context, s *inventory.Store, org string, at time.Time) (Holding, error) {
	held := l.At(at)
	reach, err := Reach(ctx, s, org, held)
	if err != nil {
		return nil, err
	}
	out := Holding{}
	for _, h := range held {
		for _, id := range reach[h.ID] {
			out.add(h, id)
		}
	}
	return out, nil
}

// add records that o holds the resource, unless a newer override does.
func (h Holding) add(o Held, resourceID string) {
	if _, held := h[resourceID]; !held && resourceID != "" {
		h[resourceID] = o
	}
}

// Against returns why verb cannot act on a resource: the override that holds it in the other state. It returns "" if
// there is none.
func (h Holding) Against(verb cloud.Verb, resourceID string) string {
	o, held := h[resourceID]
	if !held || o.Action.Verb() == verb {
		return ""
	}
	return "it is held by " + o.String()
}

// LiveChange returns the changed list, and the writes to store together with it.
type LiveChange func(Live) (Live, []table.Write, error)

// ChangeLive reads the list, calls change, and stores the new list and the writes of change in one transaction. It
// starts over after a concurrent change of the list.
func ChangeLive(ctx context.Context, s table.Store, org string, change LiveChange) error {
	for try := 1; ; try++ {
		err := changeOnce(ctx, s, org, change)
		lost, refused := errors.AsType[*table.ConditionError](err)
		if _, list := lostList(lost); !refused || !list || try == tries {
			return err
		}
	}
}

// tries is how often a change of the list is tried.
const tries = 8

func lostList(lost *table.ConditionError) (table.Item, bool) {
	if lost == nil {
		return table.Item{}, false
	}
	return lost.Old(0)
}

func changeOnce(ctx context.Context, s table.Store, org string, change LiveChange) error {
	l, err := ReadLive(ctx, s, org)
	if err != nil {
		return err
	}
	next, ws, err := change(l)
	if err != nil {
		return err
	}
	list, err := next.Write(org)
	if err != nil {
		return err
	}
	return s.Transact(ctx, append([]table.Write{list}, ws...)...)
}
