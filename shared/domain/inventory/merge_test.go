package inventory

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/race"
	"lamplighter.dev/shared/testkit/seed"
)

// TestSegmentsMergeInAnyOrder applies the same changes in many orders, each some times over, cut and compacted at random,
// and wants the same index each time.
func TestSegmentsMergeInAnyOrder(t *testing.T) {
	race.SkipSequential(t)
	for n := range uint64(60) {
		r := seed.Fixed(t, n, 1)
		segments := randomSegments(r)
		want := ""
		for try := range 6 {
			st := newState()
			for _, z := range folded(t, r, shuffled(r, slices.Concat(segments, segments[:len(segments)/3]))) {
				if err := st.applySegment(z); err != nil {
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

// randomSegments are changes of few resources at few times, so that ties and contradictions abound.
func randomSegments(r *rand.Rand) [][]byte {
	var out [][]byte
	for range 30 {
		g := newSegment()
		for range r.IntN(4) {
			n, at := r.IntN(8), noon.Add(time.Duration(r.IntN(6))*time.Second)
			rec := Resource{
				ID: formatID([16]byte{byte(r.IntN(2)), byte(n)}), UID: fmt.Sprintf("i-%d", n), Name: fmt.Sprintf("Name-%d", r.IntN(3)),
				Type: "aws-ec2", Status: randomStatus(r), StatusAt: noon.Add(time.Duration(r.IntN(6)) * time.Second).UnixMicro(),
				LastSeenAt: at, Tags: map[string]string{"k": strconv.Itoa(r.IntN(2))},
			}
			row := g.syms.rowOf(rec)
			row.gone, row.vanished = r.IntN(6) == 0, r.IntN(6) == 0
			g.rows = append(g.rows, row)
		}
		for range r.IntN(4) {
			g.seen = append(g.seen, sighting{
				fmt.Sprintf("i-%d", r.IntN(10)), g.syms.internName(string(randomStatus(r))),
				noon.Add(time.Duration(r.IntN(6)) * time.Second).UnixMicro(),
			})
		}
		if r.IntN(3) == 0 {
			g.scans = append(g.scans, scanned{partition{g.syms.internName("ca"), g.syms.internName("eu"), g.syms.internName("aws-ec2")}, int64(r.IntN(9))})
		}
		out = append(out, g.encodeColumns())
	}
	return out
}

func randomStatus(r *rand.Rand) cloud.Status {
	return []cloud.Status{cloud.Running, cloud.Stopped, cloud.Stopping, cloud.Terminated}[r.IntN(4)]
}

// folded replaces a random run of segments by what compaction makes of them.
func folded(t *testing.T, r *rand.Rand, segments [][]byte) [][]byte {
	t.Helper()
	from := r.IntN(len(segments))
	to := from + r.IntN(len(segments)-from)
	st := newState()
	for _, z := range segments[from:to] {
		if err := st.applySegment(z); err != nil {
			t.Fatal(err)
		}
	}
	return slices.Concat(segments[:from], st.segmentSince(0).encodeParts(), segments[to:])
}

// dump writes the index, for comparison.
func (st *state) dump() string {
	var out []string
	for i := range st.rows {
		r := &st.rows[i]
		out = append(out, fmt.Sprintf("%s %s %v status %s at %d content at %d last seen %d",
			r.uid, st.syms.canon(r), r.gone, st.syms.refName(r, statusRef), r.times[statusTime], r.times[contentTime], st.lastSeen(r)))
	}
	for _, s := range st.orphans {
		out = append(out, fmt.Sprintf("orphan %s %s %d", s.uid, st.syms.names[s.status], s.at))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

func TestSegmentsReadWhatWasWritten(t *testing.T) {
	race.SkipSequential(t)
	g := newSegment()
	for n := range 5000 {
		f := instance(n)
		g.rows = append(g.rows, g.syms.rowOf(Resource{
			ID: formatID([16]byte{1, byte(n), byte(n >> 8)}), UID: f.UID, Name: f.Name, Type: f.Type, Provider: "aws", CloudAccountID: testCA, Region: f.Region, Zone: f.Zone,
			Status: f.Status, InstanceType: f.InstanceType, Capacity: f.Capacity, Tags: f.Tags, CreatedAt: f.CreatedAt,
			LastSeenAt: noon.Add(time.Duration(n) * time.Second), StatusAt: noon.UnixMicro() + int64(n),
		}))
	}
	whole := newState()
	for _, z := range g.encodeParts() {
		if len(z) > maxSegment {
			t.Errorf("a part of %d bytes", len(z))
		}
		if err := whole.applySegment(z); err != nil {
			t.Fatal(err)
		}
	}
	for i := range g.rows {
		want, got := g.syms.resourceOf(&g.rows[i]), whole.resourceOf(whole.lookupUID(g.rows[i].uid))
		equal(t, g.rows[i].uid, got, want)
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
		again, err := decodeSegment(g.encodeColumns(), newSymbols())
		if err != nil {
			t.Fatalf("what was read cannot be written and read again: %v", err)
		}
		equal(t, "rows", len(again.rows), len(g.rows))
		equal(t, "seen", len(again.seen), len(g.seen))
	})
}

func TestOrdersFollowChanges(t *testing.T) {
	r := seed.Fixed(t, 7, 7)
	st := newState()
	for step := range 60 {
		g := newSegment()
		for range 1 + r.IntN(40) {
			n := r.IntN(300)
			f := instance(n)
			row := g.syms.rowOf(Resource{
				ID: formatID([16]byte{byte(n)}), UID: f.UID, Name: fmt.Sprintf("n%d", r.IntN(50)), Type: fmt.Sprintf("t%d", r.IntN(4)), Provider: "aws",
				Region: fmt.Sprintf("r%d", r.IntN(4)), Status: randomStatus(r), StatusAt: int64(step), LastSeenAt: noon.Add(time.Duration(step) * time.Second),
			})
			row.gone = r.IntN(9) == 0
			g.rows = append(g.rows, row)
		}
		if err := st.applySegment(g.encodeColumns()); err != nil {
			t.Fatal(err)
		}
		for which := range orderCount {
			if got, want := st.sortedRows(which), st.sort(which); !slices.Equal(got, want) {
				t.Fatalf("step %d, order %d: %v, want %v", step, which, got, want)
			}
		}
	}
}
