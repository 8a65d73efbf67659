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

// ParkedPK is the partition key of parked work.
const ParkedPK = Prefix + "PARKED"

// keepEnded is how long parked work is kept if its record was ended. Other parked work is kept until an operator
// unparks it.
const keepEnded = 90 * 24 * time.Hour

// Parked is work that was given up.
type Parked struct {
	Work
	Why      string    `json:"why"`
	ParkedAt time.Time `json:"parkedAt"`
	// Ended reports whether its record was ended as failed, which released its claims. Otherwise the record still waits
	// for its work.
	Ended bool `json:"ended"`
}

// ParkedKey returns the key of parked work.
func ParkedKey(id string) table.Key { return table.Key{PK: ParkedPK, SK: id} }

// Park returns the writes that move p from the list of work to the parked work. Use them in one transaction whose
// context allows Prefix.
func Park(p Parked) ([]table.Write, error) {
	it, err := table.NewItem(ParkedKey(p.ID), p)
	if p.Ended {
		it.Expires = p.ParkedAt.Add(keepEnded)
	}
	return []table.Write{table.Put(it), RemoveWork(p.ID)}, err
}

// ListParked reads a page of up to 500 items of parked work, oldest first.
func ListParked(ctx context.Context, s table.Store, cursor string) (parked []Parked, next string, err error) {
	const page = 500
	return table.ReadPage[Parked](table.Within(ctx, Prefix), s, table.Query{PK: ParkedPK, Limit: page, Cursor: cursor})
}

// Unpark puts parked work back on the list. The sweeper starts it again in its next round, and earlier tries no longer
// count. It returns fault.Conflict for work whose record was ended: its request must be made again.
func Unpark(ctx context.Context, s table.Store, id string, now time.Time) error {
	ctx = table.Within(ctx, Prefix)
	p, err := table.Read[Parked](ctx, s, ParkedKey(id))
	switch {
	case fault.Is(err, fault.NotFound):
		return fault.NewWithCause(fault.NotFound, err,
			"no work %.80q is parked; `lamplighter work parked` lists parked work", id)
	case err != nil:
		return fault.Wrap("read parked work "+id, err)
	case p.Ended:
		return fault.New(fault.Conflict,
			"%s was ended as failed when it was parked, so it cannot be started again: repeat the original "+
				"request instead", id)
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

// Deaths records work that was given up because it crashed its process.
type Deaths struct {
	Store table.Store
	Clock clock.Clock
	Log   *slog.Logger
}

// Note parks the work of an execution if c cleans up after a call that crashed its process too often. It does nothing
// after any other error. The calling task ends the record of the work, so the entry only informs operators. It takes
// two round trips, or none.
func (d Deaths) Note(ctx context.Context, c workflow.Call) error {
	if c.Error == nil || c.Execution == "" || !workflow.HasDied(c.Error.Error) {
		return nil
	}
	ctx = table.Within(ctx, Prefix)
	w, err := readExecution(ctx, d.Store, c.Execution)
	if fault.Is(err, fault.NotFound) {
		return nil // it has ended in the meantime
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

// readExecution reads the work of an execution by its name: the ID, or the ID and a try. An ID itself may end with a
// number.
func readExecution(ctx context.Context, s table.Store, name string) (Work, error) {
	w, err := table.Read[Work](ctx, s, WorkKey(name))
	if cut := strings.LastIndexByte(name, '-'); cut > 0 && fault.Is(err, fault.NotFound) {
		return table.Read[Work](ctx, s, WorkKey(name[:cut]))
	}
	return w, err
}
