package inventory

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/table"
)

// marksKept is how long the marks of a scan that never finishes are kept.
const marksKept = 48 * time.Hour

// perMark is how many resources one mark holds: 200 kB, or 267 kB in JSON.
const perMark = 25_000

// Found is the set of resources that a scan has found so far, 8 bytes per resource. FinishScans needs it to detect
// vanished resources. It stays in the memory of the process that reads the pages, and costs the store nothing unless
// another process must continue (KeepFound).
type Found struct{ hashes []uint64 }

// Add adds the resources of a page.
func (f *Found) Add(resources []cloud.Resource) {
	f.hashes = slices.Grow(f.hashes, len(resources))
	for i := range resources {
		f.hashes = append(f.hashes, hash(resources[i].UID))
	}
}

func hash(uid string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(uid)) // never fails
	return h.Sum64()
}

// scanPK returns the partition of a scan's marks, which hold the resources it has found so far.
func scanPK(org string, sc Scan) string { return table.OrgPK(org) + "SCAN#" + sc.ID }

func (p Partition) String() string { return p.AccountID + "#" + p.Region + "#" + p.Kind }

// scanMark is the stored form of the hashes of found resources.
type scanMark struct {
	Z []byte `json:"z"`
}

// KeepFound stores the resources found since page number from, for the process that continues the scan. A repeated
// call for the same page replaces the stored set.
func (s *Store) KeepFound(ctx context.Context, org string, sc Scan, from int, f *Found) error {
	var ws []table.Write
	for part := range slices.Chunk(f.hashes, perMark) {
		z := make([]byte, 0, 8*len(part))
		for _, h := range part {
			z = binary.BigEndian.AppendUint64(z, h)
		}
		sk := fmt.Sprintf("%s#%08d#%d", sc.Partition, from, len(ws))
		it, err := table.NewItem(table.Key{PK: scanPK(org, sc), SK: sk}, scanMark{z})
		if err != nil {
			return err
		}
		it.Expires = s.clock.Now().Add(marksKept)
		ws = append(ws, table.Put(it))
	}
	if err := s.table.BatchWrite(ctx, ws...); err != nil {
		return fmt.Errorf("keep what scan %s found: %w", sc.ID, err)
	}
	return nil
}

// kept reads the resources of the partition that earlier processes found, and the keys of their marks.
func (s *Store) kept(ctx context.Context, org string, sc Scan) (*Found, []table.Key, error) {
	f, keys := &Found{}, []table.Key(nil)
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
				f.hashes = append(f.hashes, binary.BigEndian.Uint64(h))
			}
			keys = append(keys, it.Key)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return f, keys, nil
		}
	}
}
