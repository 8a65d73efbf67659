package schedules

import (
	"fmt"
	"testing"

	"lamplighter.dev/functions/resourcegroups"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

const planning = "schedules:read,schedules:write,resources:read,resource-groups:read,resource-groups:write"

// newPlanner may write schedules, and act on nothing.
func newPlanner() identity.Caller { return apitest.Caller(apitest.Org, "pia", planning) }

// newActor may write schedules, and act on the resource of an ID.
func newActor(resourceID string) identity.Caller {
	return apitest.Caller(apitest.Org, "pia", planning, "actions:execute resource:"+resourceID)
}

func TestAttach_NeedsActionsExecuteOnTheTarget(t *testing.T) {
	f := newFixture(t)
	g := f.newGroup("Shop", 0, 1)
	sch := apitest.Data[Schedule](f.Call(newPlanner(), "POST /schedules", daily))
	path := "POST /schedules/" + sch.ID + "/attachments"
	blind := apitest.Caller(apitest.Org, "bo", "schedules:write", "actions:execute resource:"+f.ids[4])
	for name, c := range map[string]struct {
		as     identity.Caller
		body   string
		status int
	}{
		"a resource, by who may act on nothing": {
			newPlanner(), fmt.Sprintf(`{"resourceID":%q}`, f.ids[0]),
			403,
		},
		"a resource that is not there, by who acts on nothing": {newPlanner(), `{"resourceUID":"i-none"}`, 403},
		"a group, by who may act on nothing":                   {newPlanner(), fmt.Sprintf(`{"groupID":%q}`, g), 403},
		"a resource, by who may act on another one":            {newActor(f.ids[1]), `{"resourceUID":"i-0"}`, 403},
		"a resource that the caller does not see":              {blind, `{"resourceUID":"i-0"}`, 404},
		"a group, by who may act on one of its members": {
			newActor(f.ids[1]), fmt.Sprintf(`{"groupID":%q}`, g),
			403,
		},
		"a resource, by who may act on it": {
			newActor(f.ids[2]),
			fmt.Sprintf(`{"resourceID":%q}`, f.ids[2]), 200,
		},
		"a resource, by an operator of the organization": {
			apitest.Caller(apitest.Org, "oli", "operator"),
			fmt.Sprintf(`{"resourceID":%q}`, f.ids[3]), 200,
		},
		"a group, by an editor of the organization": {
			apitest.Caller(apitest.Org, "edi", "editor"),
			fmt.Sprintf(`{"groupID":%q}`, g), 200,
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := f.Call(c.as, path, c.body)
			if a.Status != c.status {
				t.Errorf("%s, want %d", a, c.status)
			}
		})
	}
}

// newGroup makes a group of instances.
func (f *fixture) newGroup(name string, members ...int) string {
	f.Helper()
	var places []inventory.GroupPlacement
	for _, n := range members {
		places = append(places, inventory.GroupPlacement{ResourceID: f.ids[n], Tier: 1, Order: 1})
	}
	g, err := inventory.New(f.Platform).CreateGroup(f.In(apitest.Org), apitest.Org,
		inventory.Group{ID: id.New("grp", f.Clock.Now()), Name: name}, places)
	f.Must(err)
	return g.ID
}

