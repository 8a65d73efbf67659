package inventory

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory/index"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/race"
	"lamplighter.dev/shared/testkit/seed"
	"lamplighter.dev/shared/testkit/tabletest"
)

// The sort keys of deltas and compaction plans in the partition of the index.
const (
	deltas = "D#"
	plans  = "P#"
)

// chunkStore records all chunks that were ever written, because their partitions cannot be listed.
type chunkStore struct {
	table.Store
	mu     sync.Mutex
	chunks map[table.Key]bool
}

func newChunkStore(s table.Store) *chunkStore {
	return &chunkStore{Store: s, chunks: map[table.Key]bool{}}
}

// BatchWrite writes chunks.
func (c *chunkStore) BatchWrite(ctx context.Context, ws ...table.Write) error {
	c.mu.Lock()
	for _, w := range ws {
		if w.Verb == table.PutVerb && strings.HasPrefix(w.Item.PK, index.PK(testOrg)+"#") {
			c.chunks[w.Item.Key] = true
		}
	}
	c.mu.Unlock()
	return c.Store.BatchWrite(ctx, ws...)
}

// left returns how many of the chunks there are.
func (c *chunkStore) left(s *fixture) int {
	s.Helper()
	keys := slices.Collect(maps.Keys(c.chunks))
	got, err := c.BatchGet(s.ctx, keys...)
	s.Must(err)
	return len(got)
}

// fold compacts, whether or not a compaction is due. With whole it writes every chunk anew.
func (s *Store) fold(ctx context.Context, whole bool) error {
	if whole {
		return s.index.Rewrite(ctx, testOrg)
	}
	return s.index.Fold(ctx, testOrg)
}

func (s *fixture) keys(prefix string) []table.Key {
	s.Helper()
	page, err := s.Table.Query(s.ctx, table.Query{PK: index.PK(testOrg), Prefix: prefix, Limit: 10_000})
	s.Must(err)
	out := []table.Key{}
	for _, it := range page.Items {
		out = append(out, it.Key)
	}
	return out
}

// states reads the list through a reader with an empty cache.
func (s *fixture) states() map[string]cloud.Status {
	s.Helper()
	got, err := NewStore(s.Table, s.Clock).FindResources(s.ctx, testOrg, List{Filter: everything})
	s.Must(err)
	out := map[string]cloud.Status{}
	for _, r := range got {
		out[r.UID] = r.Status
	}
	return out
}

func TestCompactionChangesNothingThatIsSeen(t *testing.T) {
	c := clock.NewManual(noon)
	stored := newChunkStore(tabletest.NewAt(t, c))
	s := newFixtureOn(t, stored, c)
	for n := range 150 {
		s.upsert(s.scan("job_1"), instances(n*10, n*10+10)...)
	}
	want := s.uids(List{By: "name"})
	equal(t, "listed", len(want), 1500)
	if n := len(s.keys(deltas)); n > 128 {
		t.Errorf("%d deltas wait: the writer does not compact", n)
	}
	for _, whole := range []bool{false, true, true} {
		s.Must(s.store.fold(s.ctx, whole))
		equal(t, "deltas", len(s.keys(deltas)), 0)
		equal(t, "by who read before", s.uids(List{By: "name"}), want)
		equal(t, "by who reads for the first time", len(s.states()), 1500)
	}
	equal(t, "chunks of a rewritten index", stored.left(s), 1)
}

// TestCompactionKilledAnywhereLosesNothing makes every call of a compaction fail in turn, before and after it takes
// effect. The inventory must be unchanged, and one more compaction must leave nothing behind.
func TestCompactionKilledAnywhereLosesNothing(t *testing.T) {
	for _, whole := range []bool{false, true} {
		for _, harm := range []table.Harm{table.FailBefore, table.FailAfter} {
			for call := 1; killed(t, compaction{whole, harm, call}); call++ {
			}
		}
	}
}

// TestTheEndOfADeadCompactionKilledAnywhereIsEndedByTheNext kills a compaction at each call, and then also kills the
// compaction that cleans up after it at each call.
func TestTheEndOfADeadCompactionKilledAnywhereIsEndedByTheNext(t *testing.T) {
	race.SkipRepetition(t)
	for call := 1; killed(t, compaction{true, table.FailAfter, call}); call++ {
		for next := 1; killed(t, compaction{true, table.FailAfter, call},
			compaction{true, table.FailAfter, next}); next++ {
		}
	}
}

// compaction is a compaction that is killed: in the given call, before or after the call takes effect.
type compaction struct {
	whole bool
	harm  table.Harm
	call  int
}

