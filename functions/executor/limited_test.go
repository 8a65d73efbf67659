package executor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/race"
	"lamplighter.dev/shared/testkit/tabletest"
)

// TestBulk_UnderDynamoDBsLimits stops instances through the real machine, on a store with DynamoDB's throughput limit
// for each key, which refuses transactions that collide. No action may be recorded as failed.
func TestBulk_UnderDynamoDBsLimits(t *testing.T) {
	if tabletest.Limits() != nil {
		t.Skip("limits its store itself: the store of the simulated cloud, which locks while it is read, must not " +
			"wait in a bubble")
	}
	// outside: all bubbles share the index's compressor
	newFixture(t, map[string]string{"size": "40"})
	for _, c := range []struct {
		size int
		hold time.Duration
		most time.Duration
	}{
		{10_000, 20 * time.Millisecond, 30 * time.Second},
		{2_000, 5 * time.Millisecond, 20 * time.Second},
		{2_000, 40 * time.Millisecond, 20 * time.Second},
	} {
		t.Run(fmt.Sprintf("%d, each item held for %s", c.size, c.hold), func(t *testing.T) {
			if c.size > 2_000 && (testing.Short() || race.Enabled) {
				t.Skip("stops 10,000 instances: not with -short, nor with the race detector")
			}
			synctest.Test(t, func(t *testing.T) { stopLimited(t, c.size, c.hold, c.most) })
		})
	}
}

func stopLimited(t *testing.T, size int, hold, most time.Duration) {
	t.Helper()
	time.Sleep(time.Until(noon)) // the bubble's time begins long before
	w := newFixtureOn(t, apitest.PlatformAt(t, clock.System{}), map[string]string{
		"size": strconv.Itoa(size * 115 / 100), "kinds": "aws-ec2", "regions": "2", "stopped": "0",
		"transitionSeconds": "5", "callMillis": "200",
	})
	g := w.newFlatGroup(size)
	in := w.submitBulk(g, cloud.Stop)
	limited := table.NewLimitedStore(w.Table, clock.System{},
		table.Limits{ReadUnits: 3000, WriteUnits: 1000, Hold: hold})
	w.swapStore(limited)
	engine := w.engine() // it keeps the data of Step Functions in a store of its own
	began := time.Now()
	w.Must(engine.Start(w.ctx, execution.BulkMachine, in.BulkID, in))
	w.awaitExecution(engine, in.BulkID)
	took := time.Since(began)
	w.Must(engine.Close())
	if took > most {
		t.Errorf("took %s, want at most %s", took, most)
	}
	places := apitest.Value(w.e.inventory.ListPlacements(w.ctx, org, g.ID))(w)
	if failed := w.auditBulk(w.bulk(in.BulkID), places); failed > 0 {
		t.Errorf("%d of %d failed", failed, size)
	}
	tellPeaks(t, limited.Report(), took)
}

func tellPeaks(t *testing.T, r table.LimitReport, took time.Duration) {
	t.Helper()
	t.Logf("%s; %d throttled, %d in conflict, %d given up", took, r.Throttled, r.Conflicts, r.GivenUp)
	peaks := map[string]table.Units{}
	for pk, u := range r.Peaks {
		name := strings.TrimPrefix(pk, table.OrgPK(org))
		p := peaks[name]
		p.Read, p.Write = max(p.Read, u.Read), max(p.Write, u.Write)
		peaks[name] = p
	}
	var names []string
	for name, p := range peaks {
		if p.Write > 100 || p.Read > 300 {
			names = append(names, fmt.Sprintf("%s %.0f R %.0f W", name, p.Read, p.Write))
		}
	}
	slices.Sort(names)
	t.Logf("peaks of a second: %s", strings.Join(names, ", "))
}
