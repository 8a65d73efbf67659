package executor

import (
	"maps"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

func TestAStopBringsTheResourceDownAndIsRecordedOnce(t *testing.T) {
	w := newFixture(t, map[string]string{"size": "60", "stopped": "0"})
	for _, kind := range []string{"aws-ec2", "aws-rds", "aws-aurora", "aws-asg", "aws-ecs", "aws-eks-nodegroup"} {
		t.Run(kind, func(t *testing.T) {
			w.TB = t
			r := w.pick(kind, cloud.Running)
			before := len(w.readHistory())
			a := w.do(r, cloud.Stop)
			if a.Status != execution.Succeeded || a.Attempts != 1 || a.StartedAt.IsZero() || a.CompletedAt.IsZero() {
				t.Fatalf("action ended as %s after %d attempts: %s", a.Status, a.Attempts, a.ErrorMessage)
			}
			if got := w.state(r); got != cloud.Stopped {
				t.Errorf("the resource is %s", got)
			}
			rec := w.resource(r.UID)
			if rec.Status != cloud.Stopped || rec.ActionID != "" {
				t.Errorf("the record says %s, in flight %q", rec.Status, rec.ActionID)
			}
			h := w.readHistory()[before:]
			if len(h) != 1 || h[0].State != "stopped" || h[0].ChangedBy != "manual:ada@example.com" ||
				h[0].ResourceUID != r.UID {
				t.Errorf("history: %+v", h)
			}
		})
	}
}

func TestAStartGivesBackTheCapacityThatTheStopForgot(t *testing.T) {
	w := newFixture(t, map[string]string{"size": "60", "stopped": "0"})
	r := w.pick("aws-asg", cloud.Running)
	capacity := func() map[string]int64 {
		got := apitest.Value(w.conn.List(w.ctx, r.Type, r.Region, ""))(w)
		for _, x := range got.Resources {
			if x.UID == r.UID {
				return x.Capacity
			}
		}
		t.Fatal("the group is gone")
		return nil
	}
	was := capacity()
	w.do(r, cloud.Stop)
	if now := capacity(); now["desired"] != 0 {
		t.Fatalf("stopped with desired %d", now["desired"])
	}
	if a := w.do(r, cloud.Start); a.Status != execution.Succeeded {
		t.Fatalf("start: %s %s", a.Status, a.ErrorMessage)
	}
	for k, v := range was {
		if now := capacity(); now[k] != v {
			t.Errorf("%s is %d after stop and start, was %d", k, now[k], v)
		}
	}
}

func TestWhatIsAlreadySoSucceedsWithoutACallAndWithoutHistory(t *testing.T) {
	w := newFixture(t, map[string]string{"size": "60", "stopped": "0"})
	r := w.pick("aws-ec2", cloud.Running)
	a := w.do(r, cloud.Start)
	if a.Status != execution.Succeeded || a.Attempts != 0 {
		t.Errorf("%s after %d attempts", a.Status, a.Attempts)
	}
	if h := w.readHistory(); len(h) != 0 {
		t.Errorf("history of nothing: %+v", h)
	}
	if !strings.Contains(a.Logs[len(a.Logs)-2].Message, "already") {
		t.Errorf("log: %+v", a.Logs)
	}
}

func TestASecondSubmissionJoinsAndTheOppositeIsRefused(t *testing.T) {
	w := newFixture(t, map[string]string{"size": "60", "stopped": "0"})
	r := w.pick("aws-ec2", cloud.Running)
	first := w.submit(r, cloud.Stop)
	if second := w.submit(r, cloud.Stop); second.ID != first.ID {
		t.Errorf("a second stop is %s, not %s", second.ID, first.ID)
	}
	p := w.e.p.Clone()
	p.Workflow = apitest.Idle{}
	_, err := execution.SubmitAction(w.ctx, p, org, execution.Request{
		Verb: cloud.Start, ResourceUID: r.UID, Provider: r.Provider, ResourceType: r.Type,
		CloudAccountID: "100000000001", Region: r.Region,
	})
	if !fault.Is(err, fault.Conflict) || !strings.Contains(fault.Message(err), first.ID) {
		t.Errorf("the opposite: %v", err)
	}
}

func TestFaultsOfTheCloud(t *testing.T) {
	for name, c := range map[string]struct {
		faults  map[string]string
		verb    cloud.Verb
		status  execution.Status
		message string
	}{
		"a lost reply is found out and succeeds": {
			map[string]string{"lostReply": "1"},
			cloud.Stop,
			execution.Succeeded, "",
		},
		"throttling of every call fails after half an hour": {
			map[string]string{"throttle": "1"},
			cloud.Stop,
			execution.Failed, "RequestLimitExceeded",
		},
		"a missing permission fails at once": {
			map[string]string{"denied": "start_stop"},
			cloud.Stop,
			execution.Failed, "AccessDenied",
		},
		"a start that falls back fails with the cloud's words": {
			map[string]string{"fallBack": "1", "stopped": "1"},
			cloud.Start, execution.Failed, "stopped",
		},
		"a part of a batch that always fails is given up": {
			map[string]string{"partialFailure": "1"},
			cloud.Stop,
			execution.Failed, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t, map[string]string{"size": "40", "stopped": c.faults["stopped"]})
			from := cloud.Running
			if c.verb == cloud.Start {
				from = cloud.Stopped
			}
			r := w.pick("aws-ec2", from)
			w.reconnect(c.faults)
			a := w.do(r, c.verb)
			if a.Status != c.status || !strings.Contains(a.ErrorMessage, c.message) {
				t.Fatalf("%s: %q after %d attempts\n%+v", a.Status, a.ErrorMessage, a.Attempts, a.Logs)
			}
			if rec := w.resource(r.UID); rec.ActionID != "" {
				t.Error("the claim was not given back")
			}
			if h := w.readHistory(); len(h) != 1 || (h[0].State == "failed") != (c.status == execution.Failed) {
				t.Errorf("history: %+v", h)
			}
		})
	}
}

