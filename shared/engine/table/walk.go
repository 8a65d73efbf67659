package table

import (
	"bytes"

	bolt "go.etcd.io/bbolt"

	"lamplighter.dev/shared/foundation/fault"
)

// walk is a query on a snapshot. It counts the calls that DynamoDB would need. As in DynamoDB, expired items count
// towards a page's limit and bytes although they are not returned, and a full page has a cursor even if no items
// follow.
type walk struct {
	q      Query
	part   []byte // prefix of the partition's keys
	after  []byte // last key of the previous page
	cursor *bolt.Cursor
	now    int64
	skip   int  // items left to skip
	counts bool // this call only counts skipped items
	most   int  // items that this call may read
	seen   int  // items that this call has read
	bytes  int  // bytes of these items
	trips  int  // number of calls
	units  int  // units of these calls
	page   Page
}

// newWalk starts a query at now.
func newWalk(q Query, now int64) walk {
	if q.Cursor != "" {
		q.Skip = 0
	}
	w := walk{q: q, part: partitionPrefix(q.PK), now: now, skip: q.Skip, counts: q.countsSkipped()}
	w.most = w.callLimit()
	return w
}

// fillPage fills the page. It first skips items by reading only their heads.
func (w *walk) fillPage() error {
	low, high := w.keyRange()
	for k, v := w.firstKey(low, high); k != nil && w.inRange(k, low, high); k, v = w.nextKey() {
		h, ok := parseHead(v)
		if !ok {
			damaged := Key{PK: w.q.PK, SK: string(k[len(w.part):])}
			return fault.NewWithCause(fault.Internal, &DamageError{damaged, errDamagedItem},
				"the stored item %s %s is damaged", damaged.PK, damaged.SK)
		}
		w.seen++
		w.bytes += h.size
		if err := w.passItem(k, v, h); err != nil {
			return err
		}
		if w.seen < w.most && w.bytes < pageBytes {
			continue
		}
		if !w.counts && w.skip == 0 {
			w.page.Next = encodeCursor(string(k[len(w.part):]))
			break
		}
		w.endCall()
	}
	w.endCall()
	return nil
}

// passItem skips or returns one item.
func (w *walk) passItem(k, v []byte, h head) error {
	switch {
	case !h.isLive(w.now):
		return nil
	case w.skip > 0:
		w.skip--
		return nil
	default:
		return w.takeItem(k, v)
	}
}

// callLimit returns how many items the next call may read.
func (w *walk) callLimit() int {
	if w.counts {
		return w.skip
	}
	return w.q.pageLimit()
}

// endCall counts a call.
func (w *walk) endCall() {
	w.trips++
	w.units += readUnits(w.bytes)
	w.seen, w.bytes, w.counts = 0, 0, w.counts && w.skip > 0
	w.most = w.callLimit()
}

// takeItem adds one item to the page.
func (w *walk) takeItem(k, v []byte) error {
	it, _, err := storedItem(Key{PK: w.q.PK, SK: string(k[len(w.part):])}, v)
	w.page.Items = append(w.page.Items, it)
	return err
}

// keyRange returns the lowest stored key of the range, and the lowest key after it (nil means none).
func (w *walk) keyRange() (low, high []byte) {
	low, high = bytes.Clone(w.part), prefixEnd(w.part)
	switch {
	case w.q.Prefix != "":
		low = append(low, w.q.Prefix...)
		high = prefixEnd(low)
	default:
		low = append(low, w.q.From...)
		if w.q.To != "" {
			high = append(append(bytes.Clone(w.part), w.q.To...), 0)
		}
	}
	return w.afterCursor(low, high)
}

// afterCursor narrows the range to the keys after the cursor.
func (w *walk) afterCursor(low, high []byte) (from, to []byte) {
	switch {
	case w.after == nil:
	case w.q.Reverse && bytes.Compare(w.after, high) < 0:
		high = w.after
	case !w.q.Reverse && bytes.Compare(w.after, low) >= 0:
		low = append(bytes.Clone(w.after), 0)
	}
	return low, high
}

// inRange reports whether the key is in the range.
func (w *walk) inRange(k, low, high []byte) bool {
	if w.q.Reverse {
		return bytes.Compare(k, low) >= 0
	}
	return bytes.Compare(k, high) < 0
}

// firstKey moves to the start of the query.
func (w *walk) firstKey(low, high []byte) (k, v []byte) {
	if w.q.isEmptyRange() {
		return nil, nil
	}
	if !w.q.Reverse {
		return w.cursor.Seek(low)
	}
	if k, _ = w.cursor.Seek(high); k == nil {
		return w.cursor.Last()
	}
	return w.cursor.Prev()
}

// nextKey moves to the next key.
func (w *walk) nextKey() (k, v []byte) {
	if w.q.Reverse {
		return w.cursor.Prev()
	}
	return w.cursor.Next()
}
