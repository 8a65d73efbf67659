package ratelimit_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter.dev/shared/engine/ratelimit"
	"lamplighter.dev/shared/foundation/clock"
)

func TestBucket_GivesItsBurstAtOnceAndThenItsRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, begin := ratelimit.NewBucket(clock.System{}, 10, 5), time.Now()
		for range 25 {
			if err := b.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(begin).Round(time.Millisecond); took != 2*time.Second {
			t.Errorf("25 calls took %s; 5 at once and 10 a second are 2 s", took)
		}
	})
}

func TestBucket_EndsItsWaitWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := ratelimit.NewBucket(clock.System{}, 0.1, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := b.Wait(ctx); err != nil {
			t.Fatal(err)
		}
		if err := b.Wait(ctx); err == nil {
			t.Fatal("it gave what it did not have")
		}
	})
}
