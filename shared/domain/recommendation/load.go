package recommendation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// The columns of an organization are one partition. One Query, from the first change to the head, reads the changes and
// then the head. If a fold deletes changes while the Query runs, their entries are in the chunks of the head that the
// same Query reads after them.
const (
	deltaPrefix = "D#"   // D#<ulid>: a change
	headSK      = "HEAD" // names the chunks
	planPrefix  = "P#"   // P#<ulid>: the chunks that a running fold writes and replaces
	chunkSK     = "C"    // the one sort key of the partition of a chunk
)

// columnKey returns the key of an item beside the columns.
func columnKey(org, sk string) table.Key { return table.Key{PK: table.OrgPK(org) + "RECX", SK: sk} }

// chunkKey returns the key of a chunk. Each is in a partition of its own, so that no key is hot.
func chunkKey(org, id string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "RECX#" + id, SK: chunkSK}
}

// head names the chunks. Each change of them increments Gen.
type head struct {
	Gen    int64   `json:"gen"`
	Base   int     `json:"base"` // rows when all chunks were written last
	Chunks []chunk `json:"chunks"`
}

// chunk names a chunk and counts its rows.
type chunk struct {
	ID   string `json:"id"`
	Rows int    `json:"rows"`
}

func (h head) names(id string) bool {
	return slices.ContainsFunc(h.Chunks, func(c chunk) bool { return c.ID == id })
}

// reading is the result of one Query of the columns.
type reading struct {
	deltas []table.Item
	bytes  int // of the deltas
	head   head
}

// maxDeltas is how many changes are read at most. More mean that folding has stopped working.
const maxDeltas = 20_000

// readDeltas reads the changes and the head: one round trip as long as they are below a megabyte.
func (s *Store) readDeltas(ctx context.Context, org string) (reading, error) {
	var l reading
	q := table.Query{PK: columnKey(org, "").PK, From: deltaPrefix, To: headSK, Limit: table.MaxPage}
	for {
		page, err := s.table.Query(ctx, q)
		if err != nil {
			return l, fmt.Errorf("read the columns of recommendations of %s: %w", org, err)
		}
		if err = l.sort(page.Items); err != nil {
			return l, err
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return l, nil
		}
		if len(l.deltas) > maxDeltas {
			return l, fault.New(fault.Unavailable,
				"the recommendations have %d changes that wait to be folded in; try again later", len(l.deltas))
		}
	}
}

func (l *reading) sort(items []table.Item) (err error) {
	for _, it := range items {
		switch {
		case strings.HasPrefix(it.SK, deltaPrefix):
			l.deltas = append(l.deltas, it)
			l.bytes += len(it.Data)
		case it.SK == headSK:
			if l.head, err = table.Decode[head](it); err != nil {
				return err
			}
		}
	}
	return nil
}

// errMoved says that a fold deleted chunks after the head was read. The reader has to read the head again.
var errMoved = errors.New("recommendations: chunks moved")

// openTries bounds how often a reader starts over because a fold was faster.
const openTries = 8

// Open returns the columns as they are now. It takes one round trip, and one more for every 16 new chunks.
func (s *Store) Open(ctx context.Context, org string) (*Columns, error) {
	c, _, err := s.open(ctx, org)
	return c, err
}

func (s *Store) open(ctx context.Context, org string) (*Columns, reading, error) {
	for range openTries {
		l, err := s.readDeltas(ctx, org)
		if err != nil {
			return nil, l, err
		}
		c, err := s.refresh(ctx, org, &l)
		if err == nil || !errors.Is(err, errMoved) {
			return c, l, err
		}
	}
	return nil, reading{}, fault.New(fault.Unavailable,
		"the columns of the recommendations are being rewritten; try again in a moment")
}

