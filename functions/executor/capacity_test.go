package executor

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
	"lamplighter.dev/shared/testkit/tabletest"
)

// crowded is an account whose instances are off, and that has no room to start them.
var crowded = map[string]string{"size": "40", "stopped": "1", "noCapacity": "1"}

func (w *fixture) countActs() int {
	return simulated.CallsByMethod(w.e.providers["simulated"], w.account.ID)["Act"]
}

// runOnce runs an action once.
func (w *fixture) runOnce(a execution.Action) RunResult {
	w.Helper()
	return apitest.Value(w.e.RunActions(w.ctx,
		execution.RunInput{Org: org, Actions: []string{a.ID}, Until: execution.UntilSettled}))(w)
}

func TestCapacity_IsAskedForAgainForAnHour(t *testing.T) {
	w := newFixture(t, crowded)
	a := w.submit(w.pick("aws-ec2", cloud.Stopped), cloud.Start)
	longestWait := 0
	for runs := 0; ; runs++ {
		got := w.runOnce(a)
		if got.Done {
			break
		}
		now := w.action(a.ID)
		if said := now.Logs[len(now.Logs)-1].Message; now.Status != execution.Running ||
			!strings.Contains(said, "InsufficientInstanceCapacity") ||
			!strings.Contains(said, "tried again at 2026-03-02T") {
			t.Fatalf("while it waits: %s, %q", now.Status, said)
		}
		longestWait = max(longestWait, got.WaitSeconds)
		w.Clock.Advance(time.Duration(got.WaitSeconds) * time.Second)
		if runs > 30 {
			t.Fatal("30 runs, and no end")
		}
	}
	a = w.action(a.ID)
	if took := a.CompletedAt.Sub(a.StartedAt); a.Status != execution.Failed || took < time.Hour ||
		took > time.Hour+time.Minute {
		t.Errorf("%s after %s: %s", a.Status, took, a.ErrorMessage)
	}
	if n := w.countActs(); n < 8 || n > 12 || a.Attempts != n || longestWait < 7*60 {
		t.Errorf("%d tries, %d recorded, the longest wait %d s", n, a.Attempts, longestWait)
	}
	if !strings.Contains(a.ErrorMessage, "InsufficientInstanceCapacity") ||
		!strings.Contains(apitest.JSON(a.Logs), "resource.retry_exhausted") {
		t.Errorf("it ended with %q\n%+v", a.ErrorMessage, a.Logs)
	}
}

func TestCapacity_ThatComesBackIsTaken(t *testing.T) {
	w := newFixture(t, crowded)
	r := w.pick("aws-ec2", cloud.Stopped)
	a := w.submit(r, cloud.Start)
	for w.Clock.Now().Before(noon.Add(25 * time.Minute)) {
		w.Clock.Advance(time.Duration(w.runOnce(a).WaitSeconds) * time.Second)
	}
	w.reconnect(map[string]string{"stopped": "1"})
	w.driveRun(execution.RunInput{Org: org, Actions: []string{a.ID}, Until: execution.UntilSettled})
	if a = w.action(a.ID); a.Status != execution.Succeeded || a.Idle || w.resource(r.UID).Status != cloud.Running {
		t.Errorf("%s: %s; the resource is %s", a.Status, a.ErrorMessage, w.resource(r.UID).Status)
	}
}

