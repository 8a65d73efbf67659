package delivery

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/engine/table"
)

const (
	roundTime    = 50 * time.Second // below the function's timeout; the next round continues
	duePage      = 500
	mostOfOrg    = 200 // rows of one organization per round and partition
	rowsAtOnce   = 8   // rows of one organization that are tried at the same time
	takersAtOnce = 16  // deliveries of a row that are claimed at the same time
)

// Round tries all due deliveries. Call it each minute or more often. It is safe to call concurrently: a delivery is
// tried by one call.
func (e *Engine) Round(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, roundTime)
	defer cancel()
	rows, err := e.readAllDue(ctx)
	errs := []error{err}
	p := e.newPass()
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, some := range rows {
		all.Go(func() {
			err := p.sendRows(ctx, some)
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
		})
	}
	all.Wait()
	if ctx.Err() != nil { // the next round continues
		return nil
	}
	return errors.Join(errs...)
}

// readAllDue reads the due rows, by organization.
func (e *Engine) readAllDue(ctx context.Context) (map[string][]due, error) {
	var mu sync.Mutex
	var g errgroup.Group
	out := map[string][]due{}
	for _, pk := range duePKs() {
		g.Go(func() error {
			rows, err := e.readDue(ctx, pk)
			mu.Lock()
			defer mu.Unlock()
			for _, d := range rows {
				out[d.Org] = append(out[d.Org], d)
			}
			return err
		})
	}
	err := g.Wait()
	return out, err
}

// sendRows tries the deliveries of due rows of one organization.
func (p *pass) sendRows(ctx context.Context, rows []due) error {
	var g errgroup.Group
	g.SetLimit(rowsAtOnce)
	errs := make([]error, len(rows))
	for i, d := range rows {
		g.Go(func() error {
			if ctx.Err() == nil {
				errs[i] = p.sendRow(ctx, d)
			}
			return nil
		})
	}
	_ = g.Wait() // each failure is among errs
	return errors.Join(errs...)
}

// sendRow claims the deliveries of a due row and tries them. If the row lists events, it delivers these.
func (p *pass) sendRow(ctx context.Context, d due) error {
	if len(d.Rows) > 0 {
		return p.retell(ctx, d)
	}
	b, err := p.take(ctx, d)
	if err != nil {
		return err
	}
	return p.sendBatch(ctx, &b)
}

// readDue reads the due rows of a partition, at most mostOfOrg per organization.
func (e *Engine) readDue(ctx context.Context, pk string) (out []due, err error) {
	of := map[string]int{}
	q := table.Query{PK: pk, To: e.Clock.Now().UTC().Format(dueTime) + "~", Limit: duePage}
	for {
		// The read is eventually consistent: a missing row is read by the next round, and a deleted row is read once
		// more without effect.
		page, err := e.Table.Query(table.Eventually(table.Within(ctx, DuePrefix)), q)
		if err != nil {
			return out, fmt.Errorf("read what is to be delivered: %w", err)
		}
		for _, it := range page.Items {
			d, err := decodeDue(it)
			if err != nil {
				return out, err
			}
			if of[d.Org]++; of[d.Org] <= mostOfOrg {
				out = append(out, d)
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return out, nil
		}
	}
}

// take reads the deliveries of a due row and claims the due ones. It keeps the others that have not ended.
func (e *Engine) take(ctx context.Context, d due) (batch, error) {
	ctx = within(ctx, d.Org)
	b := batch{due: d}
	keys := make([]table.Key, len(d.IDs))
	for i, deliveryID := range d.IDs {
		keys[i] = spread(d.Org).Key(deliveryID)
	}
	got, err := e.Table.BatchGet(ctx, keys...)
	if err != nil {
		return b, fmt.Errorf("read %d deliveries that are due: %w", len(keys), err)
	}
	for _, k := range keys {
		it, there := got[k]
		if !there {
			continue
		}
		r, err := table.Decode[Record](it)
		if err != nil {
			return b, err
		}
		if !r.Status.IsFinal() && r.Due == d.Name {
			b.records = append(b.records, r)
		}
	}
	b.mine = make([]bool, len(b.records))
	return b, e.claim(ctx, &b)
}

// claim claims the due deliveries of a batch for the time of a lease. It skips deliveries that another engine claims
// first.
func (e *Engine) claim(ctx context.Context, b *batch) error {
	var g errgroup.Group
	g.SetLimit(takersAtOnce)
	now := e.Clock.Now()
	for i := range b.records {
		r := &b.records[i]
		if r.NextAttemptAt.After(now) {
			continue
		}
		g.Go(func() error {
			_, err := e.store.table.Write(ctx, table.Update(spread(b.due.Org).Key(r.ID), []table.Change{
				table.Set("nextAttemptAt", now.Add(lease)), table.Set("change", r.Change+1),
			}, table.Equal("change", r.Change)))
			if _, others := errors.AsType[*table.ConditionError](err); others {
				return nil
			}
			if err != nil {
				return fmt.Errorf("take %s: %w", r.ID, err)
			}
			r.NextAttemptAt, r.Change, b.mine[i] = now.Add(lease), r.Change+1, true
			return nil
		})
	}
	return g.Wait()
}

// settle deletes the due row of a batch when all of its deliveries have ended, or moves it to the next time at which
// one is due.
func (e *Engine) settle(ctx context.Context, b *batch) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(within(ctx, b.due.Org)), noteTime)
	defer cancel()
	next := b.due
	next.IDs, next.At = nil, time.Time{}
	for i := range b.records {
		r := &b.records[i]
		if r.Status.IsFinal() || r.Due != b.due.Name {
			continue
		}
		if next.IDs = append(next.IDs, r.ID); next.At.IsZero() || r.NextAttemptAt.Before(next.At) {
			next.At = r.NextAttemptAt
		}
	}
	gone := table.Delete(b.due.key, table.Exists())
	if len(next.IDs) == 0 {
		gone.If = nil
		return e.change(ctx, gone)
	}
	list, err := next.put()
	if err != nil || list.Item.Key == b.due.key {
		return err
	}
	return e.change(ctx, gone, list)
}

// change makes writes to due rows. It does nothing when another engine has made them.
func (e *Engine) change(ctx context.Context, ws ...table.Write) error {
	err := e.store.table.Transact(ctx, ws...)
	if _, others := errors.AsType[*table.ConditionError](err); others {
		return nil
	}
	if err != nil {
		return fmt.Errorf("note what is left to deliver: %w", err)
	}
	return nil
}
