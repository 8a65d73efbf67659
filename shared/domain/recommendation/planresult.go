package recommendation

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"

	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// RulePlanResult is the result of a plan for one rule, compared with the version in force.
type RulePlanResult struct {
	RuleID    string         `json:"ruleID"`
	Change    string         `json:"change"`    // PlanAdds, PlanChanges or PlanRemoves
	Evaluated int            `json:"evaluated"` // resources
	Before    int            `json:"before"`    // matches in force
	After     int            `json:"after"`     // matches of the change
	Opened    int            `json:"opened"`
	Closed    int            `json:"closed"`
	Changed   int            `json:"changed"` // both match, with another severity or saving
	Unknown   int            `json:"unknown"`
	Missing   []MissingCount `json:"missing,omitempty"`
	SavedUSD  SavedBy        `json:"saved"`
	Samples   []PlanSample   `json:"samples,omitempty"`
	Days      []PlanDay      `json:"days,omitempty"`
	Months    []PlanMonth    `json:"months,omitempty"`
	// Billed is how many of the matches Months are of: at most MaxBilled.
	Billed int `json:"billed"`
}

// The kinds of changes of a rule.
const (
	PlanAdds    = "added"
	PlanChanges = "changed"
	PlanRemoves = "removed"
)

// SavedBy is net savings in USD a month.
type SavedBy struct {
	Before money.Amount `json:"before"`
	After  money.Amount `json:"after"`
}

// PlanSample is one resource for which a change matters, or that it matches.
type PlanSample struct {
	Effect       string         `json:"effect"` // SampleOpened and so on
	ResourceID   string         `json:"resourceID"`
	ResourceUID  string         `json:"resourceUid"`
	ResourceName string         `json:"resourceName"`
	AccountID    string         `json:"accountID"`
	Severity     Severity       `json:"severity"`
	Reason       string         `json:"reason"`
	Values       map[string]any `json:"values,omitempty"`
	Thresholds   map[string]any `json:"thresholds,omitempty"`
	NetUSD       money.Amount   `json:"net"`
}

// The effects of a change on a resource.
const (
	SampleOpened  = "opened"
	SampleClosed  = "closed"
	SampleChanged = "changed"
	SampleSame    = "unchanged"
)

// PlanDay is a day of a backtest: how many resources the condition would have matched.
type PlanDay struct {
	Day     string `json:"day"`
	Matches int    `json:"matches"`
	Unknown int    `json:"unknown"`
}

// PlanMonth is a month of bills of the resources that the rule matches now.
type PlanMonth struct {
	Month  string       `json:"month"` // 2026-03
	Cost   money.Amount `json:"cost"`
	Saving money.Amount `json:"saving"` // the share of the cost that the rule saves now
}

// Limits of the results of a plan.
const (
	MaxSamples    = 5     // of each effect
	MaxBacktested = 5_000 // resources of a type that a backtest evaluates
	MaxBilled     = 2_000 // matches of a rule whose bills a backtest reads
)

// InventoryPrint returns a fingerprint of the resources of types: their ids, statuses and the times of their last
// changes. A pattern like aws-* covers every type of a provider. It takes one round trip.
func (s *Store) InventoryPrint(ctx context.Context, org string, types []string) (string, error) {
	var sum uint64
	count := 0
	err := s.inventory.EachIndexed(ctx, org, func(r inventory.IndexedResource) {
		if !CoversType(types, r.Type) {
			return
		}
		h := fnv.New64a()
		_, _ = h.Write([]byte(r.UID + "\x00" + string(r.Status) + "\x00" + r.CloudAccountID)) // never fails
		_, _ = h.Write(strconv.AppendInt(nil, r.ChangedAt.UnixMicro(), 10))
		sum += h.Sum64() // does not depend on the order
		count++
	})
	if err != nil {
		return "", fault.Wrap("read the inventory of "+org, err)
	}
	return fmt.Sprintf("%d-%016x", count, sum), nil
}

// CoversType reports whether a type is among types or patterns like aws-*.
func CoversType(types []string, kind string) bool {
	return slices.ContainsFunc(types, func(t string) bool {
		r := rule.Rule{Type: t}
		return r.AppliesTo(kind)
	})
}
