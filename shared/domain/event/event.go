// Package event records the events of an organization that users may want to be notified of, under the keys that the
// interface lists. An event is a row of an outbox partition, written in the transaction of its cause. The notifier
// reads the change feed.
package event

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
)

// Partition holds the events of an organization.
const Partition table.Partition = "ORG#*" + "#EVENTS"

// Keep is how long an event stays in the table.
const Keep = 14 * 24 * time.Hour

// Event is an occurrence in an organization.
type Event struct {
	ID        string          `json:"id"`
	Key       string          `json:"key"`       // "budget.exceeded", as GET /notifications/event-types has it
	ScopeType string          `json:"scopeType"` // org, cloud_account, resource_group, resource, team, or tag
	ScopeID   string          `json:"scopeID"`   // empty for the organization, the native id of a resource
	At        time.Time       `json:"at"`
	Subject   string          `json:"subject"` // the id of the record that it is about
	Data      json.RawMessage `json:"data"`    // the content of the message, by its key
	// the other scopes, as of that time: accounts, groups and teams of the event's resource
	Within []Scope `json:"within"`
}

// Scopes returns all scopes of the event: the organization, its own scope, and the scopes around that.
func (e Event) Scopes() []Scope {
	out := []Scope{{Type: ScopeOrg}}
	for _, s := range append([]Scope{{e.ScopeType, e.ScopeID}}, e.Within...) {
		if s.Type != ScopeOrg && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// PK returns the partition of the events of an organization.
func PK(org string) string { return table.OrgPK(org) + "EVENTS" }

// Put returns the write that stores e under a name that identifies the occurrence. If an event of that name is already
// stored, the write fails, and its transaction too. Put sets e.ID; e.At is the time of the notification. Events of one
// name must have the same at, which may be earlier than e.At.
func Put(org, name string, at time.Time, e Event) (table.Write, error) {
	e.ID = id.Derived("event", at, name)
	it, err := table.NewItem(table.Key{PK: PK(org), SK: e.ID}, e)
	if err != nil {
		return table.Write{}, fmt.Errorf("tell of %s: %w", name, err)
	}
	it.Expires = e.At.Add(Keep)
	return table.Put(it, table.Absent()), nil
}