// killed kills compactions one after another, hours apart. It reports whether the last compaction reached the call at
// which it is killed.
func killed(t *testing.T, cs ...compaction) (struck bool) {
	t.Helper()
	name := fmt.Sprintf("killed %+v", cs)
	c := clock.NewManual(noon)
	stored := newChunkStore(tabletest.NewAt(t, c))
	faulty := table.NewFaultyStore(stored, c)
	s := newFixtureOn(t, faulty, c)
	s.upsert(s.scan("job_1"), instances(0, 20)...)
	s.Must(s.store.fold(s.ctx, false))
	s.upsert(s.scan("job_2"), instances(20, 40)...)
	s.seen(Seen{instance(0).UID, cloud.Starting, noon.Add(time.Hour)})
	want := s.states()

	for _, one := range cs {
		before := faulty.CallCount()
		faulty.Inject(table.Injection{Harm: one.harm, Call: one.call})
		if err := s.store.fold(s.ctx, one.whole); err != nil && !errors.Is(err, table.ErrDown) &&
			!errors.Is(err, table.ErrLost) {
			t.Error(name, err)
		}
		faulty.RemoveFaults()
		struck = faulty.CallCount()-before >= one.call
		equal(t, name+": seen after the fault", s.states(), want)
		equal(t, name+": seen by who read before", len(s.find(List{})), 40)
		c.Advance(2 * time.Hour) // from now on, chunks that no head names are leftovers
	}
	s.Must(s.store.fold(s.ctx, true))
	equal(t, name+": seen after another compaction", s.states(), want)
	equal(t, name+": chunks left", stored.left(s), 1)
	equal(t, name+": plans left", len(s.keys(plans)), 0)
	return struck
}

// TestRacingWritersCompactionsAndReaders checks that a written row is never missing from a list, and that all readers
// see the last state of each row in the end.
func TestRacingWritersCompactionsAndReaders(t *testing.T) {
	s := newFixture(t)
	const count, rounds, processes = 300, 25, 3
	s.upsert(s.scan("job_0"), instances(0, count)...)
	stores := make([]*Store, processes)
	for i := range stores {
		stores[i] = NewStore(s.Table, s.Clock)
	}
	var mu sync.Mutex
	last := map[string]Seen{}
	var wg sync.WaitGroup
	for w := range processes {
		wg.Go(func() {
			r := seed.Fixed(t, uint64(w), 3)
			for range rounds {
				s.race(stores[w], r, count, func(seen []Seen) {
					mu.Lock()
					defer mu.Unlock()
					for _, one := range seen {
						if old, ok := last[one.UID]; !ok || one.At.After(old.At) || one.At.Equal(old.At) &&
							one.Status > old.Status {
							last[one.UID] = one
						}
					}
				})
			}
		})
	}
	wg.Wait()
	s.Must(stores[0].fold(s.ctx, true))
	for i, store := range append(stores, NewStore(s.Table, s.Clock)) {
		s.settled(fmt.Sprintf("reader %d", i), store, last, count)
	}
}

// race does one round of a process: writes states, compacts sometimes, reads.
func (s *fixture) race(store *Store, r *rand.Rand, count int, wrote func([]Seen)) {
	var seen []Seen
	for range 5 {
		seen = append(seen,
			Seen{instance(r.IntN(count)).UID, randomStatus(r), noon.Add(time.Duration(1+r.IntN(1000)) * time.Second)})
	}
	w, err := NoteStatuses(testOrg, noon, seen)
	if err != nil {
		s.Error(err)
		return
	}
	if _, err = s.Table.Write(s.ctx, w); err != nil {
		s.Error(err)
	}
	wrote(seen)
	if n := r.IntN(4); n < 2 {
		if err = store.fold(s.ctx, n == 0); err != nil {
			s.Error("compact", err)
		}
	}
	got, err := store.FindResources(s.ctx, testOrg, List{Filter: everything})
	if err != nil || len(got) != count {
		s.Errorf("a reader saw %d of %d: %v", len(got), count, err)
	}
}

func (s *fixture) settled(who string, store *Store, last map[string]Seen, count int) {
	s.Helper()
	got, err := store.FindResources(s.ctx, testOrg, List{Filter: everything})
	s.Must(err)
	equal(s, who+" lists", len(got), count)
	for _, r := range got {
		if want, ok := last[r.UID]; ok && r.Status != want.Status {
			s.Errorf("%s: %s is %s, want %s", who, r.UID, r.Status, want.Status)
		}
	}
}

