package delivery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/people/membership"
)

const (
	writersAtOnce  = 8  // concurrent transactions of new deliveries
	perTransaction = 90 // deliveries per transaction; with the due row and the windows they are fewer than 100 writes
)

// news is an event with its outbox row. All events of one row always arrive together.
type news struct {
	event.Event
	row string
}

// wish is the events for one receiver: a single event, or for people the events of one key and minute.
type wish struct {
	to   Target
	news []news
}

// fanOut creates the deliveries of an organization's events and returns the new ones, claimed. It is idempotent:
// existing deliveries are not created again.
func (e *Engine) fanOut(ctx context.Context, org string, all []news) ([]batch, error) {
	ctx = membership.RememberCallers(within(ctx, org))
	found, err := e.match(ctx, org, all)
	if err != nil {
		return nil, err
	}
	p := &planner{e: e, org: org, now: e.Clock.Now()}
	units := make([]unit, 0, len(found))
	for _, w := range gather(all, found) {
		units = append(units, p.plan(w))
	}
	return p.made, p.writeAll(ctx, units)
}

// match returns the receivers of each event.
func (e *Engine) match(ctx context.Context, org string, all []news) ([][]Target, error) {
	events, found := make([]event.Event, len(all)), make([][]Target, len(all))
	for i := range all {
		events[i] = all[i].Event
	}
	for _, m := range e.Matchers {
		some, err := m.Match(ctx, org, events)
		if err != nil {
			return nil, fmt.Errorf("find who is told of %d events of %s: %w", len(all), org, err)
		}
		for i := range some {
			found[i] = append(found[i], some[i]...)
		}
	}
	return found, nil
}

// gather groups events by receiver, and for people also by key and minute.
func gather(all []news, found [][]Target) []wish {
	type group struct {
		to     Target
		key    string
		minute time.Time
		alone  string
	}
	place := map[group]int{}
	var out []wish
	for i, n := range all {
		for j, t := range found[i] {
			if slices.Contains(found[i][:j], t) {
				continue // two subscriptions of one receiver
			}
			k := group{to: t, key: n.Key, minute: minuteOf(n.At)}
			if !t.Kind.digests() {
				k.alone = n.ID
			}
			at, there := place[k]
			if !there {
				at = len(out)
				place[k], out = at, append(out, wish{to: t})
			}
			out[at].news = append(out[at].news, n)
		}
	}
	return out
}

// digests reports whether receivers of the kind get digests. People do; programs get each event separately.
func (k Kind) digests() bool { return k != Webhook && k != Integration }

// planner creates the deliveries of one pass over events.
type planner struct {
	e   *Engine
	org string
	now time.Time

	mu   sync.Mutex
	made []batch
}

// unit is the deliveries of a wish. They are created in one transaction.
type unit struct {
	wish
	records []Record
}

// single returns the delivery of one event.
func (p *planner) single(to Target, n news) Record {
	return p.record(id.Derived(prefix, n.At, n.ID+"/"+to.name()), to, []news{n})
}

func (t Target) name() string { return string(t.Kind) + "/" + t.ID }

// record returns a new delivery of events, claimed.
func (p *planner) record(deliveryID string, to Target, some []news) Record {
	r := Record{
		ID: deliveryID, Target: to, EventID: some[0].ID, EventKey: some[0].Key, Total: len(some), Status: Pending,
		NextAttemptAt: p.now.Add(lease), CreatedAt: p.now, BegunAt: p.now, Change: 1,
	}
	for _, n := range some[:min(len(some), MaxEvents)] {
		r.Events = append(r.Events, n.Event)
	}
	return r
}

// writeAll writes units in as few transactions as possible. If a receiver has a delivery of the same minute already,
// its wish is joined separately.
func (p *planner) writeAll(ctx context.Context, units []unit) error {
	var g errgroup.Group
	g.SetLimit(writersAtOnce)
	for len(units) > 0 {
		n, size := 0, 0
		for n < len(units) && (n == 0 || size+len(units[n].records) <= perTransaction) {
			size += len(units[n].records)
			n++
		}
		part := units[:n:n]
		units = units[n:]
		g.Go(func() error { return p.writeSome(ctx, part) })
	}
	return g.Wait()
}

// writeSome writes units in one transaction. It leaves out units that have existing deliveries and joins their
// wishes.
func (p *planner) writeSome(ctx context.Context, units []unit) error {
	for len(units) > 0 {
		var records []Record
		var owner []int
		for i := range units {
			for range units[i].records {
				owner = append(owner, i)
			}
			records = append(records, units[i].records...)
		}
		err := p.create(ctx, records, p.now.Add(lease))
		lost, refused := errors.AsType[*table.ConditionError](err)
		if !refused {
			return err
		}
		there := map[int]table.Item{}
		for _, f := range lost.Failed {
			if _, had := there[owner[f.Index]]; !had {
				there[owner[f.Index]] = f.Old
			}
		}
		left := units[:0:0]
		for i, u := range units {
			old, is := there[i]
			if !is {
				left = append(left, u)
				continue
			}
			if err = p.join(ctx, u.wish, old); err != nil {
				return err
			}
		}
		units = left
	}
	return nil
}

// create writes new deliveries, their due row and more in one transaction. It fails if one of the deliveries exists.
func (p *planner) create(ctx context.Context, records []Record, at time.Time, more ...table.Write) error {
	if len(records) == 0 {
		return nil
	}
	d := due{Org: p.org, At: at, Name: dueName(records[0].ID, 1)}
	ws := make([]table.Write, 0, len(records)+1+len(more))
	for i := range records {
		records[i].Due = d.Name
		d.IDs = append(d.IDs, records[i].ID)
		it, err := table.NewItem(spread(p.org).Key(records[i].ID), records[i])
		if err != nil {
			return err
		}
		it.Expires = records[i].expires(p.now)
		ws = append(ws, table.Put(it, table.Absent()))
	}
	list, err := d.put()
	if err != nil {
		return err
	}
	if err = p.e.store.table.Transact(ctx, append(append(ws, more...), list)...); err != nil {
		return fmt.Errorf("make %d deliveries from %s: %w", len(records), records[0].ID, err)
	}
	d.key = list.Item.Key
	if at.Equal(p.now.Add(lease)) { // claimed by this engine, to be sent now
		p.mu.Lock()
		defer p.mu.Unlock()
		p.made = append(p.made, batch{d, records, slices.Repeat([]bool{true}, len(records))})
	}
	return nil
}
