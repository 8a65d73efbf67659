package table

import (
	"bytes"
	"context"
	"slices"
	"strconv"

	bolt "go.etcd.io/bbolt"

	"lamplighter.dev/shared/foundation/fault"
)

// Get reads one item.
func (e *Embedded) Get(ctx context.Context, k Key) (Item, error) {
	if err := checkKey(k); err != nil {
		return Item{}, err
	}
	var it Item
	var size int
	err := e.readSnapshot(ctx, func(tx *bolt.Tx) (err error) {
		it, size, err = readLive(tx.Bucket(itemBucket), k, e.unixNow())
		return err
	})
	m := meterOf(ctx)
	m.countTrips(1)
	m.countRead(priceOf(ctx, readUnits(size)), k.PK)
	if err == nil && it.Data == nil {
		return Item{}, errNotFound(k)
	}
	return it, err
}

// errNotFound returns the error for an absent item.
func errNotFound(k Key) error { return fault.New(fault.NotFound, "there is no item %s %s", k.PK, k.SK) }

// readLive reads the item under k, and returns its size even if it has expired. Its Data is nil if it is absent or has
// expired.
func readLive(items *bolt.Bucket, k Key, now int64) (Item, int, error) {
	v := items.Get(storedKey(k))
	if v == nil {
		return Item{Key: k}, 0, nil
	}
	if h, ok := parseHead(v); ok && !h.isLive(now) {
		return Item{Key: k}, h.size, nil
	}
	it, h, err := storedItem(k, v)
	return it, h.size, err
}

// BatchGet reads many items.
func (e *Embedded) BatchGet(ctx context.Context, keys ...Key) (map[Key]Item, error) {
	keys, err := distinctKeys(keys)
	if err != nil || len(keys) == 0 {
		return map[Key]Item{}, err
	}
	found, sizes := make(map[Key]Item, len(keys)), make([]int, len(keys))
	err = e.readSnapshot(ctx, func(tx *bolt.Tx) error {
		items, now := tx.Bucket(itemBucket), e.unixNow()
		for i, k := range keys {
			it, size, err := readLive(items, k, now)
			if err != nil {
				return err
			}
			if it.Data != nil {
				found[k] = it
			}
			sizes[i] = size
		}
		return nil
	})
	m := meterOf(ctx)
	m.countTrips(batchGetTrips(sizes))
	for i, k := range keys {
		m.countRead(priceOf(ctx, readUnits(sizes[i])), k.PK)
	}
	return found, err
}

// batchGetTrips returns the number of round trips for items of these sizes: each reads up to 100 items or 16 MB.
func batchGetTrips(sizes []int) int {
	trips := 0
	for part := range slices.Chunk(sizes, batchGet) {
		sum := 0
		for _, n := range part {
			sum += n
		}
		trips += max(1, (sum+batchGetBytes-1)/batchGetBytes)
	}
	return trips
}

// distinctKeys checks keys, and removes duplicates.
func distinctKeys(keys []Key) ([]Key, error) {
	out := make([]Key, 0, len(keys))
	repeated := findRepetitions(len(keys))
	for _, k := range keys {
		if err := checkKey(k); err != nil {
			return nil, err
		}
		if !repeated(out, k) {
			out = append(out, k)
		}
	}
	return out, nil
}

// maxScannedKeys is the largest number of keys that are compared one by one. A map is faster for more.
const maxScannedKeys = 8

// findRepetitions returns a function that reports for each of n keys in turn whether it is among those before it.
func findRepetitions(n int) func(before []Key, k Key) bool {
	if n <= maxScannedKeys {
		return slices.Contains[[]Key]
	}
	seen := make(map[Key]struct{}, n)
	return func(_ []Key, k Key) bool {
		_, ok := seen[k]
		seen[k] = struct{}{}
		return ok
	}
}

// Query reads a page of a partition.
func (e *Embedded) Query(ctx context.Context, q Query) (Page, error) {
	if err := checkQuery(q); err != nil {
		return Page{}, err
	}
	w := newWalk(q, e.unixNow())
	if q.Cursor != "" {
		after, err := decodeCursor(q.Cursor)
		if err != nil {
			return Page{}, err
		}
		w.after = append(bytes.Clone(w.part), after...)
	}
	err := e.readSnapshot(ctx, func(tx *bolt.Tx) error {
		w.cursor = tx.Bucket(itemBucket).Cursor()
		return w.fillPage()
	})
	m := meterOf(ctx)
	m.countTrips(max(1, w.trips))
	m.countRead(priceOf(ctx, w.units), q.PK)
	return w.page, err
}

// Feed reads the change feed.
func (e *Embedded) Feed(ctx context.Context, cursor string, limit int) (Feed, error) {
	after, err := feedCursor(cursor)
	if err != nil {
		return Feed{}, err
	}
	if limit < 1 || limit > MaxPage {
		return Feed{}, fault.New(fault.Invalid, "the feed's limit is %d; 1 to %d are allowed", limit, MaxPage)
	}
	f := Feed{Next: cursor}
	err = e.readSnapshot(ctx, func(tx *bolt.Tx) error {
		c := tx.Bucket(feedBucket).Cursor()
		for k, v := c.Seek(feedKey(after + 1)); k != nil && len(f.Items) < limit; k, v = c.Next() {
			it, err := feedItem(v)
			if err != nil {
				return err
			}
			f.Items = append(f.Items, it)
			after = feedSequence(k)
			f.Next = strconv.FormatUint(after, 10)
		}
		return nil
	})
	meterOf(ctx).countTrips(1)
	return f, err
}

// feedCursor decodes a cursor of the feed: the sequence of the last entry that was read.
func feedCursor(cursor string) (uint64, error) {
	if cursor == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(cursor, 10, 63)
	if err != nil {
		return 0, fault.NewWithCause(fault.Invalid, err, "the cursor %.40q is not one that the feed handed out", cursor)
	}
	return n, nil
}
