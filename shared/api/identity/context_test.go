package identity_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/testkit/race"
	"lamplighter.dev/shared/testkit/seed"
)

func TestTheCallerSurvivesTheGateway(t *testing.T) {
	want := callerWith(roleGrant("admin"), policiesGrant("team:a", "actions:read", "actions:execute"))
	want.Email, want.Session, want.Method, want.SSO = "ada@example.com", "s1", identity.MethodToken, true
	encoded := identity.EncodeCaller(want)
	for k, v := range encoded {
		if _, ok := v.(string); !ok {
			t.Errorf("%s is a %T: API Gateway passes strings", k, v)
		}
	}
	got, err := identity.NewDecoder().Decode(encoded)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
}

// For all callers and grants, the function decodes the same caller as the authorizer encoded, except for the IDs of
// assignments.
func TestEverySetOfGrantsSurvivesTheGateway(t *testing.T) {
	race.SkipSequential(t)
	d := dice{seed.Fixed(t, 7, 1974)}
	for range 500 {
		a, stored := d.member("org_1")
		want := a.ResolveGrants(stored)
		got := passAuthorizer(t, "org_1", a, stored).Grants
		if len(got) != len(want) {
			t.Fatalf("%d grants of %d", len(got), len(want))
		}
		for i := range want {
			one, other := want[i], got[i]
			if other.Role != one.Role || other.Scope != one.Scope || other.ID != "" {
				t.Fatalf("%+v becomes %+v", one, other)
			}
			for _, p := range grant.Policies() {
				before := identity.Allows(callerWith(one), p.ID, one.Scope)
				if after := identity.Allows(callerWith(grant.Grant{Policies: other.Policies, Scope: other.Scope}), p.ID,
					one.Scope); after != before {
					t.Fatalf("%s by %+v: %v becomes %v", p.ID, one, before, after)
				}
			}
		}
	}
}

