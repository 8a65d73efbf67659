package costquery

import (
	"slices"

	"lamplighter.dev/shared/foundation/fault"
)

// The limits of a question by a caller with a limited scope. Athena accepts a query of at most 256 KB.
const (
	MaxResources    = 1_000
	maxResourceText = 128 << 10 // bytes of their ids
)

// resourceColumn is the FOCUS column with the native ID of a resource.
const resourceColumn = "ResourceId"

// BoundTo returns the question restricted to the lines of these resources, by native ID. It returns fault.Denied if
// uids is empty, and fault.Invalid if there are too many for one question.
func (q Query) BoundTo(uids []string) (Query, error) {
	size := 0
	for _, uid := range uids {
		size += len(uid)
	}
	switch {
	case len(uids) == 0:
		return q, fault.New(fault.Denied, "permission denied: your grants of reports:read reach no resource in the "+
			"inventory")
	case len(uids) > MaxResources || size > maxResourceText:
		return q, fault.New(fault.Invalid, "your grants of reports:read reach %d resources; a free question is about "+
			"at most %d, or about all with a "+
			"grant on the whole organization: use GET /reports/costs/breakdown or GET /reports/export instead",
			len(uids), MaxResources)
	}
	q.Filters = append(slices.Clip(q.Filters), Filter{Column: resourceColumn, Operator: Is, Values: uids})
	return q, nil
}
