package recommendation

import (
	"maps"
	"slices"
	"sync"

	"github.com/oklog/ulid/v2"
)

// Columns are all recommendations of an organization as lists and sums need them, at one moment. Columns never change,
// so any number of goroutines may read them.
type Columns struct {
	org       string
	names     *names
	entries   []entry // by id, candidates included
	confirmed [Shards]int64
	gen       int64           // of the head
	chunks    map[string]bool // applied
	deltas    map[string]bool // applied, and not folded at the last read

	mu     sync.Mutex
	sums   *standing // for a time; nil until it is asked for
	orders map[string][]int32
}

func newColumns(org string) *Columns {
	return &Columns{org: org, names: newNames(), chunks: map[string]bool{}, deltas: map[string]bool{}}
}

// entryBytes is about the memory of an entry with its share of the orders and the sums.
const entryBytes = 176

// bytes returns about how much memory the columns take.
func (c *Columns) bytes() int { return len(c.entries)*entryBytes + 200*len(c.names.rules) }

// with returns the columns with segments added. Of two entries with one id, the one with the higher version counts.
func (c *Columns) with(segments ...*segment) *Columns {
	out := &Columns{
		org: c.org, names: c.names.clone(), confirmed: c.confirmed, gen: c.gen,
		chunks: maps.Clone(c.chunks), deltas: maps.Clone(c.deltas),
	}
	var more []entry
	for _, s := range segments {
		for shard, at := range s.confirmed {
			if shard < Shards {
				out.confirmed[shard] = max(out.confirmed[shard], at)
			}
		}
		more = append(more, out.renumbered(s)...)
	}
	slices.SortStableFunc(more, byID)
	out.entries = merge(c.entries, more)
	return out
}

// renumbered returns the entries of a segment with the numbers of the columns.
func (c *Columns) renumbered(s *segment) []entry {
	places, rules := make([]uint32, len(s.names.places)), make([]uint32, len(s.names.rules))
	for i, p := range s.names.places {
		places[i] = c.names.placeNumber(p)
	}
	for i, r := range s.names.rules {
		rules[i] = c.names.ruleNumber(r)
	}
	out := slices.Clone(s.entries)
	for i := range out {
		out[i].place, out[i].rule = places[out[i].place], rules[out[i].rule]
	}
	return out
}

func byID(a, b entry) int { return a.id.Compare(b.id) }

// merge merges two lists that are sorted by id. The second one may have entries of one id side by side.
func merge(a, b []entry) []entry {
	out := make([]entry, 0, len(a)+len(b))
	for len(a) > 0 || len(b) > 0 {
		next := &a
		if len(a) == 0 || len(b) > 0 && byID(b[0], a[0]) <= 0 {
			next = &b
		}
		e := (*next)[0]
		*next = (*next)[1:]
		if last := len(out) - 1; last >= 0 && out[last].id == e.id {
			if e.version > out[last].version {
				out[last] = e
			}
			continue
		}
		out = append(out, e)
	}
	return out
}

func (n *names) clone() *names {
	return &names{
		slices.Clone(n.places), slices.Clone(n.rules), maps.Clone(n.byPlace), maps.Clone(n.byRule),
	}
}

// find returns the number of an entry.
func (c *Columns) find(id ulid.ULID) (int, bool) {
	return slices.BinarySearchFunc(c.entries, id, func(e entry, id ulid.ULID) int { return e.id.Compare(id) })
}

// segment returns all columns as one segment, with the entries that keep returns true for.
func (c *Columns) segment(keep func(*entry) bool) *segment {
	out := newSegment()
	for shard, at := range c.confirmed {
		if at > 0 {
			out.confirmed[shard] = at
		}
	}
	for i := range c.entries {
		if keep(&c.entries[i]) {
			out.add(c.names, c.entries[i])
		}
	}
	return out
}
