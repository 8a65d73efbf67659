package inventory

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory/index"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/table/tabletest"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/seed"
)

// Where the index stands in its partition.
const (
	chunks = "C#"
	deltas = "D#"
)

// fold compacts whether or not it is due; whole writes every chunk anew.
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

// states reads the list by a reader that knows nothing yet.
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
	s := newFixture(t)
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
	equal(t, "chunks of a rewritten index", len(s.keys(chunks)), 1)
}

// TestCompactionKilledAnywhereLosesNothing lets every call of a compaction fail in turn, before it takes effect and after,
// and wants the inventory as it was, and one more compaction to leave nothing behind.
func TestCompactionKilledAnywhereLosesNothing(t *testing.T) {
	for _, whole := range []bool{false, true} {
		for _, harm := range []table.Harm{table.FailBefore, table.FailAfter} {
			for call := 1; ; call++ {
				name := fmt.Sprintf("whole %v, harm %d, call %d", whole, harm, call)
				if !killed(t, name, whole, table.Injection{Harm: harm, Call: call}) {
					break
				}
			}
		}
	}
}

func killed(t *testing.T, name string, whole bool, in table.Injection) bool {
	t.Helper()
	c := clock.NewManual(noon)
	faulty := table.NewFaultyStore(tabletest.NewAt(t, c), c)
	s := newFixtureOn(t, faulty, c)
	s.upsert(s.scan("job_1"), instances(0, 20)...)
	s.Must(s.store.fold(s.ctx, false))
	s.upsert(s.scan("job_2"), instances(20, 40)...)
	s.seen(Seen{instance(0).UID, cloud.Starting, noon.Add(time.Hour)})
	want := s.states()

	before := faulty.CallCount()
	faulty.Inject(in)
	if err := s.store.fold(s.ctx, whole); err != nil && !errors.Is(err, table.ErrDown) && !errors.Is(err, table.ErrLost) {
		t.Error(name, err)
	}
	faulty.RemoveFaults()
	struck := faulty.CallCount()-before >= in.Call
	equal(t, name+": seen after the fault", s.states(), want)
	equal(t, name+": seen by who read before", len(s.find(List{})), 40)
	c.Advance(2 * time.Hour) // chunks that no head names are remains then
	s.Must(s.store.fold(s.ctx, true))
	equal(t, name+": seen after another compaction", s.states(), want)
	equal(t, name+": remains", len(s.keys(chunks)), 1)
	return struck
}

// TestRacingWritersCompactionsAndReaders wants that no row is ever missing from a list once it was written, and that in
// the end everyone sees the last state of each.
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
						if old, ok := last[one.UID]; !ok || one.At.After(old.At) || one.At.Equal(old.At) && one.Status > old.Status {
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
		seen = append(seen, Seen{instance(r.IntN(count)).UID, randomStatus(r), noon.Add(time.Duration(1+r.IntN(1000)) * time.Second)})
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

// TestUpsertKilledAnywhereIsCompletedByTheNext lets every call of an Upsert and of a Finish fail in turn.
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
				_, err = s.store.FinishScans(s.ctx, testOrg, []EndedScan{{Scan: sc, Found: &Found{}, Kept: true}})
			}
			faulty.RemoveFaults()
			s.upsert(sc, found...)
			s.finish(sc)
			equal(t, fmt.Sprintf("harm %d, call %d: renamed", harm, call), len(s.uids(List{Filter: Filter{Search: "renamed"}})), 1)
			equal(t, fmt.Sprintf("harm %d, call %d: terminated", harm, call), len(s.uids(List{Filter: Filter{Statuses: []string{string(cloud.Terminated)}}})), 3)
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
