package local

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/people/teams"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

// twoTeams returns a fixture with the instances w-0 and w-1 of team web, d-0 of team db, and x-0 without a team.
func twoTeams(t *testing.T) (e *fixture, web, db string) {
	t.Helper()
	e = newFixture(t)
	var found []cloud.Resource
	for _, uid := range []string{"w-0", "w-1", "d-0", "x-0"} {
		found = append(found,
			cloud.Resource{UID: uid, Name: uid, Status: cloud.Running, Tags: map[string]string{"env": "prod"}})
	}
	e.account("ca_1", "aws-ec2", found...)
	return e, e.team("web", "w-0", "w-1"), e.team("db", "d-0")
}

// uids returns the native ids in a list.
func uids(list []record) string {
	var out []string
	for _, r := range list {
		out = append(out, r["uid"].(string))
	}
	return strings.Join(out, " ")
}

func (e *fixture) status(what string, got apitest.Answer, want int, says ...string) {
	e.Helper()
	if got.Status != want || len(says) > 0 && !strings.Contains(got.Body, says[0]) {
		e.Errorf("%s: %d %s, want %d %v", what, got.Status, got.Body, want, says)
	}
}

func TestAnOperatorOfOneTeamHasThatTeam(t *testing.T) { // check 42
	e, web, db := twoTeams(t)
	c := caller("operator team:" + web)
	mine, theirs := e.act("w-0", cloud.Stop, true), e.act("d-0", cloud.Stop, true)
	waiting := e.act("d-0", cloud.Start, false)
	both, own := e.group("both", nil, "w-0", "d-0"), e.group("own", nil, "w-0", "w-1")
	foreign := e.group("foreign", nil, "d-0")

	list, _, _ := e.items(c, "/resources")
	e.same("listed", uids(list), "w-0 w-1")
	e.same("counted", e.one(c, "/resources/summary")["total"], 2)
	e.same("exported", strings.Count(e.Call(c, "GET /resources/export").Body, "\n"), 3)
	e.same("teams of w-0", list[0]["teamIDs"], []string{web})
	e.same("groups of w-0", list[0]["groupIDs"], []string{both, own})
	e.status("another team's resource", e.Call(c, "GET /resources/"+e.ids("d-0")[0]), http.StatusNotFound)
	none, _, _ := e.items(c, "/resources?team_id="+db)
	e.same("of another team", uids(none), "")
	none, _, _ = e.items(c, "/resources?group_id="+foreign)
	e.same("of a group of others", uids(none), "")

	_, total, _ := e.items(c, "/actions")
	e.same("actions", total, 1)
	_, total, _ = e.items(c, "/state-history")
	e.same("history", total, 1)
	_, total, _ = e.items(c, "/state-history?resource_uid=d-0")
	e.same("history of another team's resource", total, 0)
	e.status("own action", e.Call(c, "GET /actions/"+mine), http.StatusOK)
	for _, path := range []string{
		"/actions/" + theirs, "/actions/" + theirs + "/logs", "/resource-groups/" + foreign,
		"/teams/" + db, "/teams/" + db + "/resources",
	} {
		e.status(path, e.Call(c, "GET "+path), http.StatusNotFound)
	}
	e.status("cancelling another team's action", e.Call(c, "POST /actions/"+waiting+"/cancel"), http.StatusNotFound)

	_, total, _ = e.items(c, "/resource-groups")
	e.same("groups", total, 2)
	shared := e.one(c, "/resource-groups/"+both)
	e.same("the own members of a shared group",
		fmt.Sprint(shared["memberCount"], strings.Contains(fmt.Sprint(shared["members"]), e.ids("w-0")[0])), "1 true")
	e.status("stopping a shared group",
		e.Call(c, "POST /actions/bulk", fmt.Sprintf(`{"type":"stop","groupID":%q}`, both)), http.StatusForbidden)
	e.status("stopping a group of others",
		e.Call(c, "POST /actions/bulk", fmt.Sprintf(`{"type":"stop","groupID":%q}`, foreign)), http.StatusNotFound)
	e.status("stopping an own group", e.Call(c, "POST /actions/bulk", fmt.Sprintf(`{"type":"stop","groupID":%q}`, own)),
		http.StatusOK)
	e.status("starting an own resource", e.Call(c, "POST /actions", order(list[1], "w-1")), http.StatusOK)
	unknown := e.Call(c, "POST /actions", order(list[0], "nobody"))
	hidden := e.Call(c, "POST /actions", order(list[0], "d-0"))
	e.same("stopping another team's", hidden.String(),
		fmt.Sprint(http.StatusNotFound, " ", strings.ReplaceAll(unknown.Body, "nobody", "d-0")))
}

