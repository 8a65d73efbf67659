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
	matchersAtOnce = 8  // events that are matched side by side
	writersAtOnce  = 8  // transactions of new deliveries
	perTransaction = 90 // deliveries that one makes: with what is due they are fewer than 100 writes
)

// news is an event, and the row that brought it: the events of one row come together whenever they come.
type news struct {
	event.Event
	row string
}

// wish is what one receiver is told together: a single event, or for people the events of one key and minute.
type wish struct {
	to   Target
	news []news
}

// fanOut makes the deliveries of events of an organization and returns those that are new, taken. It may be repeated: what was made before
// is not made again.
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

// match finds who is told of each event.
func (e *Engine) match(ctx context.Context, org string, all []news) ([][]Target, error) {
	found := make([][]Target, len(all))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(matchersAtOnce)
	for i := range all {
		g.Go(func() error {
			for _, m := range e.Matchers {
				some, err := m.Match(ctx, org, all[i].Event)
				if err != nil {
					return fmt.Errorf("find who is told of %s: %w", all[i].ID, err)
				}
				found[i] = append(found[i], some...)
			}
			return nil
		})
	}
	return found, g.Wait()
}

// gather puts together what goes to one receiver.
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

// digests reports whether receivers of the kind are people, who read one message of many events. Programs want each by itself.
func (k Kind) digests() bool { return k != Webhook && k != Integration }

// planner makes the deliveries of one pass over events.
type planner struct {
	e   *Engine
	org string
	now time.Time

	mu   sync.Mutex
	made []batch
}

// unit is deliveries that are made together or not at all: those of a wish.
type unit struct {
	wish
	records []Record
}

// single returns the delivery of one event.
func (p *planner) single(to Target, n news) Record {
	return p.record(id.Derived(prefix, n.At, n.ID+"/"+to.name()), to, []news{n})
}

func (t Target) name() string { return string(t.Kind) + "/" + t.ID }

// record returns a new delivery of events, taken.
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

// writeAll writes units in as few transactions as they need. What somebody was told in the same minute before is looked at one by one.
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

// writeSome writes units in one transaction, without those that are there already.
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

// create writes new deliveries, the row that says when they are due, and what else belongs to them; a delivery that is there fails it all.
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
	if at.Equal(p.now.Add(lease)) { // they are ours, to be sent now
		p.mu.Lock()
		defer p.mu.Unlock()
		p.made = append(p.made, batch{d, records, slices.Repeat([]bool{true}, len(records))})
	}
	return nil
}
