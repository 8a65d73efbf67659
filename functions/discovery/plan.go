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

// shares is how many shares a pass has at most: as many runs of it are under way at once, and may call the cloud. The machine's
// MaxConcurrency is the same.
const shares = 6

// sharing is how many known resources of an account are worth a share: below that a second one costs more than it saves in time.
// What an account has that was never discovered is not known, and somebody waits for it.
const sharing = 1000

func sharesOf(a inventory.Account) int {
	if a.LastDiscoveredAt.IsZero() {
		return shares
	}
	return min(1+a.ResourceCount/sharing, shares)
}

// planShares finds out which partitions the account has and writes their number down. An account that is gone or cannot be
// opened has none; finish then says why. What was read to its end by an earlier try of the same pass is not read again.
func (w *worker) planShares(ctx context.Context, in discovery.Input) (Plan, error) {
	a, conn, err := w.connectAccount(ctx, in)
	if fault.Is(err, fault.NotFound) {
		return Plan{[]Share{}}, nil
	}
	if err != nil {
		return Plan{[]Share{}}, w.hopeless(ctx, in, err)
	}
	regions, err := w.regions(ctx, conn, a)
	if err != nil {
		return Plan{[]Share{}}, w.hopeless(ctx, in, err)
	}
	places := placesOf(kindsIn(conn, w.providers[a.Provider].Kinds(), regions), regions, len(a.Regions) == 0)
	_, err = w.p.Table.Write(ctx, table.Update(discovery.JobKey(in.Org, in.JobID), []table.Change{
		table.Set("partitions", countPlaces(places)), table.Remove("error"), table.Remove("refused"),
	}, table.Exists()))
	if err != nil {
		return Plan{}, fault.Wrap("plan "+in.JobID, err)
	}
	before, err := discovery.ListParts(ctx, w.p.Table, in.Org, in.JobID)
	if err != nil {
		return Plan{}, err
	}
	dealt := make([]Share, 0, shares)
	for _, parts := range unread(places, before) {
		dealt = deal(dealt, sharesOf(a), Share{Input: in, Started: w.p.Clock.Now(), Parts: parts})
	}
	measuring, err := w.measuringDue(ctx, in, a)
	return Plan{append(dealt, measuring...)}, err
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

// kindsIn returns what is to be read in each region: the provider's kinds, and what is in the registered clusters there.
func kindsIn(conn cloud.Conn, kinds []cloud.Kind, regions []string) map[string][]cloud.Kind {
	out := make(map[string][]cloud.Kind, len(regions))
	inside, ok := conn.(cloud.Inside)
	for _, region := range regions {
		if out[region] = kinds; ok {
			out[region] = slices.Concat(kinds, inside.KindsInside(region))
		}
	}
	return out
}

// place is what one scan covers.
type place struct{ region, kind string }

// placesOf returns what is to be scanned, by region. What belongs to no region is scanned in the region cloud.Global, by the
// collective kinds that find such things, unless the account is confined to regions: its credentials may open no others.
func placesOf(in map[string][]cloud.Kind, regions []string, everywhere bool) [][]place {
	out := make([][]place, len(regions), len(regions)+1)
	var global []place
	for i, region := range regions {
		for _, k := range in[region] {
			if k.Collected {
				continue
			}
			out[i] = append(out[i], place{region, k.Type})
			if at := (place{cloud.Global, k.Type}); k.Global && everywhere && !slices.Contains(global, at) {
				global = append(global, at)
			}
		}
	}
	if len(global) > 0 {
		out = append(out, global)
	}
	return out
}

func countPlaces(places [][]place) int {
	n := 0
	for _, of := range places {
		n += len(of)
	}
	return n
}

// listedAlone returns the kinds in a region that are not found by the provider's collective kind: its own, and what is in the
// registered clusters there. What was in a cluster that is not registered any more is gone with the next scan.
func (r *run) listedAlone(region string) []string {
	var out []string
	for _, k := range kindsIn(r.conn, r.w.providers[r.account.Provider].Kinds(), []string{region})[region] {
		if !k.Collected {
			out = append(out, k.Type)
		}
	}
	return out
}

// unread returns the parts of each region, but for the regions that an earlier try of this pass has read.
func unread(places [][]place, before []discovery.Part) [][]Progress {
	done := map[place]discovery.Part{}
	for _, part := range before {
		if part.Status == discovery.PartDone {
			done[place{part.Region, part.Kind}] = part
		}
	}
	var out [][]Progress
	for _, of := range places {
		parts, left := make([]Progress, len(of)), false
		for i, at := range of {
			part, read := done[at]
			if left = left || !read; !read {
				part = discovery.Part{Region: at.region, Kind: at.kind, Status: discovery.PartRunning}
			}
			parts[i].Part = part
		}
		if left {
			out = append(out, parts)
		}
	}
	return out
}

// deal puts a region into the share with the fewest parts, or into one of its own while there are fewer than most.
func deal(dealt []Share, most int, region Share) []Share {
	if len(dealt) < most {
		return append(dealt, region)
	}
	least := 0
	for i := range dealt {
		if len(dealt[i].Parts) < len(dealt[least].Parts) {
			least = i
		}
	}
	dealt[least].Parts = append(dealt[least].Parts, region.Parts...)
	return dealt
}
