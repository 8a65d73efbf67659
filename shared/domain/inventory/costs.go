package inventory

import (
	"context"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory/index"
	"lamplighter.dev/shared/engine/table"
)

// Costs are the costs of an organization's resources, as package pricing keeps them in memory. A Costs never changes.
type Costs interface {
	Generation() int64 // generation of its head; it increases with time
	Bytes() int        // about how much memory it takes
	// Order returns the sort key of a resource in a list ordered by cost, for its UID and status.
	Order(uid string, status cloud.Status) int64
}

// CostReader reads the Costs of an organization.
type CostReader interface {
	// ReadCosts returns the Costs that the head names. The head is the item at CostHeadKey, which was read with the
	// index, or the zero Item if there is none. The parameter known is the newest Costs that a reader has returned, or
	// nil. If the head names known, ReadCosts returns it without a round trip.
	ReadCosts(ctx context.Context, org string, head table.Item, known Costs) (Costs, error)
}

// costHeadSK is the sort key of the head: between the deltas and the head of the index, so that it is read with them.
const costHeadSK = "E#costs"

// CostHeadKey returns where the head of an organization's Costs is stored.
func CostHeadKey(org string) table.Key { return index.Key(org, costHeadSK) }

// IsCostHead reports whether an item of the index partition is the head of the Costs.
func IsCostHead(it table.Item) bool { return it.SK == costHeadSK }

// CostPartKey returns the key of a part of an organization's Costs. Each part is in a partition of its own, like the
// chunks of the index.
func CostPartKey(org, id string) table.Key { return table.Key{PK: index.PK(org) + "#" + id, SK: "C"} }

// LoadCosts has r read the Costs of an organization. It takes one round trip, plus the round trips of r.
func (s *Store) LoadCosts(ctx context.Context, org string, r CostReader) error {
	v, err := s.openIndex(ctx, org)
	if err != nil {
		return err
	}
	return v.loadCosts(ctx, r)
}

// loadCosts updates the Costs in memory. With a nil reader it does nothing.
func (v *view) loadCosts(ctx context.Context, r CostReader) error {
	if r == nil {
		return nil
	}
	var head table.Item
	for _, it := range headsOf(v.read.Heads, costHeadSK) {
		head = it
	}
	v.st.RLock()
	known := v.sets.costs
	v.st.RUnlock()
	next, err := r.ReadCosts(ctx, v.org, head, known)
	if err != nil || next == nil {
		return err
	}
	v.keepCosts(next)
	return nil
}

// keepCosts caches Costs that are newer than those in memory.
func (v *view) keepCosts(next Costs) {
	v.st.Lock()
	defer v.st.Unlock()
	if known := v.sets.costs; known == nil || known.Generation() < next.Generation() {
		v.sets.costs = next
		v.st.SetCosts(func(uid, status string) int64 { return next.Order(uid, cloud.Status(status)) })
	}
}
