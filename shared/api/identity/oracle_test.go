package identity_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/race"
	"lamplighter.dev/shared/testkit/seed"
	"lamplighter.dev/shared/testkit/tabletest"
)

// organizations are two organizations with teams and resources, in a fenced store and as the entities of Cedar.
type organizations struct {
	store    table.Store
	entities types.EntityMap
	things   []thing
}

// thing is the object of a decision: a resource with its teams, or, without an ID, a whole organization.
type thing struct {
	Org   string   `json:"org"`
	ID    string   `json:"id"`
	Teams []string `json:"teams"`
}

var orgs = []string{"org_1", "org_2"}

// teamsOf and resourcesOf give two organizations IDs with common prefixes: an ID must not match as a prefix.
func teamsOf(org string) []string { return []string{org + "_t", org + "_t1", org + "_t2"} }

func (t thing) entity() types.EntityUID {
	if t.ID == "" {
		return newEntity("Org", t.Org)
	}
	return newEntity("Res", t.ID)
}

func newEntity(kind, id string) types.EntityUID {
	return types.NewEntityUID(types.EntityType(kind), types.String(id))
}

func newOrganizations(t *testing.T) *organizations {
	t.Helper()
	w := &organizations{store: table.Fenced(tabletest.New(t)), entities: types.EntityMap{}}
	for _, org := range orgs {
		w.addThing(t, thing{Org: org})
		for n := range 6 {
			r := thing{Org: org, ID: fmt.Sprintf("%s_r%d", org, n)}
			for k, team := range teamsOf(org) {
				if n>>k&1 == 1 {
					r.Teams = append(r.Teams, team)
				}
			}
			w.addThing(t, r)
		}
	}
	for _, p := range grant.Policies() {
		resource, action, _ := strings.Cut(p.ID, ":")
		parents := []types.EntityUID{newEntity("Action", "*:*"), newEntity("Action", resource+":*")}
		if action == "read" {
			parents = append(parents, newEntity("Action", "*:read"))
		}
		for role, may := range systemRules {
			if may(resource, action) {
				parents = append(parents, newEntity("Action", "role "+role))
			}
		}
		uid := newEntity("Action", p.ID)
		w.entities[uid] = types.Entity{UID: uid, Parents: types.NewEntityUIDSet(parents...)}
	}
	return w
}

func (w *organizations) addThing(t *testing.T, x thing) {
	t.Helper()
	w.things = append(w.things, x)
	e := types.Entity{UID: x.entity()}
	if x.ID != "" {
		parents := []types.EntityUID{newEntity("Org", x.Org)}
		for _, team := range x.Teams {
			parents = append(parents, newEntity("Team", team))
		}
		e.Parents = types.NewEntityUIDSet(parents...)
	}
	w.entities[e.UID] = e
	it, err := table.NewItem(thingKey(x), x)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = w.store.Write(table.WithOrg(t.Context(), x.Org), table.Put(it)); err != nil {
		t.Fatal(err)
	}
}

func thingKey(x thing) table.Key { return table.Key{PK: table.OrgPK(x.Org) + "RES", SK: "r" + x.ID} }

// decideAccess does the same as an operation: it looks the object up in the caller's organization, and checks its
// scopes.
func (w *organizations) decideAccess(ctx context.Context, c identity.Caller, policy string, x thing) bool {
	found, err := table.Read[thing](table.WithOrg(ctx, c.Org), w.store, thingKey(x))
	return err == nil && identity.Allows(c, policy, found.scopes()...)
}

func (t thing) scopes() []string {
	if t.ID == "" {
		return nil
	}
	out := []string{grant.ResourceScope + t.ID}
	for _, team := range t.Teams {
		out = append(out, grant.TeamScope+team)
	}
	return out
}

// dice makes random grants from a fixed seed.
type dice struct{ *rand.Rand }

func findKey[T any](d dice, from []T) T { return from[d.IntN(len(from))] }

