package delivery

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/membership"
)

// pass is one pass over deliveries with its cache of failure states.
type pass struct {
	*Engine
	standing *standing
}

func (e *Engine) newPass() *pass { return &pass{e, e.newStanding()} }

// sendAll tries the deliveries of batches concurrently. It returns errors of the store.
func (p *pass) sendAll(ctx context.Context, batches []batch) error {
	errs := make([]error, len(batches))
	var all sync.WaitGroup
	for i := range batches {
		all.Go(func() { errs[i] = p.sendBatch(ctx, &batches[i]) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// sendBatch tries the claimed deliveries of a batch concurrently and then settles its due row. Deliveries without
// time left stay due.
func (p *pass) sendBatch(ctx context.Context, b *batch) error {
	if err := p.standing.read(ctx, b.due.Org, b.records); err != nil {
		return err
	}
	var all sync.WaitGroup
	errs := make([]error, len(b.records))
	sending := membership.RememberCallers(ctx)
	for i := range b.records {
		if b.mine[i] {
			all.Go(func() { errs[i] = p.send(sending, b.due.Org, &b.records[i]) })
		}
	}
	all.Wait()
	return errors.Join(errors.Join(errs...), p.settle(ctx, b))
}

// send waits for a gate, tries the delivery, and updates r.
func (p *pass) send(ctx context.Context, org string, r *Record) error {
	k := receiverKey{org, r.Target}
	leave, err := p.gates.enter(ctx, k)
	if err != nil {
		return nil //nolint:nilerr // the time is up, and it stays due
	}
	defer leave()
	if ctx.Err() != nil || p.Clock.Now().Add(sendTime).After(r.NextAttemptAt) {
		return nil // not enough time left before the lease ends
	}
	ask, err := p.standing.mayAsk(ctx, k)
	if err != nil {
		return err
	}
	if !ask {
		return p.hold(ctx, org, r)
	}
	return p.try(ctx, org, r)
}

// try sends a delivery and stores the result.
func (p *pass) try(ctx context.Context, org string, r *Record) error {
	a, why := p.ask(ctx, r.Message(org), p.Senders[r.Target.Kind])
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTime)
	defer cancel()
	if fault.Is(why, fault.NotFound) {
		return p.forget(ctx, org, r)
	}
	next := r.afterTry(p.Clock.Now(), a, why)
	err := p.note(ctx, org, r, next)
	if why == nil {
		return errors.Join(err, p.standing.succeed(ctx, receiverKey{org, r.Target}))
	}
	return errors.Join(err, p.blame(ctx, org, &next, a, why))
}

// ask passes a message to a sender. It converts a panic to an error, so that one message does not repeatedly stop
// others.
func (e *Engine) ask(ctx context.Context, m Message, s Sender) (a Answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			e.Log.ErrorContext(ctx, "a sender panicked", "org", m.Org, "delivery", m.ID, "panic", fmt.Sprint(p))
			err = fault.New(fault.Internal, "the sender failed")
		}
	}()
	if s == nil {
		return a, fault.New(fault.Invalid, "nothing is delivered to receivers of the kind %s", m.Target.Kind)
	}
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	a, err = s.Send(ctx, m)
	if a.Gone && err == nil {
		err = fault.New(fault.Invalid, "the receiver takes nothing any more")
	}
	return a, err
}

// blame counts a failed try for the receiver and reports the receiver when the delivery is parked. A message that is
// refused as invalid does not count as a failure of the receiver.
func (p *pass) blame(ctx context.Context, org string, r *Record, a Answer, why error) error {
	k := receiverKey{org, r.Target}
	if fault.Is(why, fault.Invalid) && !a.Gone {
		p.Log.WarnContext(ctx, "a delivery is refused for good, and parked", "org", org, "delivery", r.ID, "receiver",
			k.ID, "why", fault.Message(why))
		return nil
	}
	err := p.standing.fail(ctx, k)
	if err == nil && r.Status == Parked {
		last := r.Attempts[len(r.Attempts)-1]
		err = p.report(ctx, k, Health{Failing: true, Gone: a.Gone, Why: last.Message, At: last.At})
	}
	return err
}

// hold postpones a delivery to the receiver's next probe, or parks it after patience.
func (p *pass) hold(ctx context.Context, org string, r *Record) error {
	now, known := p.Clock.Now(), p.standing.of(receiverKey{org, r.Target})
	if !r.tooOld(now) {
		r.NextAttemptAt = maxTime(known.ProbeAt, now)
		return nil
	}
	next := r.attempted(Attempt{
		At: now,
		Message: fmt.Sprintf("not tried: the receiver has failed %d times in a row since %s", known.Failures,
			known.Since.UTC().Format(time.RFC3339)),
	})
	return p.note(ctx, org, r, next.ended(Parked, now))
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// note stores the new state of a delivery and sets r to next. It does nothing when another engine has claimed the
// delivery.
func (e *Engine) note(ctx context.Context, org string, r *Record, next Record) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(within(ctx, org)), noteTime)
	defer cancel()
	var ws []table.Write
	put, err := e.store.replace(org, r, &next)
	if !next.Status.IsFinal() {
		var list table.Write
		put, list, err = e.store.rewrite(org, r, &next, next.NextAttemptAt)
		ws = append(ws, list)
	}
	if err != nil {
		return err
	}
	err = e.store.table.Transact(ctx, append([]table.Write{put}, ws...)...)
	if _, others := errors.AsType[*table.ConditionError](err); others {
		return nil
	}
	if err != nil {
		return fmt.Errorf("note what became of %s: %w", r.ID, err)
	}
	*r = next
	return nil
}

// forget deletes a delivery whose receiver does not exist any more.
func (e *Engine) forget(ctx context.Context, org string, r *Record) error {
	_, err := e.store.table.Write(within(ctx, org), table.Delete(spread(org).Key(r.ID)))
	if err != nil {
		return fmt.Errorf("forget %s, whose receiver is gone: %w", r.ID, err)
	}
	*r = r.ended(Parked, e.Clock.Now())
	return nil
}
