package discovery

import (
	"context"
	"slices"
	"time"

	"lamplighter.dev/shared/cloud"
)

// askableParts returns the parts that can be asked for now: those of the region that is being read, or else those of
// the first region that has any.
func (r *run) askableParts() []int {
	now := r.w.p.Clock.Now()
	region, reading := r.regionInHand()
	var out []int
	for i, p := range r.sh.Parts {
		if !p.isReadable(now) || reading && p.Region != region || r.comesLater(p, now) {
			continue
		}
		out = append(out, i)
		region, reading = p.Region, true
	}
	return out
}

// regionInHand returns the region of the pending answers that are not late.
func (r *run) regionInHand() (region string, ok bool) {
	for _, p := range r.sh.Parts {
		if p.asked && !r.isLate(p) {
			return p.Region, true
		}
	}
	return "", false
}

// isLate reports whether the answer for the part is late. It is also true if the part's kind was late in a region
// that answered other kinds: then its API is slow in every region.
func (r *run) isLate(p Progress) bool { return p.late || r.slow[p.Kind] }

// isReadable reports whether the next page of the part can be asked for.
func (p *Progress) isReadable(now time.Time) bool {
	return !p.IsFinal() && !p.ended && !p.asked && !p.notBefore.After(now)
}

// comesLater reports whether the part is read after the other parts of its region. Parts of collective kinds come
// later, because their resources refer to resources of other kinds; the connection remembers resources that it has
// just described and does not ask again (shared/cloud/aws/sightings.go). They also wait for late parts: 10,000
// instances take longer than patience. In a small account the wait would cost more than it saves, one call in each
// region.
func (r *run) comesLater(p Progress, now time.Time) bool {
	return cloud.IsCollective(p.Kind) && sharesOf(r.account) > 1 &&
		slices.ContainsFunc(r.sh.Parts, func(q Progress) bool {
			return q.Region == p.Region && !cloud.IsCollective(q.Kind) && (q.isReadable(now) || q.asked)
		})
}

// listed is the cloud's answer for a page of a part.
type listed struct {
	part int
	at   time.Time // when it was asked
	page cloud.ResourcePage
	err  error
}

// readPages reads pages until there is none left or the time is over. It reads one region after the other, and within
// a region all kinds at the same time, each as fast as it is answered. Sequential reads would dominate the cost of a
// pass, and each kind's service has its own call limits and failures.
func (r *run) readPages(ctx context.Context, until time.Time) error {
	ctx, stop := context.WithCancel(ctx)
	defer r.asking.Wait()
	defer stop()
	for over := false; ; over = !r.w.p.Clock.Now().Before(until) { // one page at least, so that every run comes further
		if !over {
			r.askPages(ctx, r.askableParts())
		}
		if !r.hasPending() {
			return nil
		}
		if err := r.awaitAnswer(ctx); err != nil {
			return err
		}
	}
}

// askPages asks the cloud for the next page of each of the parts.
func (r *run) askPages(ctx context.Context, parts []int) {
	for _, i := range parts {
		p := &r.sh.Parts[i]
		p.asked = true
		kind, region, page := p.Kind, p.Region, p.Page
		r.asking.Go(func() {
			got := listed{part: i, at: r.w.p.Clock.Now()}
			got.page, got.err = r.conn.List(ctx, kind, region, page)
			r.answers <- got
		})
	}
}

// hasPending reports whether an answer is still to come.
func (r *run) hasPending() bool {
	return slices.ContainsFunc(r.sh.Parts, func(p Progress) bool { return p.asked })
}

// patience is how long a request may stay unanswered until it is late. It is far longer than a call takes, and far
// shorter than the minutes until a hanging request fails.
const patience = 3 * time.Second

// awaitAnswer processes the next answer. If none arrives within patience, it writes the pages so far and marks the
// pending answers as late. Late answers do not delay other regions: a hanging region or API slows only itself.
func (r *run) awaitAnswer(ctx context.Context) error {
	patient, stop := context.WithTimeout(ctx, patience)
	defer stop()
	select {
	case got := <-r.answers:
		r.removePending(got)
		if err := r.takePage(ctx, got.part, got); err != nil {
			return err
		}
		// only late answers are still to come
		if _, reading := r.regionInHand(); !reading && r.hasPending() && len(r.askableParts()) == 0 {
			return r.settleParts(ctx)
		}
		return r.noteProgress(ctx)
	case <-patient.Done():
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.noteLate()
	return r.settleParts(ctx)
}

// removePending removes a part from the pending answers because its answer has arrived.
func (r *run) removePending(got listed) {
	p := &r.sh.Parts[got.part]
	p.asked, p.late = false, false
	if got.err == nil {
		r.answered[p.Region] = true
		delete(r.slow, p.Kind)
	}
}

// noteLate marks all pending answers as late.
func (r *run) noteLate() {
	for i := range r.sh.Parts {
		if p := &r.sh.Parts[i]; p.asked {
			p.late = true
			r.slow[p.Kind] = r.slow[p.Kind] || r.answered[p.Region]
		}
	}
}
