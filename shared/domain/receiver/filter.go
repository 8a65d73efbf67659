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

// Access is the access that Filter.Holds needs.
var Access = table.Access{
	Reads: []table.Partition{inventory.IndexPartition, inventory.ChunkPartition},
	// Accounts, groups and teams count the receivers that use them.
	Writes: []table.Partition{inventory.AccountPartition, inventory.AttachedPartition, teams.Partition},
}

// Filter selects the events of some types that belong to a scope.
type Filter struct {
	EventTypes []string `json:"eventTypes"` // event keys; none selects all
	ScopeType  string   `json:"scopeType"`  // one of event.Scope
	ScopeID    string   `json:"scopeID"`    // empty for org
}

// Matches reports whether the filter selects e.
func (f *Filter) Matches(e event.Event) bool { //nolint:gocritic // events are handed on as values
	if len(f.EventTypes) > 0 && !slices.Contains(f.EventTypes, e.Key) {
		return false
	}
	return slices.Contains(e.Scopes(), event.Scope{Type: f.ScopeType, ID: f.ScopeID})
}

// Check normalizes and validates the filter: it sorts the keys, removes duplicates, and sets an empty scope to the
// organization. The error is fault.Invalid and names the field.
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

// Holds returns the writes that count a receiver as a use of its filter's scope, for the transaction that stores the
// receiver. They fail when the scope does not exist. Holds takes a round trip for a resource, and none otherwise. It
// returns fault.Invalid for a scope that cannot exist.
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

// HoldScope returns the writes that count a record as a use of a scope: none for an organization or a resource. They
// fail when the scope does not exist. known is false when the scope's ID is malformed.
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

// Missing returns the error for a scope that does not exist.
func (f *Filter) Missing() error {
	return fault.New(fault.Invalid, "scopeID: %.64q: there is no such %s; send the id of one that exists", f.ScopeID,
		f.ScopeType)
}
