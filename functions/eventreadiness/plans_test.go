package eventreadiness

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

func TestCreate_CapturesWhatTheCloudsSay(t *testing.T) {
	f := newFixture(t)
	f.cloud.groups["api"] = cloud.Autoscaling{Min: 1, Max: 5, Desired: 3}
	w := f.call("POST /event-readiness", f.planBody("asp_web", "asp_api"))
	p := apitest.Data[EventPlan](w)
	if p.Status != readiness.Draft || p.OrgID != ours || p.PreScaleMinutes != 30 || p.PostEventMinutes != 30 ||
		p.CreatedBy != "ada@example.com" || p.Message != nil {
		t.Errorf("%s", w)
	}
	want := []EventTarget{{"asp_web", 2, 10, 4}, {"asp_api", 1, 5, 3}}
	f.Equal("targets", p.Targets, want)
	f.Equal("as it is read", f.getPlan(p.ID), p)
	if !p.ScaleUpAt.Equal(p.EventStart.Add(-30*time.Minute)) || !p.ScaleDownAt.Equal(p.EventEnd.Add(30*time.Minute)) {
		t.Errorf("%s", w)
	}
	if !strings.Contains(w.Body, `"expectedMultiplier":3,`) {
		t.Errorf("the multiplier is no number: %s", w.Body)
	}
	if row := f.LastAudited(ours); row.Target != p.ID || row.Action != "createEventPlan" {
		t.Errorf("audited %+v", row)
	}
}

func TestCreate_BadInputIsRefusedByField(t *testing.T) {
	f := newFixture(t)
	foreign := id.New("asp", f.Clock.Now())
	at := func(d time.Duration) string { return f.Clock.Now().Add(d).Format(time.RFC3339) }
	for name, c := range map[string]struct {
		field  string
		value  any
		says   string
		status int
	}{
		"a window in the past":    {"eventStart", at(-time.Hour), "eventStart", 400},
		"an end before the start": {"eventEnd", at(23 * time.Hour), "eventEnd", 400},
		"an end at the start":     {"eventEnd", at(24 * time.Hour), "eventEnd", 400},
		"a time that is none":     {"eventStart", "tomorrow", "eventStart", 400},
		"no time":                 {"eventStart", nil, "eventStart", 400},
		"an unknown zone":         {"timezone", "Mars/Olympus", "timezone", 400},
		"the machine's zone":      {"timezone", "Local", "timezone", 400},
		"a multiplier of nothing": {"expectedMultiplier", 0, "expectedMultiplier", 400},
		"a negative multiplier":   {"expectedMultiplier", -3, "expectedMultiplier", 400},
		"an absurd multiplier":    {"expectedMultiplier", 100.5, "expectedMultiplier", 400},
		"one beyond all floats":   {"expectedMultiplier", json.RawMessage("1e400"), "1e400", 400},
		"NaN":                     {"expectedMultiplier", "NaN", "expectedMultiplier", 400},
		"a multiplier as text":    {"expectedMultiplier", "3", "expectedMultiplier", 400},
		"minutes below nothing":   {"preScaleMinutes", -1, "preScaleMinutes", 400},
		"minutes beyond a day":    {"postEventMinutes", 1441, "postEventMinutes", 400},
		"no targets":              {"targets", []any{}, "targets", 400},
		"an unknown policy": {
			"targets",
			[]any{map[string]any{"policyId": foreign}},
			"targets[0].policyId", 400,
		},
		"a policy twice": {
			"targets",
			[]any{map[string]any{"policyId": "asp_web"}, map[string]any{"policyId": "asp_web"}},
			"targets[1].policyId",
			400,
		},
		"a policy that only monitors": {
			"targets",
			[]any{map[string]any{"policyId": "asp_watch"}},
			"targets[0].policyId", 400,
		},
		"a blank name":                       {"name", "  ", "name", 400},
		"a name of two lines":                {"name", "Black\nFriday", "name", 400},
		"an event that begins too far ahead": {"eventEnd", at(340 * 24 * time.Hour), "eventEnd", 400},
	} {
		t.Run(name, func(t *testing.T) {
			body := f.planBody("asp_web")
			body[c.field] = c.value
			f.call("POST /event-readiness", body).Want(c.status, c.says)
		})
	}
	for _, field := range []string{"name", "eventStart", "eventEnd", "expectedMultiplier", "timezone", "targets"} {
		body := f.planBody("asp_web")
		delete(body, field)
		f.call("POST /event-readiness", body).Want(400, field)
	}
	if n := apitest.Data[EventPlanCount](f.call("GET /event-readiness/count")); n.Count != 0 {
		t.Errorf("%d plans were made of bad input", n.Count)
	}
}

