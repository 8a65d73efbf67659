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

// How long one run of scan reads pages, and how much of the context's deadline it leaves for the answer.
const (
	stretch = 2 * time.Minute
	reserve = 30 * time.Second
)

// How often a page is tried. Throttling passes by itself, so it is given longer.
const (
	maxTries      = 3
	maxThrottled  = 8
	firstWait     = 2 * time.Second
	longestWait   = time.Minute
	listingMayLag = 30 * time.Second
)

// scanShare reads pages of the share for a while and answers how far it came. A part whose failure may pass is tried again after a
// growing wait, in which others are read; other failures end the part and are noted. Only a part that was read to its end tells
// what vanished.
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
	r := newRun(w, conn, a, &sh)
	if err = r.readPages(ctx, w.until(ctx)); err != nil {
		return sh, err
	}
	if err = r.end(ctx); err != nil {
		return sh, err
	}
	r.wait()
	return sh, nil
}

// until returns when this run asks for no further page.
func (w *worker) until(ctx context.Context) time.Time {
	end := w.p.Clock.Now().Add(stretch)
	if d, ok := ctx.Deadline(); ok && d.Add(-reserve).Before(end) {
		return d.Add(-reserve)
	}
	return end
}

// refuse decides what a failure of the cloud means for the part.
func (p *Progress) refuse(err error, now time.Time) {
	class := cloud.ClassOf(err)
	if cloud.CodeOf(err) == cloud.ClusterStopped { // what is in it stays as it was seen last
		p.Status, p.Error = discovery.PartDone, err.Error()
		return
	}
	if p.Tries++; p.Tries < tries(class) {
		p.notBefore = now.Add(wait(p.Tries))
		return
	}
	p.Status, p.Error = statusOf(class), err.Error()
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

// wait grows with the tries. The jitter keeps shares that were throttled together from coming back together.
func wait(tries int) time.Duration {
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

// abandonShare notes that the machine gave up those parts of the share that had not ended.
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