// TestUpsertKilledAnywhereIsCompletedByTheNext makes every call of an Upsert and of a Finish fail in turn.
func TestUpsertKilledAnywhereIsCompletedByTheNext(t *testing.T) {
	for _, harm := range []table.Harm{table.FailBefore, table.FailAfter} {
		for call := 1; ; call++ {
			c := clock.NewManual(noon)
			faulty := table.NewFaultyStore(tabletest.NewAt(t, c), c)
			s := newFixtureOn(t, faulty, c)
			s.upsert(s.scan("job_1"), instances(0, 10)...)
			c.Advance(time.Hour)
			sc, found := s.scan("job_2"), slices.Concat(instances(2, 9), instances(100, 110))
			found[0].Name = "renamed"
			faulty.Inject(table.Injection{Harm: harm, Call: call})
			_, err := s.store.UpsertScanned(s.ctx, testOrg, Batch{Scan: sc, At: c.Now(), Resources: found})
			f := &Found{}
			f.Add(found)
			if err == nil {
				err = s.store.KeepFound(s.ctx, testOrg, sc, 0, f)
			}
			if err == nil {
				_, err = s.store.FinishScans(s.ctx, testOrg,
					[]EndedScan{{Scan: sc, Found: &Found{}, Kept: true, Exists: noneExists}})
			}
			faulty.RemoveFaults()
			s.upsert(sc, found...)
			s.finishRead(sc, noneExists(s.ctx, []string{instance(0).UID, instance(1).UID, instance(9).UID}))
			equal(t, fmt.Sprintf("harm %d, call %d: renamed", harm, call),
				len(s.uids(List{Filter: Filter{Search: "renamed"}})), 1)
			equal(t, fmt.Sprintf("harm %d, call %d: terminated", harm, call),
				len(s.uids(List{Filter: Filter{Statuses: []string{string(cloud.Terminated)}}})), 3)
			equal(t, fmt.Sprintf("harm %d, call %d: all", harm, call), len(s.states()), 20)
			for _, r := range s.find(List{}) {
				equal(t, "id in index and record of "+r.UID, r.ID, s.record(r.UID).ID)
			}
			if err == nil {
				break
			}
			if !errors.Is(err, table.ErrDown) && !errors.Is(err, table.ErrLost) {
				t.Fatal(err)
			}
		}
	}
}

// TestACompactionThatIsTakenForDeadHasLost resumes a compaction hours after it wrote its chunks, when another
// compaction has cleaned up after it.
func TestACompactionThatIsTakenForDeadHasLost(t *testing.T) {
	c := clock.NewManual(noon)
	stored := newChunkStore(tabletest.NewAt(t, c))
	asleep := &sleepy{Store: stored}
	s := newFixtureOn(t, asleep, c)
	s.upsert(s.scan("job_1"), instances(0, 20)...)
	want := s.states()
	asleep.beforeTransact = func() { // the next compaction that comes, while the first has not swapped the head
		asleep.beforeTransact = nil
		c.Advance(2 * time.Hour)
		s.upsert(s.scan("job_2"), instances(20, 40)...)
		s.Must(NewStore(stored, c).fold(s.ctx, false))
		s.Must(NewStore(stored, c).fold(s.ctx, true))
	}
	s.Must(s.store.fold(s.ctx, false))
	if asleep.beforeTransact != nil {
		t.Fatal("it did not sleep")
	}
	got := s.states()
	equal(t, "seen", len(got), 40)
	for uid, status := range want {
		equal(t, uid, got[uid], status)
	}
	equal(t, "chunks left", stored.left(s), 1)
	equal(t, "plans left", len(s.keys(plans)), 0)
}

// sleepy is the store of a process that is suspended before a transaction.
type sleepy struct {
	table.Store
	beforeTransact func()
}

// Transact calls beforeTransact first, and then runs the transaction.
func (s *sleepy) Transact(ctx context.Context, ws ...table.Write) error {
	if before := s.beforeTransact; before != nil {
		before()
	}
	return s.Store.Transact(ctx, ws...)
}

// TestAReplicaThatIsBehindIsAskedAgain makes every eventually consistent read find nothing.
func TestAReplicaThatIsBehindIsAskedAgain(t *testing.T) {
	c := clock.NewManual(noon)
	faulty := table.NewFaultyStore(tabletest.NewAt(t, c), c)
	s := newFixtureOn(t, faulty, c)
	s.upsert(s.scan("job_1"), instances(0, 20)...)
	s.Must(s.store.fold(s.ctx, true))
	faulty.Inject(table.Injection{Harm: table.Lag})
	ctx, meter := table.WithMeter(s.ctx)
	got, err := NewStore(s.Table, s.Clock).FindResources(ctx, testOrg, List{Filter: everything})
	s.Must(err)
	equal(t, "found", len(got), 20)
	equal(t, "round trips: the changes, the chunk again, the account", meter.Usage().RoundTrips, 3)
}
