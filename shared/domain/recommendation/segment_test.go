package recommendation

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/oklog/ulid/v2"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/seed"
)

// randomSegment returns a segment of n entries, and one without entries for 0.
func randomSegment(r *rand.Rand, n int) *segment {
	s := newSegment()
	for range n {
		var e entry
		for i := range e.id {
			e.id[i] = byte(r.Uint32())
		}
		for i := range e.resource {
			e.resource[i] = byte(r.Uint32())
		}
		e.place = s.names.placeNumber(
			place{"res", "aws", fmt.Sprint("aws-", r.IntN(9)), fmt.Sprint("ca_", r.IntN(9)), "x"},
		)
		e.rule = s.names.ruleNumber(ruleName{fmt.Sprint("rule-", r.IntN(300)), "Title", "idle"})
		e.gross, e.net, e.cost = r.Int64N(1<<40), r.Int64N(1<<40), r.Int64N(1<<40)
		e.updated, e.print, e.version = start.UnixMilli()+r.Int64N(1<<30), r.Uint32(), 1+uint32(r.IntN(9))
		e.status, e.severity, e.strength = uint8(r.IntN(len(statusNames))), uint8(r.IntN(5)), uint8(r.IntN(7))
		if r.IntN(20) == 0 {
			e.flags |= inlineFlag
			e.extra().uid, e.extra().name = "vol-1", "data"
			e.extra().claims = []claim{{e.resource, 5, 10}, {e.id, r.Int64N(1 << 40), 1 << 40}}
		}
		s.entries = append(s.entries, e)
	}
	slices.SortFunc(s.entries, byID)
	s.confirmed[3], s.confirmed[15] = 1, start.UnixMilli()
	return s
}

func TestSegment_IsReadAsItWasWritten(t *testing.T) {
	r := seed.Random(t)
	for _, n := range []int{0, 1, 2, 500} {
		s := randomSegment(r, n)
		it, err := s.item(table.Key{PK: "p", SK: "s"})
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeItem(it)
		if err != nil || !reflect.DeepEqual(got.entries, append([]entry{}, s.entries...)) ||
			!reflect.DeepEqual(got.confirmed, s.confirmed) || !slices.Equal(got.names.rules, s.names.rules) {
			t.Errorf("%d entries: %v", n, err)
		}
	}
}

func TestSegment_IsSplitIntoItems(t *testing.T) {
	s := randomSegment(seed.Random(t), 30_000)
	got := newColumns("org_1")
	for _, z := range s.split() {
		it, err := itemOf(table.Key{PK: "p", SK: "s"}, z)
		if err != nil || len(it.Data) > 334_000 {
			t.Fatalf("an item of %d bytes: %v", len(it.Data), err)
		}
		part, err := decodeItem(it)
		if err != nil || len(part.entries) > chunkRows {
			t.Fatalf("%d entries: %v", len(part.entries), err)
		}
		got = got.with(part)
	}
	want := newColumns("org_1").with(s)
	if len(got.entries) != len(want.entries) || got.confirmed != want.confirmed {
		t.Errorf("%d entries of %d", len(got.entries), len(want.entries))
	}
	for i := range got.entries {
		a, b := got.entries[i], want.entries[i]
		if got.names.rules[a.rule] != want.names.rules[b.rule] ||
			got.names.places[a.place] != want.names.places[b.place] {
			t.Fatal("an entry has another rule or place")
		}
	}
}

// Segments may come in any order, and more than once.
func TestColumns_MergeInAnyOrder(t *testing.T) {
	r := seed.Random(t)
	var parts []*segment
	for n := range 8 {
		s := randomSegment(r, 30)
		for i := range s.entries { // few ids, so that versions meet
			s.entries[i].id = ulid.ULID{15: byte(r.IntN(20))}
			s.entries[i].version = uint32(100*i + n) // no two are equal
		}
		parts = append(parts, s)
	}
	want := newColumns("org_1").with(parts...)
	for range 20 {
		r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		got := newColumns("org_1").with(parts[:3]...).with(parts[2:]...).with(parts[0])
		if len(got.entries) != len(want.entries) {
			t.Fatalf("%d entries, want %d", len(got.entries), len(want.entries))
		}
		for i := range got.entries {
			if got.entries[i].version != want.entries[i].version || got.entries[i].id != want.entries[i].id {
				t.Fatalf("version %d, want %d", got.entries[i].version, want.entries[i].version)
			}
		}
	}
}

func FuzzDecodeSegment(f *testing.F) {
	for _, n := range []int{0, 1, 40} {
		b, err := unpacker.Unpack(randomSegment(seed.Fixed(f, 1, 2), n).encode())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := decodeSegment(b)
		if err != nil {
			return
		}
		if len(s.entries) > len(b)/minEntryBytes {
			t.Errorf("%d entries of %d bytes", len(s.entries), len(b))
		}
		newColumns("org_1").with(s).stand(0)
	})
}

func TestDecode_RefusesDamagedItems(t *testing.T) {
	for _, data := range []string{`{"z":"AAAA"}`, `{"z":7}`, `{}`} {
		if _, err := decodeItem(table.Item{Data: []byte(data)}); err == nil {
			t.Errorf("%s was read", data)
		}
	}
}
