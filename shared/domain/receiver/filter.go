package receiver

import (
	"context"
	"slices"

	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/people/teams"
)

// Access is what Holds reads and writes.
var Access = table.Access{
	Reads: []table.Partition{inventory.IndexPartition, inventory.ChunkPartition},
	// These count that a receiver names an account, a group or a team.
	Writes: []table.Partition{inventory.AccountPartition, inventory.AttachedPartition, teams.Partition},
}

// Filter is the events of some types that belong to a scope.
type Filter struct {
	EventTypes []string `json:"eventTypes"` // keys; none is all
	ScopeType  string   `json:"scopeType"`  // one of event.Scope
	ScopeID    string   `json:"scopeID"`    // empty for org
}

// Matches reports whether the filter lets e through.
func (f *Filter) Matches(e event.Event) bool { //nolint:gocritic // events are handed on as values
	if len(f.EventTypes) > 0 && !slices.Contains(f.EventTypes, e.Key) {
		return false
	}
	return slices.Contains(e.Scopes(), event.Scope{Type: f.ScopeType, ID: f.ScopeID})
}

// Check brings the filter into shape: each key once and in order, no scope is the organization. What cannot be is
// fault.Invalid and named.
func (f *Filter) Check() error {
	if f.ScopeType == "" {
		f.ScopeType = event.ScopeOrg
	}
	for _, key := range f.EventTypes {
		if _, known := event.TypeOf(key); !known {
			return fault.New(fault.Invalid,
				"eventTypes: %.64q is no type of event; GET /notifications/event-types lists them, and [] is "+
					"all of them", key)
		}
	}
	f.EventTypes = slices.Clone(f.EventTypes)
	slices.Sort(f.EventTypes)
	f.EventTypes = slices.Compact(f.EventTypes)
	switch {
	case f.ScopeType == event.ScopeOrg && f.ScopeID != "":
		return fault.New(fault.Invalid, "scopeID: %.64q: leave it empty when scopeType is org", f.ScopeID)
	case f.ScopeType != event.ScopeOrg && f.ScopeID == "":
		return fault.New(fault.Invalid, "scopeID: it is missing; send the id of the %s", f.ScopeType)
	}
	return nil
}

// Holds returns the writes by which a receiver counts as a use of the scope of its filter, for the transaction that
// stores the receiver. They fail when the scope does not exist. It takes a round trip for a resource, and none
// otherwise. A scope that cannot exist is fault.Invalid.
func (f *Filter) Holds(ctx context.Context, s *inventory.Store, org string) ([]table.Write, error) {
	if f.ScopeType == event.ScopeResource {
		found, err := s.ByUIDs(ctx, org, []string{f.ScopeID}, inventory.SeeEverything())
		if err == nil && len(found) == 0 {
			err = f.Missing()
		}
		return nil, err
	}
	ws, known := HoldScope(org, event.Scope{Type: f.ScopeType, ID: f.ScopeID})
	if !known {
		return nil, f.Missing()
	}
	return ws, nil
}

// HoldScope returns the writes by which a record that names a scope counts as a use of it: none for an organization
// or a resource. They fail when the scope does not exist. known is false for a scope whose id cannot be one.
func HoldScope(org string, of event.Scope) (ws []table.Write, known bool) {
	switch of.Type {
	case event.ScopeOrg, event.ScopeResource:
		return nil, true
	case event.ScopeAccount:
		ws, err := inventory.HoldAccounts(org, []string{of.ID})
		return ws, err == nil && id.IsValid("ca", of.ID)
	case event.ScopeGroup:
		return inventory.HoldGroup(org, of.ID), id.IsValid("grp", of.ID)
	case event.ScopeTeam:
		return []table.Write{teams.Hold(org, of.ID)}, id.IsValid("team", of.ID)
	}
	return nil, false
}

// Missing is the error of a scope that does not exist.
func (f *Filter) Missing() error {
	return fault.New(fault.Invalid, "scopeID: %.64q: there is no such %s; send the id of one that exists", f.ScopeID,
		f.ScopeType)
}