func TestUpdateSchedule_ThatActsOtherwiseNeedsActionsExecuteOnWhatItTakes(t *testing.T) {
	f := newFixture(t)
	sch := f.newSchedule(daily)
	f.Call(ada, "POST /schedules/"+sch.ID+"/attachments", fmt.Sprintf(`{"resourceID":%q}`, f.ids[0])).Want(200)
	idle := apitest.Data[Schedule](f.Call(newPlanner(), "POST /schedules",
		`{"name":"Idle","crons":[{"cronExpression":"0 8 * * *","action":"stop"}]}`))
	put := "PUT /schedules/" + sch.ID
	for _, body := range []string{
		`{"crons":[{"cronExpression":"* * * * *","action":"stop"}]}`, `{"timezone":"UTC"}`, `{"drift":"enforce"}`,
	} {
		f.Call(newPlanner(), put, body).Want(403, "actions:execute", "i-0")
		f.Call(newActor(f.ids[1]), put, body).Want(403)
	}
	f.Call(newPlanner(), put, `{"description":"of the shop","enabled":false}`).Want(200)
	f.Call(newPlanner(), put, `{"timezone":"UTC"}`).Want(200) // it is disabled
	f.Call(newPlanner(), put, `{"enabled":true}`).Want(403)
	f.Call(newActor(f.ids[0]), put, `{"enabled":true}`).Want(200)
	f.Call(newPlanner(), "PUT /schedules/"+idle.ID, `{"timezone":"Europe/Berlin"}`).Want(200) // it takes nothing
}

func TestCreateSchedule_ThatTakesResourcesByTagNeedsActionsExecute(t *testing.T) {
	f := newFixture(t)
	tagged := inventorytest.Instances(1)[0]
	tagged.Tags = map[string]string{"lamplighter:schedule": "night-off"}
	inventorytest.Discover(f.Fixture, apitest.Org, "aws-ec2", tagged)
	const night = `{"name":"Night off","crons":[{"cronExpression":"0 20 * * *","action":"stop"}]`
	f.Call(newPlanner(), "POST /schedules", night+`}`).Want(403, "actions:execute")
	sch := apitest.Data[Schedule](f.Call(newPlanner(), "POST /schedules", night+`,"byTag":false}`))
	f.Call(newPlanner(), "PUT /schedules/"+sch.ID, `{"byTag":true}`).Want(403)
	f.Call(newPlanner(), "PUT /schedules/"+sch.ID, `{"name":"Nights off"}`).Want(200)
	f.Call(ada, "PUT /schedules/"+sch.ID, `{"name":"Night off","byTag":true}`).Want(200)
}

func TestGroups_WhatJoinsAGroupOfAScheduleNeedsActionsExecute(t *testing.T) {
	f := newFixture(t)
	f.Mount(Operations, resourcegroups.Operations)
	free, taken := f.newGroup("Free", 0), f.newGroup("Taken", 0)
	sch := f.newSchedule(daily)
	f.Call(ada, "POST /schedules/"+sch.ID+"/attachments", fmt.Sprintf(`{"groupID":%q}`, taken)).Want(200)
	join := func(group string, n int) string { return "POST /resource-groups/" + group + "/resources/" + f.ids[n] }
	f.Call(newPlanner(), join(free, 1)).Want(200)
	f.Call(newPlanner(), join(taken, 1)).Want(403, "actions:execute", "i-1")
	f.Call(newPlanner(), join(taken, 0), `{"tier":2}`).Want(200) // it is in it
	f.Call(newActor(f.ids[1]), join(taken, 1)).Want(200)
	f.Call(newActor(f.ids[1]), "PUT /resource-groups/"+taken,
		fmt.Sprintf(`{"members":[{"resourceID":%q},{"resourceID":%q}]}`, f.ids[0], f.ids[2])).Want(403, "i-2")
	f.Call(newPlanner(), "PUT /resource-groups/"+taken, `{"selector":{"provider":"aws"}}`).Want(403)
	f.Call(newPlanner(), "PUT /resource-groups/"+taken, `{"name":"Renamed"}`).Want(200)
	f.Call(newPlanner(), "DELETE /resource-groups/"+taken+"/resources/"+f.ids[1]).Want(200)
}

func TestSchedule_SaysWhoMadeIt(t *testing.T) {
	f := newFixture(t)
	if sch := f.newSchedule(daily); sch.CreatedBy == nil || *sch.CreatedBy != "ada@example.com" ||
		sch.Crons[0].Action != cloud.Start {
		t.Errorf("%+v", sch)
	}
}
