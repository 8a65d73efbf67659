package inventory

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"sync"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory/index"
	"lamplighter.dev/shared/engine/table"
)

// terminatedKept is how long a resource that is terminated stays in the inventory.
const terminatedKept = 7 * 24 * time.Hour

// marksKept is how long the marks of a scan that never finishes are kept.
const marksKept = 48 * time.Hour

// scanPK returns the partition of a scan's marks: which resources it has found so far.
func scanPK(org string, sc Scan) string { return table.OrgPK(org) + "SCAN#" + sc.ID }

func (p Partition) String() string { return p.AccountID + "#" + p.Region + "#" + p.Kind }

// scanMark is how the hashes of what a batch found stand in an item.
type scanMark struct {
	Z []byte `json:"z"`
}

// markScanned remembers what the batch found until the scan is finished: eight bytes a resource, one item a batch. The same
// batch again overwrites its own mark.
func (s *Store) markScanned(ctx context.Context, org string, b Batch) error {
	found := make([]byte, 0, 8*len(b.Resources))
	all := fnv.New64a()
	for _, r := range b.Resources {
		found = binary.BigEndian.AppendUint64(found, hash(r.UID))
	}
	_, _ = all.Write(found) // never fails
	key := table.Key{PK: scanPK(org, b.Scan), SK: b.String() + "#" + strconv.FormatUint(all.Sum64(), 36)}
	it, err := table.NewItem(key, scanMark{found})
	if err != nil {
		return err
	}
	it.Expires = s.clock.Now().Add(marksKept)
	if _, err = s.table.Write(ctx, table.Put(it)); err != nil {
		return fmt.Errorf("mark what scan %s found: %w", b.ID, err)
	}
	return nil
}

func hash(uid string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(uid)) // never fails
	return h.Sum64()
}

// marks reads what a scan found in its partition, and the keys of the marks.
func (s *Store) marks(ctx context.Context, org string, sc Scan) (map[uint64]bool, []table.Key, error) {
	found, keys := map[uint64]bool{}, []table.Key(nil)
	q := table.Query{PK: scanPK(org, sc), Prefix: sc.String() + "#", Limit: 1000}
	for {
		page, err := s.table.Query(ctx, q)
		if err != nil {
			return nil, nil, fmt.Errorf("read what scan %s found: %w", sc.ID, err)
		}
		for _, it := range page.Items {
			m, err := table.Decode[scanMark](it)
			if err != nil {
				return nil, nil, err
			}
			for h := range slices.Chunk(m.Z, 8) {
				found[binary.BigEndian.Uint64(h)] = true
			}
			keys = append(keys, it.Key)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return found, keys, nil
		}
	}
}

// FinishScan ends a scan that read every page of its partition without an error: what it did not find is terminated now, and
// what has been terminated for a week is dropped. Finishing again does nothing. A scan that failed is not finished: then
// nothing is known of what it did not find.
func (s *Store) FinishScan(ctx context.Context, org string, sc Scan) (Changes, error) {
	v, err := s.openIndex(ctx, org)
	if err != nil {
		return Changes{}, err
	}
	found, keys, err := s.marks(ctx, org, sc)
	if err != nil || finished(v.st, sc) {
		return Changes{}, err
	}
	f := &finish{org: org, g: index.NewSegment(), left: map[string]bool{}}
	f.collect(v.st, sc, found, s.clock.Now())
	if err = s.writeInTransactions(ctx, f.writes, f.retry); err != nil {
		return Changes{}, fmt.Errorf("terminate %d resources of %s: %w", len(f.writes), sc.Partition, err)
	}
	if err = s.index.Note(ctx, org, f.segment(sc)); err != nil {
		return Changes{}, err
	}
	if err = s.deleteItems(ctx, keys); err != nil {
		return Changes{}, err
	}
	return f.changes, s.index.Tidy(ctx, v.read)
}

// deleteItems deletes items without conditions.
func (s *Store) deleteItems(ctx context.Context, keys []table.Key) error {
	ws := make([]table.Write, len(keys))
	for i, k := range keys {
		ws[i] = table.Delete(k)
	}
	if err := s.table.BatchWrite(ctx, ws...); err != nil {
		return fmt.Errorf("delete %d items: %w", len(ws), err)
	}
	return nil
}

// finished reports whether this scan, or a later one, of the partition has been finished.
func finished(st *index.State, sc Scan) bool {
	st.RLock()
	defer st.RUnlock()
	p, ok := st.Partition(sc.AccountID, sc.Region, sc.Kind)
	return ok && st.ScannedAt(p) >= sc.Started.UnixMicro()
}

