package clock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter.dev/shared/foundation/clock"
)

func TestManual_AwaitSleepersWaitsUntilSoManyHaveCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := clock.NewManual(time.Unix(1000, 0))
		came := make(chan error, 1)
		go func() { came <- m.AwaitSleepers(t.Context(), 2) }()
		slept := make(chan error, 2)
		go func() { slept <- m.Sleep(t.Context(), time.Second) }()
		synctest.Wait()
		if len(came) > 0 {
			t.Fatal("one sleeper was taken for two")
		}
		go func() { slept <- m.Sleep(t.Context(), time.Minute) }()
		if err := <-came; err != nil || m.SleeperCount() != 2 {
			t.Fatalf("%d sleepers, %v", m.SleeperCount(), err)
		}
		m.Advance(time.Minute)
		if err := errors.Join(<-slept, <-slept); err != nil || m.SleeperCount() != 0 {
			t.Fatalf("%d sleepers, %v", m.SleeperCount(), err)
		}
	})
}

func TestManual_AwaitSleepersEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := clock.NewManual(time.Unix(1000, 0)).AwaitSleepers(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
}
