package sizing

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/packing"
)

// Partition holds the lists of an organization. They are not shared with others: an account may name an endpoint of its
// own, and what that says of sizes must not decide for others.
const Partition table.Partition = "ORG#*#SIZES"

const (
	// RenewAfter is the age from which a discovery reads a list again. Providers add types every few weeks.
	RenewAfter = 3 * 24 * time.Hour
	// StaleAfter is the age from which limits are unknown.
	StaleAfter = 14 * 24 * time.Hour
	// keptLists is how long a list is kept that no discovery reads again.
	keptLists = 40 * 24 * time.Hour
)

// maxPacked is the largest packed list, in bytes: an item takes 400,000, and Base64 adds a third.
const maxPacked = 250_000

var (
	packer   packing.Packer
	unpacker = packing.Unpacker{Max: 16 << 20}
)

// Store reads and writes the machine types of the regions of organizations. Discoveries read them with the rights of
// an account; the evaluation of recommendations chooses sizes from them.
type Store struct {
	table table.Store
	clock clock.Clock
}

// NewStore returns the Store of p.
func NewStore(p *platform.Platform) *Store { return &Store{p.Table, p.Clock} }

// List is the machine types of a provider in a region.
type List struct {
	At    time.Time // when it was read
	sizes map[string]cloud.MachineSize
}

// NewList returns a list that was read at a time.
func NewList(at time.Time, sizes []cloud.MachineSize) *List {
	l := &List{at, make(map[string]cloud.MachineSize, len(sizes))}
	for _, s := range sizes {
		l.sizes[s.Name] = s
	}
	return l
}

// Find returns a machine type, or false.
func (l *List) Find(name string) (cloud.MachineSize, bool) {
	s, known := l.sizes[name]
	return s, known
}

// Each passes all machine types to do, in no order.
func (l *List) Each(do func(cloud.MachineSize)) {
	for _, s := range l.sizes {
		do(s)
	}
}

// Stale reports whether the list is too old to trust its limits.
func (l *List) Stale(now time.Time) bool { return now.Sub(l.At) > StaleAfter }

// storedList is the item of a list. It is replaced as a whole.
type storedList struct {
	At time.Time `json:"at"`
	Z  []byte    `json:"z"` // the packed sizes
}

func listKey(org string, at pricing.ProviderRegion) table.Key {
	return table.Key{PK: table.OrgPK(org) + "SIZES", SK: at.Provider + "#" + at.Region}
}

// Due returns the pairs whose list is missing or older than RenewAfter. It takes one round trip.
func (s *Store) Due(ctx context.Context, org string, all []pricing.ProviderRegion) ([]pricing.ProviderRegion, error) {
	keys := make([]table.Key, len(all))
	for i, at := range all {
		keys[i] = listKey(org, at)
	}
	items, err := s.table.BatchGet(ctx, keys...)
	if err != nil {
		return nil, fmt.Errorf("read which lists of sizes %s has: %w", org, err)
	}
	var due []pricing.ProviderRegion
	for i, at := range all {
		it, there := items[keys[i]]
		if there {
			had, err := table.Decode[storedList](it)
			if err != nil {
				return nil, err
			}
			there = s.clock.Now().Sub(had.At) < RenewAfter
		}
		if !there {
			due = append(due, at)
		}
	}
	return due, nil
}

// Write replaces a list. An empty or too large one is an error, and the list before it stays.
func (s *Store) Write(ctx context.Context, org string, at pricing.ProviderRegion, sizes []cloud.MachineSize) error {
	text, err := json.Marshal(sizes)
	if err != nil {
		return fmt.Errorf("encode the sizes of %s: %w", at, err)
	}
	packed := packer.Append(nil, text)
	if len(sizes) == 0 || len(packed) > maxPacked {
		return fault.New(fault.Unavailable, "the list of sizes of %s has %d types in %d bytes; want 1 type at least "+
			"in %d bytes at most: the list before it stays", at, len(sizes), len(packed), maxPacked)
	}
	it, err := table.NewItem(listKey(org, at), storedList{s.clock.Now(), packed})
	if err != nil {
		return err
	}
	it.Expires = s.clock.Now().Add(keptLists)
	_, err = s.table.Write(ctx, table.Put(it))
	return fault.Wrap("write the sizes of "+at.String(), err)
}

// Read returns the list of a pair, or nil if there is none. It takes one round trip.
func (s *Store) Read(ctx context.Context, org string, at pricing.ProviderRegion) (*List, error) {
	had, err := table.Read[storedList](ctx, s.table, listKey(org, at))
	if fault.Is(err, fault.NotFound) {
		return nil, nil //nolint:nilnil // there is none
	}
	if err != nil {
		return nil, fmt.Errorf("read the sizes of %s: %w", at, err)
	}
	text, err := unpacker.Unpack(had.Z)
	var sizes []cloud.MachineSize
	if err == nil {
		err = json.Unmarshal(text, &sizes)
	}
	if err != nil {
		return nil, fault.NewWithCause(fault.Internal, err, "the sizes of %s cannot be read", at)
	}
	return NewList(had.At, sizes), nil
}
