package inventory

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory/index"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/money"
)

// Rate is what a resource is estimated to cost at public prices.
type Rate struct {
	Running money.Amount // an hour of it while it runs
	Off     money.Amount // an hour of it while it is stopped
	Version string       // of the prices
	Stale   bool         // the prices are older than they should be: newer ones could not be fetched
	Shared  bool         // it is the price of parts that are resources of their own
	Reason  string       // why there is no estimate; empty when there is one
}

// Hourly returns what an hour costs in a status.
func (r *Rate) Hourly(s cloud.Status) money.Amount {
	if s == cloud.Terminated {
		return money.Amount{}
	}
	if s == cloud.Stopped {
		return r.Off
	}
	return r.Running
}

// The sources of the cost that a resource is shown with.
const (
	EstimatedCost = "estimated"
	BilledCost    = "actual"
)

// SourceOfCost returns which cost a resource is shown with: the billed one once a bill of this month has arrived, or
// where there is no estimate; "" when neither is known.
func SourceOfCost(r *Rate, billed *Invoiced) string {
	estimated := r != nil && r.Reason == ""
	switch {
	case billed != nil && (billed.Current || !estimated):
		return BilledCost
	case estimated:
		return EstimatedCost
	}
	return ""
}

// Invoiced is what was invoiced for a resource, to the cent.
type Invoiced struct {
	MonthToDate, LastMonth money.Amount
	// a bill of this month has arrived: before it has, MonthToDate is nothing because nothing is known
	Current bool
}

// Cost is what is known of what a resource costs.
type Cost struct {
	UID    string
	Rate   Rate
	Billed *Invoiced
}

// costHeadSK is where the head of the costs is: between the deltas and the head of the index, so that it is read with them.
const costHeadSK = "E#costs"

// costHead says in which items the costs of an organization's resources are. Old are the parts of the one before: who reads now may
// still have that head. Pending are those that are being written, or were when a process died.
type costHead struct {
	Generation int64    `json:"generation"` // of the parts
	Change     int64    `json:"change"`     // counts the changes of the head, which each is conditioned on
	Sum        uint64   `json:"sum"`        // of what the parts say: the same costs are not written again
	Parts      []string `json:"parts"`
	Old        []string `json:"old,omitempty"`
	Pending    []string `json:"pending,omitempty"`
}

// costPart is how a part stands in its item, which is in a partition of its own as the chunks of the index are.
type costPart struct {
	Z []byte `json:"z"`
}

// costSK is the sort key of a part.
const costSK = "C"

func costKey(org, id string) table.Key { return table.Key{PK: index.PK(org) + "#" + id, SK: costSK} }

// readCostHead returns the head of the costs that was read with the index; the zero head when there is none.
func (v *view) readCostHead() (costHead, error) {
	for _, it := range headsOf(v.read.Heads, costHeadSK) {
		return table.Decode[costHead](it)
	}
	return costHead{}, nil
}

// ErrCostsMoved says that somebody else has written the costs meanwhile.
var ErrCostsMoved = errors.New("the costs of resources were written by another process meanwhile")

// WriteCosts makes all what is known of what an organization's resources cost. Costs that are as they were cost nothing to write.
// Where two write at once one gets ErrCostsMoved, and should look at what there is again.
func (s *Store) WriteCosts(ctx context.Context, org string, all []Cost) error {
	v, err := s.openIndex(ctx, org)
	if err != nil {
		return err
	}
	h, err := v.readCostHead()
	if err != nil {
		return err
	}
	parts := encodeCosts(all)
	sum := sumOf(parts)
	if h.Generation > 0 && h.Sum == sum {
		return nil
	}
	return s.replaceCosts(ctx, org, h, sum, parts)
}

// replaceCosts announces the parts in the head, so that nothing is left behind that nobody finds, writes them, has the head name them,
// and deletes those of the head before the last one.
func (s *Store) replaceCosts(ctx context.Context, org string, h costHead, sum uint64, parts [][]byte) error {
	plan := h
	plan.Change, plan.Pending = h.Change+1, make([]string, len(parts))
	for i := range parts {
		plan.Pending[i] = strings.ToLower(ulid.MustNew(ulid.Timestamp(s.clock.Now()), ulid.DefaultEntropy()).String())
	}
	if err := s.swapCostHead(ctx, org, plan); err != nil {
		return err
	}
	for i, z := range parts {
		it, err := table.NewItem(costKey(org, plan.Pending[i]), costPart{z})
		if err != nil {
			return err
		}
		if _, err = s.table.Write(ctx, table.Put(it)); err != nil {
			return fmt.Errorf("write costs of %s: %w", org, err)
		}
	}
	next := costHead{Generation: h.Generation + 1, Change: plan.Change + 1, Sum: sum, Parts: plan.Pending, Old: h.Parts}
	if err := s.swapCostHead(ctx, org, next); err != nil {
		return errors.Join(err, s.dropCosts(ctx, org, plan.Pending))
	}
	return s.dropCosts(ctx, org, slices.Concat(h.Old, h.Pending))
}