// policies returns the policies of a custom role: policies, wildcards, and sometimes an unknown name.
func (d dice) policies() []string {
	all := grant.Policies()
	var out []string
	for range 1 + d.IntN(5) {
		p := findKey(d, all).ID
		resource, _, _ := strings.Cut(p, ":")
		switch d.IntN(20) {
		case 0:
			p = "*:*"
		case 1:
			p = "*:read"
		case 2, 3, 4:
			p = resource + ":*"
		case 5:
			p = findKey(d, []string{"*", ":", "*:", "unicorns:read", "*:write", strings.ToUpper(p), p + " ", resource})
		}
		out = append(out, p)
	}
	return out
}

func (d dice) scope(org string) string {
	switch d.IntN(4) {
	case 0:
		return grant.OrgScope
	case 1:
		return fmt.Sprintf("resource:%s_r%d", org, d.IntN(6))
	}
	return grant.TeamScope + findKey(d, teamsOf(org))
}

// member returns stored grants of a member and the roles of the organization. Some grants are of a deleted role.
func (d dice) member(org string) (identity.Access, []grant.Grant) {
	a := identity.Access{Roles: map[string]identity.CustomRole{}}
	for n := range 3 {
		id := fmt.Sprintf("role_%d", n)
		a.Roles[id] = identity.CustomRole{ID: id, Policies: d.policies()}
	}
	names := []string{"role_0", "role_1", "role_2", "role_gone"}
	for _, r := range grant.SystemRoles() {
		names = append(names, r.Name)
	}
	var grants []grant.Grant
	for range d.IntN(6) {
		grants = append(grants, grant.Grant{ID: "asgn_x", Role: findKey(d, names), Scope: d.scope(org)})
	}
	return a, grants
}