func TestCreate_AForeignPolicyIsUnknownAndAReadOnlyAccountForbidden(t *testing.T) {
	f := newFixture(t)
	f.Call(apitest.Caller(theirs, "eve", "owner"), "POST /event-readiness", f.planBody("asp_web")).Want(400,
		"targets[0].policyId", "does not exist")
	f.Change(inventory.AccountKey(ours, inventorytest.Account), table.Set("permissionLevel", "read_only"))
	f.call("POST /event-readiness", f.planBody("asp_web")).Want(403, "targets[0].policyId", "read_only")
}

func TestCreate_OfTwoAtOnceForOneTargetAndTimeOneWins(t *testing.T) {
	f := newFixture(t)
	var all sync.WaitGroup
	statuses := make([]int, 2)
	for i := range statuses {
		all.Go(func() { statuses[i] = f.call("POST /event-readiness", f.planBody("asp_web")).Status })
	}
	all.Wait()
	if fmt.Sprint(statuses) != "[200 409]" && fmt.Sprint(statuses) != "[409 200]" {
		t.Errorf("answered %v", statuses)
	}
	f.call("POST /event-readiness", f.planBody("asp_api", "asp_web")).Want(409,
		"targets: policy asp_web is held by plan evt_")
}

func TestPlans_AnothersAreNotThere(t *testing.T) {
	f := newFixture(t)
	p := f.createPlan("asp_web")
	eve := apitest.Caller(theirs, "eve", "owner")
	for _, request := range []string{
		"GET /event-readiness/" + p.ID, "PUT /event-readiness/" + p.ID + ` {"name":"Mine"}`,
		"DELETE /event-readiness/" + p.ID,
		"POST /event-readiness/" + p.ID + "/schedule", "POST /event-readiness/" + p.ID + "/cancel",
		"POST /event-readiness/" + p.ID + "/retry", "POST /event-readiness/" + p.ID + "/reset",
		"POST /event-readiness/" + p.ID + "/rehearse", "GET /event-readiness/" + p.ID + "/logs",
		"GET /event-readiness/" + p.ID + "/cost-estimate",
		"GET /event-readiness/" + p.ID + "/db-impact", "GET /event-readiness/" + p.ID + "/readiness-check",
	} {
		f.Call(eve, request).Want(404, "does not exist")
	}
	f.Call(eve, "GET /event-readiness/calculate?policy_id=asp_web&multiplier=3").Want(404)
	f.Equal("the plan", f.getPlan(p.ID), p)
	f.call("GET /event-readiness/evt_nonsense").Want(404)
}

func TestPlans_ReadersReadAndNobodyElse(t *testing.T) {
	f := newFixture(t)
	p := f.createPlan("asp_web")
	reader := apitest.Caller(ours, "bob", "event-readiness:read")
	f.Call(reader, "GET /event-readiness/"+p.ID).Want(200)
	for _, request := range []string{
		"POST /event-readiness/" + p.ID + "/schedule",
		"POST /event-readiness/" + p.ID + "/cancel", "DELETE /event-readiness/" + p.ID,
	} {
		f.Call(reader, request).Want(403, "event-readiness:write")
	}
	f.Call(apitest.Caller(ours, "carl", "schedules:read"), "GET /event-readiness").Want(403, "event-readiness:read")
}

