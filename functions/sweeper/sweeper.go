// Package sweeper finds work that has begun and whose state machine was lost: never started, because the process died
// between the commit and the start, or ended without ending the work. It starts it again.
package sweeper

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
)

// settled is how old pending work is before the sweeper looks at it: until then its start may still be under way.
const settled = 30 * time.Second

// pageSize is how much work is read at a time.
const pageSize = 500

// Swept tells what a sweep did.
type Swept struct {
	Looked  int `json:"looked"`
	Started int `json:"started"`
}

// Handler sweeps once; EventBridge calls it every minute.
func Handler(p *platform.Platform) workflow.Handler {
	return func(ctx context.Context, _ json.RawMessage) (any, error) { return SweepPending(ctx, p, settled) }
}

// SweepPending looks at all pending work that is older than age. One piece that cannot be started does not keep the others from
// being.
func SweepPending(ctx context.Context, p *platform.Platform, age time.Duration) (Swept, error) {
	ctx = table.Within(ctx, workqueue.Prefix)
	var out Swept
	var errs []error
	for shard := range workqueue.Shards {
		err := each(ctx, p.Table, workqueue.PK(shard), func(w workqueue.Work) {
			if p.Clock.Now().Sub(w.At) < age {
				return
			}
			out.Looked++
			again, err := revive(ctx, p, w)
			if errs = append(errs, err); again {
				out.Started++
			}
		})
		errs = append(errs, err)
	}
	return out, errors.Join(errs...)
}

func each(ctx context.Context, s table.Store, pk string, f func(workqueue.Work)) error {
	q := table.Query{PK: pk, Limit: pageSize}
	for {
		works, next, err := table.ReadPage[workqueue.Work](ctx, s, q)
		if err != nil {
			return fmt.Errorf("read pending work of %s: %w", pk, err)
		}
		for _, w := range works {
			f(w)
		}
		if q.Cursor = next; q.Cursor == "" {
			return nil
		}
	}
}

// revive starts the work's machine when it does not run; it reports whether it did.
func revive(ctx context.Context, p *platform.Platform, w workqueue.Work) (bool, error) {
	ex, err := p.Workflow.Describe(ctx, w.Machine, w.ExecutionName())
	switch {
	case fault.Is(err, fault.NotFound):
		return true, start(ctx, p, w)
	case err != nil:
		return false, fmt.Errorf("describe %s: %w", w.ExecutionName(), err)
	case ex.Status == workflow.Running:
		return false, nil
	}
	return again(ctx, p, w)
}

// again starts work anew whose execution has ended without ending it, under the name of its next try.
func again(ctx context.Context, p *platform.Platform, w workqueue.Work) (bool, error) {
	_, err := p.Table.Write(ctx, table.Update(workqueue.WorkKey(w.ID), []table.Change{
		table.Set("try", w.Try+1), table.Set("at", p.Clock.Now()),
	}, table.Exists(), table.Equal("try", w.Try)))
	if _, ended := errors.AsType[*table.ConditionError](err); ended {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("note try of %s: %w", w.ID, err)
	}
	w.Try++
	return true, start(ctx, p, w)
}

func start(ctx context.Context, p *platform.Platform, w workqueue.Work) error {
	if err := p.Workflow.Start(ctx, w.Machine, w.ExecutionName(), w.Input); err != nil {
		return fmt.Errorf("start %s again: %w", w.ExecutionName(), err)
	}
	p.Log.InfoContext(ctx, "started lost work again", "machine", w.Machine, "name", w.ExecutionName(), "org", w.Org)
	return nil
}
