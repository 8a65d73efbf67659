// Package index stores, reads, merges and compacts the index of an organization's resources. The index consists of
// chunks, which never change, and deltas with the later changes. Both hold resources as rows of columns, and may be
// merged in any order. Package shared/domain/inventory defines resources, groups and filters.
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
	table table.PatientStore // patient: work that a worker leaves undone costs later readers
	clock clock.Clock
	cache *cache

	compacting sync.Map // organizations that this process is compacting
}

// NewStore makes a Store with a cache of its own, limited by the current memory limit of the process.
func NewStore(t table.Store, c clock.Clock) *Store {
	return &Store{table: table.NewPatientStore(t), clock: c, cache: newCache(cacheBytes())}
}

// Note writes the changes in g into the index of an organization, its parts one after another: one delta and one round
// trip per part. An empty g costs nothing.
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

// NewDelta returns the write that adds the changes in g to the index. They have to fit into one item; some thousand
// statuses do. The write is unconditional, may be repeated, and belongs into the transaction that changes the records.
// The time is used only for its name.
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
