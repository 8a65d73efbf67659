package local

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"

	"lamplighter.dev/shared/testkit/apitest"
)

func mapKeys[V any](m map[string]V) iter.Seq[string] { return maps.Keys(m) }

// members returns the members of a group that the caller must see, and whether they must see the group.
func (o *oracle) members(group string) (members []any, seen bool) {
	o.Helper()
	byID := map[string]string{}
	for uid, r := range o.byUID {
		byID[r["id"].(string)] = uid
		seen = seen || slices.Contains(r["groupIDs"].([]any), any(group)) && o.in("resource-groups:read", uid)
	}
	whole, _ := o.whole(group)["members"].([]any)
	if o.everywhere("resource-groups:read") {
		return whole, true
	}
	for _, m := range whole {
		if uid := byID[m.(record)["resourceID"].(string)]; uid != "" && o.in("resource-groups:read", uid) {
			members = append(members, m)
		}
	}
	return members, seen
}

func (o *oracle) groupsAndTeams() {
	o.Helper()
	var wantGroups, wantTeams []record
	all := o.all("/resource-groups")
	for _, g := range all {
		id := g["id"].(string)
		members, seen := o.members(id)
		if !seen {
			if o.anywhere("resource-groups:read") {
				o.same("hidden group", o.Call(o.c, "GET /resource-groups/"+id).Status, http.StatusNotFound)
			}
			continue
		}
		if g["memberCount"] != nil {
			g["memberCount"] = len(members)
		}
		g["states"] = o.statesOf(members)
		wantGroups = append(wantGroups, g)
		got := o.one(o.c, "/resource-groups/"+id)
		o.same("members of "+id, got["members"], asAny(members))
		o.same("count of "+id, got["memberCount"], len(members))
		o.same("states of "+id, got["states"], g["states"])
	}
	got, total, status := o.items(o.c, "/resource-groups")
	o.list(listing{"groups", got, total, status}, "resource-groups:read", wantGroups)
	all = o.all("/teams")
	for _, t := range all {
		if o.team(t["id"].(string)) {
			wantTeams = append(wantTeams, t)
		} else if o.anywhere("teams:read") {
			o.same("hidden team", o.Call(o.c, "GET /teams/"+t["id"].(string)).Status, http.StatusNotFound)
		}
	}
	got, total, status = o.items(o.c, "/teams")
	o.list(listing{"teams", got, total, status}, "teams:read", wantTeams)
}

// statesOf counts members by the status of their resources.
func (o *oracle) statesOf(members []any) record {
	out := record{}
	for _, r := range o.all("/resources") {
		for _, m := range members {
			if status := r["status"].(string); m.(record)["resourceID"] == r["id"] {
				n, _ := out[status].(int)
				out[status] = n + 1
			}
		}
	}
	return out
}

// asAny returns nil for no members, which are left out of a record.
func asAny(members []any) any {
	if len(members) == 0 {
		return nil
	}
	return members
}

// listing is the answer of an operation that lists things; name is how a failure calls them.
type listing struct {
	name          string
	items         []record
	total, status int
}

// list compares a listing and its total with the expected items. It expects status 403 if the caller has the policy
// nowhere.
func (o *oracle) list(got listing, policy string, want []record) {
	o.Helper()
	if !o.anywhere(policy) {
		o.same("status of "+got.name, got.status, http.StatusForbidden)
		return
	}
	o.same(got.name, got.items, want)
	o.same("total of "+got.name, got.total, len(want))
}

func (o *oracle) actionsAndHistory(r *rand.Rand) {
	o.Helper()
	uid := o.actions[r.IntN(len(o.actions))].ResourceUID
	for _, path := range []string{
		"/actions", "/actions?status=succeeded", "/actions?type=start",
		"/actions?resource_uid=" + uid, "/actions?resource_uid=nobody",
	} {
		o.filtered(path, "resourceUID")
	}
	for _, path := range []string{
		"/state-history", "/state-history?changed_by_type=manual", "/state-history?changed_by_type=bulk",
		"/state-history?resource_uid=" + uid,
		"/state-history?resource_uid=" + uid + "&changed_by_type=manual", "/state-history?resource_uid=nobody",
	} {
		o.filtered(path, "resourceUid")
	}
	if !o.anywhere("actions:read") {
		return
	}
	for _, a := range o.actions {
		want := http.StatusNotFound
		if o.in("actions:read", a.ResourceUID) {
			want = http.StatusOK
		}
		for _, path := range []string{"", "/logs"} {
			o.same("GET action"+path, o.Call(o.c, "GET /actions/"+a.ID+path).Status, want)
		}
	}
}

