package identity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// RotationPrefix is the prefix of the partition keys of rotations. A worker with a rotation declares RotationPartition.
const (
	RotationPrefix                    = "ORGSCURSOR#"
	RotationPartition table.Partition = RotationPrefix + "*"
)

const rotationPage = 500 // organizations of one read

// Rotation is the order of organizations for a worker with a time limit. Each run starts after the last organization
// that the previous run started, so that no organization starves, and the next run skips one that crashes the process.
type Rotation struct {
	store  table.Store
	worker string
}

// cursor is the last organization that a worker started.
type cursor struct {
	Org string `json:"org"`
}

// NewRotation returns the rotation of a worker.
func NewRotation(s table.Store, worker string) Rotation { return Rotation{s, worker} }

func (r Rotation) key() table.Key { return table.Key{PK: RotationPrefix + r.worker, SK: "AT"} }

// ReadOrganizations returns all organizations in the order of this run. If parts of the directory cannot be read, it
// returns the others together with the error. It takes one round trip, and one for each shard of the directory and for
// each 500 organizations.
func (r Rotation) ReadOrganizations(ctx context.Context) ([]string, error) {
	at, err := table.Read[cursor](table.Within(ctx, RotationPrefix), r.store, r.key())
	if fault.Is(err, fault.NotFound) {
		err = nil
	}
	errs := []error{fault.Wrap("read the cursor of "+r.worker, err)}
	var out []string
	for shard := range DirectoryShards {
		some, err := r.readShard(ctx, shard)
		out, errs = append(out, some...), append(errs, err)
	}
	next := slices.IndexFunc(out, func(org string) bool { return comparePlaces(org, at.Org) > 0 })
	if at.Org == "" || next < 0 {
		return out, errors.Join(errs...)
	}
	return slices.Concat(out[next:], out[:next]), errors.Join(errs...)
}

// Begin records that the run starts with an organization. One write.
func (r Rotation) Begin(ctx context.Context, org string) error {
	it, err := table.NewItem(r.key(), cursor{org})
	if err != nil {
		return err
	}
	_, err = r.store.Write(table.Within(ctx, RotationPrefix), table.Put(it))
	return fault.Wrap("note the cursor of "+r.worker, err)
}

// doneKept is how long the marks of MarkDone are kept.
const doneKept = 3 * 24 * time.Hour

const donePrefix = "DONE#"

// done is the period whose work has ended for an organization.
type done struct {
	Period string `json:"period"`
}

// MarkDone records that the work of a period, such as a day, has ended for an organization. One write.
func (r Rotation) MarkDone(ctx context.Context, org, period string, now time.Time) error {
	it, err := table.NewItem(table.Key{PK: r.key().PK, SK: donePrefix + org}, done{period})
	if err != nil {
		return err
	}
	it.Expires = now.Add(doneKept)
	_, err = r.store.Write(table.Within(ctx, RotationPrefix), table.Put(it))
	return fault.Wrap("note that "+r.worker+" is done with "+org, err)
}

// ReadDone returns the organizations for which the work of a period has ended. It takes one round trip for each 1,000.
func (r Rotation) ReadDone(ctx context.Context, period string) (map[string]bool, error) {
	out := map[string]bool{}
	for q := (table.Query{PK: r.key().PK, Prefix: donePrefix, Limit: table.MaxPage}); ; {
		page, err := r.store.Query(table.Within(ctx, RotationPrefix), q)
		if err != nil {
			return nil, fmt.Errorf("read what %s is done with: %w", r.worker, err)
		}
		for _, it := range page.Items {
			d, err := table.Decode[done](it)
			if err != nil {
				return nil, err
			}
			if d.Period == period {
				out[strings.TrimPrefix(it.SK, donePrefix)] = true
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return out, nil
		}
	}
}

func (r Rotation) readShard(ctx context.Context, shard int) ([]string, error) {
	var out []string
	for q := (table.Query{PK: DirectoryPK(shard), Limit: rotationPage}); ; {
		page, err := r.store.Query(table.Within(ctx, DirectoryPrefix), q)
		if err != nil {
			return out, fmt.Errorf("read shard %d of the directory: %w", shard, err)
		}
		for _, it := range page.Items {
			out = append(out, it.SK)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return out, nil
		}
	}
}

// comparePlaces compares two organizations by their order in the directory.
func comparePlaces(a, b string) int {
	return cmp.Or(cmp.Compare(table.ShardOf(a, DirectoryShards), table.ShardOf(b, DirectoryShards)),
		strings.Compare(a, b))
}
