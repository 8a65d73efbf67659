package index

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/oklog/ulid/v2"

	"lamplighter.dev/shared/testkit/race"
	"lamplighter.dev/shared/testkit/seed"
)

// TestSegmentsMergeInAnyOrder applies the same changes in many orders, each several times, split and compacted at
// random. The index must be the same each time.
func TestSegmentsMergeInAnyOrder(t *testing.T) {
	race.SkipSequential(t)
	for n := range uint64(60) {
		r := seed.Fixed(t, n, 1)
		segments := randomSegments(r)
		want := ""
		for try := range 6 {
			st := newState()
			for _, z := range folded(t, r, inAnyOrder(r, slices.Concat(segments, segments[:len(segments)/3]))) {
				if err := st.apply(z); err != nil {
					t.Fatal(err)
				}
			}
			switch got := st.dump(); {
			case try == 0:
				want = got
			case got != want:
				t.Fatalf("case %d, try %d:\n%s\nwant\n%s", n, try, got, want)
			}
		}
	}
}

// randomSegments returns changes of few resources at few times, so that there are many ties and contradictions.
func randomSegments(r *rand.Rand) [][]byte {
	var out [][]byte
	for range 30 {
		g := NewSegment()
		for range r.IntN(4) {
			n, at := r.IntN(8), int64(r.IntN(6))
			row := newSampleRow(g, sample{
				id: ulid.ULID{byte(r.IntN(2)), byte(n)}, uid: fmt.Sprintf("i-%d", n),
				name: fmt.Sprintf("Name-%d", r.IntN(3)),
				kind: "aws-ec2", status: anyStatus(r), statusAt: int64(r.IntN(6)), seenAt: at,
				tags: map[string]string{"k": strconv.Itoa(r.IntN(2))},
			})
			row.Gone, row.Vanished = r.IntN(6) == 0, r.IntN(6) == 0
			g.Rows = append(g.Rows, row)
		}
		for range r.IntN(4) {
			g.AddStatus(fmt.Sprintf("i-%d", r.IntN(10)), anyStatus(r), int64(r.IntN(6)))
		}
		if r.IntN(3) == 0 {
			g.AddScan("ca", "eu", "aws-ec2", int64(r.IntN(9)))
		}
		out = append(out, g.encode())
	}
	return out
}

// folded replaces a random run of segments by their compaction.
func folded(t *testing.T, r *rand.Rand, segments [][]byte) [][]byte {
	t.Helper()
	from := r.IntN(len(segments))
	to := from + r.IntN(len(segments)-from)
	st := newState()
	for _, z := range segments[from:to] {
		if err := st.apply(z); err != nil {
			t.Fatal(err)
		}
	}
	return slices.Concat(segments[:from], st.segment(0).split(), segments[to:])
}

// dump writes the index, for comparison.
func (st *State) dump() string {
	var out []string
	for n := range int32(st.count) {
		e := st.entry(st.cell(n))
		out = append(out, fmt.Sprintf("%s last seen %d", describe(st.Symbols, &e), st.LastSeen(st.Row(n))))
	}
	for _, s := range st.orphans {
		out = append(out, fmt.Sprintf("orphan %s %s %d", s.uid, st.Symbols.Name(s.status), s.at))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// describe writes all of a row, without the numbers that differ between indexes.
func describe(s *Symbols, r *Entry) string {
	return fmt.Sprintf("%s gone %v status %s at %d content at %d",
		s.canon(r), r.Gone, s.Name(r.Refs[StatusRef]), r.Times[StatusTime], r.Times[ContentTime])
}

func TestSegmentsReadWhatWasWritten(t *testing.T) {
	race.SkipSequential(t)
	g := NewSegment()
	for n := range 30_000 { // more than one item holds
		g.Rows = append(g.Rows, newSampleRow(g, largeSample(n)))
	}
	whole, parts := newState(), g.split()
	if len(parts) < 2 {
		t.Errorf("split into %d part", len(parts))
	}
	for _, z := range parts {
		if len(z) > maxSegment {
			t.Errorf("a part of %d bytes", len(z))
		}
		if err := whole.apply(z); err != nil {
			t.Fatal(err)
		}
	}
	for i := range g.Rows {
		r, _ := whole.RowByUID(g.Rows[i].UID)
		e := whole.entry(r.c)
		if want, got := describe(g.Symbols, &g.Rows[i]), describe(whole.Symbols, &e); got != want {
			t.Errorf("row %d: got %s, want %s", i, got, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	r := seed.Fixed(f, 1, 1)
	for _, z := range randomSegments(r) {
		f.Add(z)
	}
	f.Add([]byte{segmentVersion})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, z []byte) {
		syms := newSymbols()
		g, err := decodeSegment(z, syms)
		if err != nil {
			return
		}
		again, err := decodeSegment(g.encode(), newSymbols())
		if err != nil {
			t.Fatalf("what was read cannot be written and read again: %v", err)
		}
		if len(again.Rows) != len(g.Rows) || len(again.seen) != len(g.seen) {
			t.Errorf("%d rows and %d statuses became %d and %d", len(g.Rows), len(g.seen), len(again.Rows),
				len(again.seen))
		}
		st := newState()
		if err = st.apply(z); err != nil {
			t.Fatal(err)
		}
		want := st.dump()
		if err = st.apply(z); err != nil || st.dump() != want {
			t.Errorf("applied again it says %s, want %s: %v", st.dump(), want, err)
		}
	})
}

func TestOrdersFollowChanges(t *testing.T) {
	r := seed.Fixed(t, 7, 7)
	st := newState()
	for step := range 60 {
		g := NewSegment()
		for range 1 + r.IntN(40) {
			n := r.IntN(300)
			row := newSampleRow(g, sample{
				id: ulid.ULID{byte(n)}, uid: fmt.Sprintf("i-%d", n), name: fmt.Sprintf("n%d", r.IntN(50)),
				kind:   fmt.Sprintf("t%d", r.IntN(4)),
				region: fmt.Sprintf("r%d", r.IntN(4)), status: anyStatus(r), statusAt: int64(step), seenAt: int64(step),
			})
			row.Gone = r.IntN(9) == 0
			g.Rows = append(g.Rows, row)
		}
		if err := st.apply(g.encode()); err != nil {
			t.Fatal(err)
		}
		for which := range orderCount {
			if got, want := st.sorted(which), st.sort(which); !slices.Equal(got, want) {
				t.Fatalf("step %d, order %d: %v, want %v", step, which, got, want)
			}
		}
	}
}

func TestRunsAreSortedAsAnythingIs(t *testing.T) {
	r := seed.Fixed(t, 5, 5)
	for n := range 200 {
		var rows []int32
		for range r.IntN(6) {
			run := make([]int32, r.IntN(500))
			for i := range run {
				run[i] = int32(r.IntN(1000))
			}
			if n%5 > 0 {
				slices.Sort(run)
			}
			rows = append(rows, run...)
		}
		want := slices.Sorted(slices.Values(rows))
		if got := sortRuns(slices.Clone(rows), func(a, b int32) int { return int(a - b) }); !slices.Equal(got, want) {
			t.Fatalf("case %d: %v became %v", n, rows, got)
		}
	}
}
