package costquery_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/costquery"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

// TestTakeBytes_OfADayAreLimitedAlsoForRacers: eight callers race for a quota that has room for four.
func TestTakeBytes_OfADayAreLimitedAlsoForRacers(t *testing.T) {
	f := apitest.New(t)
	ctx, now := f.In(apitest.Org), f.Clock.Now()
	var all sync.WaitGroup
	var taken atomic.Int64
	for range 8 {
		all.Go(func() {
			switch err := costquery.TakeBytes(ctx, f.Table, apitest.Org, costquery.MaxDailyBytes/4, now); {
			case err == nil:
				taken.Add(1)
			case !fault.Is(err, fault.Conflict):
				t.Error(err)
			}
		})
	}
	all.Wait()
	f.Equal("questions that had room", taken.Load(), int64(4))
	f.Equal("more than a day's", fault.Is(costquery.TakeBytes(f.In(apitest.OtherOrg), f.Table, apitest.OtherOrg, costquery.MaxDailyBytes+1, now), fault.Conflict), true)
	f.Must(costquery.TakeBytes(ctx, f.Table, apitest.Org, 1, now.Add(24*time.Hour)))
	f.Must(costquery.TakeBytes(f.In(apitest.OtherOrg), f.Table, apitest.OtherOrg, 1, now))
}
