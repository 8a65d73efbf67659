package executor

import (
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
)

// runsFor returns how many runs an act takes that is done after took, and how long after that it is seen.
func runsFor(k cloud.Kind, took time.Duration) (runs int, late time.Duration) {
	a := &execution.Action{StartedAt: noon, Progress: &execution.Progress{ActedAt: noon}}
	r := &run{now: noon.Add(glanceAfter), kind: k, waiting: []*execution.Action{a}}
	for runs = 1; r.now.Sub(noon) < took; runs++ {
		r.now = r.now.Add(time.Duration(r.waitSeconds()) * time.Second)
	}
	return runs, r.now.Sub(noon) - took
}

func TestWait_TakesFewRunsAndIsNotLongLate(t *testing.T) {
	quick := cloud.Kind{Usual: 2 * time.Second}
	for _, c := range []struct {
		what string
		kind cloud.Kind
		took time.Duration
		runs int
		late time.Duration
	}{
		{"at once", cloud.Kind{}, 0, 1, glanceAfter},
		{"a second", cloud.Kind{}, time.Second, 1, 0},
		{"a stop of 5 s", cloud.Kind{}, 5 * time.Second, 2, 11 * time.Second},
		{"a start of 20 s", cloud.Kind{}, 20 * time.Second, 3, 11 * time.Second},
		{"a stop of 45 s", cloud.Kind{}, 45 * time.Second, 4, 10 * time.Second},
		{"a stop of 2 min", cloud.Kind{}, 2 * time.Minute, 8, time.Minute},
		{"a database's of 10 min", cloud.Kind{}, 10 * time.Minute, 16, time.Minute},
		{"at once, of the simulated cloud", quick, 500 * time.Millisecond, 1, time.Second},
		{"as long as the simulated cloud takes", quick, 5 * time.Second, 3, 2 * time.Second},
		{"10 s, of the simulated cloud", quick, 10 * time.Second, 6, 4 * time.Second},
	} {
		if runs, late := runsFor(c.kind, c.took); runs > c.runs || late > c.late {
			t.Errorf("%s: %d runs, seen %s late; want at most %d, %s", c.what, runs, late, c.runs, c.late)
		}
	}
}

func TestRun_SeesWhatIsDoneAtOnce(t *testing.T) {
	w := newFixture(t, map[string]string{"size": "40", "stopped": "0", "transitionSeconds": "0.5"})
	a := w.submit(w.pick("aws-ec2", cloud.Running), cloud.Stop)
	in := execution.RunInput{Org: org, Actions: []string{a.ID}, Until: execution.UntilSettled}
	if got := apitest.Value(w.e.RunActions(w.ctx, in))(w); !got.Done || w.action(a.ID).Status != execution.Succeeded {
		t.Errorf("%+v: %+v", got, w.action(a.ID))
	}
	b := w.submit(w.pick("aws-rds", cloud.Running), cloud.Stop)
	in = execution.RunInput{Org: org, Actions: []string{b.ID}, Until: execution.UntilAccepted}
	began := w.Clock.Now()
	if got := apitest.Value(w.e.RunActions(w.ctx, in))(w); !got.Done || !w.Clock.Now().Equal(began) {
		t.Errorf("a step that need only be accepted took %s: %+v", w.Clock.Now().Sub(began), got)
	}
}

// Acts that AWS completes at once are seen at once. Acts that take a second are seen by the same run, for one more
// call.
func TestOnAWS_AGlanceAsksForFewFirst(t *testing.T) {
	const size = 250
	for _, c := range []struct {
		what  string
		takes time.Duration
		done  time.Duration
		calls int // of 100 each
	}{
		{"at once", sampleAfter / 2, sampleAfter, 3},
		{"within the second", 800 * time.Millisecond, glanceAfter, 1 + 3},
	} {
		t.Run(c.what, func(t *testing.T) {
			onAWS(t, func(w *awsFixture) {
				w.first.Takes = c.takes
				var ids []string
				for range size {
					ids = append(ids, w.submit(w.instance(awstwin.AccessKey, awstwin.Instance{}), cloud.Stop).ID)
				}
				began := time.Now()
				got := apitest.Value(w.e.RunActions(w.ctx,
					execution.RunInput{Org: org, Actions: ids, Until: execution.UntilSettled}))(w)
				if took := time.Since(began); !got.Done || took < c.done || took > c.done+100*time.Millisecond {
					t.Errorf("one run took %s: %+v; want all done after %s", took, got, c.done)
				}
				if n := len(w.first.Calls("ec2:DescribeInstanceStatus")); n != c.calls {
					t.Errorf("%d calls; want %d", n, c.calls)
				}
				for _, id := range ids {
					if a := w.action(id); a.Status != execution.Succeeded {
						t.Errorf("%+v", a)
						return
					}
				}
			})
		})
	}
}
