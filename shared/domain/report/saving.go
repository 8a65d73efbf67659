package report

import (
	"cmp"
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/foundation/money"
)

const day = 24 * time.Hour

// SavingLine is a saving by us: a time during which we kept a resource stopped, or an applied recommendation whose
// saving the bills show.
type SavingLine struct {
	ResourceUID, ResourceName, ResourceType string

	From, To time.Time
	Counted  time.Duration // the part of the time that counts: of a recommendation, without the stops of the resource
	Hourly   money.Amount  // saving of an hour that counts
	Amount   money.Amount

	Change         execution.StateChange      // of a stop: the change that began it
	Rate           *pricing.HourlyRate        // of a stop: the prices of the resource
	Recommendation *recommendation.LedgerLine // nil for a stop
}

// RealizedSaving is the savings of some days.
type RealizedSaving struct {
	Lines       []SavingLine   // the last first
	Days        []money.Amount // by day; they add up to the lines
	WithoutRate int            // stops of resources without a known price; no sum contains them
}

// Total returns the sum of the days, which is also the sum of the lines.
func (r *RealizedSaving) Total() money.Amount { return money.Sum(r.Days...) }

// Stops returns the number of lines that are stops.
func (r *RealizedSaving) Stops() (n int) {
	for i := range r.Lines {
		if r.Lines[i].Recommendation == nil {
			n++
		}
	}
	return n
}

// SavingReader reads savings. It is safe for use by many goroutines.
type SavingReader struct {
	p         *platform.Platform
	inventory *inventory.Store
}

// SavingReading is the store access of a function that reads savings.
var SavingReading = table.Access{Reads: []table.Partition{
	execution.HistoryPartition, inventory.IndexPartition, inventory.ChunkPartition, recommendation.LedgerPartition,
}}

// NewSavingReader returns a SavingReader.
func NewSavingReader(p *platform.Platform) *SavingReader { return &SavingReader{p, inventory.New(p)} }

// Between returns the savings between two days for the resources in sight. It reads the state history and the lines of
// applied recommendations side by side, with one round trip for each partition, and the inventory.
func (r *SavingReader) Between(ctx context.Context, org string, sight inventory.Visibility,
	from, to time.Time,
) (RealizedSaving, error) {
	l := &ledger{
		from: from, until: clock.Earliest(to, r.p.Clock.Now()), out: RealizedSaving{
			Days: make([]money.Amount, int(to.Sub(from)/day)),
		},
	}
	if err := r.readRecords(ctx, org, l, to); err != nil {
		return l.out, err
	}
	if len(l.changes)+len(l.lines) == 0 {
		return l.out, nil
	}
	costs := pricing.NewCosts(r.p.Table)
	l.rateOf = func(uid string) *pricing.HourlyRate { rate, _ := costs.Of(uid); return rate }
	l.gone = sight.Resources.All
	stops := execution.StopsOf(changesFrom(l.changes, from.Add(-execution.LongestStop)), from, l.until)
	found, err := r.inventory.ByUIDs(ctx, org, l.resources(stops), sight.WithCosts(costs))
	if err != nil {
		return l.out, fault.Wrap("read the resources of savings", err)
	}
	l.see(found)
	l.addStops(stops)
	l.addRecommendations()
	slices.SortStableFunc(l.out.Lines, func(a, b SavingLine) int { return b.From.Compare(a.From) })
	return l.out, nil
}

// readRecords reads the state changes and the lines of recommendations that concern the days. The lines of
// recommendations need the stops since they began.
func (r *SavingReader) readRecords(ctx context.Context, org string, l *ledger, to time.Time) error {
	begin := l.from.Add(-execution.LongestStop)
	var g errgroup.Group
	g.Go(func() (err error) {
		l.read, err = recommendation.ReadLedger(ctx, r.p.Table, org, l.from.Add(-ledgerReach),
			to.Add(ledgerApart))
		return err
	})
	g.Go(func() (err error) {
		l.changes, err = r.readChanges(ctx, org, begin, to)
		return err
	})
	if err := g.Wait(); err != nil {
		return err
	}
	l.arrange()
	earlier, err := r.readChanges(ctx, org, l.begin().Add(-execution.LongestStop), begin)
	l.changes = append(earlier, l.changes...)
	return err
}

// maxChanges is the most state changes that are read.
const maxChanges = 50_000

func (r *SavingReader) readChanges(ctx context.Context, org string, from, to time.Time) ([]execution.StateChange,
	error,
) {
	if !from.Before(to) {
		return nil, nil
	}
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

// changesFrom returns the changes, which are ordered, from a time on.
func changesFrom(changes []execution.StateChange, from time.Time) []execution.StateChange {
	n, _ := slices.BinarySearchFunc(changes, from, func(c execution.StateChange, at time.Time) int {
		return cmp.Compare(c.ID, id.LowestAt("sh", at))
	})
	return changes[n:]
}
