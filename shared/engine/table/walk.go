package table

import (
	"bytes"

	bolt "go.etcd.io/bbolt"

	"lamplighter.dev/shared/foundation/fault"
)

// walk is a query under way over a snapshot, in the calls that the other engine would make. As in DynamoDB, what has expired
// counts towards a page's limit and bytes, though it is not handed over, and a page that is full has a cursor, whether or not
// anything comes after it.
type walk struct {
	q      Query
	part   []byte // begins the partition's keys
	after  []byte // the last key of the page before
	cursor *bolt.Cursor
	now    int64
	skip   int  // still to leave out
	counts bool // this call only counts what is left out
	most   int  // items that this call may go over
	seen   int  // items that this call has gone over
	bytes  int  // of those
	trips  int  // calls made
	units  int  // of those
	page   Page
}

// newWalk begins a query at now.
func newWalk(q Query, now int64) walk {
	if q.Cursor != "" {
		q.Skip = 0
	}
	w := walk{q: q, part: partitionPrefix(q.PK), now: now, skip: q.Skip, counts: q.countsSkipped()}
	w.most = w.callLimit()
	return w
}

// run fills the page: first steps over what is skipped, looking at no more than the heads, then takes.
func (w *walk) run() error {
	low, high := w.bounds()
	for k, v := w.first(low, high); k != nil && w.within(k, low, high); k, v = w.next() {
		h, ok := parseHead(v)
		if !ok {
			return fault.New(fault.Internal, "the stored item %q is damaged", k)
		}
		w.seen++
		w.bytes += h.size
		if err := w.pass(k, v, h); err != nil {
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

// pass leaves one item out, or hands it over.
func (w *walk) pass(k, v []byte, h head) error {
	switch {
	case !h.isLive(w.now):
		return nil
	case w.skip > 0:
		w.skip--
		return nil
	default:
		return w.take(k, v)
	}
}

// callLimit returns how many items the next call may go over.
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

// take hands one item over.
func (w *walk) take(k, v []byte) error {
	it, _, err := storedItem(Key{PK: w.q.PK, SK: string(k[len(w.part):])}, v)
	w.page.Items = append(w.page.Items, it)
	return err
}

// bounds returns the least stored key of the range and the least after it (nil is none).
func (w *walk) bounds() (low, high []byte) {
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
	return w.resume(low, high)
}

// resume narrows the range to what comes after the cursor.
func (w *walk) resume(low, high []byte) (from, to []byte) {
	switch {
	case w.after == nil:
	case w.q.Reverse && bytes.Compare(w.after, high) < 0:
		high = w.after
	case !w.q.Reverse && bytes.Compare(w.after, low) >= 0:
		low = append(bytes.Clone(w.after), 0)
	}
	return low, high
}

// within reports whether the key lies in the range.
func (w *walk) within(k, low, high []byte) bool {
	if w.q.Reverse {
		return bytes.Compare(k, low) >= 0
	}
	return bytes.Compare(k, high) < 0
}

// first steps to where the query begins.
func (w *walk) first(low, high []byte) (k, v []byte) {
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

// next steps on.
func (w *walk) next() (k, v []byte) {
	if w.q.Reverse {
		return w.cursor.Prev()
	}
	return w.cursor.Next()
}
