package local

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/testkit/seed"
)

// oracle computes the records that a caller may see. It checks each record by itself, out of the records that the
// owner of the organization sees.
type oracle struct {
	*fixture
	c         identity.Caller
	resources []record // all there are, as the owner sees them
	byUID     map[string]record
}

func (e *fixture) oracle(c identity.Caller) *oracle {
	e.Helper()
	o := &oracle{fixture: e, c: c, byUID: map[string]record{}}
	o.resources = e.all("/resources")
	for _, r := range o.resources {
		o.byUID[r["uid"].(string)] = r
	}
	return o
}

// permits reports whether a grant holds the policy, read from its list alone.
func permits(g grant.Grant, policy string) bool {
	held := g.Policies
	if role, ok := grant.SystemRole(g.Role); ok {
		held = role.Policies
	}
	resource, action, _ := strings.Cut(policy, ":")
	return slices.ContainsFunc(held, func(p string) bool {
		return p == policy || p == "*:*" || p == resource+":*" || p == "*:"+action
	})
}

// anywhere reports whether the caller holds the policy on any scope; everywhere reports whether on the whole
// organization.
func (o *oracle) anywhere(policy string) bool {
	return slices.ContainsFunc(o.c.Grants, func(g grant.Grant) bool { return permits(g, policy) })
}

func (o *oracle) everywhere(policy string) bool {
	return slices.ContainsFunc(o.c.Grants, func(g grant.Grant) bool { return permits(g, policy) && g.Scope == "org" })
}

// in reports whether the caller holds the policy on the resource.
func (o *oracle) in(policy, uid string) bool {
	if o.everywhere(policy) {
		return true
	}
	r, there := o.byUID[uid]
	return there && slices.ContainsFunc(o.c.Grants, func(g grant.Grant) bool {
		if !permits(g, policy) {
			return false
		}
		team, ok := strings.CutPrefix(g.Scope, "team:")
		return ok && slices.Contains(o.teams[team], uid) || g.Scope == "resource:"+r["id"].(string)
	})
}

// team reports whether the caller sees the team.
func (o *oracle) team(id string) bool {
	return slices.ContainsFunc(o.c.Grants, func(g grant.Grant) bool {
		return permits(g, "teams:read") && (g.Scope == "org" || g.Scope == "team:"+id)
	})
}

// resource returns the record of a resource as the caller must see it, or nil if they must not.
func (o *oracle) resource(r record) record {
	uid := r["uid"].(string)
	if !o.in("resources:read", uid) {
		return nil
	}
	out := without(r)
	if !o.in("resource-groups:read", uid) {
		out["groupIDs"] = []any{}
	}
	teams := []any{}
	for _, id := range r["teamIDs"].([]any) {
		if o.team(id.(string)) {
			teams = append(teams, id)
		}
	}
	out["teamIDs"] = teams
	return out
}

// TestWhatIsOutOfScopeIsMissingEverywhere makes organizations and grants at random. It compares every list, count,
// total and export of a caller with the owner's, and checks for each item whether it is in scope.
func TestWhatIsOutOfScopeIsMissingEverywhere(t *testing.T) { // check 42
	for n := range uint64(6) {
		t.Run(fmt.Sprint("seed ", n), func(t *testing.T) {
			r := seed.Fixed(t, n, 42)
			e := newFixture(t)
			e.random(r)
			for range 6 {
				c := e.someone(r)
				o := e.oracle(c)
				o.lists(r)
				o.alone()
				o.groupsAndTeams()
				o.actionsAndHistory(r)
				o.bulkActions()
			}
			for range 3 { // changes things: last
				o := e.oracle(e.someone(r))
				o.acts(r)
			}
		})
	}
}

// someone returns a caller with one to three grants.
func (e *fixture) someone(r *rand.Rand) identity.Caller {
	resources := e.all("/resources")
	teams := slices.Sorted(func(yield func(string) bool) {
		for id := range e.teams {
			if !yield(id) {
				return
			}
		}
	})
	roles := []string{
		"viewer", "operator", "editor", "admin", "finops", "resources:read", "actions:read,actions:execute",
		"resources:read,resource-groups:read",
		"actions:execute,resource-groups:read", "teams:read,resources:read", "*:read",
	}
	var grants []string
	for range 1 + r.IntN(3) {
		scope := "team:" + teams[r.IntN(len(teams))]
		switch r.IntN(8) {
		case 0:
			scope = "org"
		case 1, 2:
			scope = "resource:" + resources[r.IntN(len(resources))]["id"].(string)
		case 3:
			scope = "team:team_01k00000000000000000000000"
		}
		grants = append(grants, roles[r.IntN(len(roles))]+" "+scope)
	}
	return caller(grants...)
}

