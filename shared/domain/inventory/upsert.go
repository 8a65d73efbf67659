package inventory

import (
	"context"
	"fmt"
	"sync"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory/index"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// UpsertScanned writes the new and changed resources of scans, and nothing for unchanged ones. It compares with the
// index, so batches without changes cost one read of the index's changes altogether. Records are written before the
// index: after a crash between the two, the next scan finds the same changes again and completes them. UpsertScanned
// returns the changes of each batch, in their order.
func (s *Store) UpsertScanned(ctx context.Context, org string, bs ...Batch) ([]Changes, error) {
	if n := countResources(bs); n > MaxBatch {
		return nil, fault.New(fault.Internal, "batches of %d resources: at most %d", n, MaxBatch)
	}
	v, err := s.openIndex(ctx, org)
	if err != nil {
		return nil, err
	}
	u := newUpsert(org, s.clock.Now())
	out := make([]Changes, len(bs))
	for i, b := range bs {
		if err = u.compare(v.st, b); err != nil {
			return nil, err
		}
		out[i] = u.changes
	}
	if len(u.writes)+len(u.updates) == 0 {
		return out, nil
	}
	if err = s.writeUpdates(ctx, u); err != nil {
		return nil, err
	}
	return out, s.upsert(ctx, u, v, bs)
}

func countResources(bs []Batch) int {
	n := 0
	for _, b := range bs {
		n += len(b.Resources)
	}
	return n
}

// upsert writes the new and changed resources of u. It fails if an account is gone.
func (s *Store) upsert(ctx context.Context, u *upsert, v *view, bs []Batch) error {
	known := map[string]bool{}
	for _, b := range bs {
		if known[b.AccountID] {
			continue
		}
		if _, err := s.ReadAccount(ctx, u.org, b.AccountID); err != nil {
			return err
		}
		known[b.AccountID] = true
	}
	if err := s.writeInTransactions(ctx, u.writes, u.retry); err != nil {
		return fmt.Errorf("write %d resources of %s: %w", len(u.writes), u.org, err)
	}
	if err := s.index.Note(ctx, u.org, u.segment()); err != nil {
		return err
	}
	return s.index.Tidy(ctx, v.read)
}

// upsert is a running UpsertScanned: the batch that is compared, and its changes. Records are the new values of
// written records, by uid.
type upsert struct {
	org     string
	now     time.Time
	batch   Batch
	changes Changes
	done    map[string]bool
	writes  []table.Write
	updates []update // changes of whole records

	mu      sync.Mutex // retry is called from several transactions
	records map[string]Resource
	full    map[string]bool // uids whose whole row goes to the index
	seen    []Seen
}

func newUpsert(org string, now time.Time) *upsert {
	return &upsert{org: org, now: now, done: map[string]bool{}, records: map[string]Resource{}, full: map[string]bool{}}
}

// compare decides the writes for a batch. It ignores repeated uids.
func (u *upsert) compare(st *index.State, b Batch) error {
	st.RLock()
	defer st.RUnlock()
	u.batch, u.changes = b, Changes{}
	for _, found := range b.Resources {
		if u.done[found.UID] {
			continue
		}
		u.done[found.UID] = true
		if found.Region = u.batch.Region; !cloud.IsCollective(u.batch.Kind) {
			found.Type = u.batch.Kind
		}
		if err := u.one(st, found); err != nil {
			return err
		}
	}
	return nil
}

func (u *upsert) one(st *index.State, found cloud.Resource) error {
	r, known := st.RowByUID(found.UID)
	if !known && found.Status == cloud.Terminated { // it appeared and ended between two scans
		u.changes.Unchanged++
		return nil
	}
	if !known {
		u.changes.Created++
		return u.create(u.record(found))
	}
	moved := string(found.Status) != r.Word(index.StatusRef) && microsOf(u.batch.At) > r.Time(index.StatusTime)
	if sameResource(st.Symbols, r, u.batch.Partition, found) {
		if !moved {
			u.changes.Unchanged++
			return nil
		}
		u.changes.Updated++
		u.status(found)
		return nil
	}
	u.changes.Updated++
	rec := u.record(found)
	rec.ID, rec.DiscoveredAt = formatID(r.ID()), recordOfRow(st.Symbols, r).DiscoveredAt
	if !moved {
		rec.Status, rec.StatusAt = cloud.Status(r.Word(index.StatusRef)), r.Time(index.StatusTime)
	}
	u.records[rec.UID], u.full[rec.UID] = rec, true
	u.updates = append(u.updates, update{rec.UID, moved})
	return nil
}

// record returns the record of a resource that is new.
func (u *upsert) record(f cloud.Resource) Resource {
	return Resource{
		ID: id.New("res", u.now), UID: f.UID, Name: f.Name, Type: f.Type, Provider: u.batch.Provider,
		CloudAccountID: u.batch.AccountID, Region: f.Region, Zone: f.Zone, Status: f.Status,
		InstanceType: f.InstanceType, Capacity: f.Capacity, Tags: f.Tags, ParentUID: f.ParentUID,
		Unschedulable: f.Unschedulable, StatusAt: u.batch.At.UnixMicro(), Scan: u.batch.ID,
		Facts: f.Facts, FactsSum: f.Facts.Sum(), PriceInputs: IndexedFacts(f.Type, f.Facts),
		DiscoveredAt: u.now.Truncate(time.Millisecond), LastSeenAt: u.batch.At, CreatedAt: f.CreatedAt,
	}
}

func (u *upsert) create(rec Resource) error {
	u.records[rec.UID], u.full[rec.UID] = rec, true
	w, err := putRecord(u.org, markSince(rec, nil))
	u.writes = append(u.writes, w)
	return err
}

// putRecord returns the write that creates a record.
func putRecord(org string, rec Resource) (table.Write, error) {
	it, err := table.NewItem(ResourceKey(org, rec.UID), rec)
	return table.Put(it, table.Absent()), err
}

// updateRecord returns the write that changes a record's content, and its status unless the record has a newer one. It
// does not change the action in flight.
func updateRecord(org string, rec Resource, moved bool) table.Write {
	changes := []table.Change{
		table.Set("name", rec.Name), table.Set("type", rec.Type), table.Set("provider", rec.Provider),
		table.Set("cloudAccountID", rec.CloudAccountID), table.Set("region", rec.Region), table.Set("zone", rec.Zone),
		table.Set("instanceType", rec.InstanceType), table.Set("capacity", rec.Capacity), table.Set("tags", rec.Tags),
		table.Set("parentUID", rec.ParentUID), table.Set("unschedulable", rec.Unschedulable),
		table.Set("createdAt", rec.CreatedAt), table.Set("lastSeenAt", rec.LastSeenAt), table.Set("scan", rec.Scan),
		table.Set("facts", rec.Facts),
	}
	if !moved {
		return table.Update(ResourceKey(org, rec.UID), changes, table.Exists())
	}
	return table.Update(ResourceKey(org, rec.UID), append(changes,
		table.Set("status", string(rec.Status)), table.Set("statusAt", rec.StatusAt),
	), table.LessEqual("statusAt", rec.StatusAt))
}

// status changes nothing but the status.
func (u *upsert) status(found cloud.Resource) {
	u.seen = append(u.seen, Seen{found.UID, found.Status, u.batch.At})
	u.records[found.UID] = u.record(found) // should the record be gone
	u.writes = append(u.writes, table.Update(ResourceKey(u.org, found.UID), []table.Change{
		table.Set("status", string(found.Status)), table.Set("statusAt", u.batch.At.UnixMicro()),
	}, table.LessEqual("statusAt", u.batch.At.UnixMicro())))
}

// retry returns the write that replaces w when the record differs from the index: it exists already, it is gone, or it
// has a newer status.
func (u *upsert) retry(w table.Write, old table.Item) (table.Write, bool, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	rec := u.records[w.Item.SK]
	u.full[rec.UID] = true
	if old.Data == nil {
		next, err := putRecord(u.org, markSince(rec, nil))
		return next, true, err
	}
	have, err := table.Decode[Resource](old)
	if err != nil {
		return table.Write{}, false, err
	}
	rec.ID, rec.DiscoveredAt = have.ID, have.DiscoveredAt
	moved := have.StatusAt <= rec.StatusAt && have.Status != rec.Status
	if !moved {
		rec.Status, rec.StatusAt = have.Status, have.StatusAt
	}
	u.records[rec.UID] = rec
	return updateRecord(u.org, markSince(rec, have.Facts), moved), true, nil
}

// segment returns the index's changes for the records as they were written.
func (u *upsert) segment() *index.Segment {
	g := index.NewSegment()
	for _, s := range u.seen {
		g.AddStatus(s.UID, string(s.Status), s.At.UnixMicro())
	}
	for uid := range u.full {
		g.Rows = append(g.Rows, newRow(g.Symbols, u.records[uid]))
	}
	return g
}
