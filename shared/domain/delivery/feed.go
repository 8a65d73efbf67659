package delivery

import (
	"context"
	"strings"
	"sync"
	"time"

	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/engine/table"
)

// feedTime is how long what the feed brings is sent: what it brings next must not wait for slow receivers. Rounds go on.
const feedTime = 15 * time.Second

// Failed is a row of the feed that the store kept the engine from taking.
type Failed struct {
	table.Key
	Err error
}

// Deliver takes what the feed brings: events, whose receivers are told now, and deliveries that somebody has begun again. Other rows are
// left alone. It returns those that are to be brought again.
func (e *Engine) Deliver(ctx context.Context, items []table.Item) []Failed {
	p := e.newPass()
	var mu sync.Mutex
	var failed []Failed
	var all sync.WaitGroup
	take := func(rows []table.Item, do func() error) {
		all.Go(func() {
			if err := do(); err != nil {
				mu.Lock()
				defer mu.Unlock()
				for _, it := range rows {
					failed = append(failed, Failed{it.Key, err})
				}
			}
		})
	}
	for org, rows := range byOrg(items) {
		take(rows, func() error { return p.tell(ctx, org, rows) })
	}
	for i, it := range items {
		if it.PK == nowPK {
			take(items[i:i+1], func() error { return p.resume(ctx, it) })
		}
	}
	all.Wait()
	return failed
}

// resume tries what a row says is due.
func (p *pass) resume(ctx context.Context, it table.Item) error {
	d, err := decodeDue(it)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, feedTime)
	defer cancel()
	return p.sendRow(ctx, d)
}

// byOrg returns the rows of events by their organizations.
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

// tell makes the deliveries of rows of events and sends them.
func (p *pass) tell(ctx context.Context, org string, rows []table.Item) error {
	var all []news
	for _, it := range rows {
		events, err := event.Decode(it)
		if err != nil {
			return err
		}
		for _, one := range events {
			all = append(all, news{one, it.SK})
		}
	}
	batches, err := p.fanOut(ctx, org, all)
	ctx, cancel := context.WithTimeout(ctx, feedTime)
	defer cancel()
	// What was made is sent though not all could be made; what fails there stays due.
	if failed := p.sendAll(ctx, batches); failed != nil {
		p.Log.WarnContext(ctx, "what became of deliveries could not be noted, and they are looked at again", "org", org, "error", failed.Error())
	}
	return err
}
