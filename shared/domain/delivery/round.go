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
	roundTime    = 50 * time.Second // below the time-out of the function; the next minute goes on
	duePage      = 500
	mostOfOrg    = 200 // rows of one organization that a round takes of a key
	rowsAtOnce   = 8   // rows of one organization that are tried side by side
	takersAtOnce = 16  // deliveries of a row that are taken side by side
)

// Round tries what is due. Call it each minute or more often; two at once do not try the same delivery.
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
	if ctx.Err() != nil { // the next round goes on
		return nil
	}
	return errors.Join(errs...)
}

// readAllDue reads what is due, by organization.
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

// sendRows tries what rows of one organization say is due.
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

// sendRow takes the deliveries of a row and tries them.
func (p *pass) sendRow(ctx context.Context, d due) error {
	b, err := p.take(ctx, d)
	if err != nil {
		return err
	}
	return p.sendBatch(ctx, &b)
}

// readDue reads what is due of a key, of each organization no more than its share.
func (e *Engine) readDue(ctx context.Context, pk string) (out []due, err error) {
	of := map[string]int{}
	q := table.Query{PK: pk, To: e.Clock.Now().UTC().Format(dueTime) + "~", Limit: duePage}
	for {
		// What a replica does not have yet waits for the next round, and what it still has is looked at once more, for nothing.
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

// take reads the deliveries of a row, and takes those that are due. Of the others it keeps those that have not ended.
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

// claim takes the deliveries of a batch that are due for as long as a lease; those that somebody else takes at the same moment are his.
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

// settle removes the row of a batch when it sees to nothing any more, or has it see to what is left when that is due.
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

// change does writes of what is due, unless another has done so before.
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
