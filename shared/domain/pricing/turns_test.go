package pricing

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
)

func TestUpdateTurns_OneUpdateOfAnOrganizationRunsAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newUpdateTurns(nil)
		end, err := turns.take(t.Context(), "org_1")
		if err != nil {
			t.Fatal(err)
		}
		other, err := turns.take(t.Context(), "org_2") // waits for nothing
		if err != nil {
			t.Fatal(err)
		}
		other()
		taken := make(chan int, 3)
		var all sync.WaitGroup
		for n := range 3 {
			all.Go(func() {
				end, err := turns.take(t.Context(), "org_1")
				if err != nil {
					t.Error(err)
					return
				}
				taken <- n
				synctest.Wait() // all others wait for this one
				if len(taken) != 1 {
					t.Errorf("%d updates run at once", len(taken))
				}
				<-taken
				end()
			})
		}
		synctest.Wait()
		if len(taken) != 0 {
			t.Error("an update runs beside another one")
		}
		end()
		all.Wait()
	})
}

func TestUpdateTurns_AWaitEndsWithItsContext(t *testing.T) {
	turns := newUpdateTurns(nil)
	end, err := turns.take(t.Context(), "org_1")
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("the function is late")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err = turns.take(ctx, "org_1"); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	end()
	if len(turns.running) != 0 {
		t.Errorf("%d organizations are kept", len(turns.running))
	}
}
