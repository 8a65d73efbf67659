package identity_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/identity"
)

func caller(grants ...identity.Grant) identity.Caller {
	return identity.Caller{Org: "org_1", User: "usr_1", Grants: identity.Resolve(grants)}
}

func role(name string) identity.Grant {
	return identity.Grant{Role: name, Scope: identity.OrgScope}
}

func listed(scope string, policies ...string) identity.Grant {
	return identity.Grant{Policies: policies, Scope: scope}
}

func TestWhatIsNotGrantedIsDenied(t *testing.T) {
	for name, c := range map[string]struct {
		caller identity.Caller
		policy string
		target []string
		want   bool
	}{
		"nobody":                             {identity.Caller{}, "actions:read", nil, false},
		"no organization":                    {identity.Caller{User: "usr_1", Grants: []identity.Grant{listed("org", "*:*")}}, "actions:read", nil, false},
		"no grants":                          {caller(), "actions:read", nil, false},
		"the policy itself":                  {caller(listed("org", "actions:read")), "actions:read", nil, true},
		"another action":                     {caller(listed("org", "actions:read")), "actions:execute", nil, false},
		"another resource":                   {caller(listed("org", "actions:read")), "reports:read", nil, false},
		"a longer resource":                  {caller(listed("org", "role:read")), "roles:read", nil, false},
		"everything":                         {caller(listed("org", "*:*")), "webhooks:write", nil, true},
		"all of a resource":                  {caller(listed("org", "webhooks:*")), "webhooks:write", nil, true},
		"all of another resource":            {caller(listed("org", "webhooks:*")), "actions:execute", nil, false},
		"one action of everything":           {caller(listed("org", "*:read")), "webhooks:read", nil, true},
		"another action of everything":       {caller(listed("org", "*:read")), "webhooks:write", nil, false},
		"a star that is no wildcard":         {caller(listed("org", "*")), "webhooks:write", nil, false},
		"a half star":                        {caller(listed("org", "web*:*")), "webhooks:write", nil, false},
		"an empty policy":                    {caller(listed("org", "")), "webhooks:write", nil, false},
		"a colon":                            {caller(listed("org", ":")), "webhooks:write", nil, false},
		"an operation that names none":       {caller(role("owner")), "", nil, false},
		"an operation that names a wildcard": {caller(role("owner")), "*:*", nil, false},
		"an operation of half a policy":      {caller(role("owner")), "actions:", nil, false},
		"an unknown role":                    {caller(role("emperor")), "actions:read", nil, false},
		"a team grant, asked about all":      {caller(listed("team:a", "*:*")), "actions:read", nil, false},
		"a team grant, its team":             {caller(listed("team:a", "*:*")), "actions:read", []string{"resource:x", "team:a"}, true},
		"a team grant, another team":         {caller(listed("team:a", "*:*")), "actions:read", []string{"team:b"}, false},
		"an empty scope, an empty target":    {caller(listed("", "*:*")), "actions:read", []string{""}, false},
		"an empty scope, asked about all":    {caller(listed("", "*:*")), "actions:read", nil, false},
		"an org grant, any target":           {caller(role("viewer")), "actions:read", []string{"team:b"}, true},
		"policies do not leak across scopes": {caller(listed("team:a", "actions:execute"), listed("team:b", "actions:read")), "actions:execute", []string{"team:b"}, false},
		"the second grant":                   {caller(listed("team:a", "actions:read"), listed("team:b", "actions:execute")), "actions:execute", []string{"team:b"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := identity.Allows(c.caller, c.policy, c.target...); got != c.want {
				t.Errorf("Allows = %v", got)
			}
			if got := identity.Holds(c.caller, c.policy); c.want && !got {
				t.Error("allowed, but not held anywhere")
			}
		})
	}
}

