package grant

import "slices"

// narrow are the policies with operations that accept a grant on a team or a resource. A grant of another policy there
// permits nothing. A test compares the list with the operations.
var narrow = []string{
	"teams:read", "resources:read", "schedules:read", "resource-groups:read", "overrides:read", "overrides:write",
	"actions:read", "actions:execute", "reports:read", "reports:write", "budgets:read", "smart-tags:read",
	"autoscaler-policies:read", "autoscaler-policies:write", "event-readiness:read", "dashboards:read",
	"notifications:read", "notifications:write", "recommendations:read", "recommendations:write",
	"remediation:read", "remediation:write", "remediation:execute",
}

// WorksOn reports whether a grant of the policy permits something on a kind of scope: "org", "team" or "resource". A
// grant on a resource reaches no team.
func WorksOn(policy, kind string) bool {
	switch {
	case kind == OrgScope:
		return IsPolicy(policy)
	case policy == "teams:read":
		return kind == "team"
	}
	return slices.Contains(narrow, policy)
}
