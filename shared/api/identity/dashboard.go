package identity

import (
	"slices"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
)

// DashboardPartition holds the dashboards of an organization. The record of the organization may name one of them, or a
// preset, as its default.
const DashboardPartition table.Partition = "ORG#*#DASHBOARD"

// DashboardKey returns the key of a dashboard.
func DashboardKey(org, dashboardID string) table.Key {
	return table.Key{PK: table.OrgPK(org) + DashboardPartition.Name(), SK: dashboardID}
}

// dashboardPresets are the IDs of the dashboards that every organization has.
var dashboardPresets = []string{"executive", "engineering", "finops", "operations"}

// DashboardPresets returns the IDs of the dashboards that every organization has.
func DashboardPresets() []string { return slices.Clone(dashboardPresets) }

// HoldDashboard returns the write for the transaction that makes a dashboard the default. It fails if the dashboard
// does not exist. There is no write for a preset. known is false if dashboardID cannot be the ID of a dashboard.
func HoldDashboard(org, dashboardID string) (ws []table.Write, known bool) {
	switch {
	case slices.Contains(dashboardPresets, dashboardID):
		return nil, true
	case id.IsValid("dash", dashboardID):
		return []table.Write{table.Check(DashboardKey(org, dashboardID), table.Exists())}, true
	}
	return nil, false
}