// refresh returns the columns in memory, with what l has and they lack.
func (s *Store) refresh(ctx context.Context, org string, l *reading) (*Columns, error) {
	one := s.cache.of(org)
	one.loading.Lock()
	defer one.loading.Unlock()
	c := one.columns
	if l.head.Gen > c.gen && !c.within(l.head) {
		c = newColumns(org) // all chunks were written anew, and some entries may be gone
	}
	segments, err := s.missingSegments(ctx, c, l)
	if err != nil {
		return nil, err
	}
	deltas := make(map[string]bool, len(l.deltas))
	for i := range l.deltas {
		deltas[l.deltas[i].SK] = true
	}
	if len(segments) > 0 || l.head.Gen > c.gen || !maps.Equal(deltas, c.deltas) {
		c = c.with(segments...)
		c.deltas = deltas
		c.follow(l.head)
	}
	one.columns = c
	s.cache.count(one, c.bytes())
	return c, nil
}

// follow records that the chunks of a head are applied, unless the head is older than the columns' own. Only columns
// that nobody reads yet may follow.
func (c *Columns) follow(h head) {
	if h.Gen <= c.gen {
		return
	}
	c.gen, c.chunks = h.Gen, make(map[string]bool, len(h.Chunks))
	for _, one := range h.Chunks {
		c.chunks[one.ID] = true
	}
}

// within reports whether h still has every chunk that was applied.
func (c *Columns) within(h head) bool {
	for id := range c.chunks {
		if !h.names(id) {
			return false
		}
	}
	return true
}

// missingSegments reads the chunks, and decodes the changes, that the columns lack.
func (s *Store) missingSegments(ctx context.Context, c *Columns, l *reading) ([]*segment, error) {
	var missing []string
	if l.head.Gen > c.gen {
		for _, one := range l.head.Chunks {
			if !c.chunks[one.ID] {
				missing = append(missing, one.ID)
			}
		}
	}
	out, err := s.readChunks(ctx, c.org, missing)
	if err != nil {
		return nil, err
	}
	for _, it := range l.deltas {
		if c.deltas[it.SK] {
			continue
		}
		seg, err := decodeItem(it)
		if err != nil {
			return nil, err
		}
		out = append(out, seg)
	}
	return out, nil
}

// chunksAtOnce is how many chunks are read or written in one round trip.
const chunksAtOnce = 16

func (s *Store) readChunks(ctx context.Context, org string, ids []string) ([]*segment, error) {
	var out []*segment
	for some := range slices.Chunk(ids, chunksAtOnce) {
		got, err := s.readSome(ctx, org, some)
		if err != nil {
			return nil, err
		}
		out = append(out, got...)
	}
	return out, nil
}

// readSome reads a few chunks. Chunks never change, so it reads them with eventual consistency, at half the price. A
// missing chunk is deleted, or newer than the replica; readSome reads it again with consistency.
func (s *Store) readSome(ctx context.Context, org string, ids []string) ([]*segment, error) {
	got, err := s.getChunks(table.Eventually(ctx), org, ids)
	if err != nil {
		return nil, err
	}
	if late := slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		_, ok := got[chunkKey(org, id)]
		return ok
	}); len(late) > 0 {
		again, err := s.getChunks(ctx, org, late)
		if err != nil {
			return nil, err
		}
		maps.Copy(got, again)
	}
	out := make([]*segment, len(ids))
	for i, id := range ids {
		it, ok := got[chunkKey(org, id)]
		if !ok {
			return nil, errMoved
		}
		if out[i], err = decodeItem(it); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *Store) getChunks(ctx context.Context, org string, ids []string) (map[table.Key]table.Item, error) {
	keys := make([]table.Key, len(ids))
	for i, id := range ids {
		keys[i] = chunkKey(org, id)
	}
	got, err := s.table.BatchGet(ctx, keys...)
	return got, fault.Wrap(fmt.Sprintf("read %d chunks of recommendations of %s", len(ids), org), err)
}

// newDelta returns the write that adds a change to the columns. It belongs into the transaction of the rows.
func newDelta(org string, at time.Time, s *segment) (table.Write, error) {
	it, err := s.item(columnKey(org, deltaPrefix+newULID(at)))
	return table.Put(it), err
}

func newULID(at time.Time) string {
	return strings.ToLower(ulid.MustNew(ulid.Timestamp(at), ulid.DefaultEntropy()).String())
}
