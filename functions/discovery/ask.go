package discovery

import (
	"context"
	"slices"
	"time"

	"lamplighter.dev/shared/cloud"
)

// next returns the parts that can be asked for now: those of the region that is being read, or else of the first that has any; none when
// there are none.
func (r *run) next() []int {
	now := r.w.p.Clock.Now()
	region, reading := r.regionInHand()
	var out []int
	for i, p := range r.sh.Parts {
		if !p.readable(now) || reading && p.Region != region || r.comesLater(p, now) {
			continue
		}
		out = append(out, i)
		region, reading = p.Region, true
	}
	return out
}

// regionInHand returns the region from which answers are awaited that are not late.
func (r *run) regionInHand() (region string, ok bool) {
	for _, p := range r.sh.Parts {
		if p.asked && !r.isLate(p) {
			return p.Region, true
		}
	}
	return "", false
}

// isLate reports whether the answer for the part is late, or that for its kind was where others were answered: then its API is slow, and
// would be in each region.
func (r *run) isLate(p Progress) bool { return p.late || r.slow[p.Kind] }

// readable reports whether the next page of the part can be asked for.
func (p *Progress) readable(now time.Time) bool {
	return !p.IsFinal() && !p.ended && !p.asked && !p.notBefore.After(now)
}

// comesLater reports whether the part is read after others of its region that are read now. What no kind lists refers to what kinds
// list, which a connection that has just described it does not ask for again (shared/cloud/aws/sightings.go), so it waits also for
// what is late: 10,000 instances take longer than patience. In a small account that saves less than the time of one more call in each
// region is worth.
func (r *run) comesLater(p Progress, now time.Time) bool {
	return cloud.IsCollective(p.Kind) && sharesOf(r.account) > 1 &&
		slices.ContainsFunc(r.sh.Parts, func(q Progress) bool {
			return q.Region == p.Region && !cloud.IsCollective(q.Kind) && (q.readable(now) || q.asked)
		})
}

// listed is what the cloud answered when it was asked for a page of a part.
type listed struct {
	part int
	at   time.Time // when it was asked
	page cloud.ResourcePage
	err  error
}

// readPages reads pages until there is none to ask for, or the time is over: of one region after the other, and in a region of all kinds
// side by side, each as fast as it is answered. To wait for one after the other is most of what a pass would cost, and kinds are of
// services that limit calls, and fail, each for itself.
func (r *run) readPages(ctx context.Context, until time.Time) error {
	ctx, stop := context.WithCancel(ctx)
	defer r.asking.Wait()
	defer stop()
	for over := false; ; over = !r.w.p.Clock.Now().Before(until) { // one page at least, so that every run comes further
		if !over {
			r.ask(ctx, r.next())
		}
		if !r.awaits() {
			return nil
		}
		if err := r.await(ctx); err != nil {
			return err
		}
	}
}

// ask asks the cloud for the next page of each of these parts.
func (r *run) ask(ctx context.Context, parts []int) {
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

// awaits reports whether an answer is still to come.
func (r *run) awaits() bool {
	return slices.ContainsFunc(r.sh.Parts, func(p Progress) bool { return p.asked })
}

// patience is how long nothing may be answered until what was asked is late. It is far more than a call takes, and nothing beside the
// minutes until one that hangs is given up.
const patience = 3 * time.Second

// await takes in the next answer. When none comes for a while, what is known until then is written, and what is late holds up no other
// region: a region or an API that hangs slows itself alone.
func (r *run) await(ctx context.Context) error {
	patient, stop := context.WithTimeout(ctx, patience)
	defer stop()
	select {
	case got := <-r.answers:
		r.heard(got)
		if err := r.take(ctx, got.part, got); err != nil {
			return err
		}
		// only what is late is still to come
		if _, reading := r.regionInHand(); !reading && r.awaits() && len(r.next()) == 0 {
			return r.settle(ctx)
		}
		return r.note(ctx)
	case <-patient.Done():
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.noteLate()
	return r.settle(ctx)
}

// heard notes that an answer has come.
func (r *run) heard(got listed) {
	p := &r.sh.Parts[got.part]
	p.asked, p.late = false, false
	if got.err == nil {
		r.answered[p.Region] = true
		delete(r.slow, p.Kind)
	}
}

// noteLate notes that all answers which are awaited are late.
func (r *run) noteLate() {
	for i := range r.sh.Parts {
		if p := &r.sh.Parts[i]; p.asked {
			p.late = true
			r.slow[p.Kind] = r.slow[p.Kind] || r.answered[p.Region]
		}
	}
}
