package inventory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory/index"
	"lamplighter.dev/shared/engine/table"
)

// terminatedKept is how long a resource that is terminated stays in the inventory.
const terminatedKept = 7 * 24 * time.Hour

// EndedScan is a scan that read every page of its partition without an error, and the resources that this process
// found. Kept says that other processes found more (KeepFound).
type EndedScan struct {
	Scan
	Found *Found
	Kept  bool
	// Exists reads by id the resources that the scan did not find, and reports by uid whether each exists. Resources
	// that it could not read are missing from its answer. It is nil for kinds that cannot be read by id.
	Exists func(ctx context.Context, uids []string) map[string]bool
	// Others are the kinds that other scans find, for a scan of a collective kind. Another collective kind
	// ("kubernetes-*") stands for all types with its prefix.
	Others []string
}

// FinishScans ends scans of one organization. A resource that they did not find becomes terminated if a read by id
// confirms that it does not exist, or if later scans did not find it either (missing.isConfirmed). A resource that has
// been terminated for a week is dropped. FinishScans returns the changes of each scan, in their order. It is
// idempotent. Do not finish a scan that failed: it says nothing about the resources that it did not find.
func (s *Store) FinishScans(ctx context.Context, org string, scans []EndedScan) ([]Changes, error) {
	v, err := s.openIndex(ctx, org)
	if err != nil {
		return nil, err
	}
	f := &finish{
		org: org, g: index.NewSegment(), left: map[string]bool{}, changes: make([]Changes, len(scans)),
		of:    map[string]int{},
		scans: map[index.Partition]*unfinished{},
	}
	keys, err := s.collect(ctx, v, f, scans)
	if err != nil {
		return nil, err
	}
	f.decide(v.st, f.confirm(ctx, scans))
	if err = s.writeInTransactions(ctx, f.writes, f.retry); err != nil {
		return nil, fmt.Errorf("terminate %d resources of %s: %w", len(f.writes), org, err)
	}
	if err = s.index.Note(ctx, org, f.segment()); err != nil {
		return nil, err
	}
	if err = s.deleteItems(ctx, keys); err != nil {
		return nil, err
	}
	return f.changes, s.index.Tidy(ctx, v.read)
}

