package discovery

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/fault"
)

// noteInterval is the maximum age of the progress that clients see of a long run.
const noteInterval = 10 * time.Second

// run is one run of the task scan, with its pages that are read and not yet written. A run that fails leaves the
// share unchanged: its writes are then repeated.
type run struct {
	w       *worker
	conn    cloud.Conn
	account inventory.Account
	sh      *Share
	reads   []*reading      // by part; nil of one that this run has not read from
	pages   []page          // that wait to be written
	changed map[string]bool // regions with progress that is not recorded yet
	noted   time.Time       // when they were recorded last
	asking  sync.WaitGroup
	answers chan listed // with room for one of each part

	answered map[string]bool // regions that have answered a page
	slow     map[string]bool // kinds whose answer was late in such a region
}

// reading is the part of a scan that this run has read.
type reading struct {
	from  int // pages that runs before it read
	found inventory.Found
}

// page is a batch of resources of a part, at most inventory.MaxBatch.
type page struct {
	part      int
	at        time.Time
	resources []cloud.Resource
}

func newRun(w *worker, conn cloud.Conn, a inventory.Account, sh *Share) *run {
	for i := range sh.Parts {
		p := &sh.Parts[i]
		p.notBefore, p.WaitSeconds = w.p.Clock.Now().Add(time.Duration(p.WaitSeconds)*time.Second), 0
	}
	return &run{
		w: w, conn: conn, account: a, sh: sh, reads: make([]*reading, len(sh.Parts)), changed: map[string]bool{},
		noted:   w.p.Clock.Now(),
		answers: make(chan listed, len(sh.Parts)), answered: map[string]bool{}, slow: map[string]bool{},
	}
}

// takePage processes a page of a part. Pages are written together, up to a thousand resources at a time.
func (r *run) takePage(ctx context.Context, i int, got listed) error {
	p := &r.sh.Parts[i]
	if p.IsFinal() { // meanwhile the inventory refused an earlier page of it
		return nil
	}
	r.changed[p.Region] = true
	if got.err != nil {
		p.recordFailure(got.err, r.w.p.Clock.Now())
		return nil
	}
	if r.reads[i] == nil {
		r.reads[i] = &reading{from: p.Pages}
	}
	r.reads[i].found.Add(got.page.Resources)
	p.Page, p.Tries, p.notBefore, p.ended = got.page.Next, 0, time.Time{}, got.page.Next == ""
	p.Pages, p.Resources = p.Pages+1, p.Resources+len(got.page.Resources)
	// A listing lags behind the cloud: a state that an action saw within that time is newer than the listing.
	at := got.at.Add(-listingMayLag)
	for chunk := range slices.Chunk(got.page.Resources, inventory.MaxBatch) {
		if err := r.queuePage(ctx, page{i, at, chunk}); err != nil {
			return err
		}
	}
	return nil
}

// queuePage adds a page to the next write. If there is no room for it, the queued pages are written first.
func (r *run) queuePage(ctx context.Context, p page) error {
	n := len(p.resources)
	for _, waiting := range r.pages {
		n += len(waiting.resources)
	}
	if n > inventory.MaxBatch {
		if err := r.flushPages(ctx); err != nil {
			return err
		}
	}
	r.pages = append(r.pages, p)
	return nil
}

// flushPages writes the queued pages. If the inventory refuses them, each page is written alone, and a part whose
// page is still refused has failed. The other parts are not affected.
func (r *run) flushPages(ctx context.Context) error {
	pages := r.pages
	r.pages = nil
	err := r.writePages(ctx, pages...)
	if !isRefusal(ctx, err) {
		return err
	}
	for _, p := range pages {
		part := &r.sh.Parts[p.part]
		if part.IsFinal() {
			continue
		}
		if err = r.writePages(ctx, p); isRefusal(ctx, err) {
			part.Status, part.Error = discovery.PartFailed, err.Error()
			r.changed[part.Region] = true
		} else if err != nil {
			return err
		}
	}
	return nil
}

// isRefusal reports whether err is caused by the written data, so that it would occur again, and not by a transient
// condition.
func isRefusal(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() == nil && (fault.Is(err, fault.Invalid) || fault.Is(err, fault.Internal))
}