// The largest possible caller: as many grants as possible, each of another role with all policies, on one resource.
func TestTheLargestCallerFitsThroughTheGateway(t *testing.T) {
	var everything []string
	for _, p := range grant.Policies() {
		everything = append(everything, p.ID)
	}
	c := identity.Caller{
		Org: "org_01k8z3v5y0e6m9x2q4t7r1c8bd", User: "usr_01k8z3v5y0e6m9x2q4t7r1c8bd", Email: strings.Repeat("a", 254),
		Session: strings.Repeat("s", 64), Method: identity.MethodToken,
	}
	for n := range identity.MaxGrants {
		c.Grants = append(c.Grants, grant.Grant{
			ID: "asgn_01k8z3v5y0e6m9x2q4t7r1c8bd", Role: fmt.Sprintf("role_01k8z3v5y0e6m9x2q4t7r1c8%02d", n),
			Policies: everything, Scope: "resource:res_01k8z3v5y0e6m9x2q4t7r1c8bd",
		})
	}
	encoded := identity.EncodeCaller(c)
	b, err := json.Marshal(encoded)
	if err != nil || len(b) > identity.MaxContext {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	got, err := identity.NewDecoder().Decode(encoded)
	if err != nil || len(got.Grants) != identity.MaxGrants ||
		!identity.Allows(got, everything[len(everything)-1], c.Grants[39].Scope) {
		t.Errorf("%d grants, %v", len(got.Grants), err)
	}
}

func TestAContextThatIsNotOurs(t *testing.T) {
	with := func(grants string) map[string]any {
		return map[string]any{"user": "usr_1", "org": "org_1", "grants": grants}
	}
	for name, c := range map[string]struct {
		in   map[string]any
		fail bool
	}{
		"none":                             {nil, false},
		"of somebody else":                 {map[string]any{"principalId": "x"}, false},
		"with a user that is one":          {map[string]any{"user": 7}, false},
		"with broken grants":               {with("[{"), true},
		"with grants that are no list":     {with(`{"r":"owner","s":"org"}`), true},
		"with something after the grants":  {with(`[] []`), true},
		"with a grant without a scope":     {with(`[{"r":"viewer"}]`), true},
		"with a grant without anything":    {with(`[{}]`), true},
		"with a role that has no policies": {with(`[{"r":"role_1","s":"org"}]`), true},
		"with a system role that has some": {with(`[{"r":"viewer","p":"__________8","s":"org"}]`), true},
		"with policies that are no set":    {with(`[{"r":"role_1","p":"*:*","s":"org"}]`), true},
		"with a set that is too long": {
			with(`[{"r":"role_1","p":"` + strings.Repeat("_", 24) + `","s":"org"}]`),
			true,
		},
		"with a good grant and a broken one": {
			with(`[{"r":"owner","s":"org"},{"r":"role_1","p":"!","s":"org"}]`),
			true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := identity.NewDecoder().Decode(c.in)
			if (err != nil) != c.fail || !reflect.DeepEqual(got, identity.Caller{}) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// A function that is older than the authorizer leaves out policies that it does not know.
func TestAPolicyOfALaterCatalogueIsLeftOut(t *testing.T) {
	all := base64.RawURLEncoding.EncodeToString([]byte(strings.Repeat("\xff", 16)))
	got, err := identity.NewDecoder().Decode(map[string]any{
		"user": "usr_1", "org": "org_1",
		"grants": `[{"r":"role_1","p":"` + all + `","s":"org"}]`,
	})
	if err != nil || len(got.Grants) != 1 || len(got.Grants[0].Policies) != len(grant.Policies()) {
		t.Errorf("%+v, %v", got, err)
	}
}

// FuzzDecode requires for any context: an error and the zero Caller, or a caller with exactly the grants of the text.
func FuzzDecode(f *testing.F) {
	for _, grants := range []string{
		``, `[]`, `[{"r":"owner","s":"org"}]`, `[{"r":"viewer","s":"team:t"},{"r":"role_1","p":"AQ","s":"org"}]`,
		`[{"p":"__________8","s":"org"}]`,
		`[{"R":"owner","S":"org"}]`, `null`, `[null]`, `[{"r":"role_1","p":"AAAAAAAAAAAAAAAAAAAAAA","s":"resource:r"}]`,
		"[{\"r\":\"owner\",\"s\":\"org\"}]\n",
	} {
		f.Add("usr_1", "org_1", grants)
	}
	f.Fuzz(func(t *testing.T, user, org, grants string) {
		c, err := identity.NewDecoder().Decode(map[string]any{"user": user, "org": org, "grants": grants})
		if err != nil || user == "" {
			if !reflect.DeepEqual(c, identity.Caller{}) {
				t.Fatalf("%v, and %+v", err, c)
			}
			return
		}
		if c.User != user || c.Org != org {
			t.Fatalf("%+v", c)
		}
		var said []struct{ R, P, S string }
		if err := json.Unmarshal([]byte(grants), &said); err != nil && grants != "" {
			t.Fatalf("%q is read, and it is no JSON", grants)
		}
		for n, p := range grant.Policies() {
			if !identity.Allows(c, p.ID) {
				continue
			}
			resource, action, _ := strings.Cut(p.ID, ":")
			if org == "" || !slices.ContainsFunc(said, func(g struct{ R, P, S string }) bool {
				b, _ := base64.RawURLEncoding.DecodeString(g.P)
				may := systemRules[g.R]
				return g.S == "org" && (may != nil && may(resource, action) || n/8 < len(b) && b[n/8]>>(n%8)&1 == 1)
			}) {
				t.Fatalf("%q allows %s", grants, p.ID)
			}
		}
		again, err := identity.NewDecoder().Decode(identity.EncodeCaller(c))
		if err != nil || len(again.Grants) != len(c.Grants) {
			t.Fatalf("%q is read, and not again: %v", grants, err)
		}
	})
}
