// Package eventhold is the list of the targets that event readiness plans hold: from before the first call that raises the capacity of a
// target until its last restore. The list is one item per organisation with one field per target, so a caller reads it in the same round
// trip as the accounts, resources or overrides that it reads anyway. docs/decisions/048-event-holds.md explains the rule.
package eventhold

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// Partition holds the list of an organisation.
const Partition table.Partition = "ORG#*#EVENTHOLD"

// Hold is one target that a plan holds.
type Hold struct {
	PlanID   string `json:"planID"`
	PolicyID string `json:"policyID"`
	UID      string `json:"uid"` // of the target
	// UIDs of resources whose stop stops the target: its namespace, its cluster
	Enclosing []string  `json:"enclosing,omitempty"`
	Since     time.Time `json:"since"` // when the plan began to raise its targets
	Until     time.Time `json:"until"` // when the plan begins to restore; the hold ends when that is done
	// the target is restored, and its schedules are still to be looked at
	EndedAt time.Time `json:"endedAt,omitzero"`
}

// String names the hold for an error or a log.
func (h Hold) String() string {
	return fmt.Sprintf("event readiness plan %s (until its restore, due at %s)", h.PlanID,
		h.Until.UTC().Format(time.RFC3339))
}

// Owed is a stop that a schedule or the end of an override had ordered and that the hold has kept from being made.
type Owed struct {
	PolicyID string    `json:"policyID"` // of the hold
	Since    time.Time `json:"since"`    // of the hold
	UID      string    `json:"uid"`      // of the resource that was to be stopped: the target, or what encloses it
	Promised bool      `json:"promised,omitempty"`

	field string
}

// endedPrefix begins the names of the fields of holds that have ended, owedPrefix those of owed stops; all other fields are named by their policy.
const (
	endedPrefix = "ended#"
	owedPrefix  = "owed#"
)

// Key returns the key of an organisation's list.
func Key(org string) table.Key { return table.Key{PK: table.OrgPK(org) + "EVENTHOLD", SK: "LIVE"} }

// List is the list of an organisation as it was read.
type List struct {
	byPolicy map[string]Hold
	byUID    map[string]Hold // also by the UIDs of enclosing resources
	ended    map[string]Hold // by the names of their fields
	owed     []Owed
}

// Read reads the list: one round trip.
func Read(ctx context.Context, s table.Store, org string) (List, error) {
	it, err := s.Get(ctx, Key(org))
	if err != nil && !fault.Is(err, fault.NotFound) {
		return List{}, fmt.Errorf("read the event holds of %s: %w", org, err)
	}
	return Decode(it)
}

// Decode returns the list of an item; the zero item is an empty list.
func Decode(it table.Item) (List, error) {
	if it.Data == nil {
		return List{}, nil
	}
	fields, err := table.Decode[map[string]json.RawMessage](it)
	l := List{byPolicy: map[string]Hold{}, byUID: map[string]Hold{}, ended: map[string]Hold{}}
	for name, raw := range fields {
		if err := l.decodeField(name, raw); err != nil {
			return List{}, fmt.Errorf("decode event hold %s of %s: %w", name, it.PK, err)
		}
	}
	return l, err
}

func (l *List) decodeField(name string, raw json.RawMessage) error {
	if strings.HasPrefix(name, owedPrefix) {
		o := Owed{field: name}
		err := json.Unmarshal(raw, &o)
		l.owed = append(l.owed, o)
		return err
	}
	var h Hold
	err := json.Unmarshal(raw, &h)
	l.add(name, h)
	return err
}

func (l *List) add(name string, h Hold) {
	if strings.HasPrefix(name, endedPrefix) {
		l.ended[name] = h
		return
	}
	l.byPolicy[name], l.byUID[h.UID] = h, h
	for _, uid := range h.Enclosing {
		if old, there := l.byUID[uid]; !there || old.Until.Before(h.Until) {
			l.byUID[uid] = h
		}
	}
}

// Of returns the hold on the resource of a UID, or on a target inside of that resource.
func (l List) Of(uid string) (Hold, bool) {
	h, held := l.byUID[uid]
	return h, held
}

// OfPolicy returns the hold on the target of a policy.
func (l List) OfPolicy(policyID string) (Hold, bool) {
	h, held := l.byPolicy[policyID]
	return h, held
}

// Inside returns the holds that a stop of the resource of a UID would break: on it, and on targets inside of it.
func (l List) Inside(uid string) []Hold {
	var out []Hold
	for _, h := range l.byPolicy {
		if h.stopsWith(uid) {
			out = append(out, h)
		}
	}
	return out
}

// stopsWith reports whether a stop of the resource of a UID stops the target.
func (h Hold) stopsWith(uid string) bool { return h.UID == uid || slices.Contains(h.Enclosing, uid) }

// All returns the holds by the UIDs of the resources that they are on or inside of.
func (l List) All() map[string]Hold { return l.byUID }

// Ended returns the holds that have ended and whose schedules are still to be looked at, by the names of their fields.
func (l List) Ended() map[string]Hold { return l.ended }

// Owed returns the stop of the resource of a UID that a hold has kept from being made; false when there is none.
func (l List) Owed(h Hold, uid string) (out Owed, is bool) {
	for _, o := range l.owed {
		if o.PolicyID == h.PolicyID && o.UID == uid && o.Since.Equal(h.Since) {
			out, is = Owed{o.PolicyID, o.Since, uid, o.Promised || out.Promised, ""}, true
		}
	}
	return out, is
}

// Against returns why verb may not be asked of the resource of a UID while a plan holds it; "" when it may. A start takes nothing from an
// event.
func (l List) Against(verb cloud.Verb, uid string) string {
	if verb != cloud.Stop {
		return ""
	}
	h, held := l.Of(uid)
	if !held {
		return ""
	}
	return "event: " + h.String() + " holds it"
}