// writePages writes pages and counts the changes.
func (r *run) writePages(ctx context.Context, pages ...page) error {
	if len(pages) == 0 {
		return nil
	}
	bs := make([]inventory.Batch, len(pages))
	for i, p := range pages {
		bs[i] = inventory.Batch{Scan: r.scan(p.part), At: p.at, Resources: p.resources}
	}
	r.w.writing <- struct{}{}
	defer func() { <-r.w.writing }()
	changes, err := r.w.inventory.UpsertScanned(ctx, r.sh.Org, bs...)
	if err != nil {
		first := r.sh.Parts[pages[0].part]
		return fmt.Errorf("write %d pages from %s in %s on: %w", len(pages), first.Kind, first.Region, err)
	}
	for i, p := range pages {
		part := &r.sh.Parts[p.part]
		part.Changes = part.Changes.Add(changes[i])
		r.changed[part.Region] = true
	}
	return nil
}

func (r *run) scan(part int) inventory.Scan {
	p := r.sh.Parts[part]
	return inventory.Scan{
		Partition: inventory.Partition{
			AccountID: r.account.ID, Provider: r.w.providerOf(r.account, p.Kind),
			Region: p.Region, Kind: p.Kind,
		},
		ID: r.sh.JobID, Started: r.sh.Started.Add(-listingMayLag),
	}
}

// noteProgress records the progress of a long run.
func (r *run) noteProgress(ctx context.Context) error {
	if r.w.p.Clock.Now().Sub(r.noted) < noteInterval {
		return nil
	}
	if err := r.flushPages(ctx); err != nil {
		return err
	}
	return r.recordRegions(ctx)
}

// recordRegions records the regions with new progress.
func (r *run) recordRegions(ctx context.Context) error {
	var parts []discovery.Part
	for _, p := range r.sh.Parts {
		if r.changed[p.Region] {
			parts = append(parts, p.Part)
		}
	}
	r.noted = r.w.p.Clock.Now()
	clear(r.changed)
	return discovery.RecordParts(ctx, r.w.p, r.sh.Input, parts)
}

// settleParts writes the queued pages, and ends the parts that were read completely with their vanished resources.
func (r *run) settleParts(ctx context.Context) error {
	if err := r.flushPages(ctx); err != nil {
		return err
	}
	if err := r.finishParts(ctx); err != nil || len(r.changed) == 0 {
		return err
	}
	return r.recordRegions(ctx)
}

// endRun writes the remaining data. For parts that were not read completely it stores the found resources for the
// next run.
func (r *run) endRun(ctx context.Context) error {
	if err := r.settleParts(ctx); err != nil {
		return err
	}
	for i, read := range r.reads {
		if p := r.sh.Parts[i]; read == nil || p.IsFinal() {
			continue
		}
		if err := r.w.inventory.KeepFound(ctx, r.sh.Org, r.scan(i), read.from, &read.found); err != nil {
			return err
		}
	}
	return nil
}

// finishParts ends all parts that were read completely, in one go.
func (r *run) finishParts(ctx context.Context) error {
	var ended []inventory.EndedScan
	var of []int
	for i, read := range r.reads {
		if p := r.sh.Parts[i]; p.ended && !p.IsFinal() {
			ended = append(ended, inventory.EndedScan{
				Scan: r.scan(i), Found: &read.found, Kept: read.from > 0, Exists: r.existenceReader(p),
				Others: r.listedAlone(p.Region),
			})
			of = append(of, i)
		}
	}
	if len(ended) == 0 {
		return nil
	}
	changes, err := r.w.inventory.FinishScans(ctx, r.sh.Org, ended)
	if err != nil {
		return fmt.Errorf("finish %d scans of %s: %w", len(ended), r.account.ID, err)
	}
	for n, i := range of {
		p := &r.sh.Parts[i]
		p.Changes, p.Status = p.Changes.Add(changes[n]), discovery.PartDone
		r.changed[p.Region] = true
	}
	return nil
}

// setWait sets on the share whether all its parts have ended, and otherwise in how many seconds the next part can be
// read.
func (r *run) setWait() {
	now, first := r.w.p.Clock.Now(), math.MaxInt
	for i := range r.sh.Parts {
		p := &r.sh.Parts[i]
		p.WaitSeconds = int(math.Ceil(max(p.notBefore.Sub(now), 0).Seconds()))
		if !p.IsFinal() {
			first = min(first, p.WaitSeconds)
		}
	}
	if r.sh.Done = first == math.MaxInt; r.sh.Done {
		first = 0
	}
	for i := range r.sh.Parts {
		p := &r.sh.Parts[i]
		p.WaitSeconds = max(p.WaitSeconds-first, 0)
	}
	r.sh.WaitSeconds = first
}
