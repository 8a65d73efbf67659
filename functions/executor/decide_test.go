package executor

import (
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
)

// TestEveryStateIsJudged walks every live status against every state of an action.
func TestEveryStateIsJudged(t *testing.T) {
	const end, fail, act, wait, retry = "end", "fail", "act", "wait", "retry"
	progress := map[string]execution.Progress{
		"fresh":    {},
		"accepted": {ActedAt: noon.Add(-time.Second), Changed: true},
		"ignored":  {ActedAt: noon.Add(-time.Minute), Changed: true},
		"pausing":  {Errors: 1, NextAt: noon.Add(time.Second), Changed: true},
		"worn out": {Errors: 2, ActedAt: noon.Add(-time.Minute), Changed: true},
	}
	for _, c := range []struct {
		verb   cloud.Verb
		status cloud.Status
		want   map[string]string // by progress
	}{
		{cloud.Stop, cloud.Stopped, sameVerdicts(end)},
		{cloud.Start, cloud.Running, sameVerdicts(end)},
		{cloud.Stop, cloud.Terminated, sameVerdicts(fail)},
		{cloud.Stop, cloud.Stopping, sameVerdicts(wait)},
		{cloud.Stop, cloud.Starting, sameVerdicts(wait)},
		{cloud.Stop, cloud.Pending, sameVerdicts(wait)},
		{cloud.Start, cloud.Stopping, sameVerdicts(wait)},
		{
			cloud.Stop, cloud.Running,
			map[string]string{"fresh": act, "accepted": wait, "ignored": retry, "pausing": wait, "worn out": fail},
		},
		{
			cloud.Start, cloud.Stopped,
			map[string]string{"fresh": act, "accepted": wait, "ignored": retry, "pausing": wait, "worn out": fail},
		},
		{
			cloud.Start, cloud.Unknown,
			map[string]string{"fresh": act, "accepted": wait, "ignored": retry, "pausing": wait, "worn out": fail},
		},
	} {
		for name, p := range progress {
			t.Run(string(c.verb)+" of "+string(c.status)+", "+name, func(t *testing.T) {
				r := &run{now: noon}
				a := &execution.Action{
					Action: c.verb, Status: execution.Running, StartedAt: noon.Add(-time.Minute),
					Progress: &p,
				}
				errors := p.Errors
				r.judgeAction(a, cloud.State{Status: c.status})
				if got := verdict(r, a, errors); got != c.want[name] {
					t.Errorf("judged %s, want %s", got, c.want[name])
				}
			})
		}
	}
}

func sameVerdicts(verdict string) map[string]string {
	return map[string]string{
		"fresh": verdict, "accepted": verdict, "ignored": verdict, "pausing": verdict,
		"worn out": verdict,
	}
}

func verdict(r *run, a *execution.Action, errors int) string {
	switch {
	case len(r.ready) > 0:
		return "act"
	case len(r.ended) > 0 && r.ended[0].Status == execution.Failed:
		return "fail"
	case len(r.ended) > 0:
		return "end"
	case a.Progress.Errors > errors && a.Progress.NextAt.After(r.now):
		return "retry"
	case len(r.waiting) > 0:
		return "wait"
	}
	return "lost"
}

func TestAnUnschedulableResourceIsNeverActedOn(t *testing.T) {
	r := &run{now: noon}
	a := &execution.Action{Action: cloud.Stop, Progress: &execution.Progress{}}
	r.judgeAction(a, cloud.State{Status: cloud.Running, Unschedulable: "member of Auto Scaling group web: act on " +
		"the group"})
	if len(r.ready) != 0 || len(r.ended) != 1 ||
		r.ended[0].Message != "member of Auto Scaling group web: act on the group" {
		t.Errorf("acts %d, ended %+v", len(r.ready), r.ended)
	}
}

func TestAKindWhoseSizeIsSetIsActedOnWhileItMovesTheOtherWay(t *testing.T) {
	for _, c := range []struct {
		absolute bool
		status   cloud.Status
		acts     int
	}{
		{true, cloud.Starting, 1},  // a group short of capacity would never arrive
		{true, cloud.Stopping, 0},  // it is on its way
		{false, cloud.Starting, 0}, // an instance refuses a stop while it starts
	} {
		r := &run{now: noon, kind: cloud.Kind{Absolute: c.absolute}}
		r.judgeAction(&execution.Action{Action: cloud.Stop, Progress: &execution.Progress{}},
			cloud.State{Status: c.status})
		if len(r.ready) != c.acts {
			t.Errorf("absolute %t, %s: %d acts, want %d", c.absolute, c.status, len(r.ready), c.acts)
		}
	}
}

func TestThePauseBetweenAttemptsDoublesAndVaries(t *testing.T) {
	seen := map[time.Duration]bool{}
	for range 50 {
		r := &run{now: noon}
		a := &execution.Action{Action: cloud.Stop, Progress: &execution.Progress{}}
		for i, least := range []time.Duration{firstBackoff, 2 * firstBackoff} {
			r.countAttempt(a, "", "throttled")
			pause := a.Progress.NextAt.Sub(noon)
			if pause < least || pause > 2*least {
				t.Fatalf("pause %d is %s, want %s to %s", i+1, pause, least, 2*least)
			}
			seen[pause] = true
		}
	}
	if len(seen) < 10 {
		t.Errorf("only %d different pauses: no jitter", len(seen))
	}
}