func (o *oracle) lists(r *rand.Rand) {
	o.Helper()
	for _, query := range []string{
		"", "?sort_by=status&sort_order=desc", "?status=running", "?type=aws-rds&schedulable=true", "?search=WEB-1",
		"?tag=env%3Ddev", "?cloud_account_id=ca_1",
		"?group_id=" + o.groups[r.IntN(len(o.groups))],
		"?team_id=" + slices.Sorted(mapKeys(o.teams))[r.IntN(len(o.teams))], "?group_id=grp_x", "?team_id=team_x",
	} {
		want := o.expected(query)
		got, _, status := o.items(o.c, "/resources"+query)
		if !o.anywhere("resources:read") {
			o.same("status of "+query, status, http.StatusForbidden)
			continue
		}
		o.same("list "+query, got, want)
		o.same("export "+query, byUID(o.exported(query)), byUID(want)) // it is in one order only
		o.same("counts "+query, o.one(o.c, "/resources/summary"+query), summary(want))
	}
}

// expected returns the resources that a list must contain.
func (o *oracle) expected(query string) []record {
	o.Helper()
	field, id := "", ""
	for name, f := range map[string]string{"?group_id=": "groupIDs", "?team_id=": "teamIDs"} {
		if tail, ok := strings.CutPrefix(query, name); ok {
			query, field, id = "", f, tail
		}
	}
	all := o.all("/resources" + query)
	var out []record
	for _, r := range all {
		if r = o.resource(r); r != nil && (field == "" || slices.Contains(r[field].([]any), any(id))) {
			out = append(out, r)
		}
	}
	return out
}

func (o *oracle) exported(query string) []record {
	o.Helper()
	path := "/resources/export?format=ndjson" + strings.Replace(query, "?", "&", 1)
	var out []record
	for line := range strings.Lines(o.Call(o.c, "GET "+path).Body) {
		var r record
		o.Must(json.Unmarshal([]byte(line), &r))
		out = append(out, r)
	}
	return out
}

func byUID(list []record) []record {
	return slices.SortedFunc(slices.Values(list), func(a, b record) int {
		return strings.Compare(a["uid"].(string), b["uid"].(string))
	})
}

func summary(list []record) record {
	out := record{
		"total": len(list), "byProvider": record{}, "byType": record{}, "byStatus": record{},
		"byRegion": record{}, "byAccount": record{}, "facets": record{}, "hourlyUSD": nil, "withoutRate": 0,
	}
	for _, r := range list {
		if r["status"] == "running" { // nothing has a price here
			out["withoutRate"] = out["withoutRate"].(int) + 1
		}
		for field, counts := range map[string]string{
			"provider": "byProvider", "type": "byType", "status": "byStatus",
			"region": "byRegion", "cloudAccountID": "byAccount",
		} {
			m, key := out[counts].(record), r[field].(string)
			n, _ := m[key].(int)
			m[key] = n + 1
		}
	}
	return out
}

// alone reads each resource by its id, and all by their native ids.
func (o *oracle) alone() {
	o.Helper()
	if !o.anywhere("resources:read") {
		return
	}
	var uids []string
	var seen []record
	unknown := o.Call(o.c, "GET /resources/res_01k00000000000000000000000")
	for _, r := range o.resources {
		id := r["id"].(string)
		uids = append(uids, r["uid"].(string))
		want := o.resource(r)
		if want == nil {
			o.same("hidden", o.Call(o.c, "GET /resources/"+id).String(),
				fmt.Sprint(unknown.Status, " ", strings.ReplaceAll(unknown.Body, "res_01k00000000000000000000000", id)))
			continue
		}
		seen = append(seen, want)
		got := o.one(o.c, "/resources/"+id)
		delete(got, "facts") // which lists leave out
		delete(got, "unpriced")
		o.same("alone", got, want)
	}
	body, _ := json.Marshal(record{"uids": append(uids, "gone-1", "nobody")})
	got, _ := decodeList(o, o.Call(o.c, "POST /resources/by-uids", string(body)).Body)
	o.same("by native ids", append([]record(nil), got...), seen)
}
