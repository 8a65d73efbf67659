package identity_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
)

func callerWith(grants ...grant.Grant) identity.Caller {
	return identity.Caller{Org: "org_1", User: "usr_1", Grants: grant.ResolveGrants(grants)}
}

func roleGrant(name string) grant.Grant {
	return grant.Grant{Role: name, Scope: grant.OrgScope}
}

func policiesGrant(scope string, policies ...string) grant.Grant {
	return grant.Grant{Policies: policies, Scope: scope}
}

func TestWhatIsNotGrantedIsDenied(t *testing.T) {
	for name, c := range map[string]struct {
		caller identity.Caller
		policy string
		target []string
		want   bool
	}{
		"nobody": {identity.Caller{}, "actions:read", nil, false},
		"no organization": {identity.Caller{
			User:   "usr_1",
			Grants: []grant.Grant{policiesGrant("org", "*:*")},
		}, "actions:read", nil, false},
		"no grants": {callerWith(), "actions:read", nil, false},
		"the policy itself": {
			callerWith(policiesGrant("org", "actions:read")), "actions:read", nil,
			true,
		},
		"another action": {
			callerWith(policiesGrant("org", "actions:read")), "actions:execute", nil,
			false,
		},
		"another resource": {
			callerWith(policiesGrant("org", "actions:read")), "reports:read", nil,
			false,
		},
		"a longer resource": {callerWith(policiesGrant("org", "role:read")), "roles:read", nil, false},
		"everything":        {callerWith(policiesGrant("org", "*:*")), "webhooks:write", nil, true},
		"all of a resource": {
			callerWith(policiesGrant("org", "webhooks:*")), "webhooks:write", nil,
			true,
		},
		"all of another resource": {
			callerWith(policiesGrant("org", "webhooks:*")), "actions:execute", nil,
			false,
		},
		"one action of everything": {callerWith(policiesGrant("org", "*:read")), "webhooks:read", nil, true},
		"another action of everything": {
			callerWith(policiesGrant("org", "*:read")), "webhooks:write", nil,
			false,
		},
		"a star that is no wildcard": {callerWith(policiesGrant("org", "*")), "webhooks:write", nil, false},
		"a half star": {
			callerWith(policiesGrant("org", "web*:*")), "webhooks:write", nil,
			false,
		},
		"an empty policy":                    {callerWith(policiesGrant("org", "")), "webhooks:write", nil, false},
		"a colon":                            {callerWith(policiesGrant("org", ":")), "webhooks:write", nil, false},
		"an operation that names none":       {callerWith(roleGrant("owner")), "", nil, false},
		"an operation that names a wildcard": {callerWith(roleGrant("owner")), "*:*", nil, false},
		"an operation of half a policy":      {callerWith(roleGrant("owner")), "actions:", nil, false},
		"an unknown role":                    {callerWith(roleGrant("emperor")), "actions:read", nil, false},
		"a team grant, asked about all":      {callerWith(policiesGrant("team:a", "*:*")), "actions:read", nil, false},
		"a team grant, its team": {
			callerWith(policiesGrant("team:a", "*:*")), "actions:read",
			[]string{"resource:x", "team:a"},
			true,
		},
		"a team grant, another team": {
			callerWith(policiesGrant("team:a", "*:*")), "actions:read",
			[]string{"team:b"},
			false,
		},
		"an empty scope, an empty target": {callerWith(policiesGrant("", "*:*")), "actions:read", []string{""}, false},
		"an empty scope, asked about all": {callerWith(policiesGrant("", "*:*")), "actions:read", nil, false},
		"an org grant, any target":        {callerWith(roleGrant("viewer")), "actions:read", []string{"team:b"}, true},
		"policies do not leak across scopes": {callerWith(policiesGrant("team:a", "actions:execute"),
			policiesGrant("team:b", "actions:read")), "actions:execute", []string{"team:b"}, false},
		"the second grant": {callerWith(policiesGrant("team:a", "actions:read"),
			policiesGrant("team:b", "actions:execute")), "actions:execute", []string{"team:b"}, true},
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

// systemRules are the expected policies of the system roles, independent of the implementation.
var systemRules = map[string]func(resource, action string) bool{
	"viewer": isView,
	"operator": func(r, a string) bool {
		return isView(r, a) ||
			slices.Contains([]string{
				"actions:execute", "overrides:write", "schedules:write", "calendars:write",
				"resource-groups:write",
			}, r+":"+a)
	},
	"editor": func(r, a string) bool {
		people := []string{"organisation", "users", "teams", "roles", "audit-logs", "cloud-accounts"}
		return isView(r, a) || a != "read" && !slices.Contains(people, r)
	},
	"finops": func(r, a string) bool {
		return isView(r, a) || a == "write" &&
			slices.Contains([]string{"budgets", "showback", "smart-tags", "reports", "dashboards", "recommendations"},
				r)
	},
	"admin": func(r, a string) bool { return r+":"+a != "organisation:delete" },
	"owner": func(string, string) bool { return true },
}

func isView(resource, action string) bool {
	return action == "read" && resource != "audit-logs" && resource != "users"
}

func TestSystemRoles(t *testing.T) {
	if got := len(grant.SystemRoles()); got != len(systemRules) {
		t.Fatalf("%d system roles", got)
	}
	for name, may := range systemRules {
		c := callerWith(roleGrant(name))
		for _, p := range grant.Policies() {
			resource, action, _ := strings.Cut(p.ID, ":")
			if got, want := identity.Allows(c, p.ID), may(resource, action); got != want {
				t.Errorf("%s %s: %v, want %v", name, p.ID, got, want)
			}
		}
	}
}

// exampleCallers are examples whose decisions take time.
func exampleCallers(tb testing.TB) map[string]identity.Caller {
	tb.Helper()
	out := map[string]identity.Caller{}
	for _, r := range grant.SystemRoles() {
		out[r.Name] = callerWith(policiesGrant("team:a", "actions:read"), roleGrant(r.Name))
	}
	var long []string // 70 policies, of which webhooks:write is none, and wildcards
	for _, p := range grant.Policies() {
		if p.ID != "webhooks:write" {
			long = append(long, p.ID)
		}
	}
	long = append(long, "actions:*", "schedules:*", "*:read", "budgets:*", "users:*", "teams:*", "roles:*", "reports:*")
	if len(long) < 69 {
		tb.Fatalf("%d policies", len(long))
	}
	var scoped, wide []grant.Grant
	for n := range 10 {
		wide = append(wide, grant.Grant{Role: fmt.Sprint("role_", n), Policies: long, Scope: "org"})
		scoped = append(scoped,
			grant.Grant{
				Role: fmt.Sprint("role_", n), Policies: append([]string{"*:*"}, long...),
				Scope: fmt.Sprint("team:", n),
			})
	}
	for name, grants := range map[string][]grant.Grant{"ten roles that lack it": wide, "ten roles elsewhere": scoped} {
		c, err := identity.NewDecoder().Decode(identity.EncodeCaller(callerWith(grants...)))
		if err != nil {
			tb.Fatal(err)
		}
		out[name] = c
	}
	return out
}

func TestDecidingAllocatesNothing(t *testing.T) {
	for name, c := range exampleCallers(t) {
		if n := testing.AllocsPerRun(100, func() {
			identity.Allows(c, "webhooks:write", "team:b", "resource:x")
			identity.Holds(c, "webhooks:write")
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	owner := callerWith(roleGrant("owner"))
	if n := testing.AllocsPerRun(100, func() { owner.Scopes("webhooks:write") }); n != 0 {
		t.Errorf("scopes of an owner: %v allocations", n)
	}
}

func BenchmarkAllows(b *testing.B) {
	for name, c := range exampleCallers(b) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				identity.Allows(c, "webhooks:write", "team:b", "resource:x")
			}
		})
	}
}

func BenchmarkScopes(b *testing.B) {
	for name, c := range exampleCallers(b) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.Scopes("webhooks:write")
			}
		})
	}
}

// BenchmarkIn measures the authorizer's work for each request.
func BenchmarkIn(b *testing.B) {
	a := identity.Access{Roles: map[string]identity.CustomRole{}}
	var grants []grant.Grant
	for _, g := range exampleCallers(b)["ten roles that lack it"].Grants {
		a.Roles[g.Role] = identity.CustomRole{ID: g.Role, Policies: g.Policies}
		grants = append(grants, grant.Grant{Role: g.Role, Scope: g.Scope})
	}
	b.ReportAllocs()
	for b.Loop() {
		identity.EncodeCaller(identity.Caller{Org: "org_1", User: "usr_1", Grants: a.ResolveGrants(grants)})
	}
}

// BenchmarkDecode measures a function's work for each request.
func BenchmarkDecode(b *testing.B) {
	encoded := identity.EncodeCaller(exampleCallers(b)["ten roles that lack it"])
	callers := identity.NewDecoder()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := callers.Decode(encoded); err != nil {
			b.Fatal(err)
		}
	}
}
