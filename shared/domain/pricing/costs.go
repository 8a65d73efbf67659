package pricing

import (
	"context"
	"fmt"
	"time"

	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
)

// Costs reads the costs of resources for one request. The inventory calls ReadCosts (Visibility.WithCosts, LoadCosts),
// and Of then returns the costs of each resource. It is not safe for use by several goroutines.
type Costs struct {
	table table.Store
	set   *costSet // the set read last; nil before the first read
}

// NewCosts returns Costs that know nothing yet.
func NewCosts(t table.Store) *Costs { return &Costs{table: t} }

// Of returns the rate and the billed cost of a resource. The rate is nil if the resource was never priced or ReadCosts
// was not called; billed is nil if nothing was invoiced for the resource.
func (c *Costs) Of(uid string) (rate *HourlyRate, billed *Invoiced) {
	if c.set == nil {
		return nil, nil
	}
	return c.set.find(uid)
}

// ReadCosts reads the costs that a head names, in one round trip. It returns known without a round trip if the head
// names known. It also returns known if a part is gone, because the costs were replaced twice since the head was read.
func (c *Costs) ReadCosts(ctx context.Context, org string, head table.Item, known inventory.Costs) (inventory.Costs,
	error,
) {
	c.set, _ = known.(*costSet)
	h, err := decodeHead(head)
	if err != nil || h.Generation == 0 || c.set != nil && h.Generation <= c.set.generation {
		return known, err
	}
	keys := make([]table.Key, len(h.Parts))
	for i, id := range h.Parts {
		keys[i] = inventory.CostPartKey(org, id)
	}
	got, err := c.table.BatchGet(ctx, keys...)
	if err != nil {
		return known, fmt.Errorf("read what resources of %s cost: %w", org, err)
	}
	set, err := decodeParts(h.Generation, keys, got)
	if err != nil || set == nil {
		return known, err
	}
	c.set = set
	return set, nil
}

// decodeHead decodes the head of the costs; it returns the zero head for the zero Item.
func decodeHead(it table.Item) (costHead, error) {
	if it.SK == "" {
		return costHead{}, nil
	}
	return table.Decode[costHead](it)
}

// decodeParts returns the costs in parts; nil when one of them is missing.
func decodeParts(generation int64, keys []table.Key, got map[table.Key]table.Item) (*costSet, error) {
	set := &costSet{generation: generation}
	for _, k := range keys {
		it, there := got[k]
		if !there {
			return nil, nil
		}
		p, err := table.Decode[costPart](it)
		if err != nil {
			return nil, err
		}
		if err = set.decode(p.Z); err != nil {
			return nil, fmt.Errorf("read %s: %w", k.PK, err)
		}
	}
	return set, nil
}

// ReadRates returns the estimated rates of resources by native ID, without resources that were never priced. It takes
// one round trip, and two when costs have changed.
func ReadRates(ctx context.Context, t table.Store, s *inventory.Store, org string,
	uids ...string,
) (map[string]HourlyRate, error) {
	c := NewCosts(t)
	if err := s.LoadCosts(ctx, org, c); err != nil {
		return nil, err
	}
	out := make(map[string]HourlyRate, len(uids))
	for _, uid := range uids {
		if rate, _ := c.Of(uid); rate != nil {
			out[uid] = *rate
		}
	}
	return out, nil
}

// Priceable is a resource with the fields that its price depends on.
type Priceable struct {
	Resource
	UID, Name, Provider, CloudAccountID, ParentUID string
	DiscoveredAt                                   time.Time
}

// EachPriceable calls f with every resource of an organization that is not terminated, in no order. It takes one round
// trip. f may keep its argument.
func EachPriceable(ctx context.Context, s *inventory.Store, org string, f func(Priceable)) error {
	return s.EachIndexed(ctx, org, func(r inventory.IndexedResource) {
		f(Priceable{
			Resource{
				Type: r.Type, Region: r.Region, Class: r.Class, Status: r.Status, Capacity: r.Capacity,
				Inputs: r.Facts,
			},
			r.UID, r.Name, r.Provider, r.CloudAccountID, r.ParentUID, r.DiscoveredAt,
		})
	})
}
