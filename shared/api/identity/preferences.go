package identity

import "cmp"

// Preferences are the settings of an organization.
type Preferences struct {
	Currency         string  `json:"currency" doc:"Currency (ISO 4217) of amounts that are shown in addition to USD" example:"USD"`
	RequireMFA       bool    `json:"requireMFA" doc:"Whether only log-ins with a second factor are admitted"`
	MCPEnabled       bool    `json:"mcpEnabled" doc:"Whether assistants may work in the organization over MCP"`
	DefaultDashboard *string `json:"defaultDashboard" doc:"ID of the dashboard that is shown first; null leaves it to the client"`
	SavingsRealism   float64 `json:"savingsRealism" minimum:"0" maximum:"1" doc:"Share of the expected savings that is assumed to be achieved" example:"0.7"`
	AnomalyMinUSD    string  `json:"anomalyMinUSD" doc:"Decimal; costs below this amount per day are never reported as an anomaly" example:"1"`
	RetentionMonths  int     `json:"retentionMonths" doc:"Number of months that actions, bulk actions and state history are kept after the month of their creation" example:"13"`
	// EventAllOrNothing is a setting of event readiness plans.
	EventAllOrNothing bool `json:"eventAllOrNothing" doc:"true: an event readiness plan fails, and restores all targets, if one of them does not get its capacity; false: the others stay raised, and the missing one is retried until the end of the event"`
	// AttributionMonths is a setting of costs.
	AttributionMonths int `json:"attributionMonths" doc:"How many closed months before the current month follow changes of teams and resource groups in costs; older closed months keep the teams and groups that they had" example:"13"`
	// The settings that recommendation rules read.
	RequiredTags   []string `json:"requiredTags" doc:"Keys of tags that every resource must have, in lower case; recommendations name the resources without them" example:"[\"team\",\"env\"]"`
	AllowedRegions []string `json:"allowedRegions" doc:"Regions in which resources may be, as the providers name them; empty for all. Recommendations name the resources in others" example:"[\"eu-central-1\",\"westeurope\"]"`
	MinLogDays     int      `json:"minLogDays" doc:"For how many days production must keep its logs; 0 for no requirement" example:"0"`
	// AutonomousRules is a setting of remediation workflows.
	AutonomousRules []string `json:"autonomousRules" nullable:"false" doc:"The rules whose recommendations for non-production resources are carried out without approval: each day by the service, and when somebody with remediation:execute requests it. Only rules that are marked autonomous count"`
}

// DefaultRetentionMonths is how many months of history are kept by default, so that figures can be compared with those
// of a year ago.
const DefaultRetentionMonths = 13

// DefaultAttributionMonths is how many closed months follow changes of teams and groups by default: a year of budgets
// and trends, and the month to compare with.
const DefaultAttributionMonths = 13

// ChosenPreferences are the settings that an organization has changed; nil means the default.
type ChosenPreferences struct {
	Currency         *string  `json:"currency,omitempty"`
	RequireMFA       *bool    `json:"requireMFA,omitempty"`
	MCPEnabled       *bool    `json:"mcpEnabled,omitempty"`
	DefaultDashboard *string  `json:"defaultDashboard,omitempty"`
	SavingsRealism   *float64 `json:"savingsRealism,omitempty"`
	AnomalyMinUSD    *string  `json:"anomalyMinUSD,omitempty"`
	RetentionMonths  *int     `json:"retentionMonths,omitempty"`

	EventAllOrNothing *bool `json:"eventAllOrNothing,omitempty"`
	AttributionMonths *int  `json:"attributionMonths,omitempty"`

	RequiredTags    *[]string `json:"requiredTags,omitempty"`
	AllowedRegions  *[]string `json:"allowedRegions,omitempty"`
	MinLogDays      *int      `json:"minLogDays,omitempty"`
	AutonomousRules *[]string `json:"autonomousRules,omitempty"`
}

// Preferences returns the settings, with defaults for those that were not changed.
func (c ChosenPreferences) Preferences() Preferences {
	currency, off, realism, least, months := "USD", false, 0.7, "1", DefaultRetentionMonths
	attributed, none, noDays := DefaultAttributionMonths, []string{}, 0
	return Preferences{
		Currency: *cmp.Or(c.Currency, &currency), MCPEnabled: *cmp.Or(c.MCPEnabled, &off),
		RequireMFA:       *cmp.Or(c.RequireMFA, &off),
		DefaultDashboard: c.DefaultDashboard,
		SavingsRealism:   *cmp.Or(c.SavingsRealism, &realism), AnomalyMinUSD: *cmp.Or(c.AnomalyMinUSD, &least),
		RetentionMonths: *cmp.Or(c.RetentionMonths, &months), EventAllOrNothing: *cmp.Or(c.EventAllOrNothing, &off),
		AttributionMonths: *cmp.Or(c.AttributionMonths, &attributed),
		RequiredTags:      *cmp.Or(c.RequiredTags, &none), AllowedRegions: *cmp.Or(c.AllowedRegions, &none),
		MinLogDays:      *cmp.Or(c.MinLogDays, &noDays),
		AutonomousRules: *cmp.Or(c.AutonomousRules, &none),
	}
}
