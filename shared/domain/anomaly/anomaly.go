// Package anomaly finds days whose cost is higher than expected from the weeks before: the days, the severity, the
// contributors, and the notifications. Each notification is sent once. The package is pure except for Store, which
// keeps the findings.
package anomaly

import (
	"time"

	"lamplighter.dev/shared/foundation/money"
)

// ScopeType is the kind of scope whose cost is judged.
type ScopeType string

// The scopes, as the interface names them.
const (
	Org           ScopeType = "org"
	CloudAccount  ScopeType = "cloud_account"
	ResourceGroup ScopeType = "resource_group"
	Resource      ScopeType = "resource"
	Team          ScopeType = "team"
)

// depth orders scopes from the widest to the narrowest.
var depth = map[ScopeType]int{Org: 0, CloudAccount: 1, Team: 2, ResourceGroup: 2, Resource: 3}

// Scope identifies a scope with costs: the ID is empty for the organization, the native id for a resource.
type Scope struct {
	Type ScopeType
	ID   string
}

// Severity grades how far a day is above its baseline.
type Severity string

// The severities. A day has the highest severity whose threshold it reaches.
const (
	Warning   Severity = "warning"   // 30 % above
	Critical  Severity = "critical"  // 100 %
	Emergency Severity = "emergency" // 500 %
)

// tenths are how many tenths of the baseline the excess must reach.
var tenths = []struct {
	severity Severity
	tenths   int64
}{{Emergency, 50}, {Critical, 10}, {Warning, 3}}

// rank orders severities; 0 is none.
func (s Severity) rank() int {
	switch s {
	case Warning:
		return 1
	case Critical:
		return 2
	case Emergency:
		return 3
	}
	return 0
}

// Gates exclude costs above the baseline that are no anomalies. Each gate can be switched off.
type Gates struct {
	UsageOnly       bool `json:"usageOnly" doc:"Only charges for usage count: no purchases, taxes, credits and support"`
	SettledDays     bool `json:"settledDays" doc:"A day is judged when its bills have settled, two days later (Google Cloud: three); off: as soon as the day is complete"`
	WeekdayBaseline bool `json:"weekdayBaseline" doc:"The baseline is the cost of similar days: the median of the nine days before, or of 21 days if it is lower; that of the same weekday, or of the interval of 2 to 10 days at which costs recur, if it is higher; for a resource the interval counts if it is clearly lower, too. Costs that have recurred, or came a month ago, are no anomalies. Accounts, teams, groups and the organization are judged by their anomalous resources, too. Off: the baseline is the mean of the seven days before"`
	MinimumHistory  bool `json:"minimumHistory" doc:"A scope is judged only if its first cost is at least 14 days old. Until it is 31 days old, it is judged from the second expensive day in a row on, since a monthly cost may be new to it. Off: 4 days"`
	NoiseBand       bool `json:"noiseBand" doc:"The excess must reach 4 × 1.4826 × the median absolute deviation of the 28 days before, from their median or from what their interval predicts"`
	Floors          bool `json:"floors" doc:"The excess must reach the floor of its kind of scope"`
	Latch           bool `json:"latch" doc:"Days that follow an anomalous one are listed, and send an event only if they are more severe"`
	Nesting         bool `json:"nesting" doc:"An anomaly that a narrower scope explains by 80 % or more is listed and sends no event"`
	NewSpend        bool `json:"newSpend" doc:"A cost without a baseline is a warning if it reaches the larger of 50 USD and 5 % of the organization's day"`
}

// Settings are the choices of an organization.
type Settings struct {
	Gates
	FloorsUSD map[ScopeType]money.Amount // a day
}

// DefaultSettings returns the settings of an organization that has not set any. New spend is notified only by choice:
// the contract judges nothing that has no baseline.
func DefaultSettings() Settings {
	return Settings{
		Gates: Gates{
			UsageOnly: true, SettledDays: true, WeekdayBaseline: true, MinimumHistory: true, NoiseBand: true,
			Floors: true, Latch: true, Nesting: true,
		},
		FloorsUSD: map[ScopeType]money.Amount{
			Resource: money.FromInt(10), ResourceGroup: money.FromInt(10), Team: money.FromInt(25),
			CloudAccount: money.FromInt(25), Org: money.FromInt(50),
		},
	}
}

// Bare are settings without any gate: the mean of seven days alone.
func Bare() Settings { return Settings{} }

// The numbers of past days that the rules use.
const (
	trailing   = 7  // days of the mean
	leastDays  = 4  // days of data; with fewer days nothing is judged
	leastAge   = 14 // days, with the gate MinimumHistory
	bandDays   = 28
	Rejudged   = 7                       // days that are judged anew, since bills restate them
	WindowDays = comparedDays + Rejudged // days of a series that a pass needs
	// days before the judged ones, for bills that come months late; together they are all days that are kept.
	Backfilled = 83
)

// LastSettled returns the last day whose bill of a provider has settled by now: two days ago, for Google Cloud three.
// Without the gate it is yesterday, the last complete day.
func (g Gates) LastSettled(now time.Time, provider string) time.Time {
	days := 1
	if g.SettledDays {
		days = 2
		if provider == "gcp" {
			days = 3
		}
	}
	now = now.UTC()
	return time.Date(now.Year(), now.Month(), now.Day()-days, 0, 0, 0, 0, time.UTC)
}
