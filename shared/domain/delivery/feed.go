package delivery

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/engine/table"
)

// feedTime limits the sending of deliveries from one feed call, so that the next items do not wait for slow
// receivers. Rounds send the rest.
const feedTime = 15 * time.Second

// Deliver processes items of the change feed: it delivers new events and tries redelivered deliveries. It ignores
// other rows. It returns the items that the feed must deliver again.
func (e *Engine) Deliver(ctx context.Context, items []table.Item) []table.FeedFailure {
	p := e.newPass()
	var mu sync.Mutex
	var failed []table.FeedFailure
	var all sync.WaitGroup
	take := func(rows []table.Item, do func() error) {
		all.Go(func() {
			if err := do(); err != nil {
				mu.Lock()
				defer mu.Unlock()
				for _, it := range rows {
					failed = append(failed, table.FeedFailure{Key: it.Key, Err: err})
				}
			}
		})
	}
	for org, rows := range byOrg(items) {
		take(rows, func() error { return p.tellOrPostpone(ctx, org, rows) })
	}
	for i, it := range items {
		if it.PK == nowPK {
			take(items[i:i+1], func() error { return p.resume(ctx, it) })
		}
	}
	all.Wait()
	return failed
}

// resume tries the deliveries of a due row.
func (p *pass) resume(ctx context.Context, it table.Item) error {
	d, err := decodeDue(it)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, feedTime)
	defer cancel()
	return p.sendRow(ctx, d)
}

// byOrg groups the rows of events by organization.
func byOrg(items []table.Item) map[string][]table.Item {
	out := map[string][]table.Item{}
	for _, it := range items {
		if event.Partition.Matches(it.PK) {
			org := strings.TrimSuffix(strings.TrimPrefix(it.PK, "ORG#"), table.OutboxSuffix)
			out[org] = append(out[org], it)
		}
	}
	return out
}

// tellOrPostpone delivers the events of rows. If that fails, it writes a due row for them, so that the feed does not
// repeat them and block other organizations. It returns an error only when that write fails too.
func (p *pass) tellOrPostpone(ctx context.Context, org string, rows []table.Item) error {
	why := p.tell(ctx, org, rows)
	if why == nil {
		return nil
	}
	d := due{Org: org, At: p.Clock.Now().Add(retellFirst), Name: "rows#" + rows[0].SK}
	for _, it := range rows {
		d.Rows = append(d.Rows, it.SK)
	}
	list, err := d.put()
	if err == nil {
		_, err = p.store.table.Write(within(ctx, org), list)
	}
	if err != nil {
		return errors.Join(why, err)
	}
	p.Log.WarnContext(ctx, "the receivers of events could not be found; a later round tries again", "org", org,
		"rows", len(rows), "error", why.Error())
	return nil
}

const (
	retellFirst = time.Minute
	retellLast  = time.Hour // the longest pause between attempts to find receivers
)

// retell delivers the events of a due row whose earlier delivery failed.
func (p *pass) retell(ctx context.Context, d due) error {
	ctx = within(ctx, d.Org)
	keys := make([]table.Key, len(d.Rows))
	for i, sk := range d.Rows {
		keys[i] = table.Key{PK: event.PK(d.Org), SK: sk}
	}
	got, err := p.Table.BatchGet(ctx, keys...)
	if err != nil {
		return fmt.Errorf("read events that nobody was told of: %w", err)
	}
	why := p.tell(ctx, d.Org, slices.Collect(maps.Values(got)))
	gone := table.Delete(d.key)
	if why == nil {
		return p.change(ctx, gone)
	}
	d.Tries++
	d.At = p.Clock.Now().Add(min(retellFirst<<min(d.Tries, 10), retellLast))
	list, err := d.put()
	if err != nil {
		return err
	}
	list.Item.Expires = p.Clock.Now().Add(Keep)
	return errors.Join(why, p.change(ctx, gone, list))
}

// tell creates the deliveries of rows of events and sends them.
func (p *pass) tell(ctx context.Context, org string, rows []table.Item) error {
	var all []news
	for _, it := range rows {
		events, err := event.Decode(it)
		if err != nil { // it will never be readable, and other rows must not wait for it
			p.Log.ErrorContext(ctx, "events cannot be read, and nobody is told of them", "org", org, "row", it.SK,
				"error", err.Error())
			continue
		}
		for _, one := range events {
			all = append(all, news{one, it.SK})
		}
	}
	batches, err := p.fanOut(ctx, org, all)
	ctx, cancel := context.WithTimeout(ctx, feedTime)
	defer cancel()
	// The created deliveries are sent even if others could not be created. Failed ones stay due.
	if failed := p.sendAll(ctx, batches); failed != nil {
		p.Log.WarnContext(ctx, "what became of deliveries could not be noted, and they are looked at again", "org", org,
			"error", failed.Error())
	}
	return err
}
