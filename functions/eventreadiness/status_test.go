package eventreadiness

import (
	"fmt"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

func TestSchedule_DispatchesADraftOnce(t *testing.T) {
	f := newFixture(t)
	p := f.createPlan("asp_web")
	got := apitest.Data[EventDispatch](f.call("POST /event-readiness/" + p.ID + "/schedule"))
	if got.EventID != p.ID || got.Message == "" || f.getPlan(p.ID).Status != readiness.Scheduling ||
		len(f.engine.started) != 1 {
		t.Errorf("%+v, started %v", got, f.engine.started)
	}
	f.call("POST /event-readiness/"+p.ID+"/schedule").Want(409, "scheduling")
	f.Clock.Advance(48 * time.Hour)
	late := f.createPlan("asp_api")
	f.Clock.Advance(48 * time.Hour)
	f.call("POST /event-readiness/"+late.ID+"/schedule").Want(409, "eventEnd")
}

// This test tries every operation that moves a plan from every status: a transition that the table does not list is
// 409 and changes nothing.
func TestStatuses_WhatTheTableDoesNotHaveIs409(t *testing.T) {
	all := map[string][]readiness.Status{
		"draft": {}, "scheduling": {}, "scheduled": {readiness.Scheduled},
		"scaling_up":   {readiness.Scheduled, readiness.ScalingUp},
		"active":       {readiness.Scheduled, readiness.ScalingUp, readiness.Active},
		"scaling_down": {readiness.Scheduled, readiness.ScalingUp, readiness.Active, readiness.ScalingDown},
		"completed": {
			readiness.Scheduled, readiness.ScalingUp, readiness.Active, readiness.ScalingDown,
			readiness.Completed,
		},
		"failed": {readiness.Failed}, "cancelled": {},
	}
	allowed := map[string][]string{
		"schedule": {"draft"}, "retry": {"failed"}, "reset": {"completed"},
		"cancel": {"draft", "scheduling", "scheduled", "scaling_up", "active", "scaling_down", "completed", "failed"},
	}
	for from, through := range all {
		for op, may := range allowed {
			t.Run(op+" from "+from, func(t *testing.T) {
				f := newFixture(t)
				p := f.createPlan("asp_web")
				if from == "cancelled" {
					f.call("POST /event-readiness/" + p.ID + "/cancel").Want(200)
				} else if from != "draft" {
					f.call("POST /event-readiness/" + p.ID + "/schedule").Want(200)
					f.bringTo(p, 1, through...)
				}
				before := f.getPlan(p.ID)
				if string(before.Status) != from {
					t.Fatalf("it is %s", before.Status)
				}
				want := 409
				for _, s := range may {
					if s == from {
						want = 200
					}
				}
				f.call(fmt.Sprintf("POST /event-readiness/%s/%s", p.ID, op)).Want(want)
				if after := f.getPlan(p.ID); want == 409 {
					f.Equal("after a refusal", after, before)
				} else if to := map[string]readiness.Status{
					"schedule": "scheduling", "retry": "scheduling",
					"reset": "draft", "cancel": "cancelled",
				}[op]; after.Status != to {
					t.Errorf("it is %s", after.Status)
				}
			})
		}
	}
}

func TestRetry_OfAPlanThatIsOverMakesADraftOfIt(t *testing.T) {
	f := newFixture(t)
	p := f.createPlan("asp_web")
	f.call("POST /event-readiness/" + p.ID + "/schedule").Want(200)
	f.Must(f.sendReport(p.ID,
		readiness.Report{ID: "x", Run: 1, Status: readiness.Failed, Message: "the cloud refused"}))
	if m := f.getPlan(p.ID).Message; m == nil || *m != "the cloud refused" {
		t.Errorf("why it failed: %v", m)
	}
	f.Clock.Advance(48 * time.Hour)
	if got := apitest.Data[EventPlan](f.call("POST /event-readiness/" + p.ID +
		"/retry")); got.Status != readiness.Draft {
		t.Errorf("it is %s", got.Status)
	}
}

func TestDelete_PushesACancelFirst(t *testing.T) {
	f := newFixture(t)
	p := f.createPlan("asp_web")
	f.call("POST /event-readiness/" + p.ID + "/schedule").Want(200)
	f.bringTo(p, 1, readiness.Scheduled)
	f.call("DELETE /event-readiness/"+p.ID).Want(200, `{"data":{"id":"`+p.ID+`"}}`)
	if want := fmt.Sprintf("[event-readiness %s-r1 event-readiness %s-c1]", p.ID,
		p.ID); fmt.Sprint(f.engine.started) != want {
		t.Errorf("started %v", f.engine.started)
	}
	f.call("GET /event-readiness/" + p.ID).Want(404)
	f.call("DELETE /event-readiness/" + p.ID).Want(404)
	f.createPlan("asp_web") // its target is free
}

// A caller with a bearer token with any permissions may not report, and the refused report changes nothing.
func TestReport_IsForTheExecutorAlone(t *testing.T) {
	f := newFixture(t)
	p := f.createPlan("asp_web")
	f.call("POST /event-readiness/" + p.ID + "/schedule").Want(200)
	body := readiness.Report{ID: "1", Run: 1, Status: readiness.Scheduled}
	token := apitest.Caller(ours, "ada", "owner")
	token.Session, token.Method = "", identity.MethodPAT
	for name, c := range map[string]identity.Caller{
		"an owner": apitest.Caller(ours, "ada", "owner"), "a personal access token": token,
		"who holds everything":         apitest.Caller(ours, "ada", "*:*"),
		"another organization's owner": apitest.Caller(theirs, "eve", "owner"), "nobody": {},
		"another worker": {Worker: "mailer", Org: ours},
	} {
		t.Run(name, func(t *testing.T) {
			f.Call(c, "POST "+readiness.ReportPath(p.ID), body).Want(403, "only the service's own executor")
		})
	}
	if got := f.getPlan(p.ID); got.Status != readiness.Scheduling {
		t.Errorf("it is %s", got.Status)
	}
	f.Must(f.sendReport(p.ID, body))
	f.Must(f.sendReport(p.ID, body))
	logs := apitest.Data[rest.List[EventPlanLine]](f.call("GET /event-readiness/" + p.ID + "/logs"))
	if logs.Total != 4 || logs.Items[0].Kind != "transition" || logs.Items[1].Kind != "callback" ||
		logs.Items[1].By != "executor" || *logs.Items[0].To != readiness.Scheduled {
		t.Errorf("%s", apitest.JSON(logs))
	}
	if row := f.LastAudited(ours); row.Actor != "executor" || row.Target != p.ID {
		t.Errorf("audited %+v", row)
	}
}

// And the executor may do nothing else.
func TestWorker_MayDoNothingElse(t *testing.T) {
	f := newFixture(t)
	p := f.createPlan("asp_web")
	for _, path := range []string{
		"/event-readiness/" + p.ID, "/event-readiness",
		"/event-readiness/" + p.ID + "/cancel",
	} {
		err := rest.CallAsWorker(t.Context(), f.newInvoker(f.Platform), rest.WorkerCall{
			Function: readiness.Function, Worker: readiness.Executor, Org: ours, Method: "POST", Path: path,
			Body: map[string]any{},
		})
		if err == nil {
			t.Errorf("it may POST %s", path)
		}
	}
	for name, c := range map[string]struct {
		org, plan string
		report    readiness.Report
		kind      fault.Kind
	}{
		"another organization's plan": {
			theirs, p.ID,
			readiness.Report{ID: "1", Status: readiness.Scheduled},
			fault.NotFound,
		},
		"what the table does not have": {
			ours, p.ID,
			readiness.Report{ID: "1", Status: readiness.Active},
			fault.Conflict,
		},
		"a status that is none": {ours, p.ID, readiness.Report{ID: "1", Status: "asleep"}, fault.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			err := rest.CallAsWorker(t.Context(), f.newInvoker(f.Platform), rest.WorkerCall{
				Function: readiness.Function, Worker: readiness.Executor, Org: c.org, Method: "POST",
				Path: readiness.ReportPath(c.plan), Body: c.report,
			})
			if !fault.Is(err, c.kind) {
				t.Errorf("%v", err)
			}
		})
	}
	if f.getPlan(p.ID).Status != readiness.Draft {
		t.Error("it was changed")
	}
}
