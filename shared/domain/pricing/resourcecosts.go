package pricing

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// HourlyRate is the estimated cost of a resource for an hour, at public prices.
type HourlyRate struct {
	Running money.Amount // an hour of it while it runs
	Off     money.Amount // an hour of it while it is stopped
	Version string       // version of the prices
	Stale   bool         // the prices are older than they should be: newer ones could not be fetched
	Shared  bool         // it is the price of parts that are resources of their own
	Reason  string       // why there is no estimate; empty when there is one
}

// Hourly returns the cost of an hour in a status.
func (r *HourlyRate) Hourly(s cloud.Status) money.Amount {
	if s == cloud.Terminated {
		return money.Amount{}
	}
	if s == cloud.Stopped {
		return r.Off
	}
	return r.Running
}

// Saved returns what a stop of a duration saves: the difference between the running and the stopped rate. It returns
// false without a price, or if a stop saves nothing.
func (r *HourlyRate) Saved(d time.Duration) (money.Amount, bool) {
	if r == nil || r.Reason != "" || r.Running.Cmp(r.Off) <= 0 {
		return money.Amount{}, false
	}
	return r.Running.Sub(r.Off).MulDiv(money.FromInt(int64(d/time.Second)), money.FromInt(3600)), true
}

// The sources of the cost that a resource is shown with.
const (
	EstimatedCost = "estimated"
	BilledCost    = "actual"
)

// SourceOfCost returns which cost of a resource is displayed: the billed cost if a bill of this month has arrived or
// there is no estimate, else the estimate. It returns "" if neither is known.
func SourceOfCost(r *HourlyRate, billed *Invoiced) string {
	estimated := r != nil && r.Reason == ""
	switch {
	case billed != nil && (billed.Current || !estimated):
		return BilledCost
	case estimated:
		return EstimatedCost
	}
	return ""
}

// Invoiced is the invoiced cost of a resource, to the cent.
type Invoiced struct {
	MonthToDate, LastMonth money.Amount
	// a bill of this month has arrived; without one, MonthToDate is 0 because the cost is unknown
	Current bool
}

// KnownCost is the estimated and the invoiced cost of a resource.
type KnownCost struct {
	UID    string
	Rate   HourlyRate
	Billed *Invoiced
}

// costHead names the items that hold the costs of an organization's resources. Old are the parts of the previous head,
// which a reader may still use. Pending are the parts that are being written, or were when a process died.
type costHead struct {
	Generation int64    `json:"generation"`      // generation of the parts
	Change     int64    `json:"change"`          // number of changes of the head; each change is conditioned on it
	Sum        uint64   `json:"sum"`             // hash of the parts' contents; unchanged costs are not written again
	Bills      string   `json:"bills,omitempty"` // fingerprint of the bills that the costs are of: bills.fingerprint
	Parts      []string `json:"parts"`
	Old        []string `json:"old,omitempty"`
	Pending    []string `json:"pending,omitempty"`
}

// costPart is the stored form of a part. Its item is in a partition of its own, like the chunks of the index.
type costPart struct {
	Z []byte `json:"z"`
}

// ErrCostsMoved says that another process has written the costs meanwhile.
var ErrCostsMoved = errors.New("the costs of resources were written by another process meanwhile")

// costWriter writes the costs of an organization.
type costWriter struct {
	table table.Store
	clock clock.Clock
	org   string
}

// WriteCosts replaces the known costs of an organization's resources. It reads the head in one round trip, and writes
// nothing when the costs have not changed. It returns ErrCostsMoved when another process writes at the same time:
// compute the costs again then.
func WriteCosts(ctx context.Context, p *platform.Platform, org string, all []KnownCost) error {
	w := costWriter{p.Table, p.Clock, org}
	h, err := w.readHead(ctx)
	if err != nil {
		return err
	}
	return w.write(ctx, h, newCosts{encodeCosts(all), ""})
}

