package rescaling

import (
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/readiness"
)

// A provider that needs two calls restores the bounds, and fails before it restores the size.
func TestAdvance_ARestoreThatFailsBetweenBoundsAndSizeIsRepeated(t *testing.T) {
	f := newFixture(t, "web")
	_, in := f.dispatched()
	f.drive(in, readiness.Active)
	failures := 3
	f.cloud.before = func(uid string, want cloud.Autoscaling) error {
		if failures--; failures < 0 {
			return nil
		}
		f.cloud.mu.Lock()
		defer f.cloud.mu.Unlock()
		a := f.cloud.at[uid]
		a.Min, a.Max = want.Min, want.Max
		f.cloud.at[uid] = a
		return &cloud.Error{Class: cloud.Transient, Message: "the second call failed"}
	}
	f.drive(in, readiness.Completed)
	f.asBefore(in)
}

// A provider accepts the size and does not set it.
func TestAdvance_ASizeThatWasAcceptedAndNotSetIsSetAgain(t *testing.T) {
	f := newFixture(t, "web")
	_, in := f.dispatched()
	f.drive(in, readiness.Active)
	f.cloud.after = func() error {
		f.cloud.after = nil
		f.cloud.mu.Lock()
		defer f.cloud.mu.Unlock()
		a := f.cloud.at["web"]
		a.Desired = during.Desired
		f.cloud.at["web"] = a
		return nil
	}
	f.drive(in, readiness.Completed)
	f.asBefore(in)
}
