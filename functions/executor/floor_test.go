package executor

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/race"
	"lamplighter.dev/shared/testkit/tabletest"
)

// TestBulk_OfManyInstancesIsNearlyAsFastAsTheCloudAllows stops instances of one account and region. The cloud
// enforces the rate limits that AWS documents: for stops 1,000 instances and 20 more each second, for describes 100
// calls and 20 more each second.
func TestBulk_OfManyInstancesIsNearlyAsFastAsTheCloudAllows(t *testing.T) {
	if tabletest.Limits() != nil {
		t.Skip("limits its store itself: the store of the simulated cloud, which locks while it is read, must not " +
			"wait in a bubble")
	}
	// outside: all bubbles share the index's compressor
	newFixture(t, map[string]string{"size": "40"})
	for _, size := range []int{2_000, 10_000} {
		t.Run(strconv.Itoa(size), func(t *testing.T) {
			if size > 2_000 && (testing.Short() || race.Enabled) {
				t.Skip("stops 10,000 instances: not with -short, nor with the race detector")
			}
			synctest.Test(t, func(t *testing.T) { stopAtTheLimit(t, size) })
		})
	}
}

func stopAtTheLimit(t *testing.T, size int) {
	t.Helper()
	time.Sleep(time.Until(noon))
	const transition = 5 * time.Second
	w := newFixtureOn(t, apitest.PlatformAt(t, clock.System{}), map[string]string{
		"size": strconv.Itoa(size * 115 / 100), "kinds": "aws-ec2", "regions": "1", "stopped": "0", "limits": "true",
		"transitionSeconds": strconv.Itoa(int(transition.Seconds())), "callMillis": "200",
	})
	time.Sleep(time.Minute) // the buckets are full again after the discovery
	g := w.newFlatGroup(size)
	in := w.submitBulk(g, cloud.Stop)
	engine, before := w.engine(), countCalls(w)
	began := time.Now()
	w.Must(engine.Start(w.ctx, execution.BulkMachine, in.BulkID, in))
	w.awaitExecution(engine, in.BulkID)
	took := time.Since(began)
	w.Must(engine.Close())
	least := time.Duration(size-1000)*time.Second/20 + transition
	made := countCalls(w) - before
	t.Logf("%d took %s, %.2f of the least %s; %d calls, of which %d refused; %d states", size, took,
		took.Seconds()/least.Seconds(), least,
		made, simulated.RefusedCalls(w.e.providers["simulated"], w.account.ID), w.states.Load())
	if took > least*12/10 {
		t.Errorf("took %s; the limits allow %s, and 1.2 times that is wanted", took, least)
	}
	if b := w.bulk(in.BulkID); b.Completed != size || b.Failed != 0 {
		t.Errorf("%+v", b)
	}
	if refused := simulated.RefusedCalls(w.e.providers["simulated"], w.account.ID); refused > made/20 {
		t.Errorf("%d of %d calls were refused", refused, made)
	}
}
