package inventory

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/tabletest"
)

// TestUpsert_OfAFirstDiscoveryIsNotBoundByTheRecords upserts 20,000 new resources in 20 regions side by side, on a
// store with DynamoDB's limits per key. With all records under one key they took 40 s.
func TestUpsert_OfAFirstDiscoveryIsNotBoundByTheRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := table.NewLimitedStore(tabletest.New(t), clock.System{},
			table.Limits{ReadUnits: 3000, WriteUnits: 1000, Hold: 20 * time.Millisecond})
		p := &platform.Platform{Table: s, Clock: clock.System{}}
		w := &fixture{
			apitest.On(t, p), table.WithOrg(t.Context(), testOrg), NewStore(s, clock.System{}),
			map[Scan]*Found{},
		}
		w.account(testCA, "production")
		began := time.Now()
		var g errgroup.Group
		g.SetLimit(10)
		for region := range 20 {
			g.Go(func() error { return w.firstScan(fmt.Sprintf("region-%d", region), 1000) })
		}
		w.Must(g.Wait())
		took, records, other := time.Since(began), 0.0, ""
		for pk, u := range s.Report().Peaks {
			if name := strings.TrimPrefix(pk, table.OrgPK(testOrg)); strings.HasPrefix(name, "RES#") {
				records = max(records, u.Write)
			} else if u.Write > 100 {
				other += fmt.Sprintf(" %s %.0f W", name, u.Write)
			}
		}
		t.Logf("%s; a key of records gave at most %.0f W in a second;%s; %+v", took, records, other,
			s.Report().Throttled)
		if most := 10 * time.Second; took > most || records == 0 {
			t.Errorf("took %s, want at most %s", took, most)
		}
	})
}

// firstScan upserts n new resources in a region.
func (s *fixture) firstScan(region string, n int) error {
	scan := Scan{Partition{testCA, "aws", region, "aws-ec2"}, "first-" + region, s.Platform.Clock.Now()}
	found := make([]cloud.Resource, n)
	for i := range found {
		found[i] = instance(i)
		found[i].UID, found[i].Region = region+found[i].UID, region
	}
	_, err := s.store.UpsertScanned(s.ctx, testOrg, Batch{Scan: scan, At: s.Platform.Clock.Now(), Resources: found})
	return err
}
