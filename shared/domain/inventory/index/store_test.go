package index

import (
	"slices"
	"testing"
	"time"

	"lamplighter.dev/shared/engine/table"
)

func TestCompactIsOnlyDoneWhenItIsDue(t *testing.T) {
	f := newFixture(t)
	g := NewSegment()
	for n := range 10 {
		g.Rows = append(g.Rows, newSampleRow(g, largeSample(n)))
	}
	f.check(f.store.Note(f.ctx, testOrg, g))
	f.check(f.store.Compact(f.ctx, testOrg))
	if n := f.count(deltaPrefix); n != 1 {
		t.Errorf("%d deltas below the bound, want 1", n)
	}
	for n := range manyDeltas {
		seen := NewSegment()
		seen.AddStatus(largeSample(n%10).uid, "stopping", f.clock.Now().Add(time.Duration(n)*time.Second).UnixMicro())
		f.check(f.store.Note(f.ctx, testOrg, seen))
	}
	f.check(f.store.Compact(f.ctx, testOrg))
	if n := f.count(deltaPrefix); n != 0 {
		t.Errorf("%d deltas above the bound, want none", n)
	}
	v, err := NewStore(f.table, f.clock).Open(f.ctx, testOrg)
	f.check(err)
	rows := 0
	for r := range v.State.Rows() {
		rows++
		if got := r.Word(StatusRef); got != "stopping" {
			t.Errorf("%s is %s", r.UID(), got)
		}
	}
	if rows != 10 {
		t.Errorf("%d rows, want 10", rows)
	}
}

// TestOpenHandsOverWhatStandsBesideTheIndex checks that the one round trip for the index also returns the other items
// between deltas and head, and no items after the head.
func TestOpenHandsOverWhatStandsBesideTheIndex(t *testing.T) {
	f := newFixture(t)
	g := NewSegment()
	g.Rows = append(g.Rows, newSampleRow(g, largeSample(1)))
	f.check(f.store.Note(f.ctx, testOrg, g))
	f.check(f.store.Fold(f.ctx, testOrg))
	f.check(f.store.Note(f.ctx, testOrg, g))
	for _, sk := range []string{"G#grp_2", "G#grp_1", "M#grp_1"} {
		it, err := table.NewItem(Key(testOrg, sk), map[string]string{"id": sk})
		f.check(err)
		_, err = f.table.Write(f.ctx, table.Put(it))
		f.check(err)
	}
	_, err := f.store.Open(f.ctx, testOrg)
	f.check(err)
	ctx, meter := table.WithMeter(f.ctx)
	v, err := f.store.Open(ctx, testOrg)
	f.check(err)
	var got []string
	for _, it := range v.Heads {
		got = append(got, it.SK)
	}
	if want := []string{"G#grp_1", "G#grp_2"}; !slices.Equal(got, want) {
		t.Errorf("handed over %v, want %v", got, want)
	}
	if n := meter.Usage().RoundTrips; n != 1 {
		t.Errorf("%d round trips, want 1", n)
	}
}

// TestSwapKnowsItsOwnHead repeats a swap whose first answer was lost, as an SDK does.
func TestSwapKnowsItsOwnHead(t *testing.T) {
	f := newFixture(t)
	mine := compaction{org: testOrg, next: head{Gen: 1, Chunks: []chunk{{ID: "mine"}}}}
	theirs := compaction{org: testOrg, next: head{Gen: 1, Chunks: []chunk{{ID: "theirs"}}}}
	for _, step := range []struct {
		name string
		c    compaction
		won  bool
	}{{"the first", mine, true}, {"the first again", mine, true}, {"another that is late", theirs, false}} {
		p := newPlan(step.c, f.clock.Now())
		f.check(f.store.announce(f.ctx, p))
		won, err := f.store.swap(f.ctx, step.c, p)
		f.check(err)
		if won != step.won {
			t.Errorf("%s: won %v, want %v", step.name, won, step.won)
		}
	}
}