// passAuthorizer passes a member through the authorizer into a function.
func passAuthorizer(t *testing.T, org string, a identity.Access, grants []grant.Grant) identity.Caller {
	t.Helper()
	c, err := identity.NewDecoder().Decode(identity.EncodeCaller(identity.Caller{
		Org: org, User: "usr_1",
		Grants: a.ResolveGrants(grants),
	}))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// cedarOf returns grants as Cedar policies.
func cedarOf(t *testing.T, org string, a identity.Access, grants []grant.Grant) *cedar.PolicySet {
	t.Helper()
	var b strings.Builder
	for _, g := range grants {
		actions := []string{fmt.Sprintf("Action::%q", "role "+g.Role)}
		if r, ok := a.Roles[g.Role]; ok {
			actions = nil
			for _, p := range r.Policies {
				actions = append(actions, fmt.Sprintf("Action::%q", p))
			}
		}
		kind, id, _ := strings.Cut(g.Scope, ":")
		where := fmt.Sprintf("resource in Org::%q", org)
		switch kind {
		case "team":
			where = fmt.Sprintf("resource in Team::%q", id)
		case "resource":
			where = fmt.Sprintf("resource == Res::%q", id)
		}
		fmt.Fprintf(&b, "permit(principal == User::\"usr_1\", action in [%s], %s);\n", strings.Join(actions, ", "),
			where)
	}
	set, err := cedar.NewPolicySetFromBytes("grants", []byte(b.String()))
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	return set
}

// TestDecisionsAgreeWithCedar compares 20,000 random decisions with an independent engine: members with up to five
// grants of system roles and custom roles, for all objects of their own organization and of another one.
func TestDecisionsAgreeWithCedar(t *testing.T) {
	race.SkipSequential(t)
	const members, questions = 1_000, 20
	w, d := newOrganizations(t), dice{seed.Fixed(t, 3, 1974)}
	yes := 0
	for range members {
		org := findKey(d, orgs)
		a, grants := d.member(org)
		c, oracle := passAuthorizer(t, org, a, grants), cedarOf(t, org, a, grants)
		for range questions {
			policy, x := findKey(d, grant.Policies()).ID, findKey(d, w.things)
			verdict, _ := cedar.Authorize(oracle, w.entities, cedar.Request{
				Principal: newEntity("User", "usr_1"), Action: newEntity("Action", policy), Resource: x.entity(),
				Context: types.NewRecord(nil),
			})
			want := bool(verdict)
			if got := w.decideAccess(t.Context(), c, policy, x); got != want {
				t.Fatalf("%s on %+v: %v, and Cedar %v, of %s\n%+v\n%+v", policy, x, got, want, org, grants, a.Roles)
			}
			if want {
				yes++
			}
		}
	}
	if n := members * questions; yes < n/20 || yes > n/2 {
		t.Errorf("%d of %d decisions were yes: the questions are not worth asking", yes, n)
	}
}

// TestScopesSayWhatAllowsSays compares Scopes with Allows.
func TestScopesSayWhatAllowsSays(t *testing.T) {
	race.SkipSequential(t)
	w, d := newOrganizations(t), dice{seed.Fixed(t, 4, 1974)}
	for range 300 {
		org := findKey(d, orgs)
		a, grants := d.member(org)
		c := passAuthorizer(t, org, a, grants)
		for _, p := range grant.Policies() {
			s := c.Scopes(p.ID)
			if s.None() == identity.Holds(c, p.ID) {
				t.Fatalf("%s: held %v, on %+v", p.ID, identity.Holds(c, p.ID), s)
			}
			for _, x := range w.things {
				in := s.All || slices.Contains(s.Resources, x.ID) ||
					slices.ContainsFunc(x.Teams, func(team string) bool {
						return slices.Contains(s.Teams, team)
					})
				if got := identity.Allows(c, p.ID, x.scopes()...); got != in {
					t.Fatalf("%s on %+v: allowed %v, scopes %+v", p.ID, x, got, s)
				}
			}
		}
	}
}

// permittedThings returns all objects that c may access, in both organizations.
func (w *organizations) permittedThings(c identity.Caller) map[string]bool {
	out := map[string]bool{}
	for _, p := range grant.Policies() {
		for _, x := range w.things {
			if identity.Allows(c, p.ID, x.scopes()...) {
				out[p.ID+" "+x.Org+" "+x.ID] = true
			}
		}
	}
	return out
}

func TestOneMoreGrantNeverTakesAnythingAway(t *testing.T) {
	race.SkipSequential(t)
	w, d := newOrganizations(t), dice{seed.Fixed(t, 5, 1974)}
	for range 100 {
		a, grants := d.member("org_1")
		_, more := d.member("org_1")
		before := w.permittedThings(passAuthorizer(t, "org_1", a, grants))
		after := w.permittedThings(passAuthorizer(t, "org_1", a, append(slices.Clone(more), grants...)))
		for what := range before {
			if !after[what] {
				t.Fatalf("%s is lost by %+v besides %+v", what, more, grants)
			}
		}
	}
}

func TestTheOrderOfGrantsDoesNotMatter(t *testing.T) {
	race.SkipSequential(t)
	w, d := newOrganizations(t), dice{seed.Fixed(t, 6, 1974)}
	for range 100 {
		a, grants := d.member("org_1")
		want := w.permittedThings(passAuthorizer(t, "org_1", a, grants))
		d.Shuffle(len(grants), func(i, k int) { grants[i], grants[k] = grants[k], grants[i] })
		if got := w.permittedThings(passAuthorizer(t, "org_1", a, grants)); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("another order permits otherwise: %+v", grants)
		}
	}
}

// A member with any grants can access nothing of another organization: it is not found, and its key is refused.
func TestNothingOfAnotherOrganizationIsEverAllowed(t *testing.T) {
	w := newOrganizations(t)
	owner := identity.Caller{
		Org: "org_1", User: "usr_1",
		Grants: grant.ResolveGrants([]grant.Grant{{Role: grant.Owner, Scope: grant.OrgScope}}),
	}
	for _, x := range w.things {
		for _, p := range grant.Policies() {
			if got := w.decideAccess(t.Context(), owner, p.ID, x); got != (x.Org == owner.Org) {
				t.Fatalf("%s on %+v: %v", p.ID, x, got)
			}
		}
		mine := x
		mine.Org = owner.Org // looked up in the caller's own organization
		if got := w.decideAccess(t.Context(), owner, "resources:read", mine); got != (x.Org == owner.Org ||
			x.ID == "") {
			t.Errorf("%+v: %v", mine, got)
		}
	}
}
