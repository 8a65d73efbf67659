package identity

import "cmp"

// Preferences are an organization's choices.
type Preferences struct {
	Currency         string  `json:"currency" doc:"ISO 4217; in which amounts are shown beside USD" example:"USD"`
	MCPEnabled       bool    `json:"mcpEnabled" doc:"Whether assistants may work in the organization over MCP"`
	DefaultDashboard *string `json:"defaultDashboard" doc:"The dashboard to begin with; null leaves it to the client"`
	SavingsRealism   float64 `json:"savingsRealism" minimum:"0" maximum:"1" doc:"The part of expected savings that is counted on" example:"0.7"`
	AnomalyMinUSD    string  `json:"anomalyMinUSD" doc:"A decimal; costs below it a day are never called an anomaly" example:"1"`
	RetentionMonths  int     `json:"retentionMonths" doc:"For how many months, beyond the one in which they were made, actions, bulk actions and state history are kept" example:"13"`
	// EventAllOrNothing is a choice about event readiness plans.
	EventAllOrNothing bool `json:"eventAllOrNothing" doc:"Whether an event readiness plan fails, and gives back all targets, when one of them does not get its capacity; false keeps the others raised and tries the missing one until the event is over"`
}

// DefaultRetentionMonths is for how many months an organization keeps its history unless it says otherwise: what a year ago was
// can be compared.
const DefaultRetentionMonths = 13

// ChosenPreferences is what of the preferences an organization has chosen; a nil is the default of the service.
type ChosenPreferences struct {
	Currency         *string  `json:"currency,omitempty"`
	MCPEnabled       *bool    `json:"mcpEnabled,omitempty"`
	DefaultDashboard *string  `json:"defaultDashboard,omitempty"`
	SavingsRealism   *float64 `json:"savingsRealism,omitempty"`
	AnomalyMinUSD    *string  `json:"anomalyMinUSD,omitempty"`
	RetentionMonths  *int     `json:"retentionMonths,omitempty"`

	EventAllOrNothing *bool `json:"eventAllOrNothing,omitempty"`
}

// Preferences returns what was chosen, and the defaults for the rest.
func (c ChosenPreferences) Preferences() Preferences {
	currency, off, realism, least, months := "USD", false, 0.7, "1", DefaultRetentionMonths
	return Preferences{
		Currency: *cmp.Or(c.Currency, &currency), MCPEnabled: *cmp.Or(c.MCPEnabled, &off),
		DefaultDashboard: c.DefaultDashboard,
		SavingsRealism:   *cmp.Or(c.SavingsRealism, &realism), AnomalyMinUSD: *cmp.Or(c.AnomalyMinUSD, &least),
		RetentionMonths: *cmp.Or(c.RetentionMonths, &months), EventAllOrNothing: *cmp.Or(c.EventAllOrNothing, &off),
	}
}
