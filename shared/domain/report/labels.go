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