// collect adds to f the work for scans that were not finished before, and returns the keys of their marks.
func (s *Store) collect(ctx context.Context, v *view, f *finish, scans []EndedScan) (marks []table.Key, err error) {
	for i, sc := range scans {
		found := sc.Found.hashes
		if sc.Kept {
			others, keys, err := s.kept(ctx, f.org, sc.Scan)
			if err != nil {
				return nil, err
			}
			found, marks = slices.Concat(found, others.hashes), append(marks, keys...)
		}
		f.add(v.st, i, sc, found)
	}
	f.collect(v.st, s.clock.Now())
	return marks, nil
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

// unfinished is a scan among those of one finish: its index, its start, and the hashes of the resources it found.
type unfinished struct {
	i       int
	started int64
	found   map[uint64]struct{}
}

// finish is a running FinishScans: the records to change, as rows of a segment, by uid.
type finish struct {
	org     string
	changes []Changes
	of      map[string]int // index of the scan of a changed record, by uid
	scans   map[index.Partition]*unfinished
	parts   []index.PartitionNames // partitions with rows; nil until a scan needs them
	missing []missing
	g       *index.Segment
	writes  []table.Write

	mu   sync.Mutex      // retry is called from several transactions
	left map[string]bool // uids whose record is newer than the scan
}

// add marks partitions of the scan as finished: that of its kind, or for a collective kind those of each type in the
// index that no other scan finds.
func (f *finish) add(st *index.State, i int, sc EndedScan, hashes []uint64) {
	st.RLock()
	defer st.RUnlock()
	u := &unfinished{i, sc.Started.UnixMicro(), make(map[uint64]struct{}, len(hashes))}
	for _, h := range hashes {
		u.found[h] = struct{}{}
	}
	if !cloud.IsCollective(sc.Kind) {
		f.addPartition(st, u, sc.Partition)
		return
	}
	if f.parts == nil {
		f.parts = st.Partitions()
	}
	for _, p := range f.parts {
		if p.Account == sc.AccountID && p.Region == sc.Region && !sc.findOther(p.Kind) {
			of := sc.Partition
			of.Kind = p.Kind
			f.addPartition(st, u, of)
		}
	}
}

// findOther reports whether another scan lists resources of the type.
func (sc EndedScan) findOther(kind string) bool {
	return slices.ContainsFunc(sc.Others, func(o string) bool {
		return o == kind || o != sc.Kind && cloud.IsCollective(o) && strings.HasPrefix(kind, strings.TrimSuffix(o, "*"))
	})
}

// addPartition marks a partition as finished, unless this scan or a later one already did.
func (f *finish) addPartition(st *index.State, u *unfinished, of Partition) {
	p, known := st.Partition(of.AccountID, of.Region, of.Kind)
	if known && st.ScannedAt(p) >= u.started {
		return
	}
	f.g.AddScan(of.AccountID, of.Region, of.Kind, u.started)
	if known { // else the index has nothing of it that could have vanished
		f.scans[p] = u
	}
}

// collect decides the change of each row in the scanned partitions that its scan did not find.
func (f *finish) collect(st *index.State, now time.Time) {
	if len(f.scans) == 0 {
		return
	}
	st.RLock()
	defer st.RUnlock()
	for r := range st.Rows() {
		u := f.scans[r.Partition()]
		if u == nil {
			continue
		}
		if _, found := u.found[hash(r.UID())]; !found {
			f.leftover(st, r, u, now)
		}
	}
}

func (f *finish) leftover(st *index.State, r index.Row, u *unfinished, now time.Time) {
	rec := recordOf(st, r)
	if rec.Status == cloud.Terminated {
		if rec.StatusAt < now.Add(-terminatedKept).UnixMicro() {
			f.drop(rec, u, now)
		}
		return
	}
	// it appeared while the scan was running
	if r.Time(index.ContentTime) >= u.started || r.Time(index.StatusTime) >= u.started {
		return
	}
	m := missing{rec: rec, scan: u}
	if r.Vanished() {
		m.since = max(r.Time(index.ContentTime), r.Time(index.StatusTime))
	}
	f.missing = append(f.missing, m)
}

func (f *finish) drop(rec Resource, u *unfinished, now time.Time) {
	f.g.Rows = append(f.g.Rows, goneRow(f.g.Symbols, rec, now))
	f.of[rec.UID] = u.i
	f.changes[u.i].Dropped++
	f.writes = append(f.writes, table.Delete(ResourceKey(f.org, rec.UID),
		table.Equal("status", string(cloud.Terminated)), table.LessEqual("statusAt", rec.StatusAt),
		table.Lacks("actionID")))
}

// goneRow returns the row that marks a resource as dropped.
func goneRow(s *index.Symbols, rec Resource, now time.Time) index.Entry {
	r := newRow(s, Resource{ID: rec.ID, UID: rec.UID, Status: rec.Status, StatusAt: rec.StatusAt})
	r.Gone, r.Times[index.ContentTime] = true, microsOf(now)
	return r
}

// retry skips a record that has changed since the index was read, and treats a missing record as done.
func (f *finish) retry(w table.Write, old table.Item) (table.Write, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left[w.Item.SK] = old.Data != nil
	return table.Write{}, false, nil
}

// segment returns the index's changes, without the rows that retry left alone.
func (f *finish) segment() *index.Segment {
	f.g.Rows = slices.DeleteFunc(f.g.Rows, func(r index.Entry) bool {
		if !f.left[r.UID] {
			return false
		}
		if r.Gone {
			f.changes[f.of[r.UID]].Dropped--
		} else {
			f.changes[f.of[r.UID]].Vanished--
		}
		return true
	})
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
