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

// Access is what Holds reads.
var Access = table.Access{Reads: []table.Partition{inventory.AccountPartition, inventory.IndexPartition, inventory.ChunkPartition, teams.Partition}}

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

// Check brings the filter into shape: each key once and in order, no scope is the organization. What cannot be is fault.Invalid and named.
func (f *Filter) Check() error {
	if f.ScopeType == "" {
		f.ScopeType = event.ScopeOrg
	}
	for _, key := range f.EventTypes {
		if _, known := event.TypeOf(key); !known {
			return fault.New(fault.Invalid, "eventTypes: %.64q is no type of event; GET /notifications/event-types lists them, and [] is all of them", key)
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

// Holds returns the conditions that the scope of the filter exists in org, for the transaction that stores it; it takes a round trip for a
// resource, and none otherwise. A scope that cannot be is fault.Invalid.
func (f *Filter) Holds(ctx context.Context, s *inventory.Store, org string) ([]table.Write, error) {
	switch f.ScopeType {
	case event.ScopeOrg:
		return nil, nil
	case event.ScopeAccount:
		if id.IsValid("ca", f.ScopeID) {
			return []table.Write{table.Check(inventory.AccountKey(org, f.ScopeID), table.Exists())}, nil
		}
	case event.ScopeGroup:
		if id.IsValid("grp", f.ScopeID) {
			return []table.Write{table.Check(inventory.GroupKey(org, f.ScopeID), table.Exists())}, nil
		}
	case event.ScopeTeam:
		if id.IsValid("team", f.ScopeID) {
			return []table.Write{table.Check(teams.Key(org, f.ScopeID), table.Exists())}, nil
		}
	case event.ScopeResource:
		found, err := s.ByUIDs(ctx, org, []string{f.ScopeID}, inventory.SeeEverything())
		if err != nil || len(found) > 0 {
			return nil, err
		}
	}
	return nil, f.Missing()
}

// Missing is the error of a scope that does not exist.
func (f *Filter) Missing() error {
	return fault.New(fault.Invalid, "scopeID: %.64q: there is no such %s; send the id of one that exists", f.ScopeID, f.ScopeType)
}
