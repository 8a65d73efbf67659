package report

import (
	"context"
	"slices"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/teams"
)

// Labels are the names of accounts, groups and teams, by dimension and ID.
type Labels map[string]map[string]string

// The labels of an empty value.
const (
	unassigned = "Unassigned" // of no team
	ungrouped  = "Ungrouped"
	regular    = "Regular" // a charge that is neither a correction nor late
	unknown    = "Unknown"
)

// Of returns the label of a value of a dimension.
func (l Labels) Of(dim, value string) string {
	if name := l[dim][value]; name != "" {
		return name
	}
	switch {
	case value != "":
		return value
	case dim == cost.TeamDim:
		return unassigned
	case dim == cost.GroupDim:
		return ungrouped
	case dim == cost.ClassDim:
		return regular
	}
	return unknown
}

// groupReading is the policy that permits a caller to see the names of groups.
const groupReading = "resource-groups:read"

// LabelReader reads the labels of the caller's organization.
type LabelReader struct {
	Inventory *inventory.Store
	Teams     teams.Store
}

// Read reads the names for the values of dimensions that are IDs: one round trip for each such dimension.
func (r LabelReader) Read(ctx context.Context, dims ...string) (Labels, error) {
	out := Labels{}
	for dim, read := range map[string]func(context.Context, string) (map[string]string, error){
		cost.AccountDim: r.accountNames, cost.GroupDim: r.groupNames, cost.TeamDim: r.teamNames,
	} {
		if !slices.Contains(dims, dim) {
			continue
		}
		var err error
		if out[dim], err = read(ctx, identity.CallerOrg(ctx)); err != nil {
			return nil, fault.Wrap("read the names of "+dim, err)
		}
	}
	return out, nil
}

func (r LabelReader) accountNames(ctx context.Context, org string) (map[string]string, error) {
	all, err := r.Inventory.ListAccounts(ctx, org)
	out := make(map[string]string, len(all))
	for i := range all {
		out[all[i].ID] = all[i].Name
	}
	return out, err
}

// groupNames returns the names of the groups that the caller may see. All other groups are shown by their IDs. It
// makes no round trip for a caller without access to groups.
func (r LabelReader) groupNames(ctx context.Context, org string) (map[string]string, error) {
	scopes := identity.CallerFrom(ctx).Scopes(groupReading)
	out := map[string]string{}
	if !scopes.All {
		if scopes.None() {
			return out, nil
		}
		parts, err := r.Inventory.GroupsInScope(ctx, org, scopes, "")
		for i := range parts {
			out[parts[i].ID] = parts[i].Name
		}
		return out, err
	}
	all, err := r.Inventory.ListGroups(ctx, org)
	for i := range all {
		out[all[i].ID] = all[i].Name
	}
	return out, err
}

func (r LabelReader) teamNames(ctx context.Context, org string) (map[string]string, error) {
	all, err := r.Teams.List(ctx, org)
	return NamesOfTeams(all), err
}

// NamesOfTeams returns the names of teams by their IDs.
func NamesOfTeams(all []teams.Team) map[string]string {
	out := make(map[string]string, len(all))
	for i := range all {
		out[all[i].ID] = all[i].Name
	}
	return out
}