// TestOneMayLookWhereOneMayNotAct checks that an action without a grant on a visible resource is refused with 403,
// not hidden with 404.
func TestOneMayLookWhereOneMayNotAct(t *testing.T) {
	e, web, db := twoTeams(t)
	c := caller("operator team:"+web, "viewer team:"+db)
	list, _, _ := e.items(c, "/resources")
	e.same("listed", uids(list), "d-0 w-0 w-1")
	waiting := e.act("d-0", cloud.Stop, false)
	e.status("stopping what is only seen", e.Call(c, "POST /actions", order(list[0], "d-0")), http.StatusForbidden,
		"actions:execute")
	e.status("cancelling what is only seen", e.Call(c, "POST /actions/"+waiting+"/cancel"), http.StatusForbidden,
		"actions:execute")
	e.status("stopping what is not seen", e.Call(c, "POST /actions", order(list[0], "x-0")), http.StatusNotFound)
	e.status("stopping without the policy anywhere", e.Call(caller("viewer org"), "POST /actions", "{"),
		http.StatusForbidden)
	e.status("a malformed request", e.Call(c, "POST /actions", "{"), http.StatusBadRequest)
}

// TestWhatBelongsToTheWholeOrganizationTakesAGrantOnIt: accounts, refreshes, and changes of groups and teams.
func TestWhatBelongsToTheWholeOrganizationTakesAGrantOnIt(t *testing.T) {
	e, web, _ := twoTeams(t)
	c, group := caller("admin team:"+web, "owner resource:"+e.ids("w-0")[0]), e.group("own", nil, "w-0")
	for _, request := range []string{
		"GET /cloud-accounts", "POST /cloud-accounts", "GET /cloud-accounts/ca_1", "PUT /cloud-accounts/ca_1",
		"DELETE /cloud-accounts/ca_1",
		"POST /cloud-accounts/ca_1/discover", "GET /cloud-accounts/ca_1/permissions",
		"GET /cloud-accounts/ca_1/clusters", "POST /resources/refresh",
		"GET /resources/refresh/job_01k00000000000000000000000", "POST /resource-groups",
		"PUT /resource-groups/" + group, "DELETE /resource-groups/" + group,
		"POST /resource-groups/" + group + "/resources/" + e.ids("w-1")[0],
		"PATCH /resource-groups/" + group + "/sequence", "POST /teams", "PUT /teams/" + web,
		"POST /teams/" + web + "/resources",
	} {
		body := ""
		if !strings.HasPrefix(request, "GET") {
			body = "{}"
		}
		if got := e.Call(c, request, body); got.Status != http.StatusForbidden {
			t.Errorf("%s: %d %s", request, got.Status, got.Body)
		}
	}
	list, _, _ := e.items(c, "/resources")
	e.same("the name of the account", list[0]["cloudAccountName"], "account ca_1")
}

// TestAChangeOfOwnershipActsOnTheNextRequest gives a team its resources, takes them away and deletes the team, with
// requests after each step.
func TestAChangeOfOwnershipActsOnTheNextRequest(t *testing.T) { // check 42
	e, web, _ := twoTeams(t)
	c := caller("operator team:" + web)
	seen := func(what, want string) {
		t.Helper()
		list, _, _ := e.items(c, "/resources")
		e.same(what, uids(list), want)
		_, total, _ := e.items(c, "/actions")
		e.same(what+": actions", total, strings.Count(want, "x-0"))
	}
	e.act("x-0", cloud.Stop, false)
	seen("at first", "w-0 w-1")
	e.status("giving",
		e.Call(owner(), "POST /teams/"+web+"/resources", fmt.Sprintf(`{"resourceIDs":[%q]}`, e.ids("x-0")[0])),
		http.StatusOK)
	seen("after x-0 was given", "w-0 w-1 x-0")
	e.status("taking", e.Call(owner(), "DELETE /teams/"+web+"/resources/"+e.ids("w-0")[0]), http.StatusOK)
	seen("after w-0 was taken", "w-1 x-0")
	e.status("ending", e.Call(owner(), "DELETE /teams/"+web), http.StatusOK)
	seen("after the end of the team", "")
	list, _, _ := e.items(owner(), "/resources?search=x-0")
	e.same("teams of x-0", list[0]["teamIDs"], []string{})
}

