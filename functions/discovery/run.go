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

// noteEvery is how old what a client is shown of a long run may be.
const noteEvery = 10 * time.Second

// run is one run of scan: what it has read, and not yet written. A run that fails leaves the share as it was given: then what
// it wrote is written again.
type run struct {
	w       *worker
	conn    cloud.Conn
	account inventory.Account
	sh      *Share
	reads   []*reading      // by part; nil of one that this run has not read from
	pages   []page          // that wait to be written
	changed map[string]bool // regions of which the record is older than what is known
	noted   time.Time       // when they were recorded last
	asking  sync.WaitGroup
	answers chan listed // with room for one of each part

	answered map[string]bool // regions of which a page was answered
	slow     map[string]bool // kinds whose answer was late in such a region
}

// reading is what a run read of a part.
type reading struct {
	from  int // pages that runs before it read
	found inventory.Found
}

// page is resources of a part, at most inventory.MaxBatch.
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

// take takes in a page of a part. Pages are written together, a thousand resources at a time.
func (r *run) take(ctx context.Context, i int, got listed) error {
	p := &r.sh.Parts[i]
	if p.IsFinal() { // meanwhile the inventory refused what it had
		return nil
	}
	r.changed[p.Region] = true
	if got.err != nil {
		p.refuse(got.err, r.w.p.Clock.Now())
		return nil
	}
	if r.reads[i] == nil {
		r.reads[i] = &reading{from: p.Pages}
	}
	r.reads[i].found.Add(got.page.Resources)
	p.Page, p.Tries, p.notBefore, p.ended = got.page.Next, 0, time.Time{}, got.page.Next == ""
	p.Pages, p.Resources = p.Pages+1, p.Resources+len(got.page.Resources)
	// A listing lags behind the cloud: what an action saw within that time is newer than what the listing tells.
	at := got.at.Add(-listingMayLag)
	for chunk := range slices.Chunk(got.page.Resources, inventory.MaxBatch) {
		if err := r.queue(ctx, page{i, at, chunk}); err != nil {
			return err
		}
	}
	return nil
}

// queue has a page written with others, after those for which it leaves no room.
func (r *run) queue(ctx context.Context, p page) error {
	n := len(p.resources)
	for _, waiting := range r.pages {
		n += len(waiting.resources)
	}
	if n > inventory.MaxBatch {
		if err := r.flush(ctx); err != nil {
			return err
		}
	}
	r.pages = append(r.pages, p)
	return nil
}

// flush writes the pages that wait. When the inventory refuses them, each is written alone, and a part whose page is still refused
// has failed: the others are not held up by it.
func (r *run) flush(ctx context.Context) error {
	pages := r.pages
	r.pages = nil
	err := r.write(ctx, pages...)
	if !refuses(ctx, err) {
		return err
	}
	for _, p := range pages {
		part := &r.sh.Parts[p.part]
		if part.IsFinal() {
			continue
		}
		if err = r.write(ctx, p); refuses(ctx, err) {
			part.Status, part.Error = discovery.PartFailed, err.Error()
			r.changed[part.Region] = true
		} else if err != nil {
			return err
		}
	}
	return nil
}

// refuses reports whether err is of what was to be written, and would come again, not of the moment.
func refuses(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() == nil && (fault.Is(err, fault.Invalid) || fault.Is(err, fault.Internal))
}

// write writes pages and counts what they changed.
func (r *run) write(ctx context.Context, pages ...page) error {
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
		Partition: inventory.Partition{AccountID: r.account.ID, Provider: r.w.providerOf(r.account, p.Kind),
			Region: p.Region, Kind: p.Kind},
		ID: r.sh.JobID, Started: r.sh.Started.Add(-listingMayLag),
	}
}

// note records how far a long run is.
func (r *run) note(ctx context.Context) error {
	if r.w.p.Clock.Now().Sub(r.noted) < noteEvery {
		return nil
	}
	if err := r.flush(ctx); err != nil {
		return err
	}
	return r.record(ctx)
}

// record records the regions in which something was read.
func (r *run) record(ctx context.Context) error {
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

// settle writes what is known: the pages, and what vanished from parts that were read to their end.
func (r *run) settle(ctx context.Context) error {
	if err := r.flush(ctx); err != nil {
		return err
	}
	if err := r.finish(ctx); err != nil || len(r.changed) == 0 {
		return err
	}
	return r.record(ctx)
}

// end writes what is left, and for the next run what was found in parts that were not read to their end.
func (r *run) end(ctx context.Context) error {
	if err := r.settle(ctx); err != nil {
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

// finish ends the parts that were read to their end, all in one go.
func (r *run) finish(ctx context.Context) error {
	var ended []inventory.EndedScan
	var of []int
	for i, read := range r.reads {
		if p := r.sh.Parts[i]; p.ended && !p.IsFinal() {
			ended = append(ended, inventory.EndedScan{
				Scan: r.scan(i), Found: &read.found, Kept: read.from > 0, Exists: r.existence(p),
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

// wait says on the share whether all its parts have ended, and otherwise in how many seconds the next one can be read.
func (r *run) wait() {
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
