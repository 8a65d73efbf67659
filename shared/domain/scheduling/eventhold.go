package scheduling

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

// EventHoldPartition holds the list of an organisation's event holds.
const EventHoldPartition table.Partition = "ORG#*#EVENTHOLD"

// EventHold is one target that a plan holds.
type EventHold struct {
	PlanID   string `json:"planID"`
	PolicyID string `json:"policyID"`
	UID      string `json:"uid"` // of the target
	// UIDs of the resources that enclose the target, such as its namespace and its cluster; their stop stops the
	// target
	Enclosing []string  `json:"enclosing,omitempty"`
	Since     time.Time `json:"since"` // when the plan began to raise its targets
	Until     time.Time `json:"until"` // when the plan begins to restore; the hold ends after the restore
	// when the hold ended; the target is restored, and the evaluator has not yet evaluated its schedules
	EndedAt time.Time `json:"endedAt,omitzero"`
}

// String names the hold for an error or a log.
func (h EventHold) String() string {
	return fmt.Sprintf("event readiness plan %s (until its restore, due at %s)", h.PlanID,
		h.Until.UTC().Format(time.RFC3339))
}

// OwedAction is a stop that a hold prevented. A schedule or the end of an override had ordered it.
type OwedAction struct {
	PolicyID string    `json:"policyID"` // of the hold
	Since    time.Time `json:"since"`    // of the hold
	UID      string    `json:"uid"`      // of the resource to stop: the target, or a resource that encloses it
	Promised bool      `json:"promised,omitempty"`

	field string
}

// endedPrefix begins the field names of ended holds, owedPrefix those of owed stops. All other fields are named by
// the hold's policy.
const (
	endedPrefix = "ended#"
	owedPrefix  = "owed#"
)

// EventHoldKey returns the key of an organisation's list.
func EventHoldKey(org string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "EVENTHOLD", SK: "LIVE"}
}

// EventHolds is the list of an organisation's event holds, as it was read.
type EventHolds struct {
	byPolicy map[string]EventHold
	byUID    map[string]EventHold // also by the UIDs of enclosing resources
	ended    map[string]EventHold // by the names of their fields
	owed     []OwedAction
}

// ReadEventHolds reads the list in one round trip.
func ReadEventHolds(ctx context.Context, s table.Store, org string) (EventHolds, error) {
	it, err := s.Get(ctx, EventHoldKey(org))
	if err != nil && !fault.Is(err, fault.NotFound) {
		return EventHolds{}, fmt.Errorf("read the event holds of %s: %w", org, err)
	}
	return DecodeEventHolds(it)
}

// DecodeEventHolds decodes the list from its item. The zero item is an empty list.
func DecodeEventHolds(it table.Item) (EventHolds, error) {
	if it.Data == nil {
		return EventHolds{}, nil
	}
	fields, err := table.Decode[map[string]json.RawMessage](it)
	l := EventHolds{byPolicy: map[string]EventHold{}, byUID: map[string]EventHold{}, ended: map[string]EventHold{}}
	for name, raw := range fields {
		if err := l.decodeField(name, raw); err != nil {
			return EventHolds{}, fmt.Errorf("decode event hold %s of %s: %w", name, it.PK, err)
		}
	}
	return l, err
}

func (l *EventHolds) decodeField(name string, raw json.RawMessage) error {
	if strings.HasPrefix(name, owedPrefix) {
		o := OwedAction{field: name}
		err := json.Unmarshal(raw, &o)
		l.owed = append(l.owed, o)
		return err
	}
	var h EventHold
	err := json.Unmarshal(raw, &h)
	l.add(name, h)
	return err
}

func (l *EventHolds) add(name string, h EventHold) {
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

// Of returns the hold on the resource with a UID, or on a target inside that resource.
func (l EventHolds) Of(uid string) (EventHold, bool) {
	h, held := l.byUID[uid]
	return h, held
}

// OfPolicy returns the hold on the target of a policy.
func (l EventHolds) OfPolicy(policyID string) (EventHold, bool) {
	h, held := l.byPolicy[policyID]
	return h, held
}

// Inside returns the holds that a stop of the resource with a UID would break: on the resource and on targets inside
// it.
func (l EventHolds) Inside(uid string) []EventHold {
	var out []EventHold
	for _, h := range l.byPolicy {
		if h.stopsWith(uid) {
			out = append(out, h)
		}
	}
	return out
}

// stopsWith reports whether a stop of the resource with a UID stops the target.
func (h EventHold) stopsWith(uid string) bool {
	return h.UID == uid || slices.Contains(h.Enclosing, uid)
}

// All returns the holds by the UIDs of their targets and of the enclosing resources.
func (l EventHolds) All() map[string]EventHold { return l.byUID }

// Ended returns the ended holds whose schedules are not yet evaluated, by the names of their fields.
func (l EventHolds) Ended() map[string]EventHold { return l.ended }

// Owed returns the stop of the resource with a UID that the hold h prevented, or false when h prevented no such stop.
func (l EventHolds) Owed(h EventHold, uid string) (out OwedAction, is bool) {
	for _, o := range l.owed {
		if o.PolicyID == h.PolicyID && o.UID == uid && o.Since.Equal(h.Since) {
			out, is = OwedAction{o.PolicyID, o.Since, uid, o.Promised || out.Promised, ""}, true
		}
	}
	return out, is
}

// Against returns why verb is not allowed on the resource with a UID while a plan holds it, or "" when it is allowed.
// A start is always allowed.
func (l EventHolds) Against(verb cloud.Verb, uid string) string {
	if verb != cloud.Stop {
		return ""
	}
	h, held := l.Of(uid)
	if !held {
		return ""
	}
	return "event: " + h.String() + " holds it"
}
