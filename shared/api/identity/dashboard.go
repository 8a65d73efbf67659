package identity

import (
	"slices"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
)

// DashboardPartition is of the dashboards of an organization. The record of the organization names one of them, or a
// preset, as its default.
const DashboardPartition table.Partition = "ORG#*#DASHBOARD"

// DashboardKey returns where a dashboard is stored.
func DashboardKey(org, dashboardID string) table.Key {
	return table.Key{PK: table.OrgPK(org) + DashboardPartition.Name(), SK: dashboardID}
}

// dashboardPresets are the ids of the dashboards that every organization has.
var dashboardPresets = []string{"executive", "engineering", "finops", "operations"}

// DashboardPresets returns the ids of the dashboards that every organization has.
func DashboardPresets() []string { return slices.Clone(dashboardPresets) }

// HoldDashboard returns the write, for the transaction that makes a dashboard the default, that fails when the
// dashboard does not exist; none for a preset. known is false for what cannot be the id of a dashboard.
func HoldDashboard(org, dashboardID string) (ws []table.Write, known bool) {
	switch {
	case slices.Contains(dashboardPresets, dashboardID):
		return nil, true
	case id.IsValid("dash", dashboardID):
		return []table.Write{table.Check(DashboardKey(org, dashboardID), table.Exists())}, true
	}
	return nil, false
}