// An instance whose start was accepted and that fell back for lack of capacity waits like one whose start was
// refused. After each try it may take its kind's usual time again.
func TestCapacity_AFallBackForWantOfItIsTriedForAnHour(t *testing.T) {
	p := execution.Progress{ActedAt: noon.Add(-time.Minute), Short: noon.Add(-50 * time.Minute), Shorts: 7}
	a := &execution.Action{
		Action: cloud.Start, Status: execution.Running, StartedAt: noon.Add(-50 * time.Minute),
		Progress: &p,
	}
	r := &run{now: noon, kind: cloud.Kind{Deadline: 10 * time.Minute}}
	r.judgeAction(a, cloud.State{
		Status: cloud.Stopped, NoCapacity: true, Reason: "Server.InsufficientInstanceCapacity",
	})
	if len(r.ended) != 0 || !a.Idle || p.Shorts != 8 || !p.NextAt.After(noon.Add(7*time.Minute)) ||
		p.NextAt.After(noon.Add(10*time.Minute)) {
		t.Errorf("ended %+v, progress %+v", r.ended, p)
	}
	r.now = noon.Add(10 * time.Minute)
	p.ActedAt, p.NextAt = noon.Add(9*time.Minute), noTime
	r.judgeAction(a, cloud.State{Status: cloud.Stopped, NoCapacity: true})
	if len(r.ended) != 1 || r.ended[0].Status != execution.Failed {
		t.Errorf("after an hour: %+v", r.ended)
	}
}

func TestCapacity_TheOppositeEndsTheWait(t *testing.T) {
	t.Run("asked for by hand", func(t *testing.T) {
		w := newFixture(t, crowded)
		r := w.pick("aws-ec2", cloud.Stopped)
		start := w.submit(r, cloud.Start)
		w.runOnce(start)
		stop := w.do(r, cloud.Stop)
		w.endedBy(start, "was ended by a stop, asked for by manual:ada@example.com")
		if stop.Status != execution.Succeeded {
			t.Errorf("the stop: %s, %s", stop.Status, stop.ErrorMessage)
		}
		if got := w.runOnce(start); !got.Done || w.countActs() != 1 {
			t.Errorf("the machine of the start goes on: %+v, %d acts", got, w.countActs())
		}
	})
	t.Run("by a bulk action", func(t *testing.T) {
		w := newFixture(t, map[string]string{"size": "40", "stopped": "1", "noCapacity": "1", "kinds": "aws-ec2"})
		g, places := w.newGroup(3, "continue")
		r := w.resourceOf(places[0].ResourceID)
		start := w.submit(r, cloud.Start)
		w.runOnce(start)
		if b := w.driveBulk(w.submitBulk(g, cloud.Stop)); b.Failed != 0 || b.Completed != 3 {
			t.Errorf("the bulk action: %+v", b)
		}
		w.endedBy(start, "was ended by a stop")
	})
	t.Run("by a schedule that was behind it", func(t *testing.T) {
		w := newFixture(t, crowded)
		r := w.pick("aws-ec2", cloud.Stopped)
		start := w.submit(r, cloud.Start)
		o := w.stopOrder(memberOf(r, 1))
		apitest.Value(w.e.beginBulk(w.ctx, execution.BulkInput{Org: org, BulkID: o.ID()}))(w)
		w.runOnce(start) // the order waits behind it, and now it waits for room
		w.runOrder(o)
		w.endedBy(start, "was ended by a stop, asked for by schedule:Nights")
		if a := w.action(execution.MemberAction(o.ID(), r.ID)); a.Status != execution.Succeeded {
			t.Errorf("the order: %s, %s", a.Status, a.ErrorMessage)
		}
	})
}

func (w *fixture) resourceOf(resourceID string) inventory.Resource {
	w.Helper()
	for _, r := range w.resources {
		if r.ID == resourceID {
			return r
		}
	}
	w.Fatalf("no resource %s", resourceID)
	return inventory.Resource{}
}

func (w *fixture) endedBy(a execution.Action, reason string) {
	w.Helper()
	if a = w.action(a.ID); a.Status != execution.Failed || !strings.Contains(a.ErrorMessage, reason) {
		w.Errorf("the start: %s, %q; want it to have ended: %s", a.Status, a.ErrorMessage, reason)
	}
}

// An action that an executor has resumed is under way: it is not ended in the meantime.
func TestCapacity_WhatIsTriedAtTheMomentGoesOn(t *testing.T) {
	w := newFixture(t, crowded)
	a := w.submit(w.pick("aws-ec2", cloud.Stopped), cloud.Start)
	w.runOnce(a)
	seen := w.action(a.ID)
	taken := seen
	taken.Idle = false
	w.Must(w.Table.Transact(w.ctx, progressWrite(org, &taken)))
	ended := apitest.Value(execution.EndIdle(w.ctx, w.Table, org,
		execution.Outcome{Action: seen, Message: "too late", At: noon}))(w)
	if now := w.action(a.ID); ended || now.Status != execution.Running {
		t.Errorf("ended %t: %s", ended, now.Status)
	}
}

