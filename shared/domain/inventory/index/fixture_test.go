package index

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/tabletest"
)

const testOrg = "org_1"

// fixture is the index of an organization without resources.
type fixture struct {
	testing.TB
	ctx   context.Context
	clock *clock.Manual
	table table.Store
	store *Store
}

func newFixture(tb testing.TB) *fixture {
	tb.Helper()
	c := clock.NewManual(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	t := table.Fenced(tabletest.NewAt(tb, c))
	return &fixture{
		TB: tb, ctx: table.WithOrg(context.Background(), testOrg), clock: c, table: t,
		store: NewStore(t, c),
	}
}

func (f *fixture) check(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// segment returns all rows of the state, except rows that were dropped before the time since.
func (st *State) segment(since int64) *Segment {
	return &Segment{Symbols: st.Symbols, Rows: st.entries(st.known(since)), seen: st.unmerged(), scans: st.scanned()}
}

// count returns how many items of the index begin with a prefix.
func (f *fixture) count(prefix string) int {
	f.Helper()
	page, err := f.table.Query(f.ctx, table.Query{PK: PK(testOrg), Prefix: prefix, Limit: 10_000})
	f.check(err)
	return len(page.Items)
}

// sample is a row of a test; times are in microseconds.
type sample struct {
	id                              ulid.ULID
	uid, name, kind, region, status string
	statusAt, seenAt, createdAt     int64
	tags                            map[string]string
	capacity                        map[string]int64
}

// newSampleRow makes an entry of a segment.
func newSampleRow(g *Segment, s sample) Entry {
	syms := g.Symbols
	r := Entry{
		UID: s.uid, Name: s.name, ID: s.id, Tags: syms.InternTags(s.tags),
		Capacity: syms.InternCapacity(s.capacity),
	}
	r.Refs[KindRef], r.Refs[RegionRef], r.Refs[StatusRef] = syms.Intern(s.kind), syms.Intern(s.region),
		syms.Intern(s.status)
	r.Refs[ProviderRef], r.Refs[AccountRef] = syms.Intern("aws"), syms.Intern("ca")
	r.Times[ContentTime], r.Times[SeenTime], r.Times[StatusTime], r.Times[CreatedTime] = s.seenAt, s.seenAt, s.statusAt,
		s.createdAt
	return r
}

// largeSample returns the n-th of many rows that are as large as rows of real clouds, and differ from each other.
func largeSample(n int) sample {
	return sample{
		id: ulid.ULID{1, byte(n), byte(n >> 8)}, uid: fmt.Sprintf("i-%017x", n*2654435761),
		name: fmt.Sprintf("Web-%06d", (n*7919)%1_000_003),
		kind: "aws-ec2", region: "eu-west-1", status: []string{"running", "stopped"}[n%2],
		tags: map[string]string{
			"env": []string{"prod", "staging", "dev"}[n%3], "team": fmt.Sprintf("team-%02d", n%40),
			"owner": fmt.Sprintf("person-%d", n%500),
		},
		capacity: map[string]int64{"vCPU": int64(n%8 + 1)}, statusAt: int64(n), seenAt: int64(n) * 1e6,
		createdAt: int64(n) * 6e7,
	}
}

func anyStatus(r *rand.Rand) string {
	return string([]cloud.Status{cloud.Running, cloud.Stopped, cloud.Stopping, cloud.Terminated}[r.IntN(4)])
}

func inAnyOrder[T any](r *rand.Rand, s []T) []T {
	out := slices.Clone(s)
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}
