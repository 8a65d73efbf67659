package inventory

import (
	"context"
	"time"

	"lamplighter.dev/shared/clock"
	"lamplighter.dev/shared/fault"
	"lamplighter.dev/shared/platform"
	"lamplighter.dev/shared/table"
)

// Store reads and writes the inventories of organizations.
type Store struct {
	table table.Store
	clock clock.Clock
}

// New makes a Store with a cache of its own. Functions use Of, so that a process has one cache.
func New(t table.Store, c clock.Clock) *Store { return &Store{table: t, clock: c} }

// Of is the Store of the process that stands on p.
func Of(p *platform.Platform) *Store { return New(p.Table, p.Clock) }

var errSoon = fault.New(fault.Unavailable, "the inventory index is being built")

// Delta is the write that notes observed statuses in the index. It is unconditional, may be repeated, and belongs into
// the transaction that changes the records. At most 1,000 statuses.
func Delta(org string, at time.Time, seen []Seen) (table.Write, error) {
	return table.Write{}, errSoon
}

// Upsert writes what a scan found: new and changed resources, and nothing for those that are as they were.
func (s *Store) Upsert(ctx context.Context, org string, b Batch) (Changes, error) {
	return Changes{}, errSoon
}

// Finish ends a scan that read every page of its partition without an error: what it did not find is terminated now, and
// what has been terminated for a week is dropped.
func (s *Store) Finish(ctx context.Context, org string, sc Scan) (Changes, error) {
	return Changes{}, errSoon
}

// Forget drops every resource of an account, in the index and as records. It may be repeated after a failure.
func (s *Store) Forget(ctx context.Context, org, accountID string) (Changes, error) {
	return Changes{}, errSoon
}

// Compact folds the deltas of the index into its chunks when there are many. Workers call it after they wrote deltas, an
// API request never does; two at once do no harm.
func (s *Store) Compact(ctx context.Context, org string) error { return errSoon }

// Members expands a group: its resources in the order of their tiers, orders and ids, without terminated ones.
func (s *Store) Members(ctx context.Context, org, groupID string) ([]Member, error) {
	return nil, errSoon
}

// Group reads the head of a group; fault.NotFound when there is none.
func (s *Store) Group(ctx context.Context, org, groupID string) (Group, error) {
	return Group{}, errSoon
}

// Account reads a connected account; fault.NotFound when there is none.
func (s *Store) Account(ctx context.Context, org, accountID string) (Account, error) {
	return Account{}, errSoon
}

// Counts tells how many resources each account has, terminated ones left out, by account id.
func (s *Store) Counts(ctx context.Context, org string) (map[string]int, error) { return nil, errSoon }

func indexPK(org string) string { return table.TenantPK(org) + "INV" }
