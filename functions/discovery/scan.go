package discovery

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/fault"
)

// How long one run of scan reads pages, and how much of the context's deadline it leaves for the answer.
const (
	stretch = 2 * time.Minute
	reserve = 30 * time.Second
)

// How often a page is tried. Throttling passes by itself, so it is given longer.
const (
	maxTries      = 3
	maxThrottled  = 8
	firstWait     = 2 // seconds
	longestWait   = 60
	listingMayLag = 30 * time.Second
)

// scanPartition reads pages of the partition for a while and answers how far it came. Failures that may pass are tried again after
// a growing wait; others end the partition and are noted. Only a partition that was read to its end tells what vanished.
func (w *worker) scanPartition(ctx context.Context, part Partition) (Partition, error) {
	a, conn, err := w.connectAccount(ctx, part.Input)
	if fault.Is(err, fault.NotFound) {
		part.Done = true // the account was deleted meanwhile; finish forgets its resources
		return part, nil
	}
	if err != nil {
		return part, err
	}
	s := inventory.Scan{
		Partition: inventory.Partition{AccountID: a.ID, Provider: a.Provider, Region: part.Region, Kind: part.Kind},
		ID:        part.JobID, Started: part.Started.Add(-listingMayLag),
	}
	part.WaitSeconds = 0
	until := w.until(ctx)
	for {
		part, err = w.read(ctx, conn, s, part)
		if err != nil || part.Done || part.WaitSeconds > 0 || !w.p.Clock.Now().Before(until) {
			return part, err
		}
	}
}

// until returns when this run asks for no further page.
func (w *worker) until(ctx context.Context) time.Time {
	end := w.p.Clock.Now().Add(stretch)
	if d, ok := ctx.Deadline(); ok && d.Add(-reserve).Before(end) {
		return d.Add(-reserve)
	}
	return end
}

// read reads one page into the inventory.
func (w *worker) read(ctx context.Context, conn cloud.Conn, s inventory.Scan, part Partition) (Partition, error) {
	at := w.p.Clock.Now()
	page, err := conn.List(ctx, part.Kind, part.Region, part.Page)
	if err != nil {
		return w.refused(ctx, part, err)
	}
	// A listing lags behind the cloud: what an action saw within that time is newer than what the listing tells.
	at = at.Add(-listingMayLag)
	changes, err := w.write(ctx, part.Org, inventory.Batch{Scan: s, At: at, Resources: page.Resources})
	if err != nil {
		return part, fmt.Errorf("write %s in %s: %w", part.Kind, part.Region, err)
	}
	part.Changes = part.Changes.Add(changes)
	part.Pages, part.Resources = part.Pages+1, part.Resources+len(page.Resources)
	part.Page, part.Tries, part.Done = page.Next, 0, page.Next == ""
	if !part.Done {
		return part, w.note(ctx, part, discovery.PartRunning, "")
	}
	return w.complete(ctx, s, part)
}

// write writes a page, however long it is.
func (w *worker) write(ctx context.Context, org string, page inventory.Batch) (inventory.Changes, error) {
	w.writing <- struct{}{}
	defer func() { <-w.writing }()
	var sum inventory.Changes
	for chunk := range slices.Chunk(page.Resources, inventory.MaxBatch) {
		b := page
		b.Resources = chunk
		changes, err := w.inventory.UpsertScanned(ctx, org, b)
		if err != nil {
			return sum, err
		}
		sum = sum.Add(changes)
	}
	return sum, nil
}

// complete returns the inventory that the partition was read to its end.
func (w *worker) complete(ctx context.Context, s inventory.Scan, part Partition) (Partition, error) {
	changes, err := w.inventory.FinishScan(ctx, part.Org, s)
	if err != nil {
		return part, fmt.Errorf("finish %s in %s: %w", part.Kind, part.Region, err)
	}
	part.Changes = part.Changes.Add(changes)
	return part, w.note(ctx, part, discovery.PartDone, "")
}

// refused decides what a failure of the cloud means.
func (w *worker) refused(ctx context.Context, part Partition, err error) (Partition, error) {
	class := cloud.ClassOf(err)
	if part.Tries++; part.Tries < tries(class) {
		part.WaitSeconds = wait(part.Tries)
		return part, nil
	}
	part.Done = true
	return part, w.note(ctx, part, statusOf(class), err.Error())
}

func tries(class cloud.Class) int {
	switch {
	case class == cloud.Throttled:
		return maxThrottled
	case class.Retryable():
		return maxTries
	}
	return 1
}

// wait grows with the tries. The jitter keeps partitions that were throttled together from coming back together.
func wait(tries int) int {
	most := min(firstWait<<tries, longestWait)
	return most/2 + rand.IntN(most/2+1) //nolint:gosec // spreads load, keeps no secret
}

func statusOf(class cloud.Class) discovery.PartStatus {
	switch class {
	case cloud.Denied, cloud.Refused:
		return discovery.PartDenied
	case cloud.Throttled:
		return discovery.PartThrottled
	default:
		return discovery.PartFailed
	}
}

func (w *worker) note(ctx context.Context, part Partition, status discovery.PartStatus, why string) error {
	return discovery.RecordPart(ctx, w.p, part.Input, discovery.Part{
		Region: part.Region, Kind: part.Kind, Status: status, Pages: part.Pages, Resources: part.Resources,
		Changes: part.Changes, Error: why,
	})
}

// abandonPartition notes that the machine gave the partition up.
func (w *worker) abandonPartition(ctx context.Context, part Partition, f *workflow.Caught) (Partition, error) {
	part.Done = true
	return part, w.note(ctx, part, discovery.PartFailed, f.String())
}
