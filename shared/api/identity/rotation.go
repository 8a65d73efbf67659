package identity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// RotationPrefix begins the partition keys of rotations; a worker that keeps one declares RotationPartition.
const (
	RotationPrefix                    = "ORGSCURSOR#"
	RotationPartition table.Partition = RotationPrefix + "*"
)

const rotationPage = 500 // organizations read at a time

// Rotation is the order in which a worker with a limit of time comes to the organizations of the directory: it begins after the one that
// the last run began last, so that none starves, and one that kills the process is passed over by the next run.
type Rotation struct {
	store  table.Store
	worker string
}

// cursor is where the last run of a worker was.
type cursor struct {
	Org string `json:"org"`
}

// NewRotation returns the rotation of a worker.
func NewRotation(s table.Store, worker string) Rotation { return Rotation{s, worker} }

func (r Rotation) key() table.Key { return table.Key{PK: RotationPrefix + r.worker, SK: "AT"} }

// ReadOrganizations returns all organizations in the order of this run: one round trip for each shard of the directory and 500
// organizations, and one. What could not be read of the directory is missing, and is the error; the rest is to be worked on.
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

// Begin notes that the run begins to work on an organization: one write.
func (r Rotation) Begin(ctx context.Context, org string) error {
	it, err := table.NewItem(r.key(), cursor{org})
	if err != nil {
		return err
	}
	_, err = r.store.Write(table.Within(ctx, RotationPrefix), table.Put(it))
	return fault.Wrap("note the cursor of "+r.worker, err)
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

// comparePlaces compares two organizations by their places in the directory.
func comparePlaces(a, b string) int {
	return cmp.Or(cmp.Compare(table.ShardOf(a, DirectoryShards), table.ShardOf(b, DirectoryShards)),
		strings.Compare(a, b))
}
