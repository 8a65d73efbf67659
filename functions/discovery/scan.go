package discovery

import (
	"context"
	"math/rand/v2"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/fault"
)

// These constants set how long one run of scan reads pages, and how much of the context's deadline it leaves for the
// answer.
const (
	stretch = 2 * time.Minute
	reserve = 30 * time.Second
)

// These constants set how often a page is tried. Throttling ends by itself, so it gets more tries.
const (
	maxTries      = 3
	maxThrottled  = 8
	firstWait     = 2 * time.Second
	longestWait   = time.Minute
	listingMayLag = 30 * time.Second
)

// scanShare reads pages of the share for a while and returns its progress. A part with a transient failure is retried
// after a growing wait, while other parts are read. Other failures end the part and are recorded. Only a part that
// was read completely shows which resources have vanished.
func (w *worker) scanShare(ctx context.Context, sh Share) (Share, error) {
	a, conn, err := w.connectAccount(ctx, sh.Input)
	if fault.Is(err, fault.NotFound) {
		sh.Done = true // the account was deleted meanwhile; finish forgets its resources
		return sh, nil
	}
	if err != nil {
		return sh, err
	}
	if sh.Measuring != nil {
		return w.measureShare(ctx, sh, a, conn)
	}
	if sh.Importing != nil {
		return w.importShare(ctx, sh, a, conn)
	}
	r := newRun(w, conn, a, &sh)
	if err = r.readPages(ctx, w.endTime(ctx)); err != nil {
		return sh, err
	}
	if err = r.endRun(ctx); err != nil {
		return sh, err
	}
	r.setWait()
	return sh, nil
}

// endTime returns the time when this run stops asking for pages.
func (w *worker) endTime(ctx context.Context) time.Time {
	end := w.p.Clock.Now().Add(stretch)
	if d, ok := ctx.Deadline(); ok && d.Add(-reserve).Before(end) {
		return d.Add(-reserve)
	}
	return end
}

// recordFailure updates the part after a failure of the cloud: it is retried later, or it ends.
func (p *Progress) recordFailure(err error, now time.Time) {
	class := cloud.ClassOf(err)
	if cloud.CodeOf(err) == cloud.ClusterStopped { // its resources stay as they were last seen
		p.Status, p.Error = discovery.PartDone, err.Error()
		return
	}
	if p.Tries++; p.Tries < triesFor(class) {
		p.notBefore = now.Add(retryDelay(p.Tries))
		return
	}
	p.Status, p.Error = statusOf(class), err.Error()
}

func triesFor(class cloud.Class) int {
	switch {
	case class == cloud.Throttled:
		return maxThrottled
	case class.Retryable():
		return maxTries
	}
	return 1
}

// retryDelay grows with the tries. Its jitter keeps shares that were throttled together from returning together.
func retryDelay(tries int) time.Duration {
	most := min(firstWait<<tries, longestWait)
	return most/2 + rand.N(most/2+1) //nolint:gosec // spreads load, keeps no secret
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

// abandonShare marks the unfinished parts of a share that the machine gave up as failed.
func (w *worker) abandonShare(ctx context.Context, sh Share, f *workflow.Caught) (Share, error) {
	type place struct{ region, kind string }
	known, err := discovery.ListParts(ctx, w.p.Table, sh.Org, sh.JobID)
	if err != nil {
		return sh, err
	}
	ended := map[place]discovery.Part{}
	for _, part := range known { // the run that failed may have noted some
		if part.IsFinal() {
			ended[place{part.Region, part.Kind}] = part
		}
	}
	parts := make([]discovery.Part, len(sh.Parts))
	for i, p := range sh.Parts {
		part, has := ended[place{p.Region, p.Kind}]
		if !has {
			part = p.Part
		}
		if !part.IsFinal() {
			part.Status, part.Error = discovery.PartFailed, f.String()
		}
		parts[i] = part
	}
	sh.Done = true
	return sh, discovery.RecordParts(ctx, w.p, sh.Input, parts)
}
