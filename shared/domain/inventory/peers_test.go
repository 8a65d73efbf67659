package inventory

import (
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/tabletest"
)

// TestOnDynamoDB walks through discovery, listing and compaction on a twin of DynamoDB: with more resources than one
// page of a query or one batch holds, a list still costs two round trips.
func TestOnDynamoDB(t *testing.T) {
	c := clock.NewManual(noon)
	s := newFixtureOn(t, table.Fenced(tabletest.NewDynoxide(t)), c)
	const count = 3_000
	sc := s.scan("job_1")
	equal(t, "first", s.upsert(sc, instances(0, count)...), Changes{Created: count})
	s.finish(sc)
	equal(t, "again", s.upsert(s.scan("job_2"), instances(0, count)...), Changes{Unchanged: count})
	s.seen(Seen{instance(0).UID, cloud.Starting, noon.Add(1)})
	s.Must(s.store.fold(s.ctx, false))
	s.Must(s.store.fold(s.ctx, true))
	equal(t, "listed", len(s.states()), count)
	equal(t, "status", s.find(List{Filter: Filter{Statuses: []string{string(cloud.Starting)}}})[0].UID, instance(0).UID)
	ctx, meter := table.WithMeter(s.ctx)
	got, err := s.store.FindResources(ctx, testOrg, List{Filter: everything, Skip: count - 20, Limit: 20})
	s.Must(err)
	equal(t, "last page", len(got), 20)
	equal(t, "round trips", meter.Usage().RoundTrips, 2)
	g := s.group("Web", instance(5).UID, instance(1).UID)
	members, err := s.store.ExpandGroup(s.ctx, testOrg, g.ID)
	s.Must(err)
	equal(t, "members", len(members), 2)
	forgotten, err := s.store.ForgetAccount(s.ctx, testOrg, testCA)
	s.Must(err)
	equal(t, "forgotten", forgotten, Changes{Dropped: count})
	equal(t, "left", len(s.states()), 0)
}
