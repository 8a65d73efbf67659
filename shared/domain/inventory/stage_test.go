package inventory

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/table/tabletest"
	"lamplighter.dev/shared/foundation/clock"
)

const (
	testOrg = "org_1"
	testCA  = "ca_1"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// stage is an organization with one account.
type stage struct {
	testing.TB
	ctx   context.Context
	clock *clock.Manual
	table table.Store
	store *Store
}

func newStage(tb testing.TB) *stage {
	tb.Helper()
	c := clock.NewManual(noon)
	return stageOn(tb, table.Fenced(tabletest.NewAt(tb, c)), c)
}

func stageOn(tb testing.TB, t table.Store, c *clock.Manual) *stage {
	tb.Helper()
	s := &stage{TB: tb, ctx: table.WithTenant(context.Background(), testOrg), clock: c, table: t, store: NewStore(t, c)}
	s.account(testCA, "production")
	return s
}

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *stage) account(id, name string) {
	s.Helper()
	it, err := table.Row(AccountKey(testOrg, id), Account{ID: id, Name: name, Provider: "aws"})
	s.must(err)
	_, err = s.table.Write(s.ctx, table.Put(it))
	s.must(err)
}

// scan is a scan of EC2 in one region that begins now.
func (s *stage) scan(id string) Scan {
	return Scan{Partition{testCA, "aws", "eu-west-1", "aws-ec2"}, id, s.clock.Now()}
}

func (s *stage) upsert(sc Scan, found ...cloud.Resource) Changes {
	s.Helper()
	var sum Changes
	for part := range slices.Chunk(found, MaxBatch) {
		c, err := s.store.Upsert(s.ctx, testOrg, Batch{Scan: sc, At: s.clock.Now(), Resources: part})
		s.must(err)
		sum = sum.Add(c)
	}
	return sum
}

func (s *stage) finish(sc Scan) Changes {
	s.Helper()
	c, err := s.store.Finish(s.ctx, testOrg, sc)
	s.must(err)
	return c
}

func (s *stage) seen(seen ...Seen) {
	s.Helper()
	w, err := Delta(testOrg, s.clock.Now(), seen)
	s.must(err)
	_, err = s.table.Write(s.ctx, w)
	s.must(err)
}

// everything asks for all there is.
var everything = Filter{Sight: Everything()}

func (s *stage) find(l List) []Listed {
	s.Helper()
	l.Sight = Everything()
	got, err := s.store.Find(s.ctx, testOrg, l)
	s.must(err)
	return got
}

func (s *stage) uids(l List) []string {
	s.Helper()
	return uidsOf(s.find(l))
}

func uidsOf(list []Listed) []string {
	out := []string{}
	for _, r := range list {
		out = append(out, r.UID)
	}
	return out
}

// instance is the n-th instance of a cloud.
func instance(n int) cloud.Resource {
	env := []string{"prod", "staging", "dev"}[n%3]
	return cloud.Resource{
		UID: fmt.Sprintf("i-%017x", uint64(n)*2654435761), Name: fmt.Sprintf("Web-%06d", (n*7919)%1_000_003), Type: "aws-ec2", Region: "eu-west-1",
		Zone: "eu-west-1" + string(rune('a'+n%3)), Status: []cloud.Status{cloud.Running, cloud.Stopped}[n%2],
		InstanceType: []string{"t3.micro", "m7g.large", "c7i.xlarge"}[n%3], Capacity: map[string]int64{"vCPU": int64(n%8 + 1)},
		Tags:      map[string]string{"env": env, "team": fmt.Sprintf("team-%02d", n%40), "owner": fmt.Sprintf("person-%d", n%500)},
		CreatedAt: noon.Add(-time.Duration(n) * time.Minute),
	}
}

func instances(from, to int) []cloud.Resource {
	out := make([]cloud.Resource, 0, to-from)
	for n := from; n < to; n++ {
		out = append(out, instance(n))
	}
	return out
}

func randomStatus(r *rand.Rand) cloud.Status {
	return []cloud.Status{cloud.Running, cloud.Stopped, cloud.Stopping, cloud.Terminated}[r.IntN(4)]
}

func equal[T any](tb testing.TB, what string, got, want T) {
	tb.Helper()
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		tb.Errorf("%s: got %s, want %s", what, g, w)
	}
}
