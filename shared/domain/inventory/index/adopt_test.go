package index

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"lamplighter.dev/shared/engine/table"
)

// note adds the rows from … to, with names that end in the suffix.
func (f *fixture) note(from, to int, suffix string) {
	f.Helper()
	g := NewSegment()
	for n := from; n < to; n++ {
		s := largeSample(n)
		s.name += suffix
		s.seenAt += int64(len(suffix))
		g.Rows = append(g.Rows, newSampleRow(g, s))
	}
	f.check(f.store.Note(f.ctx, testOrg, g))
}

func TestRewrite_KeepsTheStateThatItWrote(t *testing.T) {
	for name, tt := range map[string]struct {
		written int // times that all rows are
		trips   int // of the next reader in this process
	}{
		"of new rows":               {1, 1},
		"not of rows written often": {3, 2},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			for n := range tt.written {
				f.note(0, 500, "abcde"[:n])
				_, err := f.store.Open(f.ctx, testOrg)
				f.check(err)
			}
			f.check(f.store.Rewrite(f.ctx, testOrg))
			ctx, meter := table.WithMeter(f.ctx)
			_, err := f.store.Open(ctx, testOrg)
			f.check(err)
			if got := meter.Usage().RoundTrips; got != tt.trips {
				t.Errorf("%d round trips; want %d", got, tt.trips)
			}
			f.clock.Advance(time.Minute)
			f.note(500, 510, "")
			v, err := f.store.Open(f.ctx, testOrg)
			f.check(err)
			other, err := NewStore(f.table, f.clock).Open(f.ctx, testOrg)
			f.check(err)
			if got, want := namesOf(v.State), namesOf(other.State); len(want) != 510 || !slices.Equal(got, want) {
				t.Errorf("%d rows; a process that loaded the index has %d others", len(got), len(want))
			}
		})
	}
}

// namesOf returns the names and uids of all rows in the order of names.
func namesOf(st *State) (out []string) {
	defer st.RLockOrdered(NameOrder)()
	for _, n := range st.Order(NameOrder) {
		out = append(out, st.Row(n).Name()+" "+st.Row(n).UID())
	}
	return out
}

func TestSortParts_AreMergedIntoOneOrder(t *testing.T) {
	rows := make([]namedRow, 3*alone)
	for i := range rows {
		rows[i] = namedRow{largeSample(i * 7).name, int32(i)}
	}
	compare := func(a, b namedRow) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.row, b.row)) }
	want := slices.SortedFunc(slices.Values(rows), compare)
	parts := sortParts(rows, compare)
	for i := range want {
		if got := takeLeast(parts, compare); got != want[i] {
			t.Fatalf("place %d has %v; want %v", i, got, want[i])
		}
	}
}