// The system roles of spec/contract.md, policy by policy.
func TestSystemRoles(t *testing.T) {
	people := []string{"organisation", "users", "teams", "roles", "audit-logs", "cloud-accounts"}
	viewer := func(resource, action string) bool {
		return action == "read" && resource != "audit-logs" && resource != "users"
	}
	rules := map[string]func(resource, action string) bool{
		"viewer": viewer,
		"operator": func(r, a string) bool {
			return viewer(r, a) || slices.Contains([]string{"actions:execute", "overrides:write", "schedules:write", "calendars:write", "resource-groups:write"}, r+":"+a)
		},
		"editor": func(r, a string) bool {
			return viewer(r, a) || a != "read" && !slices.Contains(people, r)
		},
		"finops": func(r, a string) bool {
			return viewer(r, a) || a == "write" && slices.Contains([]string{"budgets", "showback", "smart-tags", "reports", "dashboards", "recommendations"}, r)
		},
		"admin": func(r, a string) bool { return r+":"+a != "organisation:delete" },
		"owner": func(string, string) bool { return true },
	}
	if got := len(identity.SystemRoles()); got != len(rules) {
		t.Fatalf("%d system roles", got)
	}
	for name, may := range rules {
		c := caller(role(name))
		for _, p := range identity.Policies() {
			resource, action, _ := strings.Cut(p.ID, ":")
			if got, want := identity.Allows(c, p.ID), may(resource, action); got != want {
				t.Errorf("%s %s: %v, want %v", name, p.ID, got, want)
			}
		}
	}
}

func TestTheCatalogueOfPolicies(t *testing.T) {
	resources := strings.Fields(`organisation users teams roles audit-logs cloud-accounts resources schedules calendars
		resource-groups overrides actions reports showback budgets billing recommendations remediation smart-tags
		autoscaler-policies event-readiness dashboards notifications spaces provisioning projects deployments builds
		integrations webhooks`)
	seen := map[string]bool{}
	for _, p := range identity.Policies() {
		resource, action, _ := strings.Cut(p.ID, ":")
		if seen[p.ID] || p.Description == "" || !slices.Contains(resources, resource) {
			t.Errorf("policy %+v", p)
		}
		if !slices.Contains([]string{"read", "write", "execute", "create"}, action) && p.ID != "organisation:delete" {
			t.Errorf("action of %s", p.ID)
		}
		seen[p.ID] = true
	}
	for _, r := range resources {
		if !seen[r+":read"] {
			t.Errorf("%s:read is missing", r)
		}
	}
	for _, id := range []string{"actions:execute", "remediation:execute", "deployments:execute", "provisioning:create", "schedules:write"} {
		if !identity.Known(id) {
			t.Errorf("%s is missing", id)
		}
	}
}

func TestTheCallerSurvivesTheGateway(t *testing.T) {
	want := caller(role("admin"), listed("team:a", "actions:read", "actions:execute"))
	want.Email, want.Session, want.Method = "ada@example.com", "s1", identity.MethodToken
	encoded := identity.Encode(want)
	for k, v := range encoded {
		if _, ok := v.(string); !ok {
			t.Errorf("%s is a %T: API Gateway passes strings", k, v)
		}
	}
	got, err := identity.Decode(encoded)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	if n := len(encoded["grants"].(string)); n > 200 {
		t.Errorf("the grants take %d bytes: system roles go by name", n)
	}
}

func TestAContextThatIsNotOurs(t *testing.T) {
	for name, c := range map[string]struct {
		in   map[string]any
		fail bool
	}{
		"none":                    {nil, false},
		"of somebody else":        {map[string]any{"principalId": "x"}, false},
		"with a user that is one": {map[string]any{"user": 7}, false},
		"with broken grants":      {map[string]any{"user": "usr_1", "org": "org_1", "grants": "[{"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := identity.Decode(c.in)
			if (err != nil) != c.fail || got.User != "" {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func TestDecidingAllocatesNothing(t *testing.T) {
	c := caller(listed("team:a", "actions:read"), role("admin"))
	if n := testing.AllocsPerRun(100, func() { identity.Allows(c, "webhooks:write", "team:b", "resource:x") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkAllows(b *testing.B) {
	editor, _ := identity.SystemRole(identity.Editor)
	grants := map[string]identity.Grant{"custom": listed("org", editor.Policies...)}
	for _, r := range identity.SystemRoles() {
		grants[r.Name] = role(r.Name)
	}
	for name, g := range grants {
		b.Run(name, func(b *testing.B) {
			c := caller(listed("team:a", "actions:read"), g)
			b.ReportAllocs()
			for b.Loop() {
				identity.Allows(c, "webhooks:write", "team:b", "resource:x") // the last of the catalogue
			}
		})
	}
}
