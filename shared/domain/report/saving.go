package report

import (
	"context"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/foundation/money"
)

// SavingLine is a time during which a resource was stopped by us, and the saving.
type SavingLine struct {
	Resource *inventory.Listed
	Rate     *pricing.HourlyRate   // of the resource
	Change   execution.StateChange // the change that began it
	From, To time.Time
	Amount   money.Amount
}

// RealizedSaving is the savings of some days.
type RealizedSaving struct {
	Lines       []SavingLine   // the last first
	Days        []money.Amount // by day; they add up to the lines
	WithoutRate int            // stops of resources without a known price; no sum contains them
}

// SavedHourly returns the saving for each hour that the resource is stopped.
func (l *SavingLine) SavedHourly() money.Amount { return l.Rate.Running.Sub(l.Rate.Off) }

// Total returns the sum of the days, which is also the sum of the lines.
func (r *RealizedSaving) Total() money.Amount { return money.Sum(r.Days...) }

// SavingReader reads savings. It is safe for use by many goroutines.
type SavingReader struct {
	p         *platform.Platform
	inventory *inventory.Store
}

// SavingReading is the store access of a function that reads savings.
var SavingReading = table.Access{Reads: []table.Partition{
	execution.HistoryPartition, inventory.IndexPartition,
	inventory.ChunkPartition,
}}

// NewSavingReader returns a SavingReader.
func NewSavingReader(p *platform.Platform) *SavingReader { return &SavingReader{p, inventory.New(p)} }

// Between returns the savings between two days for the resources in sight. It reads the state history, with one round
// trip for each of its partitions, and the inventory.
func (r *SavingReader) Between(ctx context.Context, org string, sight inventory.Visibility,
	from, to time.Time,
) (RealizedSaving, error) {
	out := RealizedSaving{Days: make([]money.Amount, int(to.Sub(from)/day))}
	changes, err := r.readChanges(ctx, org, from.Add(-longestStop), to)
	if err != nil {
		return out, err
	}
	stops := stopsOf(changes, from, clock.Earliest(to, r.p.Clock.Now()))
	if len(stops) == 0 {
		return out, nil
	}
	costs := pricing.NewCosts(r.p.Table)
	known, err := r.stopped(ctx, org, sight.WithCosts(costs), stops)
	if err != nil {
		return out, err
	}
	for i := range stops {
		uid := stops[i].change.ResourceUID
		rate, _ := costs.Of(uid)
		out.add(&stops[i], known[uid], rate, from)
	}
	return out, nil
}

// maxChanges is the most state changes that are read.
const maxChanges = 50_000

func (r *SavingReader) readChanges(ctx context.Context, org string, from, to time.Time) ([]execution.StateChange,
	error,
) {
	q := table.Query{From: id.LowestAt("sh", from), To: id.LowestAt("sh", to)}
	m := table.NewMerge(r.p.Table, q, execution.HistoryPKs(org)...)
	items, err := m.Next(ctx, maxChanges+1)
	if err != nil {
		return nil, fault.Wrap("read the state history", err)
	}
	if len(items) > maxChanges {
		return nil, fault.New(fault.Invalid, "from, to: there are more than %d changes of states in these days and "+
			"the 31 before; ask for fewer days", maxChanges)
	}
	return table.DecodeAll[execution.StateChange](items)
}

// stopped returns the stopped resources in sight, with their prices.
func (r *SavingReader) stopped(ctx context.Context, org string, sight inventory.Visibility,
	stops []stop,
) (map[string]*inventory.Listed, error) {
	uids := make([]string, len(stops))
	for i := range stops {
		uids[i] = stops[i].change.ResourceUID
	}
	found, err := r.inventory.ByUIDs(ctx, org, uids, sight)
	out := make(map[string]*inventory.Listed, len(found))
	for i := range found {
		out[found[i].UID] = &found[i]
	}
	return out, fault.Wrap("read what was stopped", err)
}

// add adds a stop of a resource. A nil resource is hidden from the caller or does not exist any more.
func (r *RealizedSaving) add(st *stop, of *inventory.Listed, rate *pricing.HourlyRate, from time.Time) {
	if of == nil {
		return
	}
	if rate == nil || rate.Reason != "" || rate.Running.Cmp(rate.Off) <= 0 {
		r.WithoutRate++
		return
	}
	r.Lines = append(r.Lines,
		SavingLine{of, rate, st.change, st.from, st.to, saved(rate, st.to.Sub(st.from))})
	st.addByDay(r.Days, from, rate)
}
