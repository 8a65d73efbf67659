package table

import (
	"context"
	"math"

	"golang.org/x/sync/errgroup"
)

// Merge reads several partitions, such as those of a Spread, as one: in the order of their sort keys. It queries them
// concurrently, and reads little more from each partition than its share of the requested items. It must be used by one
// goroutine at a time.
type Merge struct {
	store   Store
	query   Query
	streams []*stream
	drop    int  // items left to skip
	leaped  bool // whether partitions skip a share of the items themselves
}

// stream is one partition of a Merge.
type stream struct {
	pk     string
	skip   int // of its first query
	next   string
	items  []Item // read, but not returned yet
	ended  bool   // no items follow after those in items
	opened bool
}

// NewMerge returns a Merge of the items that q selects in the partitions pks. It ignores q's PK, Limit and Cursor.
func NewMerge(s Store, q Query, pks ...string) *Merge {
	m := &Merge{store: s, query: q, drop: q.Skip}
	for _, pk := range pks {
		m.streams = append(m.streams, &stream{pk: pk})
	}
	m.skipShares()
	return m
}

// Next returns the next n items, or fewer at the end.
func (m *Merge) Next(ctx context.Context, n int) ([]Item, error) {
	if err := m.skipRest(ctx, n); err != nil {
		return nil, err
	}
	return m.takeItems(ctx, n)
}

// skipShares makes each partition skip most of its share of the items to skip, which engines do without reading them.
// Shares vary, so skipRest skips the remaining items.
func (m *Merge) skipShares() {
	k := len(m.streams)
	share := m.drop / k
	if k > 1 {
		share = max(0, share-shareSlack(m.drop, k))
	}
	for _, s := range m.streams {
		s.skip = share
	}
	m.drop -= k * share
	m.leaped = k > 1 && share > 0
}

// skipRest skips the remaining items. A partition's skipped items come before the first item that it returned. If each
// partition has returned an item that is skipped too, all its skipped items come before the page. Otherwise the shares
// were too uneven, and skipRest starts again and reads everything.
func (m *Merge) skipRest(ctx context.Context, n int) error {
	if m.drop == 0 && !m.leaped {
		return nil
	}
	seen := map[string]bool{}
	for m.drop > 0 {
		it, ok, err := m.popItem(ctx, m.drop+n)
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
	again := *NewMerge(m.store, m.query, m.partitionKeys()...)
	for _, s := range again.streams {
		s.skip = 0
	}
	again.drop, again.leaped = m.query.Skip, false
	*m = again
	return m.skipRest(ctx, n)
}

func (m *Merge) partitionKeys() []string {
	pks := make([]string, len(m.streams))
	for i, s := range m.streams {
		pks[i] = s.pk
	}
	return pks
}

// takeItems returns n items.
func (m *Merge) takeItems(ctx context.Context, n int) ([]Item, error) {
	out := make([]Item, 0, n)
	for len(out) < n {
		it, ok, err := m.popItem(ctx, n-len(out))
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

// popItem returns the next item of all partitions, or false at the end. If it must read, it reads enough for want
// items.
func (m *Merge) popItem(ctx context.Context, want int) (Item, bool, error) {
	if err := m.fillStreams(ctx, want); err != nil {
		return Item{}, false, err
	}
	var first *stream
	for _, s := range m.streams {
		if len(s.items) > 0 && (first == nil || m.isBefore(s.items[0].SK, first.items[0].SK)) {
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

func (m *Merge) isBefore(a, b string) bool {
	if m.query.Reverse {
		return a > b
	}
	return a < b
}

// fillStreams continues reading, concurrently, the partitions without buffered items.
func (m *Merge) fillStreams(ctx context.Context, want int) error {
	var empty []*stream
	for _, s := range m.streams {
		if len(s.items) == 0 && !s.ended {
			empty = append(empty, s)
		}
	}
	if len(empty) == 1 {
		return m.readItems(ctx, empty[0], m.readSize(want))
	}
	g, ctx := errgroup.WithContext(ctx)
	for _, s := range empty {
		g.Go(func() error { return m.readItems(ctx, s, m.readSize(want)) })
	}
	return g.Wait()
}

// readSize returns how many items to read from a partition, so that all together return n items in nearly all cases.
func (m *Merge) readSize(n int) int {
	k := len(m.streams)
	if k > 1 {
		n = (n+k-1)/k + shareSlack(n, k)
	}
	return min(max(n, 1), MaxPage)
}

// shareSlack returns the largest difference between one of k random shares of n and the average. One share in a
// thousand differs by more.
func shareSlack(n, k int) int { return 1 + int(math.Ceil(3*math.Sqrt(float64(n)/float64(k)))) }

// readItems continues reading a partition, until there are items or its end.
func (m *Merge) readItems(ctx context.Context, s *stream, limit int) error {
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
