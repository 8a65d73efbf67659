package rescaling

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/testkit/killpoint"
	"lamplighter.dev/shared/testkit/race"
)

// A process dies before or after any write, or at any call to the cloud. The plan ends as if it had not died, and its
// steps are logged once.
func TestAdvance_DyingAtAnyStepChangesNothing(t *testing.T) {
	race.SkipRepetition(t)
	for _, after := range []bool{false, true} {
		for n := 1; ; n++ {
			f := newFixture(t, "web", "api")
			_, in := f.dispatched()
			if !f.dieAt(in, n, after) {
				break
			}
			if n > 200 {
				t.Fatal("it never ends")
			}
			f.drive(in, readiness.Completed)
			if f.status(in) != readiness.Completed {
				t.Errorf("died at write %d, after it %v: it is %s", n, after, f.status(in))
			}
			f.asBefore(in)
			if lines := f.once(in); len(lines) != 12 {
				t.Errorf("died at write %d, after it %v: %d lines", n, after, len(lines))
			}
			if t.Failed() {
				t.FailNow()
			}
		}
	}
}

// dieAt drives a plan by a process that dies at its n-th write; false when there is none.
func (f *fixture) dieAt(in readiness.Input, n int, after bool) bool {
	f.Helper()
	ctx, p := killpoint.Start(f.In(org), killpoint.Point{Step: n, Landed: after})
	store := p.Store(f.Table)
	plans := readiness.New(store, f.Clock)
	r := &Runner{
		Table: store, Clock: f.Clock, Open: f.r.Open, Starter: f.cloud,
		Report: func(ctx context.Context, org, planID string, rep readiness.Report) error {
			_, err := plans.Take(ctx, org, planID, rep)
			return err
		},
	}
	for range 500 {
		got, err := r.Advance(ctx, in)
		switch {
		case p.Killed():
			return true
		case err != nil:
			f.Fatal(err)
		case got.Done:
			return false
		}
		f.wait(got)
	}
	f.Fatal("not done after 500 steps")
	return false
}

func TestAdvance_DyingInAnyCallToTheCloudChangesNothing(t *testing.T) {
	for n := range 4 {
		for _, landed := range []bool{false, true} {
			t.Run(fmt.Sprintf("call %d, landed %v", n, landed), func(t *testing.T) {
				f := newFixture(t, "web", "api")
				_, in := f.dispatched()
				var calls atomic.Int64
				ctx, kill := context.WithCancel(f.In(org))
				defer kill()
				die := func() error {
					if calls.Add(1) == int64(n+1) {
						kill()
						return killpoint.ErrKilled
					}
					return nil
				}
				if landed {
					f.cloud.after = die
				} else {
					f.cloud.before = func(string, cloud.Autoscaling) error { return die() }
				}
				for ctx.Err() == nil {
					got, err := f.r.Advance(ctx, in)
					if err == nil {
						f.wait(got)
					}
				}
				f.drive(in, readiness.Completed)
				f.asBefore(in)
				f.once(in)
			})
		}
	}
}
