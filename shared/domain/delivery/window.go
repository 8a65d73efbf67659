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

// People are told of up to mostSingle events of one key in one minute by a message each, and of more in a digest. Who is told of what in a
// minute stands in the first delivery of that minute, whose id follows from the minute, the key and the receiver. What comes after that
// and is too much is gathered in the last one, which is sent when the minute is over. So without a row more, and without a look at others,
// whoever makes deliveries knows what was told, and a second pass over an event finds that it was.

// mostSingle is how many events of a key people are told of one by one in a minute.
const mostSingle = 5

// mostRows is how many rows a window remembers: more than a minute brings. Those beyond are counted, and not known again.
const mostRows = 20_000

// window says which rows of events are told of in the deliveries of a minute that it stands in.
type window struct {
	Count int      `json:"count"` // events
	Rows  []string `json:"rows"`  // the ends of their names
}

// rowName returns as much of the name of a row as tells it from others of a minute: its random part.
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

// minuteOf returns the minute of a time.
func minuteOf(at time.Time) time.Time { return at.UTC().Truncate(time.Minute) }

// idIn returns the id of the first or the last delivery of the minute of a wish.
func (w *wish) idIn(which string) string {
	n := w.news[0]
	return id.Derived(prefix, minuteOf(n.At), which+"/"+n.Key+"/"+w.to.name())
}

// plan returns the deliveries of a wish, should it be the first of its minute.
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

// windowTries is how often a window is read anew because somebody else has changed it.
const windowTries = 10

// join tells of what is new of a wish, some of whose deliveries are there: found is one of them.
func (p *planner) join(ctx context.Context, w wish, found table.Item) error {
	if !w.to.Kind.digests() {
		return nil // it is the only one
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

// read decodes a delivery that was found, or reads it; the zero Record when there is none.
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

// joinFirst tells one by one of what there is room for beside the first delivery of the minute, and else gathers it.
func (p *planner) joinFirst(ctx context.Context, w wish, first Record) error {
	if first.Window == nil { // it was forgotten: its receiver is gone
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

// seqIs demands that a window was not written since.
func seqIs(seq int) table.Cond {
	if seq == 0 {
		return table.Lacks("windowSeq")
	}
	return table.Equal("windowSeq", seq)
}

// joinLast gathers events in the last delivery of the minute, as long as that waits; those that come later, in another one.
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

// createLast makes a last delivery of a minute, which waits for the end of the minute.
func (p *planner) createLast(ctx context.Context, last Record, fresh []news, end time.Time) error {
	last.Window = last.Window.with(fresh)
	if !end.After(p.now) {
		return p.create(ctx, []Record{last}, p.now.Add(lease))
	}
	last.NextAttemptAt = end
	return p.create(ctx, []Record{last}, end)
}

// extend has a delivery that waits tell of more.
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
