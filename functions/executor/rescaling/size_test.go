package rescaling

import (
	"testing"

	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/testkit/apitest"
)

// A group with a Google autoscaler keeps its raised size for some minutes after its bounds are restored. A stop in
// that time stores the size from before the plan.
func TestAdvance_AGroupThatItsProviderSizesLeavesTheSizeFromBeforeToTheNextStop(t *testing.T) {
	f := newFixture(t, "web", "api")
	f.cloud.sized = map[string]bool{"web": true}
	web := before
	web.SizedByProvider = true
	f.cloud.at["web"] = web
	_, in := f.dispatched()
	f.drive(in, readiness.Completed)
	if got := f.size("web"); got.Min != before.Min || got.Desired != during.Desired {
		t.Fatalf("the provider has moved the size already: %s", got)
	}
	if len(f.cloud.kept) == 0 {
		t.Fatal("no size is kept for the next stop")
	}
	for _, m := range f.cloud.kept {
		if m.Target.UID != "web" || string(m.Snapshot) != apitest.JSON(sizeOf(before)) ||
			!m.KeepUntil.Equal(f.Clock.Now().Add(settleTime)) || m.ActionID != "" {
			t.Errorf("kept for the next stop: %s", apitest.JSON(m))
		}
	}
}

func TestAdvance_AGroupThatHasItsSizeBackLeavesNothingToTheNextStop(t *testing.T) {
	f := newFixture(t, "web")
	_, in := f.dispatched()
	f.drive(in, readiness.Completed)
	if len(f.cloud.kept) != 0 {
		t.Errorf("%s", apitest.JSON(f.cloud.kept))
	}
}
