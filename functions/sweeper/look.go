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

// longestPause is the most that lies between two looks at the same work.
const longestPause = 30 * time.Minute

// noteTime bounds the note of a look.
const noteTime = 3 * time.Second

// maxTries is how often work is started anew, within some two hours.
const maxTries = 8

// look starts the execution of w. What was never started runs now, and a start of what runs does nothing. What has ended without
// ending its work is told by the conflict. So one call of the larger quota answers for nearly all.
func (s *sweep) look(ctx context.Context, w workqueue.Work) (Swept, error) {
	if s.starts.Wait(ctx) != nil {
		return Swept{Left: 1}, nil //nolint:nilerr // the time of this sweep is over, and the next goes on
	}
	switch err := s.Workflow.Start(ctx, w.Machine, w.ExecutionName(), w.Input); {
	case err == nil:
		return s.postpone(ctx, w)
	case ctx.Err() != nil, fault.Is(err, fault.Unavailable):
		return s.leave(ctx, err), nil //nolint:nilerr // the next sweep goes on
	case fault.Is(err, fault.Conflict):
		return s.lookCloser(ctx, w)
	default:
		return s.refused(ctx, w, fmt.Errorf("start %s again: %w", w.ExecutionName(), err))
	}
}

// lookCloser asks how the execution of w stands, whose start was refused. That it has ended is not taken for granted: two that
// run for the same work would be worse than a call of the smaller quota.
func (s *sweep) lookCloser(ctx context.Context, w workqueue.Work) (Swept, error) {
	if s.describes.Wait(ctx) != nil {
		return Swept{Left: 1}, nil //nolint:nilerr // as in look
	}
	switch ex, err := s.Workflow.Describe(ctx, w.Machine, w.ExecutionName()); {
	case ctx.Err() != nil, fault.Is(err, fault.Unavailable):
		return s.leave(ctx, err), nil //nolint:nilerr // the next sweep goes on
	case err != nil:
		return Swept{Looked: 1}, fmt.Errorf("describe %s: %w", w.ExecutionName(), err)
	case ex.Status == workflow.Running:
		return s.postpone(ctx, w)
	case workflow.HasDied(ex.Error): // it would only die again
		return s.parkDead(ctx, w, reasonOf(ex))
	default:
		return s.retry(ctx, w, reasonOf(ex))
	}
}

// postpone has w, which runs, looked at again when it is twice as old.
func (s *sweep) postpone(ctx context.Context, w workqueue.Work) (Swept, error) {
	_, err := s.write(ctx, workqueue.Postpone(w, s.now.Add(pauseOf(s.now.Sub(w.At)))))
	return Swept{Looked: 1}, err
}

// leave ends the sweep: its time is over, a quota is used up, or the workflow service is away. The next goes on.
func (s *sweep) leave(ctx context.Context, why error) Swept {
	if ctx.Err() == nil {
		s.Log.WarnContext(ctx, "the sweep ends before its time, and the next goes on", "error", why.Error())
	}
	s.full()
	return Swept{Left: 1}
}

// retry starts w anew under the name of its next try, unless it has had all of them: its execution has ended and left it
// unfinished. The try is counted before it is begun.
func (s *sweep) retry(ctx context.Context, w workqueue.Work, why string) (Swept, error) {
	if spent(w) {
		return s.park(ctx, w, why)
	}
	first, err := s.write(ctx, workqueue.CountTry(w, s.nextTry(w)))
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

// refused counts a try of w that could not begin, and never will as it is: its machine is not there, for one.
func (s *sweep) refused(ctx context.Context, w workqueue.Work, why error) (Swept, error) {
	if spent(w) {
		return s.park(ctx, w, why.Error())
	}
	_, err := s.write(ctx, workqueue.CountTry(w, s.nextTry(w)))
	return Swept{Looked: 1}, errors.Join(why, err)
}

func spent(w workqueue.Work) bool { return w.Try-w.From >= maxTries }

// nextTry returns when w, whose next try begins now, is looked at again: each time later.
func (s *sweep) nextTry(w workqueue.Work) time.Time {
	return s.now.Add(pauseOf(time.Minute << max(w.Try-w.From, 0)))
}

// pauseOf returns d as a pause between two looks.
func pauseOf(d time.Duration) time.Duration { return min(max(d, time.Minute), longestPause) }

// write does a write whose condition does not hold when the work has ended meanwhile, or another sweep was first; it reports
// whether it held. What was looked at is noted though the time of the sweep is over.
func (s *sweep) write(ctx context.Context, w table.Write) (bool, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTime)
	defer cancel()
	_, err := s.Table.Write(ctx, w)
	if _, over := errors.AsType[*table.ConditionError](err); over {
		return false, nil
	}
	return err == nil, fault.Wrap("note a look at "+w.Item.SK, err)
}
