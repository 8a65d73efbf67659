package delivery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// People get up to mostSingle events of one key and minute as single messages, and the others in a digest. The window
// of a receiver's minute is stored in the first delivery of that minute, whose ID is derived from the minute, the key
// and the receiver. Further events are gathered in the last delivery, which is sent when the minute is over. So
// without an additional row and without reading other deliveries, a planner knows the delivered events, and a second
// pass over an event finds it.

// mostSingle is the maximum number of events of a key that people get as single messages in a minute.
const mostSingle = 5

// mostRows is the maximum number of rows that a window stores, more than occur in a minute. Rows beyond it are
// counted but not recognized again.
const mostRows = 20_000

// window records the event rows that are contained in the deliveries of a minute.
type window struct {
	Count int      `json:"count"` // the number of events
	Rows  []string `json:"rows"`  // the random parts of the rows' keys
}

// rowName returns the random part of a row's key, which is unique within a minute.
func rowName(row string) string { return row[max(0, len(row)-12):] }

func (w *window) has(n news) bool { return slices.Contains(w.Rows, rowName(n.row)) }

// with returns the window with more events.
func (w *window) with(some []news) *window {
	out := window{Count: len(some)}
	if w != nil {
		out.Count, out.Rows = w.Count+len(some), slices.Clone(w.Rows)
	}
	for _, n := range some {
		if name := rowName(n.row); !slices.Contains(out.Rows, name) && len(out.Rows) < mostRows {
			out.Rows = append(out.Rows, name)
		}
	}
	return &out
}

// minuteOf returns the start of the minute of a time.
func minuteOf(at time.Time) time.Time { return at.UTC().Truncate(time.Minute) }

// idIn returns the ID of the first or the last delivery of the wish's minute.
func (w *wish) idIn(which string) string {
	n := w.news[0]
	return id.Derived(prefix, minuteOf(n.At), which+"/"+n.Key+"/"+w.to.name())
}

// plan returns the deliveries of a wish if it is the first of its minute.
func (p *planner) plan(w wish) unit {
	if !w.to.Kind.digests() {
		return unit{w, []Record{p.single(w.to, w.news[0])}}
	}
	told := w.news
	if len(told) <= mostSingle {
		told = told[:1]
	}
	first := p.record(w.idIn("first"), w.to, told)
	first.Window = (*window)(nil).with(w.news)
	return unit{w, append([]Record{first}, p.singles(w.to, w.news[len(told):])...)}
}

func (p *planner) singles(to Target, some []news) []Record {
	out := make([]Record, len(some))
	for i, n := range some {
		out[i] = p.single(to, n)
	}
	return out
}

// windowTries limits the attempts to update a window that others change at the same time.
const windowTries = 10

// join delivers the new events of a wish when some of its deliveries exist. found is one of these.
func (p *planner) join(ctx context.Context, w wish, found table.Item) error {
	if !w.to.Kind.digests() {
		return nil // the only delivery of the wish exists
	}
	for range windowTries {
		first, err := p.read(ctx, found, w.idIn("first"))
		if err != nil {
			return err
		}
		err = p.joinFirst(ctx, w, first)
		if _, raced := errors.AsType[*table.ConditionError](err); !raced {
			return err
		}
		found = table.Item{}
	}
	return fault.New(fault.Unavailable, "the deliveries to %s changed %d times while more were made; try again",
		w.to.ID, windowTries)
}

// read decodes found if it is the delivery, or else reads it. It returns the zero Record when the delivery does not
// exist.
func (p *planner) read(ctx context.Context, found table.Item, deliveryID string) (Record, error) {
	if found.SK == deliveryID && found.Data != nil {
		return table.Decode[Record](found)
	}
	r, err := table.Read[Record](ctx, p.e.Table, spread(p.org).Key(deliveryID))
	if fault.Is(err, fault.NotFound) {
		return Record{}, nil
	}
	return r, fault.Wrap("read delivery "+deliveryID, err)
}

// joinFirst adds new events to the window of the minute's first delivery. It delivers them as single messages if at
// most mostSingle result, else with joinLast.
func (p *planner) joinFirst(ctx context.Context, w wish, first Record) error {
	if first.Window == nil { // it was deleted because its receiver is gone
		return nil
	}
	fresh := slices.DeleteFunc(slices.Clone(w.news), first.Window.has)
	if len(fresh) == 0 {
		return nil
	}
	if first.Window.Count+len(fresh) > mostSingle {
		return p.joinLast(ctx, w, fresh)
	}
	return p.create(ctx, p.singles(w.to, fresh), p.now.Add(lease),
		table.Update(spread(p.org).Key(first.ID), []table.Change{
			table.Set("window", first.Window.with(fresh)), table.Set("windowSeq", first.WindowSeq+1),
		}, seqIs(first.WindowSeq)))
}

// seqIs returns the condition that a window was not written since.
func seqIs(seq int) table.Cond {
	if seq == 0 {
		return table.Lacks("windowSeq")
	}
	return table.Equal("windowSeq", seq)
}

// joinLast adds events to the last delivery of the minute while that waits, or else to a further one.
func (p *planner) joinLast(ctx context.Context, w wish, fresh []news) error {
	end := minuteOf(fresh[0].At).Add(time.Minute)
	for n := range windowTries {
		lastID := w.idIn(fmt.Sprint("last", n))
		last, err := p.read(ctx, table.Item{}, lastID)
		if err != nil {
			return err
		}
		if last.Window == nil {
			return p.createLast(ctx, p.record(lastID, w.to, fresh), fresh, end)
		}
		if fresh = slices.DeleteFunc(fresh, last.Window.has); len(fresh) == 0 {
			return nil
		}
		if last.Status == Pending && last.NextAttemptAt.Equal(end) {
			return p.extend(ctx, last, fresh)
		}
	}
	p.e.Log.WarnContext(ctx, "events of a minute came so late and so often that a receiver is not told of more", "org",
		p.org, "receiver", w.to.ID, "events", len(fresh))
	return nil
}

// createLast creates a last delivery of a minute, which is sent at the end of the minute.
func (p *planner) createLast(ctx context.Context, last Record, fresh []news, end time.Time) error {
	last.Window = last.Window.with(fresh)
	if !end.After(p.now) {
		return p.create(ctx, []Record{last}, p.now.Add(lease))
	}
	last.NextAttemptAt = end
	return p.create(ctx, []Record{last}, end)
}

// extend adds events to a waiting delivery.
func (p *planner) extend(ctx context.Context, last Record, fresh []news) error {
	for _, n := range fresh[:min(len(fresh), MaxEvents-len(last.Events))] {
		last.Events = append(last.Events, n.Event)
	}
	_, err := p.e.store.table.Write(ctx, table.Update(spread(p.org).Key(last.ID), []table.Change{
		table.Set("events", last.Events), table.Set("total", last.Total+len(fresh)),
		table.Set("window", last.Window.with(fresh)),
		table.Set("change", last.Change+1),
	}, table.Equal("change", last.Change)))
	if err != nil {
		return fmt.Errorf("gather events for %s: %w", last.Target.ID, err)
	}
	return nil
}
