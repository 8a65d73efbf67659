package executor

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

// abandon has the executor give up on an action, as the machine does when its runs fail.
func (w *fixture) abandon(a execution.Action) RunResult {
	w.Helper()
	in := execution.RunInput{Org: org, Actions: []string{a.ID}, Until: execution.UntilSettled}
	input := apitest.JSON(map[string]any{
		"task": "abandon", "input": in,
		"error": workflow.Caught{Error: "Sandbox.Timedout", Cause: "after 300 s"},
	})
	got, _ := apitest.Value(w.e.HandleTask(w.ctx, []byte(input)))(w).(RunResult)
	return got
}

// muteCloud makes the cloud give no answer, or answer again.
func (w *fixture) muteCloud(on bool) {
	rate := "0"
	if on {
		rate = "1"
	}
	w.sealCredentials(map[string]string{"size": "40", "stopped": "0", "throttle": rate, "transitionSeconds": "60"})
}

func TestGiveUp_RecordsWhatTheCloudConfirms(t *testing.T) {
	for name, c := range map[string]struct {
		acted  bool          // the provider was asked before
		after  time.Duration // since then
		mute   bool
		status execution.Status
		says   string
	}{
		"what stands still has failed": {
			false, time.Minute, false, execution.Failed,
			"the executor gave up: Sandbox.Timedout: after 300 s; the resource is running",
		},
		"what has arrived has succeeded": {
			true, 2 * time.Minute, false, execution.Succeeded,
			"the resource is stopped",
		},
		"what is on its way waits": {
			true, 20 * time.Second, false, execution.Running,
			"the resource is stopping",
		},
		"what gives no answer waits": {
			true, 2 * time.Minute, true, execution.Running,
			"its state cannot be read",
		},
		"so does what was not begun": {
			false, time.Minute, true, execution.Running,
			"its state cannot be read",
		},
		"what gives no answer until its deadline, has not": {
			true, time.Hour, true, execution.Failed,
			"its state cannot be read",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t, map[string]string{"size": "40", "stopped": "0", "transitionSeconds": "60"})
			r := w.pick("aws-ec2", cloud.Running)
			a := w.submit(r, cloud.Stop)
			if c.acted {
				apitest.Value(w.e.RunActions(w.ctx,
					execution.RunInput{Org: org, Actions: []string{a.ID}, Until: execution.UntilSettled}))(w)
			}
			w.Clock.Advance(c.after)
			w.muteCloud(c.mute)
			got := w.abandon(a)
			a = w.action(a.ID)
			last := a.Logs[len(a.Logs)-1].Message
			if c.status == execution.Succeeded {
				last = a.Logs[len(a.Logs)-2].Message
			}
			if a.Status != c.status || !strings.Contains(last, c.says) || got.Done != c.status.IsFinal() || !got.Done &&
				got.WaitSeconds < giveUpPauseSeconds {
				t.Fatalf("%s, %+v: %q\n%+v", a.Status, got, a.ErrorMessage, a.Logs)
			}
			if held := w.resource(r.UID).ActionID != ""; held == c.status.IsFinal() {
				t.Errorf("%s, and its claim is held: %t", a.Status, held)
			}
			w.muteCloud(false)
			w.driveRun(execution.RunInput{Org: org, Actions: []string{a.ID}, Until: execution.UntilSettled})
			if end := w.action(a.ID); !c.status.IsFinal() && end.Status != execution.Succeeded {
				t.Errorf("taken up again, it ended as %s: %q", end.Status, end.ErrorMessage)
			}
		})
	}
}

// A provider that takes a stop, and then does not answer for minutes, has not failed.
func TestRun_WaitsForAnAnswerAboutWhatItHasAskedFor(t *testing.T) {
	w := newFixture(t, map[string]string{"size": "40", "stopped": "0", "transitionSeconds": "60"})
	a := w.submit(w.pick("aws-ec2", cloud.Running), cloud.Stop)
	in := execution.RunInput{Org: org, Actions: []string{a.ID}, Until: execution.UntilSettled}
	apitest.Value(w.e.RunActions(w.ctx, in))(w)
	w.muteCloud(true)
	for range 8 {
		got := apitest.Value(w.e.RunActions(w.ctx, in))(w)
		if got.Done {
			t.Fatalf("given up: %q", w.action(a.ID).ErrorMessage)
		}
		w.Clock.Advance(time.Duration(got.WaitSeconds) * time.Second)
	}
	w.muteCloud(false)
	w.driveRun(in)
	if a = w.action(a.ID); a.Status != execution.Succeeded || a.Attempts != 1 {
		t.Errorf("%s after %d attempts: %q", a.Status, a.Attempts, a.ErrorMessage)
	}
}

