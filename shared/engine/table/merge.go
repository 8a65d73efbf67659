package table

import (
	"context"
	"math"

	"golang.org/x/sync/errgroup"
)

// Merge reads partitions, those of a Spread for one, as if they were one: in the order of their sort keys. Its queries run
// side by side, and read of each partition little more than its share of what is asked for. It is for one goroutine.
type Merge struct {
	store   Store
	query   Query
	streams []*stream
	drop    int  // items to leave out yet
	leaped  bool // whether partitions leave out a share of these themselves
}

// stream is one partition of a Merge.
type stream struct {
	pk     string
	skip   int // of its first query
	next   string
	items  []Item // read and not handed over
	ended  bool   // nothing comes behind items
	opened bool
}

// NewMerge returns the items that q selects in the partitions pks; the PK, the Limit and the Cursor of q do not count.
func NewMerge(s Store, q Query, pks ...string) *Merge {
	m := &Merge{store: s, query: q, drop: q.Skip}
	for _, pk := range pks {
		m.streams = append(m.streams, &stream{pk: pk})
	}
	m.leap()
	return m
}

// Next returns the next n items; fewer only at the end.
func (m *Merge) Next(ctx context.Context, n int) ([]Item, error) {
	if err := m.skip(ctx, n); err != nil {
		return nil, err
	}
	return m.take(ctx, n)
}

// leap has every partition leave out most of its share of what is to be left out, which engines do without handing it over. As
// the shares vary, a rest is left for skip.
func (m *Merge) leap() {
	k := len(m.streams)
	share := m.drop / k
	if k > 1 {
		share = max(0, share-slack(m.drop, k))
	}
	for _, s := range m.streams {
		s.skip = share
	}
	m.drop -= k * share
	m.leaped = k > 1 && share > 0
}

// skip leaves out what is left of it. What a partition left out itself lies before the first item that it gave: all of it
// lies before the page when that item does. Else the shares were too uneven, and everything is read.
func (m *Merge) skip(ctx context.Context, n int) error {
	if m.drop == 0 && !m.leaped {
		return nil
	}
	seen := map[string]bool{}
	for m.drop > 0 {
		it, ok, err := m.pop(ctx, m.drop+n)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		seen[it.PK] = true
		m.drop--
	}
	if !m.leaped || len(seen) == len(m.streams) {
		m.leaped = false
		return nil
	}
	again := *NewMerge(m.store, m.query, m.pks()...)
	for _, s := range again.streams {
		s.skip = 0
	}
	again.drop, again.leaped = m.query.Skip, false
	*m = again
	return m.skip(ctx, n)
}

func (m *Merge) pks() []string {
	pks := make([]string, len(m.streams))
	for i, s := range m.streams {
		pks[i] = s.pk
	}
	return pks
}

// take hands over n items.
func (m *Merge) take(ctx context.Context, n int) ([]Item, error) {
	out := make([]Item, 0, n)
	for len(out) < n {
		it, ok, err := m.pop(ctx, n-len(out))
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		out = append(out, it)
	}
	return out, nil
}

// pop takes the next item of all; false at the end. Where it must read, it reads for want items.
func (m *Merge) pop(ctx context.Context, want int) (Item, bool, error) {
	if err := m.fill(ctx, want); err != nil {
		return Item{}, false, err
	}
	var first *stream
	for _, s := range m.streams {
		if len(s.items) > 0 && (first == nil || m.before(s.items[0].SK, first.items[0].SK)) {
			first = s
		}
	}
	if first == nil {
		return Item{}, false, nil
	}
	it := first.items[0]
	first.items = first.items[1:]
	return it, true, nil
}

func (m *Merge) before(a, b string) bool {
	if m.query.Reverse {
		return a > b
	}
	return a < b
}

// fill reads on, side by side, in the partitions of which nothing is left to hand over.
func (m *Merge) fill(ctx context.Context, want int) error {
	var empty []*stream
	for _, s := range m.streams {
		if len(s.items) == 0 && !s.ended {
			empty = append(empty, s)
		}
	}
	if len(empty) == 1 {
		return m.read(ctx, empty[0], m.share(want))
	}
	g, ctx := errgroup.WithContext(ctx)
	for _, s := range empty {
		g.Go(func() error { return m.read(ctx, s, m.share(want)) })
	}
	return g.Wait()
}

// share returns how many items to read of a partition so that all together give n, nearly always.
func (m *Merge) share(n int) int {
	k := len(m.streams)
	if k > 1 {
		n = (n+k-1)/k + slack(n, k)
	}
	return min(max(n, 1), MaxPage)
}

// slack returns by how many items one of k shares of n is larger or smaller than another: by chance, one time in a thousand.
func slack(n, k int) int { return 1 + int(math.Ceil(3*math.Sqrt(float64(n)/float64(k)))) }

// read reads on in a partition, until there are items or its end.
func (m *Merge) read(ctx context.Context, s *stream, limit int) error {
	for len(s.items) == 0 && !s.ended {
		q := m.query
		q.PK, q.Skip, q.Limit, q.Cursor = s.pk, 0, limit, s.next
		if !s.opened {
			q.Skip = s.skip
		}
		page, err := m.store.Query(ctx, q)
		if err != nil {
			return err
		}
		s.opened, s.items, s.next, s.ended = true, page.Items, page.Next, page.Next == ""
	}
	return nil
}
