package grant

import (
	"slices"
	"strings"
)

// Role is a named set of policies.
type Role struct {
	Name        string
	Description string
	Policies    []string // shared; must not be changed
}

// The system roles, which cannot be changed. They are referred to by name, custom roles by ID.
const (
	Viewer   = "viewer"
	Operator = "operator"
	Editor   = "editor"
	Finops   = "finops"
	Admin    = "admin"
	Owner    = "owner"
)

// SystemRoles returns the system roles, from the least to the most powerful.
func SystemRoles() []Role { return slices.Clone(systemRoles) }

// SystemRole returns the system role with the name.
func SystemRole(name string) (Role, bool) {
	for i := range systemRoles {
		if systemRoles[i].Name == name {
			return systemRoles[i], true
		}
	}
	return Role{}, false
}

var (
	operates = []string{
		"actions:execute", "overrides:write", "schedules:write", "calendars:write",
		"resource-groups:write",
	}
	accounts = []string{
		"budgets:write", "showback:write", "smart-tags:write", "reports:write", "dashboards:write",
		"recommendations:write",
	}

	systemRoles = []Role{
		{Viewer, "Sees everything but people and the audit log", viewerPolicies()},
		{
			Operator, "Viewer who also starts, stops, overrides, schedules and groups",
			joinPolicies(viewerPolicies(), operates),
		},
		{
			Editor, "Operator who also changes everything but people, roles, the organization and cloud accounts",
			joinPolicies(viewerPolicies(), editorPolicies()),
		},
		{
			Finops, "Viewer who also keeps budgets, showback, smart tags, reports, dashboards and recommendations",
			joinPolicies(viewerPolicies(), accounts),
		},
		{Admin, "Everything but deleting the organization", adminPolicies()},
		{Owner, "Everything", []string{"*:*"}},
	}
)

// viewerPolicies are those of *:read except people and audit. They are listed because a wildcard has no exceptions.
func viewerPolicies() []string {
	return selectPolicies(func(resource, action string) bool {
		return action == "read" && resource != "audit-logs" && resource != "users"
	})
}

func editorPolicies() []string {
	kept := []string{"organisation", "users", "teams", "roles", "audit-logs", "cloud-accounts"}
	return selectPolicies(func(resource, action string) bool {
		return action != "read" && !slices.Contains(kept, resource)
	})
}

func adminPolicies() []string {
	return selectPolicies(func(resource, action string) bool {
		return resource != "organisation" || action != "delete"
	})
}

// systemSets are the policies of the system roles.
var systemSets = func() map[string]policySet {
	sets := map[string]policySet{}
	for _, r := range systemRoles {
		sets[r.Name] = newPolicySet(r.Policies)
	}
	return sets
}()

// selectPolicies lists the policies of the catalogue that match.
func selectPolicies(pick func(resource, action string) bool) []string {
	var out []string
	for _, p := range catalogue {
		resource, action, _ := strings.Cut(p.ID, ":")
		if pick(resource, action) {
			out = append(out, p.ID)
		}
	}
	return out
}

func joinPolicies(lists ...[]string) []string {
	out := slices.Concat(lists...)
	slices.Sort(out)
	return slices.Compact(out)
}
