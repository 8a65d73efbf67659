package eventreadiness

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

// holdWebOff has an override hold the group web stopped for a time.
func (f *fixture) holdWebOff(d time.Duration) {
	f.Helper()
	now := f.Clock.Now()
	f.Put(override.LiveKey(ours), override.Live{Change: 1, Overrides: []override.Held{{
		ID: override.NewID(now), ResourceID: inventorytest.IDs(f.Fixture, ours, "web")[0], Action: override.ForceOff,
		ExpiresAt: now.Add(d),
	}}})
}

// stopWeb stops the group web, as a stop of the executor does.
func (f *fixture) stopWeb(kept execution.Snapshot) {
	f.Helper()
	f.cloud.groups["web"] = cloud.Autoscaling{}
	if kept.ActionID != "" {
		f.Put(execution.SnapshotKey(ours, "web"), kept)
	}
}

// disconnect ends the connection of the account.
func (f *fixture) disconnect(changes ...table.Change) {
	f.Helper()
	f.Change(inventory.AccountKey(ours, inventorytest.Account),
		append(changes, table.Set("status", inventory.AccountDisconnected))...)
}

var remembered = execution.Snapshot{
	ActionID: id.New("act", time.Unix(0, 0)),
	Snapshot: []byte(`{"min":2,"max":10,"desired":4}`),
}

func markUsed(s execution.Snapshot) execution.Snapshot {
	s.UsedBy = "act_2"
	return s
}

func TestReady_NamesTargetsThatCannotBeReadyOnEveryPath(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(f *fixture)
		says    string // empty: the target can be ready
	}{
		"a target that runs":                     {func(*fixture) {}, ""},
		"a stopped target that a start restores": {func(f *fixture) { f.stopWeb(remembered) }, ""},
		"a stopped target whose size is not known": {func(f *fixture) {
			f.stopWeb(execution.Snapshot{})
		}, "its size before it was stopped is not known"},
		"a stopped target whose size was given back": {func(f *fixture) {
			f.stopWeb(markUsed(remembered))
		}, "its size before it was stopped is not known"},
		"a target that was off before it was stopped": {func(f *fixture) {
			f.stopWeb(execution.Snapshot{ActionID: "act_1", Snapshot: cloud.WasOff})
		}, "a start leaves it so"},
		"an override that holds it past the event": {func(f *fixture) {
			f.holdWebOff(72 * time.Hour)
		}, "it is held by"},
		"an override that ends before it is scaled up": {func(f *fixture) { f.holdWebOff(time.Hour) }, ""},
		"a disconnected account": {func(f *fixture) {
			f.disconnect()
		}, "its cloud account is disconnected"},
		"an account excluded from its organization": {func(f *fixture) {
			f.disconnect(table.Set("ended", "excluded"), table.Set("error", "its organization excludes it"))
		}, "its organization excludes it"},
		"credentials that may not scale": {func(f *fixture) {
			f.cloud.granted = []cloud.Permission{{
				Capability: "scale", Action: "autoscaling:UpdateAutoScalingGroup",
				Status: "denied", Message: "no",
			}}
		}, "autoscaling:UpdateAutoScalingGroup"},
		"a policy that is gone": {func(f *fixture) {
			f.Write(table.Delete(readiness.PolicyKey(ours, "asp_web")))
		}, "the policy does not exist any more"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			p := f.createPlan("asp_web", "asp_api")
			c.prepare(f)
			f.wantCheck(p, c.says)
			f.wantRehearsal(p, c.says)
			got := apitest.Data[EventDispatch](f.call("POST /event-readiness/" + p.ID + "/schedule"))
			if says := "asp_web cannot be ready: "; strings.Contains(got.Message, says) != (c.says != "") ||
				!strings.Contains(got.Message, c.says) {
				t.Errorf("schedule says %q; want %q", got.Message, c.says)
			}
		})
	}
}

// wantCheck holds the readiness check of a plan against why its first target cannot be ready.
func (f *fixture) wantCheck(p EventPlan, says string) {
	f.Helper()
	got := apitest.Data[ReadinessCheck](f.call("GET /event-readiness/" + p.ID + "/readiness-check"))
	var named []string
	for _, c := range got.Checks {
		if c.Status == "failed" && *c.PolicyID == "asp_web" {
			named = append(named, c.Message)
		}
	}
	if got.Ready != (says == "") || !strings.Contains(strings.Join(named, "; "), says) {
		f.Errorf("want ready %v and %q: %s", says == "", says, apitest.JSON(got))
	}
}

