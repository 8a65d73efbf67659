// Package sweeper finds pending work whose state machine was lost: never started, because the process died between
// the commit and the start, or ended without ending the work. It starts the work again, up to a number of times; work
// that cannot be completed is parked for an operator.
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

// These constants are the sweeper's share of the quota of StartExecution. The whole account has 1,300 at once and 300
// a second in us-east-1, us-west-2 and eu-west-1 (800 and 150 elsewhere; see stepFunctions.Start). The rest is left
// to users' requests. If the quota is used up all the same, the sweep ends, and the next minute continues.
const (
	startsAtOnce    = 800
	startsPerSecond = 200
)

// These constants are the share of the quota of DescribeExecution, which is 300 at once and 15 a second there, 250
// and 10 elsewhere. It is called only for the few executions that have ended.
const (
	describesAtOnce    = 200
	describesPerSecond = 8
)

// Swept summarizes a sweep.
type Swept struct {
	Pending int `json:"pending"` // work that has begun and not ended
	Looked  int `json:"looked"`  // of it, due work that was started again; that does nothing to running work
	Retried int `json:"retried"` // of that, work whose execution had ended without ending it
	Parked  int `json:"parked"`  // of that, work that was given up
	Left    int `json:"left"`    // due work left to the next sweep, because the time or a quota was used up
	Oldest  int `json:"oldestPendingSeconds"`
}

// Handler sweeps once. EventBridge calls it every minute.
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

// sweepPending looks at the due pending work. Work that cannot be started does not affect other work. The shards are
// read in random order, each from a random end, so that work which a sweep cannot complete, or which ends the sweep,
// does not always delay the same other work.
func sweepPending(ctx context.Context, s *sweep) (Swept, error) {
	ctx, cancel := context.WithTimeout(table.Within(ctx, workqueue.Prefix), sweepTime)
	defer cancel()
	s.now, s.full = s.Clock.Now(), cancel
	for _, shard := range rand.Perm(workqueue.Shards) { //nolint:gosec // no secret
		if err := s.sweepShard(ctx, workqueue.PK(shard)); err != nil && ctx.Err() == nil {
			s.errs = append(s.errs, err)
		}
	}
	d := s.done
	s.Log.InfoContext(ctx, "swept", "pending", d.Pending, "looked", d.Looked, "retried", d.Retried, "parked", d.Parked,
		"left", d.Left, "oldestPendingSeconds", d.Oldest)
	return d, errors.Join(s.errs...)
}

// sweepShard looks at the due work of one shard, page by page.
func (s *sweep) sweepShard(ctx context.Context, pk string) error {
	q := table.Query{PK: pk, Limit: pageSize, Reverse: rand.IntN(2) == 0} //nolint:gosec // no secret
	for {
		// A stale replica may lack new work, which is not due yet, and may contain ended work, which conditional
		// writes protect.
		works, next, err := table.ReadPage[workqueue.Work](table.Eventually(ctx), s.Table, q)
		if err != nil {
			return fmt.Errorf("read pending work of %s: %w", pk, err)
		}
		s.sweepPage(ctx, works)
		if q.Cursor = next; q.Cursor == "" {
			return nil
		}
	}
}

// sweepPage looks at the due work of a page.
func (s *sweep) sweepPage(ctx context.Context, works []workqueue.Work) {
	var g errgroup.Group
	g.SetLimit(atOnce)
	s.done.Pending += len(works)
	for _, w := range works {
		s.done.Oldest = max(s.done.Oldest, int(w.PendingFor(s.now).Seconds()))
		if w.Due.After(s.now) {
			continue
		}
		g.Go(func() error {
			looked, err := s.lookAt(ctx, w)
			s.addResult(looked, err)
			return nil
		})
	}
	_ = g.Wait() // errors are collected in errs
}

// addResult adds the result for one piece of work to the summary.
func (s *sweep) addResult(d Swept, err error) {
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
