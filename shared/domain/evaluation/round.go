package evaluation

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// queuers is how many orders are queued concurrently.
const queuers = 16

// carryOut carries out the round of st, and records that it is done. It is idempotent and safe to call concurrently.
// An order that cannot be queued fails alone: it becomes a trouble.
func (e *pass) carryOut(ctx context.Context, st state) error {
	var ws []table.Write
	e.troubles = st.Troubles.without(roundTrouble, st.Round)
	for n := range st.Parts {
		v, err := table.Read[part](ctx, e.p.Table, partKey(e.org, st.Round, n))
		if fault.Is(err, fault.NotFound) { // another evaluator has done it
			continue
		}
		if err != nil {
			return fmt.Errorf("read what is to be done in %s: %w", e.org, err)
		}
		if err = e.doPart(ctx, v); err != nil {
			return err
		}
		ws = append(ws, table.Delete(partKey(e.org, st.Round, n)))
	}
	if e.broken {
		return nil // an order failed and cannot be noted: the round stays
	}
	if err := e.endRound(ctx, st); err != nil || len(ws) == 0 {
		return err
	}
	return fault.Wrap("clear up a round of "+e.org, e.p.Table.BatchWrite(ctx, ws...))
}

// endRound records that a round is done, and its failed orders.
func (e *pass) endRound(ctx context.Context, st state) error {
	next := st
	next.Round, next.Parts, next.Troubles = "", 0, e.troubles
	if retry := e.troubles.soonest(); retry > 0 {
		if err := e.remindAt(ctx, e.org, startOf(max(retry, e.minute+1))); err != nil {
			return err
		}
	}
	_, err := e.moveState(ctx, e.org, st, next)
	return err
}

// doPart queues the orders of a part, and writes its entries into the log.
func (e *pass) doPart(ctx context.Context, v part) error {
	var g errgroup.Group
	g.SetLimit(queuers)
	errs, queued := make([]error, len(v.Orders)), make([]int, len(v.Orders))
	for i, o := range v.Orders {
		g.Go(func() error {
			queued[i], errs[i] = e.queue(ctx, o)
			return nil
		})
	}
	_ = g.Wait() // the errors are in errs
	for i, o := range v.Orders {
		e.done.Orders += queued[i]
		if errs[i] != nil {
			e.fail(ctx, trouble{Kind: orderTrouble, ID: o.ID(), Order: &o}, errs[i])
		}
	}
	return e.log(ctx, v.Entries)
}

// queue queues and starts a staged order. It returns the number of orders that it queued: 0 if the order was queued
// before.
func (e *pass) queue(ctx context.Context, o execution.Order) (int, error) {
	now, err := execution.QueueOrders(ctx, table.NewPatientStore(e.p.Table), e.org, []execution.Order{o})
	e.start(ctx, e.org, now)
	return len(now), err
}

// log writes entries into the log of schedules.
func (e *pass) log(ctx context.Context, entries []Entry) error {
	if len(entries) == 0 {
		return nil
	}
	ws := make([]table.Write, len(entries))
	for i, one := range entries {
		it, err := one.item(e.org)
		if err != nil {
			return err
		}
		ws[i] = table.Put(it)
	}
	return fault.Wrap("write the log of schedules of "+e.org, e.p.Table.BatchWrite(ctx, ws...))
}

// retryOrders queues the orders that failed before and are due again.
func (e *pass) retryOrders(ctx context.Context) {
	for _, t := range e.troubles {
		if t.Kind != orderTrouble || t.Next > e.minute || t.Order == nil {
			continue
		}
		queued, err := e.queue(ctx, *t.Order)
		e.done.Orders += queued
		if err != nil {
			e.fail(ctx, t, err)
			continue
		}
		e.troubles = e.troubles.without(orderTrouble, t.ID)
	}
}

// dropOvertaken gives up failed orders if a later firing wants the opposite verb for any resource. A late order could
// undo that firing.
func (e *pass) dropOvertaken(ctx context.Context, p *plan) {
	asked := map[cloud.Verb]bool{}
	for _, o := range p.orders {
		asked[o.Verb] = true
	}
	for _, t := range e.troubles {
		if t.Kind != orderTrouble || t.Order == nil || !asked[opposite(t.Order.Verb)] {
			continue
		}
		e.p.Log.ErrorContext(ctx, "order given up: a later firing asks the opposite", "org", e.org, "order", t.ID,
			"error", t.Error)
		e.troubles = e.troubles.without(orderTrouble, t.ID)
	}
}

func opposite(v cloud.Verb) cloud.Verb {
	if v == cloud.Start {
		return cloud.Stop
	}
	return cloud.Start
}
