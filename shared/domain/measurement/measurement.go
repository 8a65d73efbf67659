// Package measurement keeps hourly measurements of the use of resources. Discovery collects them each day. The metrics
// of the rules are computed from them, for as far back as the rules look.
package measurement

import (
	"context"
	"fmt"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// Partition holds an organization's measurements: one list, spread over shards.
const Partition table.Partition = "ORG#*#METRIC#*"

// shards is the number of partitions for the measurements of an organization. A resource is in one of them, so that
// few others are read with it.
const shards = 64

// kept is how long a day is kept: the longest window, and some days in case a collection is late.
const kept = 35 * 24 * time.Hour

func spread(org string) table.Spread {
	return table.Spread{PK: table.OrgPK(org) + "METRIC", Shards: shards}
}

// PKs returns the partitions of an organization's measurements.
func PKs(org string) []string { return spread(org).PKs() }

// Store reads and writes measurements.
type Store struct {
	table table.Store
	clock clock.Clock
}

// New returns the Store of p.
func New(p *platform.Platform) *Store { return &Store{p.Table, p.Clock} }

// Collection is the result of the last collection of an account, and its cost at the cloud.
type Collection struct {
	Day         string    `json:"day"` // the collected day: "2026-03-01"
	Resources   int       `json:"resources"`
	Series      int       `json:"series"` // number of series with points
	Calls       int       `json:"calls"`
	Queries     int       `json:"queries"`
	USD         float64   `json:"usd"`             // list price
	Error       string    `json:"error,omitempty"` // the first error of a failed read
	CollectedAt time.Time `json:"collectedAt"`
	Candidates  bool      `json:"candidates,omitempty"` // some wait for their confirmation
	ConfirmedAt time.Time `json:"confirmedAt,omitzero"` // when candidates were last looked at
}

func collectionKey(org, accountID string) table.Key { return spread(org).Key("COLLECTED#" + accountID) }

// LastCollection reads the result of the last collection of an account. It is zero if there was none.
func (s *Store) LastCollection(ctx context.Context, org, accountID string) (Collection, error) {
	c, err := table.Read[Collection](ctx, s.table, collectionKey(org, accountID))
	if fault.Is(err, fault.NotFound) {
		return Collection{}, nil
	}
	return c, fault.Wrap("read the collection of "+accountID, err)
}

// NoteCollection stores the result of a collection. It expires with the collected measurements.
func (s *Store) NoteCollection(ctx context.Context, org, accountID string, c Collection) error {
	it, err := table.NewItem(collectionKey(org, accountID), c)
	if err != nil {
		return err
	}
	it.Expires = s.clock.Now().Add(kept)
	if err = s.table.BatchWrite(ctx, table.Put(it)); err != nil {
		return fmt.Errorf("note the collection of %s: %w", accountID, err)
	}
	return nil
}

// DayOf returns the name of the day of a time, in UTC.
func DayOf(at time.Time) string { return at.UTC().Format(time.DateOnly) }