func TestList_IsFilteredAndPaged(t *testing.T) {
	f := newFixture(t)
	var made []string
	for n := range 5 {
		body := f.planBody("asp_web")
		start := f.Clock.Now().Add(time.Duration(24*(n+1)) * time.Hour)
		body["name"], body["eventStart"], body["eventEnd"] = fmt.Sprintf("Sale %d", n), start.Format(time.RFC3339),
			start.Add(time.Hour).Format(time.RFC3339)
		f.Clock.Advance(time.Second)
		made = append(made, apitest.Data[EventPlan](f.call("POST /event-readiness", body)).ID)
	}
	f.call("POST /event-readiness/" + made[1] + "/cancel").Want(200)
	f.call("DELETE /event-readiness/"+made[2]).Want(200, made[2])
	names := func(query string) (out []string) {
		for _, p := range apitest.Data[rest.List[EventPlan]](f.call("GET /event-readiness" + query).AtMost(1)).Items {
			out = append(out, p.Name)
		}
		return out
	}
	for query, want := range map[string]string{
		"": "[Sale 4 Sale 3 Sale 1 Sale 0]", "?status=cancelled": "[Sale 1]", "?search=SALE%204": "[Sale 4]",
		"?page=2&limit=3": "[Sale 0]", "?status=draft&limit=1": "[Sale 4]",
	} {
		if got := fmt.Sprint(names(query)); got != want {
			t.Errorf("%s lists %s, want %s", query, got, want)
		}
	}
	if l := apitest.Data[rest.List[EventPlan]](f.call("GET /event-readiness?limit=500")); l.Limit != 100 ||
		l.Total != 4 {
		t.Errorf("limit %d of %d", l.Limit, l.Total)
	}
	f.call("GET /event-readiness?limit=0").Want(400, "limit")
	f.call("GET /event-readiness?status=asleep").Want(400, "status")
	if n := apitest.Data[EventPlanCount](f.call("GET /event-readiness/count?status=draft&search=sale")); n.Count != 3 {
		t.Errorf("%d drafts", n.Count)
	}
	f.Equal("statuses", apitest.Data[EventPlanFilters](f.call("GET /event-readiness/filters")).Statuses,
		[]readiness.Status{readiness.Draft, readiness.Cancelled})
}

func TestUpdate_ChangesWhatIsSentWhereThePlanIsSchedulable(t *testing.T) {
	f := newFixture(t)
	p := f.createPlan("asp_web")
	f.cloud.groups["web"] = cloud.Autoscaling{Min: 7, Max: 7, Desired: 7} // the captured size stays
	got := apitest.Data[EventPlan](f.call("PUT /event-readiness/"+p.ID, map[string]any{
		"name": "Cyber Monday", "expectedMultiplier": 2.5, "preScaleMinutes": 0,
		"targets": []any{map[string]any{"policyId": "asp_web"}, map[string]any{"policyId": "asp_api"}},
	}))
	want := p
	want.Name, want.ExpectedMultiplier, want.PreScaleMinutes, want.ScaleUpAt, want.UpdatedAt = "Cyber Monday",
		got.ExpectedMultiplier, 0, p.EventStart, got.UpdatedAt
	want.Targets = append(want.Targets, EventTarget{"asp_api", 2, 10, 4})
	f.Equal("changed", got, want)
	if apitest.JSON(got.ExpectedMultiplier) != "2.5" {
		t.Errorf("multiplier %s", apitest.JSON(got.ExpectedMultiplier))
	}
	for body, says := range map[string]string{
		`{"name":null}`: "name", `{"eventEnd":"2020-01-01"}`: "eventEnd", `{"timezone":"Nowhere"}`: "timezone",
		`{"expectedMultiplier":0}`: "expectedMultiplier",
		`{"targets":[]}`:           "targets", `{"targets":[{"policyId":"asp_none"}]}`: "targets[0].policyId",
		`{"preScaleMinutes":9999}`: "preScaleMinutes",
	} {
		f.call("PUT /event-readiness/"+p.ID+" "+body).Want(400, says)
	}
	f.Equal("after bad input", f.getPlan(p.ID), got)
}

func TestUpdate_AScheduledPlanIsDispatchedAnewAndOneUnderWayIsNotChanged(t *testing.T) {
	f := newFixture(t)
	p := f.createPlan("asp_web")
	f.call("POST /event-readiness/" + p.ID + "/schedule").Want(200)
	f.call("PUT /event-readiness/"+p.ID+` {"name":"Early"}`).Want(409, "scheduling")
	f.bringTo(p, 1, readiness.Scheduled)
	got := apitest.Data[EventPlan](f.call("PUT /event-readiness/" + p.ID + ` {"name":"Cyber Monday"}`))
	if got.Status != readiness.Scheduled ||
		fmt.Sprint(f.engine.started) != fmt.Sprintf("[event-readiness %s-r1 event-readiness %s-r2]", p.ID, p.ID) {
		t.Errorf("%s, started %v", got.Status, f.engine.started)
	}
	if err := f.sendReport(p.ID, readiness.Report{ID: "late", Run: 1, Status: readiness.ScalingUp}); err == nil {
		t.Error("what was dispatched before scales up all the same")
	}
	f.bringTo(p, 2, readiness.ScalingUp)
	f.call("PUT /event-readiness/"+p.ID+` {"name":"Late"}`).Want(409, "scaling_up")
	f.call("DELETE /event-readiness/"+p.ID).Want(409, "cancel it first")
}
