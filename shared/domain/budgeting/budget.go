// Package budgeting compares spending with budgets: the spent part of a period, the forecast of its end, and the
// alerts. Each alert is sent once. The rules are pure functions; Store stores budgets and sent alerts.
package budgeting

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// ScopeType is the kind of scope of a budget.
type ScopeType string

// The scopes, as the contract names them.
const (
	Org           ScopeType = "org"
	CloudAccount  ScopeType = "cloud_account"
	ResourceGroup ScopeType = "resource_group"
	Resource      ScopeType = "resource"
	Team          ScopeType = "team"
	Tag           ScopeType = "tag"
)

// Period is the length of a budget's periods, which follow the calendar in UTC, like bills.
type Period string

// The periods.
const (
	Month   Period = "month"
	Quarter Period = "quarter"
	Year    Period = "year"
)

// Window returns the first day of the period that contains now, and the day after its last one.
func (p Period) Window(now time.Time) (from, to time.Time) {
	now = now.UTC()
	first, months := now.Month(), 1
	switch p {
	case Quarter:
		first, months = (first-1)/3*3+1, 3
	case Year:
		first, months = time.January, 12
	case Month:
	}
	from = time.Date(now.Year(), first, 1, 0, 0, 0, 0, time.UTC)
	return from, from.AddDate(0, months, 0)
}

// The limits of budgets.
const (
	MaxBudgets    = 200 // of an organization
	MaxThresholds = 10
	maxThreshold  = 1000 // percent
)

// Budget is the planned cost of a scope in each period.
type Budget struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	ScopeType ScopeType `json:"scopeType"`
	// empty for the organization, "key=value" for a tag, the native ID for a resource
	ScopeID        string       `json:"scopeID"`
	Amount         money.Amount `json:"amount"` // USD
	Period         Period       `json:"period"`
	Thresholds     []int        `json:"thresholds"` // percent of the amount, ascending
	ForecastAlerts bool         `json:"forecastAlerts"`
	CreatedBy      string       `json:"createdBy"`
	CreatedAt      time.Time    `json:"createdAt"`
	UpdatedAt      time.Time    `json:"updatedAt"`
	Generation     int64        `json:"generation"` // the number of changes; each change is conditional on it
}

// DefaultThresholds returns the thresholds of a budget that sets none.
func DefaultThresholds() []int { return []int{50, 80, 100} }

// Check normalizes and validates a budget. It returns fault.Invalid with the name of the wrong field. It does not
// check whether the scope exists.
func (b *Budget) Check() error {
	if b.Amount.Sign() <= 0 || b.Amount != b.Amount.Round(2) || b.Amount.Cmp(money.FromInt(1_000_000_000_000)) > 0 {
		return fault.New(fault.Invalid,
			"amountUSD: %s is no amount above 0 with at most two decimals, up to 1000000000000", b.Amount)
	}
	if b.Thresholds == nil {
		b.Thresholds = DefaultThresholds()
	}
	b.Thresholds = slices.Clone(b.Thresholds)
	slices.Sort(b.Thresholds)
	b.Thresholds = slices.Compact(b.Thresholds)
	for _, t := range b.Thresholds {
		if t < 1 || t > maxThreshold {
			return fault.New(fault.Invalid, "thresholds: %d is no percentage from 1 to %d", t, maxThreshold)
		}
	}
	return b.checkScope()
}

func (b *Budget) checkScope() error {
	key, _, isTag := strings.Cut(b.ScopeID, "=")
	switch {
	case b.ScopeType == Org && b.ScopeID != "":
		return fault.New(fault.Invalid, "scopeID: %.64q: a budget of the organization has none; leave it empty",
			b.ScopeID)
	case b.ScopeType != Org && b.ScopeID == "":
		return fault.New(fault.Invalid, "scopeID: it is empty; send which %s the budget is for", b.ScopeType)
	case b.ScopeType == Tag && (!isTag || key == ""):
		return fault.New(fault.Invalid, "scopeID: %.64q names no tag; send key=value", b.ScopeID)
	}
	return nil
}

// Dimension returns the cost dimension and the value of the budget's scope; both are "" for the organization.
func (b *Budget) Dimension() (dim, value string) {
	switch b.ScopeType {
	case CloudAccount:
		return cost.AccountDim, b.ScopeID
	case ResourceGroup:
		return cost.GroupDim, b.ScopeID
	case Resource:
		return cost.ResourceDim, b.ScopeID
	case Team:
		return cost.TeamDim, b.ScopeID
	case Tag:
		key, value, _ := strings.Cut(b.ScopeID, "=")
		return cost.TagDim + key, value
	case Org:
	}
	return "", ""
}

// SeenIn reports whether a caller with these scopes and resources may see the state of the budget. A caller with
// access to everything sees all budgets. Other callers see the budgets of their own teams and resources, because the
// cost of a wider scope would reveal other costs.
func (b *Budget) SeenIn(scopes grant.Scopes, resources inventory.ResourceSet) bool {
	return scopes.All || b.ScopeType == Team && slices.Contains(scopes.Teams, b.ScopeID) || b.ScopeType == Resource &&
		resources.HasUID(b.ScopeID)
}

// String returns the name of a budget for messages.
func (b *Budget) String() string { return fmt.Sprintf("budget %s (%s)", b.ID, b.Name) }