// TestIdsOfAnotherOrganizationDoNothing sends the ids of another organization's records in every place for ids.
func TestIdsOfAnotherOrganizationDoNothing(t *testing.T) { // check 39
	e, web, _ := twoTeams(t)
	other, ctx := "org_2", table.WithOrg(t.Context(), "org_2")
	inventorytest.Connect(e.Fixture, other, "ca_9")
	part := inventory.Partition{AccountID: "ca_9", Region: "eu-west-1", Kind: "aws-ec2"}
	foreign := inventorytest.DiscoverIn(e.Fixture, part, other, cloud.Resource{UID: "theirs", Status: cloud.Running})[0]
	team := teams.Team{ID: "team_01k00000000000000000000009", Name: "x"}
	own := apitest.Value(inventory.Own(other, team.ID, 1, []string{foreign}))(e)
	apitest.Value(teams.New(e.Table).Create(ctx, other, team, own...))(e)
	group := apitest.Value(e.store.CreateGroup(ctx, other,
		inventory.Group{ID: "grp_01k00000000000000000000009", Name: "x"},
		[]inventory.GroupPlacement{{ResourceID: foreign, Tier: 1, Order: 1}}))(e)
	for _, c := range []identity.Caller{owner(), caller("owner team:" + team.ID), caller("owner resource:" + foreign)} {
		list, _ := decodeList(t, e.Call(c, "POST /resources/by-uids", `{"uids":["theirs"]}`).Body)
		e.same("by native id", len(list), 0)
		for _, query := range []string{
			"/resources?group_id=" + group.ID, "/resources?team_id=" + team.ID,
			"/resources?search=theirs", "/resources?cloud_account_id=ca_9",
		} {
			list, _, _ = e.items(c, query)
			e.same(query, len(list), 0)
		}
		for _, query := range []string{"/actions?resource_uid=theirs", "/state-history?resource_uid=theirs"} {
			_, total, _ := e.items(c, query)
			e.same(query, total, 0)
		}
		e.status("reading", e.Call(c, "GET /resources/"+foreign), http.StatusNotFound)
		e.status("acting",
			e.Call(c, "POST /actions",
				order(record{"provider": "aws", "type": "aws-ec2", "cloudAccountID": "ca_9", "region": "eu-west-1"},
					"theirs")), http.StatusNotFound)
		e.status("acting on the group",
			e.Call(c, "POST /actions/bulk", fmt.Sprintf(`{"type":"stop","groupID":%q}`, group.ID)), http.StatusNotFound)
	}
	before, _, _ := e.items(owner(), "/teams")
	e.status("a member of a group",
		e.Call(owner(), "POST /resource-groups", fmt.Sprintf(`{"name":"x","members":[{"resourceID":%q}]}`, foreign)),
		http.StatusBadRequest)
	e.status("what a new team owns",
		e.Call(owner(), "POST /teams", fmt.Sprintf(`{"name":"x","resources":[%q]}`, foreign)), http.StatusBadRequest)
	e.status("what a team is given",
		e.Call(owner(), "POST /teams/"+web+"/resources", fmt.Sprintf(`{"resourceIDs":[%q]}`, foreign)),
		http.StatusNotFound)
	after, _, _ := e.items(owner(), "/teams")
	e.same("teams", after, before)
	groups, _, _ := e.items(owner(), "/resource-groups")
	e.same("groups", len(groups), 0)
}

