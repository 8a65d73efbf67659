package inventory

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/tabletest"
)

const (
	testOrg = "org_1"
	testCA  = "ca_1"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fixture is an organization with one account.
type fixture struct {
	*apitest.Fixture
	ctx   context.Context
	store *Store
	found map[Scan]*Found
}

func newFixture(tb testing.TB) *fixture {
	tb.Helper()
	c := clock.NewManual(noon)
	return newFixtureOn(tb, table.Fenced(tabletest.NewAt(tb, c)), c)
}

func newFixtureOn(tb testing.TB, t table.Store, c *clock.Manual) *fixture {
	tb.Helper()
	s := &fixture{
		apitest.On(tb, &platform.Platform{Table: t, Clock: c}), table.WithOrg(context.Background(), testOrg),
		NewStore(t, c),
		map[Scan]*Found{},
	}
	s.Clock = c
	s.account(testCA, "production")
	return s
}

func (s *fixture) account(id, name string) {
	s.Helper()
	s.Put(AccountKey(testOrg, id), Account{ID: id, Name: name, Provider: "aws"})
}

// scan returns a scan of EC2 in one region that begins now.
func (s *fixture) scan(id string) Scan {
	return Scan{Partition{testCA, "aws", "eu-west-1", "aws-ec2"}, id, s.Clock.Now()}
}

func (s *fixture) upsert(sc Scan, found ...cloud.Resource) Changes {
	s.Helper()
	var sum Changes
	for part := range slices.Chunk(found, MaxBatch) {
		c, err := s.store.UpsertScanned(s.ctx, testOrg, Batch{Scan: sc, At: s.Clock.Now(), Resources: part})
		s.Must(err)
		sum = sum.Add(c[0])
	}
	s.remember(sc, found)
	return sum
}

// remember adds found resources to the scan, like the process that reads the pages.
func (s *fixture) remember(sc Scan, found []cloud.Resource) {
	if s.found[sc] == nil {
		s.found[sc] = &Found{}
	}
	s.found[sc].Add(found)
}

func (s *fixture) finish(sc Scan) Changes {
	s.Helper()
	return s.finishRead(sc, nil)
}

// noneExists answers reads by id when none of the resources exists.
func noneExists(_ context.Context, uids []string) map[string]bool {
	out := map[string]bool{}
	for _, uid := range uids {
		out[uid] = false
	}
	return out
}

// finishRead finishes a scan; exists is the answer to reads by id.
func (s *fixture) finishRead(sc Scan, exists map[string]bool) Changes {
	s.Helper()
	s.remember(sc, nil)
	read := func(context.Context, []string) map[string]bool { return exists }
	c, err := s.store.FinishScans(s.ctx, testOrg, []EndedScan{{Scan: sc, Found: s.found[sc], Exists: read}})
	s.Must(err)
	return c[0]
}

func (s *fixture) seen(seen ...Seen) {
	s.Helper()
	w, err := NoteStatuses(testOrg, s.Clock.Now(), seen)
	s.Must(err)
	s.Write(w)
}

// everything asks for all there is.
var everything = Filter{Sight: SeeEverything()}

func (s *fixture) find(l List) []Listed {
	s.Helper()
	l.Sight = SeeEverything()
	got, err := s.store.FindResources(s.ctx, testOrg, l)
	s.Must(err)
	return got
}

func (s *fixture) uids(l List) []string {
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

// instance returns the n-th instance of a cloud.
func instance(n int) cloud.Resource {
	env := []string{"prod", "staging", "dev"}[n%3]
	return cloud.Resource{
		UID: fmt.Sprintf("i-%017x", uint64(n)*2654435761), Name: fmt.Sprintf("Web-%06d", (n*7919)%1_000_003),
		Type: "aws-ec2", Region: "eu-west-1",
		Zone: "eu-west-1" + string(rune('a'+n%3)), Status: []cloud.Status{cloud.Running, cloud.Stopped}[n%2],
		InstanceType: []string{"t3.micro", "m7g.large", "c7i.xlarge"}[n%3],
		Capacity:     map[string]int64{"vCPU": int64(n%8 + 1)},
		Tags: map[string]string{
			"env": env, "team": fmt.Sprintf("team-%02d", n%40),
			"owner": fmt.Sprintf("person-%d", n%500),
		},
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
