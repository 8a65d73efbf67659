package grant

import "slices"

// Policy is a permission, "<resource>:<action>".
type Policy struct {
	ID          string `json:"id" doc:"<resource>:<action>" example:"actions:execute"`
	Description string `json:"description" doc:"Description of the permission"`
}

// Policies returns the catalogue of all policies that operations may require. Deleting an organization is separate from
// writing it, because an admin may only do the latter.
func Policies() []Policy { return slices.Clone(catalogue) }

// IsPolicy reports whether id is a policy of the catalogue.
func IsPolicy(id string) bool {
	_, ok := policyIndexes[id]
	return ok
}

// IsGrantable reports whether a role may list id: a policy, "*:*", "<resource>:*" or "*:read".
func IsGrantable(id string) bool {
	s := newPolicySet([]string{id})
	return !s.empty()
}

// catalogue is append-only: the authorizer and the functions identify policies by index, and are not deployed at the
// same moment.
var catalogue = []Policy{
	{"organisation:read", "See the organization and its settings"},
	{"organisation:write", "Change the organization's name, settings and single sign-on"},
	{"organisation:delete", "Delete the organization and everything in it"},
	{"users:read", "See who belongs to the organization"},
	{"users:write", "Invite, change and remove users"},
	{"teams:read", "See teams, their members and resources"},
	{"teams:write", "Create, change and delete teams"},
	{"roles:read", "See roles and who holds them"},
	{"roles:write", "Create, change, delete, assign and revoke roles"},
	{"audit-logs:read", "Read, verify and export the audit log"},
	{"cloud-accounts:read", "See cloud accounts and clusters, without their credentials"},
	{"cloud-accounts:write", "Connect, change, discover and disconnect cloud accounts and clusters"},
	{"resources:read", "See the inventory of resources"},
	{"resources:write", "Refresh and export the inventory"},
	{"schedules:read", "See schedules and preview them"},
	{"schedules:write", "Create, change, attach and delete schedules"},
	{"calendars:read", "See calendars"},
	{"calendars:write", "Create, change and delete calendars"},
	{"resource-groups:read", "See resource groups"},
	{"resource-groups:write", "Create, change and delete resource groups and their sequence"},
	{"overrides:read", "See overrides"},
	{"overrides:write", "Create and end overrides"},
	{"actions:read", "See actions, bulk actions and the state history"},
	{"actions:execute", "Start and stop resources and groups, and cancel actions"},
	{"reports:read", "Read reports, costs, savings and anomalies"},
	{"reports:write", "Judge anomalies and push unit metrics"},
	{"showback:read", "See how shared costs are split"},
	{"showback:write", "Create, change and delete showback rules"},
	{"budgets:read", "See budgets and how they stand"},
	{"budgets:write", "Create, change and delete budgets"},
	{"billing:read", "See how billing data stands"},
	{"billing:write", "Start billing syncs and import billing data"},
	{"recommendations:read", "See recommendations and their rules"},
	{"recommendations:write", "Refresh, dismiss and mark recommendations"},
	{"remediation:read", "See remediation workflows"},
	{"remediation:write", "Propose, approve, reject and cancel remediation workflows"},
	{"remediation:execute", "Carry out and roll back remediation workflows"},
	{"smart-tags:read", "See smart tags and their policies"},
	{"smart-tags:write", "Accept and revoke smart tags, and change their policies"},
	{"autoscaler-policies:read", "See autoscaler policies and their logs"},
	{"autoscaler-policies:write", "Create, change, apply, pause and delete autoscaler policies"},
	{"event-readiness:read", "See event plans, previews and estimates"},
	{"event-readiness:write", "Create, change, schedule, cancel and delete event plans"},
	{"dashboards:read", "See dashboards and their data"},
	{"dashboards:write", "Create, change and delete dashboards"},
	{"notifications:read", "See channels, subscriptions and deliveries"},
	{"notifications:write", "Create, change, test and delete channels and subscriptions, and share to them"},
	{"spaces:read", "See deployment spaces and discover in them"},
	{"spaces:write", "Create, change and delete deployment spaces"},
	{"provisioning:read", "See provisioning jobs, plans and templates"},
	{"provisioning:create", "Start provisioning jobs"},
	{"provisioning:write", "Plan, apply, cancel and destroy what was provisioned"},
	{"projects:read", "See projects and environments"},
	{"projects:write", "Create, change and delete projects and environments"},
	{"deployments:read", "See deployments, revisions, events and logs"},
	{"deployments:write", "Create, configure and delete deployments"},
	{"deployments:execute", "Roll back, restart, scale and promote deployments"},
	{"builds:read", "See builds, their logs and repositories"},
	{"builds:write", "Start and cancel builds"},
	{"integrations:read", "See integrations, without their secrets"},
	{"integrations:write", "Create, change, test and delete integrations"},
	{"webhooks:read", "See outbound webhooks and their deliveries"},
	{"webhooks:write", "Create, change, test and delete outbound webhooks"},
}