// TestNeighboursOfIdsAreAsUnknownAsAny checks that an id tells nothing about the ids made before and after it.
func TestNeighboursOfIdsAreAsUnknownAsAny(t *testing.T) { // check 47
	e, web, _ := twoTeams(t)
	group, action := e.group("web", nil, "w-0"), e.act("w-0", cloud.Stop, false)
	bulk := e.bulk(group, "w-0")
	for _, c := range []identity.Caller{owner(), caller("owner team:" + web)} {
		for path, id := range map[string]string{
			"/resources/": e.ids("w-0")[0], "/teams/": web, "/resource-groups/": group, "/actions/": action,
			"/actions/bulk/": bulk,
		} {
			e.status(path+"itself", e.Call(c, "GET "+path+id), http.StatusOK)
			kind, _, _ := strings.Cut(id, "_")
			random := e.Call(c, "GET "+path+kind+"_7zzzzzzzzzzzzzzzzzzzzzzzzz")
			for _, near := range neighbours(id) {
				got := e.Call(c, "GET "+path+near)
				e.same(path+near, got.String(),
					fmt.Sprint(http.StatusNotFound, " ",
						strings.ReplaceAll(random.Body, kind+"_7zzzzzzzzzzzzzzzzzzzzzzzzz", near)))
			}
		}
	}
}

// neighbours returns the ids that differ from one in the last place.
func neighbours(id string) []string {
	var out []string
	for _, c := range "0123456789abcdefghjkmnpqrstvwxyz" {
		if near := id[:len(id)-1] + string(c); near != id {
			out = append(out, near)
		}
	}
	return out
}

// TestABulkActionOnlyTouchesWhatItsCallerMayTouch adds members to a group between the request and its execution.
func TestABulkActionOnlyTouchesWhatItsCallerMayTouch(t *testing.T) {
	e, web, _ := twoTeams(t)
	group := e.group("web", nil, "w-0", "w-1")
	c := caller("operator team:" + web)
	e.status("stopping", e.Call(c, "POST /actions/bulk", fmt.Sprintf(`{"type":"stop","groupID":%q}`, group)),
		http.StatusOK)
	e.status("a stranger", e.Call(owner(), "POST /resource-groups/"+group+"/resources/"+e.ids("d-0")[0]), http.StatusOK)
	page := apitest.Value(e.Table.Query(e.In(org), table.Query{PK: execution.BulkPK(org), Limit: 1}))(e)
	b := apitest.Value(table.Decode[execution.Bulk](page.Items[0]))(e)
	members := apitest.Value(execution.BulkTargets(e.In(org), e.Table, e.store, org, b))(e)
	var touched []string
	for _, m := range members {
		touched = append(touched, m.UID)
	}
	e.same("touched", touched, []string{"w-0", "w-1"})
	e.status("the bulk action", e.Call(c, "GET /actions/bulk/"+b.ID), http.StatusOK)
	b.Status, b.Ended = execution.BulkCompleted, true // else the owner's would join it
	e.Put(execution.BulkKey(org, b.ID), b)
	e.Clock.Advance(time.Minute)
	e.status("by the owner", e.Call(owner(), "POST /actions/bulk", fmt.Sprintf(`{"type":"stop","groupID":%q}`, group)),
		http.StatusOK)
	e.status("the owner's", e.Call(owner(), "GET /actions/bulk/latest"), http.StatusOK, `"total":3`)
	e.status("the caller's", e.Call(c, "GET /actions/bulk/latest"), http.StatusOK, `"total":2`)
}

// TestNoRoleIsLeftOnADeletedTeam assigns a role on a team and deletes the team at the same time. One of the requests
// must fail.
func TestNoRoleIsLeftOnADeletedTeam(t *testing.T) {
	e := newFixture(t)
	e.Join(org, "eve")
	for n := range 20 {
		team := e.team(fmt.Sprint("team ", n))
		var assigned, deleted int
		var wg sync.WaitGroup
		wg.Go(func() {
			assigned = e.Call(owner(), "POST /assignments",
				fmt.Sprintf(`{"email":"eve@example.com","roleID":"viewer","scope":"team:%s"}`, team)).Status
		})
		wg.Go(func() { deleted = e.Call(owner(), "DELETE /teams/"+team).Status })
		wg.Wait()
		there := e.Call(owner(), "GET /teams/"+team).Status == http.StatusOK
		if (assigned == http.StatusOK) != there || (deleted == http.StatusOK) == there {
			t.Errorf("assigned %d, deleted %d, there afterwards: %v", assigned, deleted, there)
		}
	}
}
