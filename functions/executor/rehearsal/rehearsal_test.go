package rehearsal_test

import (
	"context"
	"testing"
	"time"

	"lamplighter.dev/functions/executor/rehearsal"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/testkit/apitest"
)

// plan is one on two targets, which is scaled up so many minutes before its event.
func plan(before int64) readiness.Plan {
	start := time.Date(2026, 11, 27, 8, 0, 0, 0, time.UTC)
	return readiness.Plan{
		ID: "evt_01k6v0e4y0c2b7m9q8r5t3w1xz", Org: apitest.Org, Name: "Sale", EventStart: start,
		EventEnd:        start.Add(8 * time.Hour),
		PreScaleMinutes: before, PostEventMinutes: 30, ExpectedMultiplier: 3_000_000, Timezone: "UTC",
		Status: readiness.Completed, Run: 7, Logged: 80,
		Targets: []readiness.Target{
			{PolicyID: "asp_web", OriginalMin: 2, OriginalMax: 10, OriginalDesired: 4},
			{
				PolicyID: "asp_api", OriginalMin: 0, OriginalMax: 3, OriginalDesired: 2, AverageCPU: 3500,
				TargetCPU: 7000,
			},
		},
	}
}

func run(t *testing.T, p readiness.Plan, launch time.Duration) readiness.Rehearsed {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // that a caller waits
	defer cancel()
	got, err := rehearsal.Run(ctx, readiness.RehearsalInput{Org: p.Org, Plan: p, Launch: launch})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestRun_TellsWhenEachTargetHadItsCapacityAndThatItWasGivenBack(t *testing.T) {
	p := plan(30)
	got := run(t, p, 5*time.Minute)
	if got.Status != readiness.Completed || len(got.Targets) != 2 {
		t.Fatalf("%s", apitest.JSON(got))
	}
	for i, want := range []readiness.Size{{Min: 9, Max: 22, Desired: 9}, {Min: 3, Max: 5, Desired: 3}} {
		r := got.Targets[i]
		took := r.ReachedAt.Sub(p.ScaleUpAt())
		if r.Scaled != want || r.Shortfall != 0 || !r.Restored || took < 150*time.Second || took > 306*time.Second {
			t.Errorf("%s after %s", apitest.JSON(r), took)
		}
	}
	if n := len(got.Log); n != 12 || got.Log[n-1].To != readiness.Completed || got.Log[n-1].At.Before(p.ScaleDownAt()) {
		t.Errorf("its log: %s", apitest.JSON(got.Log))
	}
}

func TestRun_TellsWhatIsMissingWhenMachinesAreSlowerThanThePlan(t *testing.T) {
	got := run(t, plan(5), 40*time.Minute)
	for i, want := range []int64{5, 1} {
		if r := got.Targets[i]; r.Shortfall != want || r.ReachedAt.IsZero() || !r.Restored {
			t.Errorf("%s, missing should be %d", apitest.JSON(r), want)
		}
	}
}

func TestRun_EndsWithItsCaller(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := rehearsal.Run(ctx,
		readiness.RehearsalInput{Org: apitest.Org, Plan: plan(30), Launch: time.Minute}); err == nil {
		t.Error("nobody waits for it")
	}
}

// A target that is stopped is started first, which takes the time of a launch more.
func TestRun_StartsAStoppedTargetFirst(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	p := plan(30)
	got, err := rehearsal.Run(ctx,
		readiness.RehearsalInput{Org: p.Org, Plan: p, Launch: 5 * time.Minute, Stopped: []string{"asp_web"}})
	if err != nil {
		t.Fatal(err)
	}
	web, api := got.Targets[0], got.Targets[1]
	if got.Status != readiness.Completed || web.Shortfall != 0 || !web.Restored ||
		web.Scaled != (readiness.Size{Min: 9, Max: 22, Desired: 9}) {
		t.Errorf("%s", apitest.JSON(got))
	}
	if !web.ReachedAt.After(api.ReachedAt) {
		t.Errorf("web had its capacity at %s, api at %s", web.ReachedAt, api.ReachedAt)
	}
}