// write replaces the costs of the head h by costs that were computed after h was read. It returns ErrCostsMoved if
// another process has written costs since h was read.
func (w *costWriter) write(ctx context.Context, h costHead, next newCosts) error {
	switch unchanged := h.Generation > 0 && h.Sum == sumOf(next.parts); {
	case !unchanged:
		return w.replace(ctx, h, next)
	case h.Bills == next.bills:
		return nil
	}
	h.Change, h.Bills = h.Change+1, next.bills
	return w.swapHead(ctx, h)
}

// newCosts is the encoded costs that replace others, with the fingerprint of the bills that they were computed from.
type newCosts struct {
	parts [][]byte
	bills string
}

// readHead returns the head of the costs. It is zero if there is none.
func (w *costWriter) readHead(ctx context.Context) (costHead, error) {
	h, err := table.Read[costHead](ctx, w.table, inventory.CostHeadKey(w.org))
	if fault.Is(err, fault.NotFound) {
		return costHead{}, nil
	}
	return h, fault.Wrap("read the head of the costs of "+w.org, err)
}

// replace writes the parts of new costs. It lists them in the head as pending first, so that the parts of a process
// that dies are found and deleted; then it writes them, has the head name them, and deletes the parts of the head
// before the previous one.
func (w *costWriter) replace(ctx context.Context, h costHead, costs newCosts) error {
	plan := h
	plan.Change, plan.Pending = h.Change+1, make([]string, len(costs.parts))
	for i := range costs.parts {
		plan.Pending[i] = strings.ToLower(ulid.MustNew(ulid.Timestamp(w.clock.Now()), ulid.DefaultEntropy()).String())
	}
	if err := w.swapHead(ctx, plan); err != nil {
		return err
	}
	for i, z := range costs.parts {
		it, err := table.NewItem(inventory.CostPartKey(w.org, plan.Pending[i]), costPart{z})
		if err != nil {
			return err
		}
		if _, err = w.table.Write(ctx, table.Put(it)); err != nil {
			return fmt.Errorf("write costs of %s: %w", w.org, err)
		}
	}
	next := costHead{
		Generation: h.Generation + 1, Change: plan.Change + 1, Sum: sumOf(costs.parts), Bills: costs.bills,
		Parts: plan.Pending, Old: h.Parts,
	}
	if err := w.swapHead(ctx, next); err != nil {
		return errors.Join(err, w.drop(ctx, plan.Pending))
	}
	return w.drop(ctx, slices.Concat(h.Old, h.Pending))
}

// swapHead replaces the head of the previous change. It returns ErrCostsMoved if that is not the current one.
func (w *costWriter) swapHead(ctx context.Context, next costHead) error {
	it, err := table.NewItem(inventory.CostHeadKey(w.org), next)
	if err != nil {
		return err
	}
	unchanged := table.Equal("change", next.Change-1)
	if next.Change == 1 {
		unchanged = table.Absent()
	}
	_, err = w.table.Write(ctx, table.Put(it, unchanged))
	if _, lost := errors.AsType[*table.ConditionError](err); lost {
		return ErrCostsMoved
	}
	if err != nil {
		return fmt.Errorf("write the head of the costs of %s: %w", w.org, err)
	}
	return nil
}

func (w *costWriter) drop(ctx context.Context, ids []string) error {
	for _, id := range ids {
		if _, err := w.table.Write(ctx, table.Delete(inventory.CostPartKey(w.org, id))); err != nil {
			return fmt.Errorf("delete old costs of %s: %w", w.org, err)
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

// CostPartitions returns the partitions of the parts that items of inventory.IndexPartition name, for the eraser.
func CostPartitions(org string, items []table.Item) ([]string, error) {
	var out []string
	for _, it := range items {
		if !inventory.IsCostHead(it) {
			continue
		}
		h, err := table.Decode[costHead](it)
		if err != nil {
			return nil, err
		}
		for _, id := range slices.Concat(h.Parts, h.Old, h.Pending) {
			out = append(out, inventory.CostPartKey(org, id).PK)
		}
	}
	return out, nil
}
