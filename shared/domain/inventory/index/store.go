// Package index is how the index of an organization's resources is stored, read, merged and compacted: as chunks that never
// change and deltas of what changed since, in which resources are rows of columns, and merged in memory in whatever order they are
// read. What a resource, a group or a filter is, the package above knows: shared/domain/inventory.
package index

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
)

// Store reads and writes the indexes of organizations, and keeps in memory those that it used last.
type Store struct {
	table table.PatientStore // workers write, and whoever reads later pays for what they leave undone
	clock clock.Clock
	cache *cache

	compacting sync.Map // organizations that this process is compacting
}

// NewStore makes a Store with a cache of its own, in the memory that the process may have by now.
func NewStore(t table.Store, c clock.Clock) *Store {
	return &Store{table: table.NewPatientStore(t), clock: c, cache: newCache(cacheBytes())}
}

// Note writes what g tells into the index of an organization, its parts one after another: a delta and a round trip for each.
// Nothing to tell costs nothing.
func (s *Store) Note(ctx context.Context, org string, g *Segment) error {
	if len(g.Rows)+len(g.seen)+len(g.scans) == 0 {
		return nil
	}
	for _, z := range g.split() {
		w, err := deltaPut(org, s.clock.Now(), z)
		if err != nil {
			return err
		}
		if _, err = s.table.Write(ctx, w); err != nil {
			return fmt.Errorf("note %d changes in the index of %s: %w", len(g.Rows)+len(g.seen), org, err)
		}
	}
	return nil
}

// NewDelta returns the write that notes what g tells, which has to fit into one item: some thousand statuses do. It is
// unconditional, may be repeated, and belongs into the transaction that changes the records. The time only names it.
func NewDelta(org string, at time.Time, g *Segment) (table.Write, error) {
	return deltaPut(org, at, g.encode())
}

func deltaPut(org string, at time.Time, z []byte) (table.Write, error) {
	it, err := segmentItem(Key(org, deltaPrefix+newULID(at)), z)
	return table.Put(it), err
}

func newULID(at time.Time) string {
	return strings.ToLower(ulid.MustNew(ulid.Timestamp(at), ulid.DefaultEntropy()).String())
}
