package costquery_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/costquery"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

// TestCountBytes_OfADayAreLimitedAlsoForRacers runs eight concurrent callers with a quota for four.
func TestCountBytes_OfADayAreLimitedAlsoForRacers(t *testing.T) {
	f := apitest.New(t)
	ctx, now := f.In(apitest.Org), f.Clock.Now()
	count := func(ctx context.Context, org string, scanned int64, at time.Time) error {
		_, err := f.Table.Write(ctx, costquery.CountBytes(org, scanned, at))
		return err
	}
	var all sync.WaitGroup
	var taken atomic.Int64
	for range 8 {
		all.Go(func() {
			switch err := count(ctx, apitest.Org, costquery.MaxDailyBytes/4, now); {
			case err == nil:
				taken.Add(1)
			case !fault.Is(err, fault.Conflict):
				t.Error(err)
			}
		})
	}
	all.Wait()
	f.Equal("questions that had room", taken.Load(), int64(4))
	f.Equal("more than a day's",
		fault.Is(count(f.In(apitest.OtherOrg), apitest.OtherOrg, costquery.MaxDailyBytes+1, now), fault.Conflict), true)
	f.Must(count(ctx, apitest.Org, 1, now.Add(24*time.Hour)))
	f.Must(count(f.In(apitest.OtherOrg), apitest.OtherOrg, 1, now))
}
