package index

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/oklog/ulid/v2"
)

// The fields of a Row that repeat from row to row are numbers of symbols, in this order.
const (
	KindRef = iota
	ProviderRef
	AccountRef
	RegionRef
	StatusRef
	ZoneRef
	InstanceRef
	ParentRef
	WhyRef // why it is unschedulable
	RefCount
)

// The times of a row, in Unix microseconds; 0 is none.
const (
	ContentTime = iota // of the observation behind everything but the status
	StatusTime         // of the observation behind the status
	SeenTime           // when it was last written as seen
	CreatedTime        // when the resource was made
	timeCount
)

// Row is one resource in the index. Its content and its status are two registers that are merged apart: in each the
// newest observation wins, so it does not matter in which order, or how often, changes arrive.
type Row struct {
	UID, Name           string
	LowerUID, LowerName string // in lower case, for search and order; the same bytes where nothing changes
	ID                  ulid.ULID
	Refs                [RefCount]uint32 // numbers of symbols, by KindRef and so on
	Times               [timeCount]int64 // by ContentTime and so on
	Tags                []uint32         // for Symbols.Tag, ordered by key
	Capacity            []Amount         // ordered by name
	Vanished            bool             // a scan did not find it any more
	Gone                bool             // dropped: kept for a while so that late news does not bring it back
}

// Amount is one capacity: a symbol and its value.
type Amount struct {
	Name  uint32
	Value int64
}

// Symbols numbers the strings of an index. Symbol 0 is the empty string.
type Symbols struct {
	names []string
	ids   map[string]uint32
	pairs []pair
	pids  map[[2]uint32]uint32
}

// pair is one tag; lower is "key=value" in lower case, for search.
type pair struct {
	key, value uint32
	lower      string
}

func newSymbols() *Symbols {
	return &Symbols{names: []string{""}, ids: map[string]uint32{"": 0}, pids: map[[2]uint32]uint32{}}
}

// Intern numbers name, which may be new.
func (s *Symbols) Intern(name string) uint32 {
	if n, ok := s.ids[name]; ok {
		return n
	}
	n := uint32(len(s.names)) //nolint:gosec // far fewer than 2^32 fit into memory
	name = strings.Clone(name)
	s.names = append(s.names, name)
	s.ids[name] = n
	return n
}

func (s *Symbols) internBytes(name []byte) uint32 {
	if n, ok := s.ids[string(name)]; ok { // needs no copy
		return n
	}
	return s.Intern(string(name))
}

func (s *Symbols) internPair(key, value uint32) uint32 {
	k := [2]uint32{key, value}
	if n, ok := s.pids[k]; ok {
		return n
	}
	n := uint32(len(s.pairs)) //nolint:gosec // far fewer than 2^32 fit into memory
	s.pairs = append(s.pairs, pair{key, value, strings.ToLower(s.names[key] + "=" + s.names[value])})
	s.pids[k] = n
	return n
}

// InternTags numbers tags, ordered by key.
func (s *Symbols) InternTags(tags map[string]string) []uint32 {
	out := make([]uint32, 0, len(tags))
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		out = append(out, s.internPair(s.Intern(k), s.Intern(tags[k])))
	}
	return out
}

// InternCapacity numbers the names of capacity, ordered by these.
func (s *Symbols) InternCapacity(capacity map[string]int64) []Amount {
	out := make([]Amount, 0, len(capacity))
	for _, k := range slices.Sorted(maps.Keys(capacity)) {
		out = append(out, Amount{s.Intern(k), capacity[k]})
	}
	return out
}

// Find returns the number of name, if it has one.
func (s *Symbols) Find(name string) (uint32, bool) {
	n, ok := s.ids[name]
	return n, ok
}

// Name returns what the symbol n stands for.
func (s *Symbols) Name(n uint32) string { return s.names[n] }

// Tag returns the key and the value of the n-th tag, as Row.Tags number them.
func (s *Symbols) Tag(n uint32) (key, value string) {
	p := &s.pairs[n]
	return s.names[p.key], s.names[p.value]
}

// TagsWhere makes the test whether a row has a tag that passes the test of its key, its value, and "key=value" in lower case.
// It looks at each tag once, for tags are far fewer than the rows that have them.
func (s *Symbols) TagsWhere(test func(key, value, lower string) bool) func(*Row) bool {
	marked := make([]bool, len(s.pairs))
	some := false
	for i := range s.pairs {
		p := &s.pairs[i]
		marked[i] = test(s.names[p.key], s.names[p.value], p.lower)
		some = some || marked[i]
	}
	return func(r *Row) bool {
		if !some {
			return false
		}
		for _, n := range r.Tags {
			if marked[n] {
				return true
			}
		}
		return false
	}
}

// Ref returns the text of a field of r.
func (s *Symbols) Ref(r *Row, ref int) string { return s.names[r.Refs[ref]] }

// supersedes reports whether the content of r wins over that of old: the newer one; of two equally old ones the dropped
// one; of two that still differ the one whose writing is greater, so that every reader decides alike.
func (s *Symbols) supersedes(r, old *Row) bool {
	if c := cmp.Compare(r.Times[ContentTime], old.Times[ContentTime]); c != 0 {
		return c > 0
	}
	if r.Gone != old.Gone {
		return r.Gone
	}
	return !equalContent(r, old) && bytes.Compare(s.canon(r), s.canon(old)) > 0
}

// equalContent reports whether two rows of one index have the same content.
func equalContent(a, b *Row) bool {
	x, y := a.Refs, b.Refs
	x[StatusRef], y[StatusRef] = 0, 0
	return x == y && a.UID == b.UID && a.Name == b.Name && a.ID == b.ID && a.Vanished == b.Vanished &&
		a.Times[SeenTime] == b.Times[SeenTime] && a.Times[CreatedTime] == b.Times[CreatedTime] &&
		slices.Equal(a.Tags, b.Tags) && slices.Equal(a.Capacity, b.Capacity)
}

// canon writes the content of a row without the numbers that differ between indexes.
func (s *Symbols) canon(r *Row) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%q %q %s %v %d %d", r.UID, r.Name, r.ID, r.Vanished, r.Times[SeenTime], r.Times[CreatedTime])
	for i := range r.Refs {
		if i != StatusRef {
			fmt.Fprintf(&b, " %q", s.Ref(r, i))
		}
	}
	for _, n := range r.Tags {
		fmt.Fprintf(&b, " %q=%q", s.names[s.pairs[n].key], s.names[s.pairs[n].value])
	}
	for _, a := range r.Capacity {
		fmt.Fprintf(&b, " %q:%d", s.names[a.Name], a.Value)
	}
	return b.Bytes()
}
