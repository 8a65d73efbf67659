package workqueue

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// ParkedPK is the partition of what is parked, by its ids.
const ParkedPK = Prefix + "PARKED"

// keepEnded is how long parked work is kept whose record was ended: it is a note, and nothing waits for it. Other parked work is
// kept until an operator unparks it.
const keepEnded = 90 * 24 * time.Hour

// Parked is work that was given up.
type Parked struct {
	Work
	Why      string    `json:"why"`
	ParkedAt time.Time `json:"parkedAt"`
	// Ended says that its record was ended as failed, which freed what it held; otherwise the record still waits for its work.
	Ended bool `json:"ended"`
}

// ParkedKey returns where the work of the id is parked.
func ParkedKey(id string) table.Key { return table.Key{PK: ParkedPK, SK: id} }

// Park returns the writes that take p off the list and keep it with its reason. They belong into one transaction, whose ctx must
// be allowed the Prefix.
func Park(p Parked) ([]table.Write, error) {
	it, err := table.NewItem(ParkedKey(p.ID), p)
	if p.Ended {
		it.Expires = p.ParkedAt.Add(keepEnded)
	}
	return []table.Write{table.Put(it), RemoveWork(p.ID)}, err
}

// ListParked reads a page of what is parked, the oldest first.
func ListParked(ctx context.Context, s table.Store, cursor string) (parked []Parked, next string, err error) {
	const page = 500
	return table.ReadPage[Parked](table.Within(ctx, Prefix), s, table.Query{PK: ParkedPK, Limit: page, Cursor: cursor})
}

// Unpark lists parked work again: the sweeper starts it anew at its next turn, and its tries count from there. Work whose record
// was ended is fault.Conflict: whoever asked for it asks again.
func Unpark(ctx context.Context, s table.Store, id string, now time.Time) error {
	ctx = table.Within(ctx, Prefix)
	p, err := table.Read[Parked](ctx, s, ParkedKey(id))
	switch {
	case fault.Is(err, fault.NotFound):
		return fault.NewWithCause(fault.NotFound, err,
			"no work %.80q is parked; `lamplighter work parked` lists what is", id)
	case err != nil:
		return fault.Wrap("read parked work "+id, err)
	case p.Ended:
		return fault.New(fault.Conflict,
			"%s was ended as failed when it was parked, so nothing is left to do: ask for the same again instead", id)
	}
	w := p.Work
	w.Try, w.Due = w.Try+1, now
	w.From = w.Try
	it, err := table.NewItem(WorkKey(id), w)
	if err != nil {
		return err
	}
	return fault.Wrap("unpark "+id,
		s.Transact(ctx, table.Put(it, table.Absent()), table.Delete(ParkedKey(id), table.Exists())))
}

// Deaths lists work that was given up because it ended its process.
type Deaths struct {
	Store table.Store
	Clock clock.Clock
	Log   *slog.Logger
}

// Note lists the work of an execution as parked when c cleans up after a call that ended its process as often as it
// may; it does nothing after any other error. The record of the work is ended by the task that calls this, so the entry
// is a note. It is two round trips then, and none otherwise.
func (d Deaths) Note(ctx context.Context, c workflow.Call) error {
	if c.Error == nil || c.Execution == "" || !workflow.HasDied(c.Error.Error) {
		return nil
	}
	ctx = table.Within(ctx, Prefix)
	w, err := readExecution(ctx, d.Store, c.Execution)
	if fault.Is(err, fault.NotFound) {
		return nil // it has ended meanwhile
	}
	if err != nil {
		return fault.Wrap("read the work of "+c.Execution, err)
	}
	p := Parked{Work: w, Why: c.Error.String(), ParkedAt: d.Clock.Now(), Ended: true}
	it, err := table.NewItem(ParkedKey(w.ID), p)
	if err != nil {
		return err
	}
	it.Expires = p.ParkedAt.Add(keepEnded)
	if _, err = d.Store.Write(ctx, table.Put(it)); err != nil {
		return fault.Wrap("note that "+w.ID+" is given up", err)
	}
	d.Log.ErrorContext(ctx, "work parked", "machine", w.Machine, "id", w.ID, "org", w.Org, "ended", true, "why", p.Why)
	return nil
}

// readExecution reads the work of an execution by its name: the id, or the id and a try. An id may itself end with a
// number.
func readExecution(ctx context.Context, s table.Store, name string) (Work, error) {
	w, err := table.Read[Work](ctx, s, WorkKey(name))
	if cut := strings.LastIndexByte(name, '-'); cut > 0 && fault.Is(err, fault.NotFound) {
		return table.Read[Work](ctx, s, WorkKey(name[:cut]))
	}
	return w, err
}