// filtered compares a caller's list of actions with the owner's list, filtered by the caller's scope.
func (o *oracle) filtered(path, field string) {
	o.Helper()
	all := o.all(path)
	var want []record
	for _, one := range all {
		if o.in("actions:read", one[field].(string)) {
			want = append(want, one)
		}
	}
	got, total, status := o.items(o.c, path)
	o.list(listing{path, got, total, status}, "actions:read", want)
}

func (o *oracle) bulkActions() {
	o.Helper()
	if !o.anywhere("actions:read") {
		o.same("latest bulk action", o.Call(o.c, "GET /actions/bulk/latest").Status, http.StatusForbidden)
		return
	}
	latest := http.StatusNotFound
	var last string
	for _, id := range slices.Backward(slices.Sorted(mapKeys(o.bulks))) {
		want := http.StatusOK
		for _, uid := range o.bulks[id] {
			if !o.in("actions:read", uid) {
				want = http.StatusNotFound
			}
		}
		o.same("bulk action", o.Call(o.c, "GET /actions/bulk/"+id).Status, want)
		if want == http.StatusOK && last == "" {
			last, latest = id, http.StatusOK
		}
	}
	got := o.Call(o.c, "GET /actions/bulk/latest")
	if o.same("latest bulk action", got.Status, latest); latest == http.StatusOK && !strings.Contains(got.Body, last) {
		o.Errorf("latest bulk action: %s, want %s", got.Body, last)
	}
}

// acts tries to stop a few resources and each group, and to cancel a few actions.
func (o *oracle) acts(r *rand.Rand) {
	o.Helper()
	for range 12 {
		one := o.resources[r.IntN(len(o.resources))]
		o.decided("stop "+one["uid"].(string), o.Call(o.c, "POST /actions", order(one, one["uid"])),
			o.may(one["uid"].(string), "resources:read"))
		a := o.actions[r.IntN(len(o.actions))]
		o.decided("cancel "+a.ID, o.Call(o.c, "POST /actions/"+a.ID+"/cancel"), o.may(a.ResourceUID, "actions:read"))
	}
	for _, g := range o.groups {
		o.decided("stop "+g, o.Call(o.c, "POST /actions/bulk", fmt.Sprintf(`{"type":"stop","groupID":%q}`, g)),
			o.mayBulk(g))
	}
}

// order returns the body of POST /actions that stops a resource; uid may belong to another resource.
func order(r record, uid any) string {
	b, _ := json.Marshal(record{
		"type": "stop", "resourceUID": uid, "provider": r["provider"], "resourceType": r["type"],
		"cloudAccountID": r["cloudAccountID"], "region": r["region"],
	})
	return string(b)
}

// may returns the expected status of the refusal of an action on a resource, or 0 if the caller may act.
func (o *oracle) may(uid, sees string) int {
	switch {
	case !o.anywhere("actions:execute"):
		return http.StatusForbidden
	case o.in("actions:execute", uid):
		return 0
	case o.in(sees, uid):
		return http.StatusForbidden
	}
	return http.StatusNotFound
}

func (o *oracle) mayBulk(group string) int {
	if !o.anywhere("actions:execute") {
		return http.StatusForbidden
	}
	if o.everywhere("actions:execute") {
		return 0
	}
	if _, seen := o.members(group); !seen {
		return http.StatusNotFound
	}
	whole := o.whole(group)
	byID := map[string]record{}
	for _, r := range o.resources {
		byID[r["id"].(string)] = r
	}
	members, _ := whole["members"].([]any)
	for _, m := range members {
		r := byID[m.(record)["resourceID"].(string)]
		if r == nil || r["status"] == "terminated" || whole["selector"] != nil && r["schedulable"] == false {
			continue
		}
		if !o.in("actions:execute", r["uid"].(string)) {
			return http.StatusForbidden
		}
	}
	return 0
}

// decided compares an answer with the expected refusal. With 0 the caller may act, and only the state of the record
// may still forbid it.
func (o *oracle) decided(what string, got apitest.Answer, refusal int) {
	o.Helper()
	if refusal == 0 && (got.Status == http.StatusForbidden || got.Status == http.StatusNotFound) || refusal != 0 &&
		got.Status != refusal {
		o.Errorf("%s by %+v: %d %s, want %d", what, o.c.Grants, got.Status, got.Body, refusal)
	}
}
