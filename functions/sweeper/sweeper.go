// Package sweeper finds work that has begun and whose state machine was lost: never started, because the process died
// between the commit and the start, or ended without ending the work. It starts it again, so often and no more: what cannot be
// brought to an end is parked for an operator.
package sweeper

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/ratelimit"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/engine/workqueue"
)

const (
	pageSize  = 500              // of work that is read at a time
	sweepTime = 50 * time.Second // of one sweep, below the time-out of the function; the next minute goes on
	atOnce    = 32               // pieces of work looked at beside each other: a start takes some 50 ms
)

// What the sweeper takes of the quota of StartExecution, which the whole account has 1,300 of at once and 300 a second in
// us-east-1, us-west-2 and eu-west-1 (800 and 150 elsewhere; see stepFunctions.Start): the rest is left to what people begin.
// Where the quota is used up all the same, the sweep ends, and the next minute goes on.
const (
	startsAtOnce    = 800
	startsPerSecond = 200
)

// What it takes of the quota of DescribeExecution, which is 300 at once and 15 a second there, 250 and 10 elsewhere. It is asked for
// the few alone that have ended.
const (
	describesAtOnce    = 200
	describesPerSecond = 8
)

// Swept tells what a sweep did.
type Swept struct {
	Pending int `json:"pending"` // work that has begun and not ended
	Looked  int `json:"looked"`  // of it, what was due and was started again, which does nothing to what runs
	Retried int `json:"retried"` // of that, what had ended without ending the work
	Parked  int `json:"parked"`  // of that, what was given up
	Left    int `json:"left"`    // what was due and was left to the next sweep: the time or the quota was used up
	Oldest  int `json:"oldestPendingSeconds"`
}

// Handler sweeps once; EventBridge calls it every minute.
func Handler(p *platform.Platform) workflow.Handler {
	starts := ratelimit.NewBucket(p.Clock, startsPerSecond, startsAtOnce)
	describes := ratelimit.NewBucket(p.Clock, describesPerSecond, describesAtOnce)
	return func(ctx context.Context, _ json.RawMessage) (any, error) {
		return sweepPending(ctx, &sweep{Platform: p, starts: starts, describes: describes})
	}
}

// sweep is one sweep under way.
type sweep struct {
	*platform.Platform
	starts, describes *ratelimit.Bucket
	now               time.Time
	full              context.CancelFunc // ends the sweep when a quota is used up

	mu   sync.Mutex
	done Swept
	errs []error
}

// sweepPending looks at the pending work that is due. One piece that cannot be started does not keep the others from being. The
// shards are taken in random order and each from either end, so that whatever a sweep cannot get through with, and whatever ends
// it, stands before something else the next time.
func sweepPending(ctx context.Context, s *sweep) (Swept, error) {
	ctx, cancel := context.WithTimeout(table.Within(ctx, workqueue.Prefix), sweepTime)
	defer cancel()
	s.now, s.full = s.Clock.Now(), cancel
	for _, shard := range rand.Perm(workqueue.Shards) { //nolint:gosec // no secret
		if err := s.shard(ctx, workqueue.PK(shard)); err != nil && ctx.Err() == nil {
			s.errs = append(s.errs, err)
		}
	}
	d := s.done
	s.Log.InfoContext(ctx, "swept", "pending", d.Pending, "looked", d.Looked, "retried", d.Retried, "parked", d.Parked,
		"left", d.Left, "oldestPendingSeconds", d.Oldest)
	return d, errors.Join(s.errs...)
}

// shard looks at what is due of one shard, page by page.
func (s *sweep) shard(ctx context.Context, pk string) error {
	q := table.Query{PK: pk, Limit: pageSize, Reverse: rand.IntN(2) == 0} //nolint:gosec // no secret
	for {
		// What a replica does not have yet is not due either, and what it still has is written to on the condition that it is there.
		works, next, err := table.ReadPage[workqueue.Work](table.Eventually(ctx), s.Table, q)
		if err != nil {
			return fmt.Errorf("read pending work of %s: %w", pk, err)
		}
		s.page(ctx, works)
		if q.Cursor = next; q.Cursor == "" {
			return nil
		}
	}
}

// page looks at what is due of a page.
func (s *sweep) page(ctx context.Context, works []workqueue.Work) {
	var g errgroup.Group
	g.SetLimit(atOnce)
	s.done.Pending += len(works)
	for _, w := range works {
		s.done.Oldest = max(s.done.Oldest, int(w.PendingFor(s.now).Seconds()))
		if w.Due.After(s.now) {
			continue
		}
		g.Go(func() error {
			looked, err := s.look(ctx, w)
			s.count(looked, err)
			return nil
		})
	}
	_ = g.Wait() // what failed is among errs
}

// count adds up what was done to one piece of work.
func (s *sweep) count(d Swept, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done.Looked += d.Looked
	s.done.Retried += d.Retried
	s.done.Parked += d.Parked
	s.done.Left += d.Left
	if err != nil {
		s.errs = append(s.errs, err)
	}
}