// swapCostHead writes the head behind the one of the change before; ErrCostsMoved when that is not the last one.
func (s *Store) swapCostHead(ctx context.Context, org string, next costHead) error {
	it, err := table.NewItem(index.Key(org, costHeadSK), next)
	if err != nil {
		return err
	}
	unchanged := table.Equal("change", next.Change-1)
	if next.Change == 1 {
		unchanged = table.Absent()
	}
	_, err = s.table.Write(ctx, table.Put(it, unchanged))
	if _, lost := errors.AsType[*table.ConditionError](err); lost {
		return ErrCostsMoved
	}
	if err != nil {
		return fmt.Errorf("write the head of the costs of %s: %w", org, err)
	}
	return nil
}

func (s *Store) dropCosts(ctx context.Context, org string, ids []string) error {
	for _, id := range ids {
		if _, err := s.table.Write(ctx, table.Delete(costKey(org, id))); err != nil {
			return fmt.Errorf("delete old costs of %s: %w", org, err)
		}
	}
	return nil
}

func sumOf(parts [][]byte) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		_, _ = h.Write(p) // never fails
	}
	return h.Sum64() >> 12 // JSON keeps 53 bits
}

// loadCosts brings the costs in memory up to date when they are asked for: no round trip as long as they are as they were, else one.
func (s *Store) loadCosts(ctx context.Context, v *view, asked bool) error {
	h, err := v.readCostHead()
	if err != nil || !asked {
		return err
	}
	v.st.RLock()
	known := v.sets.costs.generation
	v.st.RUnlock()
	if h.Generation <= known {
		return nil
	}
	keys := make([]table.Key, len(h.Parts))
	for i, id := range h.Parts {
		keys[i] = costKey(v.org, id)
	}
	got, err := s.table.BatchGet(ctx, keys...)
	if err != nil {
		return fmt.Errorf("read what resources of %s cost: %w", v.org, err)
	}
	return v.keepCosts(h, keys, got)
}

// keepCosts remembers the costs that were read. A part that is gone was replaced twice meanwhile: what is known stays.
func (v *view) keepCosts(h costHead, keys []table.Key, got map[table.Key]table.Item) error {
	set := costSet{generation: h.Generation}
	for _, k := range keys {
		it, there := got[k]
		if !there {
			return nil
		}
		p, err := table.Decode[costPart](it)
		if err != nil {
			return err
		}
		if err = set.decode(p.Z); err != nil {
			return fmt.Errorf("read %s: %w", k.PK, err)
		}
	}
	v.st.Lock()
	defer v.st.Unlock()
	if v.sets.costs.generation < set.generation {
		known := v.sets
		known.costs = set
		v.st.SetCosts(func(uid, status string) int64 { return known.costs.order(uid, cloud.Status(status)) })
	}
	return nil
}

// addCosts puts what resources cost into a listing that asks for it.
func (v *view) addCosts(l listing, sight *Visibility) {
	if !sight.Costs {
		return
	}
	v.st.RLock()
	defer v.st.RUnlock()
	for i := range l.out {
		l.out[i].Rate, l.out[i].Billed = v.sets.costs.find(l.out[i].UID)
	}
}

// Rates returns what resources are estimated to cost, by native id; those that were never looked at are missing. One round trip, two when
// costs have changed.
func (s *Store) Rates(ctx context.Context, org string, uids ...string) (map[string]Rate, error) {
	v, err := s.openIndex(ctx, org)
	if err != nil {
		return nil, err
	}
	if err = s.loadCosts(ctx, v, true); err != nil {
		return nil, err
	}
	v.st.RLock()
	defer v.st.RUnlock()
	out := make(map[string]Rate, len(uids))
	for _, uid := range uids {
		if rate, _ := v.sets.costs.find(uid); rate != nil {
			out[uid] = *rate
		}
	}
	return out, nil
}

// Priceable is a resource with what is needed to price it.
type Priceable struct {
	pricing.Resource
	UID, Name, Provider, CloudAccountID, ParentUID string
	DiscoveredAt                                   time.Time
}

// EachPriceable calls f with every resource of an organization, terminated ones left out, in no order: one round trip. What f is given
// may be kept.
func (s *Store) EachPriceable(ctx context.Context, org string, f func(Priceable)) error {
	v, err := s.openIndex(ctx, org)
	if err != nil {
		return err
	}
	v.st.RLock()
	defer v.st.RUnlock()
	for r := range v.st.Rows() {
		if status := cloud.Status(r.Word(index.StatusRef)); status != cloud.Terminated {
			f(priceable(v.st.Symbols, r, status))
		}
	}
	return nil
}

func priceable(syms *index.Symbols, r index.Row, status cloud.Status) Priceable {
	capacity, _, inputs := splitAmounts(syms, r)
	out := Priceable{pricing.Resource{
		Type: r.Word(index.KindRef), Region: r.Word(index.RegionRef), Class: r.Word(index.InstanceRef), Status: status,
		Inputs: inputs,
	}, r.UID(), r.Name(), r.Word(index.ProviderRef), r.Word(index.AccountRef), r.Word(index.ParentRef),
		ulid.Time(r.ID().Time()).UTC()}
	if n := capacity.Len(); n > 0 {
		out.Capacity = make(map[string]int64, n)
	}
	for i := range capacity.Len() {
		a := capacity.At(i)
		out.Capacity[syms.Name(a.Name)] = a.Value
	}
	return out
}