// reconnect switches faults on.
func (w *fixture) reconnect(faults map[string]string) {
	w.Helper()
	credentials := map[string]string{"size": "40"}
	maps.Copy(credentials, faults)
	w.sealCredentials(credentials)
}

func TestWhatCannotRunFailsAndSaysWhy(t *testing.T) {
	for name, c := range map[string]struct {
		break_  func(*fixture, inventory.Resource)
		message string
	}{
		"the account is gone": {func(w *fixture, _ inventory.Resource) {
			w.Write(table.Delete(inventory.AccountKey(org, w.account.ID)))
		}, "not connected any more"},
		"the organization was deleted": {func(w *fixture, _ inventory.Resource) {
			w.Put(identity.AccessKey(org), identity.Access{Ended: true})
		}, "not connected any more"},
		"the account became read_only": {func(w *fixture, _ inventory.Resource) {
			w.account.PermissionLevel = "read_only"
			w.Put(inventory.AccountKey(org, w.account.ID), w.account)
		}, "read_only"},
		"the resource vanished": {func(w *fixture, _ inventory.Resource) {
			w.reconnect(map[string]string{"vanish": "1"})
		}, "no longer exists"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t, map[string]string{"size": "40", "stopped": "0"})
			r := w.pick("aws-ec2", cloud.Running)
			a := w.submit(r, cloud.Stop)
			c.break_(w, r)
			w.driveRun(execution.RunInput{Org: org, Actions: []string{a.ID}, Until: execution.UntilSettled})
			if a = w.action(a.ID); a.Status != execution.Failed || !strings.Contains(a.ErrorMessage, c.message) {
				t.Errorf("%s: %q", a.Status, a.ErrorMessage)
			}
			if n := simulated.CallsByMethod(w.e.providers["simulated"], w.account.ID)["Act"]; n > 0 {
				t.Errorf("acted %d times", n)
			}
		})
	}
}

func TestAnActionThatNeverArrivesFailsAtItsDeadline(t *testing.T) {
	w := newFixture(t, map[string]string{"size": "40", "stopped": "0", "transitionSeconds": "86400"})
	r := w.pick("aws-ec2", cloud.Running)
	a := w.do(r, cloud.Stop)
	k, _ := w.e.providers.Kind("simulated", "aws-ec2")
	if a.Status != execution.Failed || !strings.Contains(a.ErrorMessage, "not stopped after") {
		t.Fatalf("%s: %q", a.Status, a.ErrorMessage)
	}
	if took := a.CompletedAt.Sub(a.StartedAt); took < k.Deadline || took > k.Deadline+time.Minute {
		t.Errorf("gave up after %s, the deadline is %s", took, k.Deadline)
	}
}