// finish is one Finish under way: the records that go, as rows of a segment, by uid.
type finish struct {
	org     string
	changes Changes
	g       *index.Segment
	writes  []table.Write

	mu   sync.Mutex      // retry is called from several transactions
	left map[string]bool // uids whose record is newer than the scan
}

// collect decides what becomes of the rows of the partition that the scan did not find.
func (f *finish) collect(st *index.State, sc Scan, found map[uint64]bool, now time.Time) {
	st.RLock()
	defer st.RUnlock()
	p, ok := st.Partition(sc.AccountID, sc.Region, sc.Kind)
	if !ok {
		return
	}
	for r := range st.Rows() {
		if r.Partition() == p && !found[hash(r.UID())] {
			f.leftover(st, r, sc.Started.UnixMicro(), now)
		}
	}
}

func (f *finish) leftover(st *index.State, r index.Row, started int64, now time.Time) {
	rec := recordOf(st, r)
	if rec.Status == cloud.Terminated {
		if rec.StatusAt < now.Add(-terminatedKept).UnixMicro() {
			f.drop(rec, now)
		}
		return
	}
	if r.Time(index.ContentTime) >= started || r.Time(index.StatusTime) >= started { // it came while the scan went on
		return
	}
	rec.Status, rec.StatusAt = cloud.Terminated, started
	out := newRow(f.g.Symbols, rec)
	out.Vanished, out.Times[index.ContentTime] = true, started
	f.g.Rows = append(f.g.Rows, out)
	f.changes.Vanished++
	f.writes = append(f.writes, table.Update(ResourceKey(f.org, rec.UID), []table.Change{
		table.Set("status", string(rec.Status)), table.Set("statusAt", started), table.Set("lastSeenAt", rec.LastSeenAt),
	}, table.LessEqual("statusAt", started)))
}

func (f *finish) drop(rec Resource, now time.Time) {
	f.g.Rows = append(f.g.Rows, goneRow(f.g.Symbols, rec, now))
	f.changes.Dropped++
	f.writes = append(f.writes, table.Delete(ResourceKey(f.org, rec.UID),
		table.Equal("status", string(cloud.Terminated)), table.LessEqual("statusAt", rec.StatusAt), table.Lacks("actionID")))
}

// goneRow returns the row that says that a resource was dropped.
func goneRow(s *index.Symbols, rec Resource, now time.Time) index.Entry {
	r := newRow(s, Resource{ID: rec.ID, UID: rec.UID, Status: rec.Status, StatusAt: rec.StatusAt})
	r.Gone, r.Times[index.ContentTime] = true, microsOf(now)
	return r
}

// retry leaves a record that changed since the index knew it, and takes one that is gone as done.
func (f *finish) retry(w table.Write, old table.Item) (table.Write, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left[w.Item.SK] = old.Data != nil
	return table.Write{}, false, nil
}

// segment returns what the index must know, without what retry left.
func (f *finish) segment(sc Scan) *index.Segment {
	f.g.Rows = slices.DeleteFunc(f.g.Rows, func(r index.Entry) bool {
		if !f.left[r.UID] {
			return false
		}
		if r.Gone {
			f.changes.Dropped--
		} else {
			f.changes.Vanished--
		}
		return true
	})
	f.g.AddScan(sc.AccountID, sc.Region, sc.Kind, sc.Started.UnixMicro())
	return f.g
}

// ForgetAccount drops every resource of an account, in the index and as records. It may be repeated after a failure.
func (s *Store) ForgetAccount(ctx context.Context, org, accountID string) (Changes, error) {
	v, err := s.openIndex(ctx, org)
	if err != nil {
		return Changes{}, err
	}
	g, keys := accountRows(v.st, org, accountID, s.clock.Now())
	if err = s.deleteItems(ctx, keys); err != nil {
		return Changes{}, fmt.Errorf("forget account %s: %w", accountID, err)
	}
	if err = s.index.Note(ctx, org, g); err != nil {
		return Changes{}, err
	}
	return Changes{Dropped: len(keys)}, s.index.Tidy(ctx, v.read)
}

func accountRows(st *index.State, org, accountID string, now time.Time) (*index.Segment, []table.Key) {
	st.RLock()
	defer st.RUnlock()
	g, keys := index.NewSegment(), []table.Key(nil)
	n, known := st.Symbols.Find(accountID)
	for r := range st.Rows() {
		if known && r.Ref(index.AccountRef) == n {
			rec := recordOfRow(st.Symbols, r)
			g.Rows = append(g.Rows, goneRow(g.Symbols, rec, now))
			keys = append(keys, ResourceKey(org, rec.UID))
		}
	}
	return g, keys
}