// The machine of a bulk action loses a chunk whose resources are on their way: the end waits for them.
func TestFinish_WaitsForWhatIsOnItsWay(t *testing.T) {
	w := newFixture(t,
		map[string]string{"size": "100", "stopped": "0", "kinds": "aws-ec2", "regions": "1", "transitionSeconds": "60"})
	g, places := w.newGroup(12, "continue")
	in := w.submitBulk(g, cloud.Stop)
	apitest.Value(w.e.expandBulk(w.ctx, in))(w)
	for range 2 {
		s := apitest.Value(w.e.nextStep(w.ctx, in))(w)
		for _, c := range s.Chunks {
			apitest.Value(w.e.RunActions(w.ctx, c))(w)
		}
		in.Step, in.From = s.Next, s.From
	}
	if _, err := w.e.finishBulk(w.ctx, in); !fault.Is(err, fault.Unavailable) ||
		!strings.Contains(err.Error(), in.BulkID) {
		t.Fatalf("finished at once: %v", err)
	}
	if b := w.bulk(in.BulkID); b.Status != execution.BulkRunning || b.Completed != 0 {
		t.Errorf("while instances stop: %+v", b)
	}
	w.Clock.Advance(2 * time.Minute)
	in.Step = 0
	if b := w.driveBulk(in); w.auditBulk(b, places) != 0 {
		t.Errorf("%+v", b)
	}
}

// A tier fails while earlier requests are still under way. It is aborted, and the requests under way complete.
func TestAbort_WaitsForWhatWasAskedBefore(t *testing.T) {
	w := newFixture(t,
		map[string]string{"size": "400", "stopped": "0", "kinds": "aws-ec2", "regions": "2", "transitionSeconds": "60"})
	g, places := w.newGroup(90, "abort")
	w.connectFaulty(map[string]string{"partialFailure": "0.5", "transitionSeconds": "60"})
	b := w.driveBulk(w.submitBulk(g, cloud.Stop))
	if failed := w.auditBulk(b, places); failed == 0 || failed == len(places) {
		t.Errorf("%d of %d failed", failed, len(places))
	}
	for _, p := range places {
		a := w.action(execution.MemberAction(b.ID, p.ResourceID))
		if s := w.state(w.resource(a.ResourceUID)); a.Status == execution.Failed && s != cloud.Running {
			t.Errorf("%s is recorded as failed (%q), and its resource is %s", a.ID, a.ErrorMessage, s)
		}
	}
}

// TestAct_IsRecordedThroughALongThrottle throttles the store for a minute after instances were stopped: longer than
// the plain store retries.
func TestAct_IsRecordedThroughALongThrottle(t *testing.T) {
	shareOutsideBubbles(t)
	synctest.Test(t, recordedThroughALongThrottle)
}

func recordedThroughALongThrottle(t *testing.T) {
	w := newFixture(t, map[string]string{"size": "40", "stopped": "0", "transitionSeconds": "0.02"})
	a := w.submit(w.pick("aws-ec2", cloud.Running), cloud.Stop)
	f := table.NewFaultyStore(w.Table, clock.System{})
	for call := 2; call < 30; call++ { // the first call marks the actions
		f.Inject(table.Injection{Harm: table.Throttle, Method: table.TransactMethod, Call: call - 1})
	}
	w.swapStore(f)
	began := time.Now()
	got := apitest.Value(w.e.RunActions(w.ctx,
		execution.RunInput{Org: org, Actions: []string{a.ID}, Until: execution.UntilSettled}))(w)
	if a = w.action(a.ID); !got.Done || a.Status != execution.Succeeded || a.Attempts != 1 {
		t.Errorf("%+v: %s after %d attempts, %q", got, a.Status, a.Attempts, a.ErrorMessage)
	}
	if took := time.Since(began); took < 20*time.Second || took > 2*time.Minute {
		t.Errorf("tried for %s", took)
	}
	if n := simulated.CallsByMethod(w.e.providers["simulated"], w.account.ID)["Act"]; n != 1 {
		t.Errorf("acted %d times", n)
	}
}
