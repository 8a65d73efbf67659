package report

import (
	"maps"
	"slices"
	"strings"

	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/foundation/fault"
)

// lineFilters are the dimensions whose values stand in the lines of bills. The others come from the inventory.
var lineFilters = []string{
	cost.ProviderDim, cost.AccountDim, cost.SubAccountDim, cost.RegionDim, cost.ServiceDim, cost.CategoryDim,
	cost.CurrencyDim,
}

// CheckLines returns an error if a question cannot be answered with the lines of bills: fault.Denied for a caller with
// a limited scope, because a line does not tell which team its resource belonged to.
func CheckLines(q *cost.Question) error {
	if q.Within != nil {
		return fault.New(fault.Denied,
			"permission denied: the lines of bills need %s for the whole organization; leave "+
				"out detail to export the costs of your scope by day", Policy)
	}
	for _, dim := range slices.Sorted(maps.Keys(q.Filter)) {
		if !slices.Contains(lineFilters, dim) {
			return fault.New(fault.Invalid,
				"filter: %.64q is not in the lines of bills; with detail=lines send one of %s",
				dim, strings.Join(lineFilters, ", "))
		}
	}
	return nil
}