func TestCapacity_ACancelledBulkActionEndsTheWait(t *testing.T) {
	w := newFixture(t, map[string]string{"size": "40", "stopped": "1", "noCapacity": "1", "kinds": "aws-ec2"})
	g, _ := w.newGroup(3, "continue")
	in := w.submitBulk(g, cloud.Start)
	for _, c := range apitest.Value(w.e.beginBulk(w.ctx, in))(w).Chunks {
		apitest.Value(w.e.RunActions(w.ctx, c))(w)
	}
	b := w.bulk(in.BulkID)
	b.Status, b.CancelledBy = execution.BulkCancelled, "ada@example.com"
	w.Put(execution.BulkKey(org, b.ID), b)
	in.Cancel = true
	apitest.Value(w.e.nextStep(w.ctx, in))(w)
	apitest.Value(w.e.finishBulk(w.ctx, in))(w)
	if b = w.bulk(in.BulkID); b.Completed+b.Failed != b.Total || b.Failed != 3 {
		t.Errorf("%+v", b)
	}
}

// TestCapacity_IsWaitedForByTheMachine runs the real state machine. Between two tries it is in its Wait state, and no
// function runs.
func TestCapacity_IsWaitedForByTheMachine(t *testing.T) {
	if tabletest.Limits() != nil {
		t.Skip("limits its store itself")
	}
	shareOutsideBubbles(t)
	synctest.Test(t, waitedForByTheMachine)
}

func waitedForByTheMachine(t *testing.T) {
	w := newFixtureOn(t, onClock(t), crowded)
	engine := w.engine()
	a := w.submit(w.pick("aws-ec2", cloud.Stopped), cloud.Start)
	began := time.Now()
	w.Must(engine.Start(w.ctx, execution.Machine, a.ID,
		execution.RunInput{Org: org, Actions: []string{a.ID}, Until: execution.UntilSettled}))
	x := apitest.Value(engine.Wait(w.ctx, execution.Machine, a.ID))(w)
	took := time.Since(began)
	w.Must(engine.Close())
	if a = w.action(a.ID); x.Status != workflow.Succeeded || a.Status != execution.Failed || took < time.Hour ||
		took > time.Hour+time.Minute {
		t.Errorf("machine %s, action %s after %s: %s", x.Status, a.Status, took, a.ErrorMessage)
	}
	if n := w.states.Load(); n > 60 {
		t.Errorf("%d states; want a run, a choice and a wait for each try", n)
	}
}

func onClock(t *testing.T) *platform.Platform {
	t.Helper()
	return apitest.PlatformAt(t, clock.System{})
}

func TestOnAWS_WantOfCapacityIsWaitedForAndTaken(t *testing.T) {
	for name, i := range map[string]awstwin.Instance{
		"refused at once":           {State: "stopped", NoCapacity: true},
		"accepted, and fallen back": {State: "stopped", CrowdedOut: true},
	} {
		t.Run(name, func(t *testing.T) {
			onAWS(t, func(w *awsFixture) {
				a := w.submit(w.instance(awstwin.AccessKey, i), cloud.Start)
				ended := make(chan struct{})
				go func() { w.runOut(a.ID); close(ended) }()
				<-time.After(20 * time.Minute)
				if now := w.action(a.ID); now.Status != execution.Running {
					t.Errorf("after 20 minutes: %s, %s", now.Status, now.ErrorMessage)
				}
				w.first.HasRoomAgain()
				<-ended
				if a = w.action(a.ID); a.Status != execution.Succeeded || a.Attempts < 4 {
					t.Errorf("%s after %d attempts: %s", a.Status, a.Attempts, a.ErrorMessage)
				}
			})
		})
	}
}