// wantRehearsal holds the rehearsal of a plan against why its first target cannot be ready.
func (f *fixture) wantRehearsal(p EventPlan, says string) {
	f.Helper()
	got := apitest.Data[EventRehearsal](f.call("POST /event-readiness/" + p.ID + "/rehearse"))
	web := got.Targets[0]
	switch {
	case says == "" && (!got.Ready || web.Problem != nil || got.Status != readiness.Completed):
		f.Errorf("want it ready: %s", apitest.JSON(got))
	case says != "" &&
		(got.Ready || web.Problem == nil || !strings.Contains(*web.Problem, says) || web.ReachedAt != nil ||
			web.Shortfall == 0 || got.Status == readiness.Completed):
		f.Errorf("want it not ready because %q: %s", says, apitest.JSON(got))
	}
}

func TestReady_AStoppedTargetIsStartedByThePlanInTheCheckAndInTheRehearsal(t *testing.T) {
	f := newFixture(t)
	p := f.createPlan("asp_web", "asp_api")
	f.stopWeb(remembered)
	check := apitest.Data[ReadinessCheck](f.call("GET /event-readiness/" + p.ID + "/readiness-check"))
	if c := check.Checks[2]; c.Status != "warning" ||
		!strings.Contains(c.Message, "the plan starts it at "+readiness.InZone(p.ScaleUpAt, p.Timezone)) {
		t.Errorf("%s", apitest.JSON(check))
	}
	got := apitest.Data[EventRehearsal](f.call("POST /event-readiness/" + p.ID + "/rehearse"))
	if web, api := got.Targets[0], got.Targets[1]; !got.Ready || *web.SecondsToCapacity <= *api.SecondsToCapacity {
		t.Errorf("the stopped target should take a start more: %s", apitest.JSON(got))
	}
}

func TestReady_ARehearsalOfALongEventWithAnObstacleEndsInTime(t *testing.T) {
	f := newFixture(t)
	p := f.createPlan("asp_web", "asp_api")
	f.Change(readiness.Key(ours, p.ID), table.Set("eventEnd", p.EventStart.Add(readiness.Longest)))
	f.holdWebOff(90 * 24 * time.Hour)
	f.wantRehearsal(p, "it is held by")
}

func TestReady_WhatACloudDoesNotTellIsUnknown(t *testing.T) {
	f := newFixture(t)
	p := f.createPlan("asp_web")
	f.cloud.down = true
	got := apitest.Data[EventRehearsal](f.call("POST /event-readiness/" + p.ID + "/rehearse"))
	if web := got.Targets[0]; got.Ready || web.Problem == nil ||
		!strings.Contains(*web.Problem, "the cloud did not answer") || web.Shortfall != 0 {
		t.Errorf("%s", apitest.JSON(got))
	}
}

// A slow cloud leaves the check unknown after 5 seconds, for any number of targets.
func TestCheck_ASlowCloudIsUnknownAfterFiveSeconds(t *testing.T) {
	f := newFixture(t)
	p := f.createPlan("asp_web", "asp_api")
	stored := apitest.Value(readiness.New(f.Table, f.Clock).Get(f.In(ours), ours, p.ID))(t)
	s := &service{
		p: f.Platform, policies: readiness.NewPolicyStore(f.Table, f.Clock),
		inventory: inventory.New(f.Platform),
	}
	groups := apitest.Value(s.storedGroups(f.In(ours), &stored))(t)
	p2 := f.Clone()
	p2.Workers, p2.Table = slow{}, f.Table
	s.p = p2
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		found, err := s.checkTargets(f.In(ours), &stored, groups)
		if took := time.Since(began); err != nil || took != 5*time.Second {
			t.Errorf("it took %s, %v", took, err)
		}
		for _, one := range found {
			for _, c := range one.checks {
				if c.Status != "unknown" || !strings.Contains(c.Message, "5 seconds") {
					t.Errorf("%s", apitest.JSON(c))
				}
			}
		}
	})
}

// slow are workers that answer nothing.
type slow struct{ lambdacall.Invoker }

func (slow) Invoke(ctx context.Context, _ string, _, _ any) error {
	<-ctx.Done()
	return ctx.Err()
}
