package sweeper

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
)

// longestPause is the longest pause between two looks at the same work.
const longestPause = 30 * time.Minute

// noteTime is the time limit for recording a look.
const noteTime = 3 * time.Second

// maxTries is how often work is started again, within about two hours.
const maxTries = 8

// lookAt starts the execution of w. Work that was never started runs now; a start of running work does nothing. A
// conflict shows that the execution has ended without ending its work. So one call of the larger quota is enough for
// nearly all work.
func (s *sweep) lookAt(ctx context.Context, w workqueue.Work) (Swept, error) {
	if s.starts.Wait(ctx) != nil {
		return Swept{Left: 1}, nil //nolint:nilerr // the time of this sweep is over, and the next goes on
	}
	switch err := s.Workflow.Start(ctx, w.Machine, w.ExecutionName(), w.Input); {
	case err == nil:
		return s.postponeLook(ctx, w)
	case ctx.Err() != nil, fault.Is(err, fault.Unavailable):
		return s.endSweep(ctx, err), nil //nolint:nilerr // the next sweep goes on
	case fault.Is(err, fault.Conflict):
		return s.lookCloser(ctx, w)
	default:
		return s.countRefusal(ctx, w, fmt.Errorf("start %s again: %w", w.ExecutionName(), err))
	}
}

// lookCloser reads the status of w's execution after its start was refused. It does not assume that the execution has
// ended: two executions of the same work would be worse than a call of the smaller quota.
func (s *sweep) lookCloser(ctx context.Context, w workqueue.Work) (Swept, error) {
	if s.describes.Wait(ctx) != nil {
		return Swept{Left: 1}, nil //nolint:nilerr // as in look
	}
	switch ex, err := s.Workflow.Describe(ctx, w.Machine, w.ExecutionName()); {
	case ctx.Err() != nil, fault.Is(err, fault.Unavailable):
		return s.endSweep(ctx, err), nil //nolint:nilerr // the next sweep goes on
	case err != nil:
		return Swept{Looked: 1}, fmt.Errorf("describe %s: %w", w.ExecutionName(), err)
	case ex.Status == workflow.Running:
		return s.postponeLook(ctx, w)
	case workflow.HasDied(ex.Error): // it would only die again
		return s.parkDead(ctx, w, reasonOf(ex))
	default:
		return s.retryWork(ctx, w, reasonOf(ex))
	}
}

// postponeLook schedules the next look at w, which runs, for when it is twice as old.
func (s *sweep) postponeLook(ctx context.Context, w workqueue.Work) (Swept, error) {
	_, err := s.writeIf(ctx, workqueue.Postpone(w, s.now.Add(pauseOf(s.now.Sub(w.At)))))
	return Swept{Looked: 1}, err
}

// endSweep ends the sweep because its time is over, a quota is used up, or the workflow service is unavailable. The
// next sweep continues.
func (s *sweep) endSweep(ctx context.Context, why error) Swept {
	if ctx.Err() == nil {
		s.Log.WarnContext(ctx, "the sweep ends before its time, and the next goes on", "error", why.Error())
	}
	s.full()
	return Swept{Left: 1}
}

// retryWork starts w again under the name of its next try, or parks it after maxTries: its execution has ended and
// left it unfinished. The try is counted before it begins.
func (s *sweep) retryWork(ctx context.Context, w workqueue.Work, why string) (Swept, error) {
	if hasSpentTries(w) {
		return s.parkWork(ctx, w, why)
	}
	first, err := s.writeIf(ctx, workqueue.CountTry(w, s.nextTry(w)))
	if err != nil || !first || s.starts.Wait(ctx) != nil {
		return Swept{Looked: 1}, err
	}
	w.Try++
	s.Log.WarnContext(ctx, "started work anew whose state machine had ended without ending it",
		"machine", w.Machine, "name", w.ExecutionName(), "org", w.Org, "why", why)
	err = s.Workflow.Start(ctx, w.Machine, w.ExecutionName(), w.Input)
	if ctx.Err() != nil { // the sweep after the pause begins the try
		err = nil
	}
	return Swept{Looked: 1, Retried: 1}, fault.Wrap("start "+w.ExecutionName(), err)
}

// countRefusal counts a try of w that could not begin and cannot succeed unchanged, for example because its machine
// does not exist.
func (s *sweep) countRefusal(ctx context.Context, w workqueue.Work, why error) (Swept, error) {
	if hasSpentTries(w) {
		return s.parkWork(ctx, w, why.Error())
	}
	_, err := s.writeIf(ctx, workqueue.CountTry(w, s.nextTry(w)))
	return Swept{Looked: 1}, errors.Join(why, err)
}

func hasSpentTries(w workqueue.Work) bool { return w.Try-w.From >= maxTries }

// nextTry returns when w, whose next try begins now, is looked at again: later each time.
func (s *sweep) nextTry(w workqueue.Work) time.Time {
	return s.now.Add(pauseOf(time.Minute << max(w.Try-w.From, 0)))
}

// pauseOf limits d to the allowed pauses between two looks.
func pauseOf(d time.Duration) time.Duration { return min(max(d, time.Minute), longestPause) }

// writeIf makes a conditional write, and reports whether its condition held. It does not hold if the work has ended
// meanwhile, or another sweep was faster. The write is made even if the time of the sweep is over.
func (s *sweep) writeIf(ctx context.Context, w table.Write) (bool, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTime)
	defer cancel()
	_, err := s.Table.Write(ctx, w)
	if _, over := errors.AsType[*table.ConditionError](err); over {
		return false, nil
	}
	return err == nil, fault.Wrap("note a look at "+w.Item.SK, err)
}
