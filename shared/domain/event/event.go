// Package event is what happened in an organization that people may want to be told of, under the keys that the interface lists. An event
// is a row of an outbox partition, written in the transaction of what it tells of: what delivers notifications reads the change feed.
package event

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
)

// Partition is of the events of an organization.
const Partition table.Partition = "ORG#*" + "#EVENTS"

// Keep is how long an event lies in the table.
const Keep = 14 * 24 * time.Hour

// Event is something that happened.
type Event struct {
	ID        string          `json:"id"`
	Key       string          `json:"key"`       // "budget.exceeded", as GET /notifications/event-types has it
	ScopeType string          `json:"scopeType"` // org, cloud_account, resource_group, resource, team, or tag
	ScopeID   string          `json:"scopeID"`   // empty for the organization, the native id of a resource
	At        time.Time       `json:"at"`
	Subject   string          `json:"subject"` // the id of the record that it is about
	Data      json.RawMessage `json:"data"`    // what the message says, by its key
	// what else it belongs to, as it was then: accounts, groups and teams of the resource it is about
	Within []Scope `json:"within"`
}

// Scopes returns all that the event belongs to: the organization, what it is about, and what that was part of.
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

// Put returns the write that tells of e, which names what happens once: whoever tells of it again finds it told, and the transaction
// fails. It sets e.ID; e.At is when it is told. Events of one name must have one at, which may be earlier.
func Put(org, name string, at time.Time, e Event) (table.Write, error) {
	e.ID = id.Derived("event", at, name)
	it, err := table.NewItem(table.Key{PK: PK(org), SK: e.ID}, e)
	if err != nil {
		return table.Write{}, fmt.Errorf("tell of %s: %w", name, err)
	}
	it.Expires = e.At.Add(Keep)
	return table.Put(it, table.Absent()), nil
}
