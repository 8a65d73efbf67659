package discovery

import (
	"context"
	"errors"
	"slices"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// planPartitions finds out which partitions the account has and writes their number down. An account that is gone or cannot be
// opened has none; finish then says why. What was read to its end by an earlier try of the same pass is not read again.
func (w *worker) planPartitions(ctx context.Context, in discovery.Input) (Plan, error) {
	a, conn, err := w.connectAccount(ctx, in)
	if fault.Is(err, fault.NotFound) {
		return Plan{[]Partition{}}, nil
	}
	if err != nil {
		return Plan{[]Partition{}}, w.hopeless(ctx, in, err)
	}
	regions, err := w.regions(ctx, conn, a)
	if err != nil {
		return Plan{[]Partition{}}, w.hopeless(ctx, in, err)
	}
	all := w.partitions(in, a, regions)
	_, err = w.p.Table.Write(ctx, table.Update(discovery.JobKey(in.Org, in.JobID),
		[]table.Change{table.Set("partitions", len(all)), table.Remove("error"), table.Remove("refused")}, table.Exists()))
	if err != nil {
		return Plan{}, fault.Wrap("plan "+in.JobID, err)
	}
	left, err := w.unread(ctx, in, all)
	return Plan{left}, err
}

// hopeless notes on the pass why nothing can be read, when trying again would not help; else it is an error, so that the
// machine tries again.
func (w *worker) hopeless(ctx context.Context, in discovery.Input, err error) error {
	e, ok := errors.AsType[*cloud.Error](err)
	if ok && e.Class.Retryable() || !ok && !fault.Is(err, fault.Invalid) {
		return err
	}
	_, err = w.p.Table.Write(ctx, table.Update(discovery.JobKey(in.Org, in.JobID), []table.Change{
		table.Set("error", err.Error()), table.Set("refused", ok && e.Class == cloud.Refused),
	}, table.Exists()))
	return fault.Wrap("note failure of "+in.JobID, err)
}

// regions returns the enabled ones among those that the account names. Where they may not be listed, the named ones are taken
// at their word.
func (w *worker) regions(ctx context.Context, conn cloud.Conn, a inventory.Account) ([]string, error) {
	enabled, err := conn.Regions(ctx)
	if err != nil && cloud.ClassOf(err) == cloud.Denied && len(a.Regions) > 0 {
		return a.Regions, nil
	}
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(enabled, func(r string) bool {
		return len(a.Regions) > 0 && !slices.Contains(a.Regions, r)
	}), nil
}

func (w *worker) partitions(in discovery.Input, a inventory.Account, regions []string) []Partition {
	now, kinds := w.p.Clock.Now(), w.providers[a.Provider].Kinds()
	out := make([]Partition, 0, len(kinds)*len(regions))
	for _, k := range kinds { // kinds outside, so that neighbours in the fan-out ask different regions
		for _, r := range regions {
			out = append(out, Partition{Input: in, Region: r, Kind: k.Type, Started: now})
		}
	}
	return out
}

// unread leaves out what an earlier try of this pass has read.
func (w *worker) unread(ctx context.Context, in discovery.Input, all []Partition) ([]Partition, error) {
	parts, err := discovery.ListParts(ctx, w.p.Table, in.Org, in.JobID)
	if err != nil {
		return nil, err
	}
	type place struct{ region, kind string }
	done := map[place]bool{}
	for _, part := range parts {
		done[place{part.Region, part.Kind}] = part.Status == discovery.PartDone
	}
	return slices.DeleteFunc(all, func(p Partition) bool { return done[place{p.Region, p.Kind}] }), nil
}
