package audit

import "testing"

// TestEveryTagHasACategory lists the groups of the interface. A new group must be added to the table.
func TestEveryTagHasACategory(t *testing.T) {
	tags := []string{
		"Authentication", "Cloud Accounts", "Resources", "Schedules", "Resource Groups", "Overrides",
		"Actions & Execution",
		"Reports & Analytics", "Showback (Cost Attribution)", "Budgets", "Billing", "Recommendations", "Smart Tags",
		"VM Autoscaling",
		"Event Readiness", "Dashboards", "Notifications", "Users & Teams", "Roles & Permissions", "Organizations",
		"Audit Logs",
		"Deployment Spaces", "Provisioning", "Remediation Workflows", "Deployments", "Builds",
		"Projects & Environments",
		"Integrations", "Webhooks",
	}
	used := map[Category]bool{}
	for _, tag := range tags {
		c, ok := categories[tag]
		if !ok {
			t.Errorf("%q has no category", tag)
		}
		used[c] = true
	}
	if len(categories) != len(tags) {
		t.Errorf("%d tags have a category, and there are %d", len(categories), len(tags))
	}
	for _, c := range []Category{Platform, Scheduling, Cost, Provisioning, Deployments} {
		if !used[c] {
			t.Errorf("nothing is %s", c)
		}
	}
	if CategoryOf("") != Platform || CategoryOf("Budgets") != Cost {
		t.Errorf("%s %s", CategoryOf(""), CategoryOf("Budgets"))
	}
}
