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

// maxShares is the maximum number of shares of a pass, so of concurrent runs that call the cloud. The machine's
// MaxConcurrency is the same.
const maxShares = 6

// resourcesPerShare is how many known resources of an account justify a share; below that, a second share costs more
// than it saves in time. The size of an account that was never discovered is not known, and its user is waiting, so
// it gets all shares.
const resourcesPerShare = 1000

func sharesOf(a inventory.Account) int {
	if a.LastDiscoveredAt.IsZero() {
		return maxShares
	}
	return min(1+a.ResourceCount/resourcesPerShare, maxShares)
}

// planShares finds the partitions of the account and stores their number. A deleted or inaccessible account has none;
// finishPass reports the reason. Partitions that an earlier try of the same pass has read completely are not read
// again.
func (w *worker) planShares(ctx context.Context, in discovery.Input) (Plan, error) {
	a, conn, err := w.connectAccount(ctx, in)
	if fault.Is(err, fault.NotFound) {
		return Plan{[]Share{}}, nil
	}
	if err != nil {
		return Plan{[]Share{}}, w.recordHopeless(ctx, in, err)
	}
	regions, err := w.enabledRegions(ctx, conn, a)
	if err != nil {
		return Plan{[]Share{}}, w.recordHopeless(ctx, in, err)
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
	dealt := make([]Share, 0, maxShares)
	for _, parts := range unreadParts(places, before) {
		dealt = dealRegion(dealt, sharesOf(a), Share{Input: in, Started: w.p.Clock.Now(), Parts: parts})
	}
	measuring, err := w.measuringDue(ctx, in, a)
	if err != nil {
		return Plan{}, err
	}
	importing, err := w.importingDue(ctx, in, a)
	return Plan{slices.Concat(dealt, measuring, importing)}, err
}

// recordHopeless records on the pass why nothing can be read if a retry would not help. Otherwise it returns the
// error, so that the machine retries.
func (w *worker) recordHopeless(ctx context.Context, in discovery.Input, err error) error {
	e, ok := errors.AsType[*cloud.Error](err)
	if ok && e.Class.Retryable() || !ok && !fault.Is(err, fault.Invalid) {
		return err
	}
	_, err = w.p.Table.Write(ctx, table.Update(discovery.JobKey(in.Org, in.JobID), []table.Change{
		table.Set("error", err.Error()), table.Set("refused", ok && e.Class == cloud.Refused),
	}, table.Exists()))
	return fault.Wrap("note failure of "+in.JobID, err)
}

// enabledRegions returns the account's regions that are enabled. If the regions may not be listed, it returns the
// account's regions unchecked.
func (w *worker) enabledRegions(ctx context.Context, conn cloud.Conn, a inventory.Account) ([]string, error) {
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

// kindsIn returns the kinds to read in each region: the provider's kinds, and the kinds inside the registered
// clusters of the region.
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

// scanPlace is the region and kind of one scan.
type scanPlace struct{ region, kind string }

// placesOf returns the places to scan, by region. Resources without a region are scanned in the region cloud.Global
// by the collective kinds. An account that is confined to regions has no such scan, because its credentials may open
// no others.
func placesOf(in map[string][]cloud.Kind, regions []string, everywhere bool) [][]scanPlace {
	out := make([][]scanPlace, len(regions), len(regions)+1)
	var global []scanPlace
	for i, region := range regions {
		for _, k := range in[region] {
			if k.Collected {
				continue
			}
			out[i] = append(out[i], scanPlace{region, k.Type})
			if at := (scanPlace{cloud.Global, k.Type}); k.Global && everywhere && !slices.Contains(global, at) {
				global = append(global, at)
			}
		}
	}
	if len(global) > 0 {
		out = append(out, global)
	}
	return out
}

func countPlaces(places [][]scanPlace) int {
	n := 0
	for _, of := range places {
		n += len(of)
	}
	return n
}

// listedAlone returns the kinds in a region that the provider's collective kind does not find: its own kinds, and
// those inside the registered clusters. Resources in a cluster that is no longer registered are gone with the next
// scan.
func (r *run) listedAlone(region string) []string {
	var out []string
	for _, k := range kindsIn(r.conn, r.w.providers[r.account.Provider].Kinds(), []string{region})[region] {
		if !k.Collected {
			out = append(out, k.Type)
		}
	}
	return out
}

// unreadParts returns the parts of each region, without the regions that an earlier try of this pass has read.
func unreadParts(places [][]scanPlace, before []discovery.Part) [][]Progress {
	done := map[scanPlace]discovery.Part{}
	for _, part := range before {
		if part.Status == discovery.PartDone {
			done[scanPlace{part.Region, part.Kind}] = part
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

// dealRegion adds a region to the share with the fewest parts, or to a new share while there are fewer than most.
func dealRegion(dealt []Share, most int, region Share) []Share {
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
