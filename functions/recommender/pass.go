package recommender

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
)

// pass is the stored state of an organization's last scheduled pass, or of the pass of a refresh. A process that
// resumes a pass continues it with the same ID and the same time, so each row takes it once.
type pass struct {
	ID      string                 `json:"id,omitempty"`
	At      time.Time              `json:"at,omitzero"`
	Whole   bool                   `json:"whole,omitempty"` // everything, or state rules of changed resources
	Next    int                    `json:"next,omitempty"`  // how many parts of a whole pass are evaluated
	Ended   bool                   `json:"ended,omitempty"`
	Settled recommendation.Settled `json:"settled,omitzero"`
	Marks   string                 `json:"marks,omitempty"`  // becomes Day when a whole pass ends
	Day     string                 `json:"day,omitempty"`    // of the last daily pass that ended, or firstPass
	First   string                 `json:"first,omitempty"`  // the day of the first pass of all
	Shares  int                    `json:"shares,omitempty"` // of a divided pass; 0: one process evaluates everything
	Job     string                 `json:"job,omitempty"`    // the execution that evaluates a divided daily pass
	Failed  string                 `json:"failed,omitempty"` // why a divided daily pass was given up
	// changes of resources until this time are evaluated
	Through time.Time `json:"through,omitzero"`
	Seq     int64     `json:"seq"` // of writes; each is conditioned on it
}

// errOvertaken says that another process works on the same pass. It continues; this one stops.
var errOvertaken = errors.New("another process evaluates this organization")

// lateChanges is how much later than its time a change may appear in the index. Changes of so long before the last pass
// are evaluated again.
const lateChanges = 15 * time.Minute

// runner runs passes of one organization.
type runner struct {
	*worker
	org   string
	key   table.Key
	state pass
	until time.Time // then no further part is begun
	parts partSet   // to evaluate
}

// open reads the state of the last pass.
func (w *worker) open(ctx context.Context, org, jobID string, until time.Time) (*runner, error) {
	return w.openAt(ctx, org, recommendation.PassKey(org, jobID), until)
}

func (w *worker) openAt(ctx context.Context, org string, key table.Key, until time.Time) (*runner, error) {
	r := &runner{worker: w, org: org, key: key, until: until, parts: everyPart}
	var err error
	if r.state, err = table.Read[pass](ctx, w.Table, r.key); fault.Is(err, fault.NotFound) {
		return r, nil
	}
	return r, fault.Wrap("read the last pass of "+org, err)
}

// keptPasses is how long the state of a refresh's pass is kept.
const keptPasses = 30 * day

// save stores the state, with other writes in one transaction. It returns errOvertaken if another process has stored
// one meanwhile.
func (r *runner) save(ctx context.Context, others ...table.Write) error {
	cond := table.Equal("seq", r.state.Seq)
	if r.state.Seq == 0 {
		cond = table.Absent()
	}
	next := r.state
	next.Seq++
	it, err := table.NewItem(r.key, next)
	if err != nil {
		return err
	}
	if r.key != recommendation.PassKey(r.org, "") {
		it.Expires = r.Clock.Now().Add(keptPasses)
	}
	if len(others) == 0 {
		_, err = r.Table.Write(ctx, table.Put(it, cond))
	} else {
		err = r.Table.Transact(table.Within(ctx, workqueue.Prefix), append(others, table.Put(it, cond))...)
	}
	if _, lost := errors.AsType[*table.ConditionError](err); lost {
		return errOvertaken
	}
	if err != nil {
		return fmt.Errorf("note the pass of %s: %w", r.org, err)
	}
	r.state = next
	return nil
}

// begin starts a pass: a whole one with the day that it marks, or one over changed resources with "".
func (r *runner) begin(ctx context.Context, id, marks string) error {
	r.prepare(id, marks)
	return r.save(ctx)
}

// prepare makes the state that of a new pass, without storing it.
func (r *runner) prepare(id, marks string) {
	now := r.Clock.Now().UTC()
	r.state = pass{
		ID: id, At: now, Whole: marks != "", Marks: marks, Day: r.state.Day, Through: r.state.Through,
		Seq: r.state.Seq, First: cmp.Or(r.state.First, dayOf(now)),
	}
}

// end makes the state that of a whole pass that has ended. It first books the savings that all resources together have
// and, after a daily pass, requests the workflows that need no person; a process that dies before the state is stored
// does so again.
func (r *runner) end(ctx context.Context) error {
	if err := r.bookRequests(ctx); err != nil {
		return err
	}
	if r.key == recommendation.PassKey(r.org, "") && r.state.Marks == dayOf(r.state.At) {
		if err := r.requestAutonomous(ctx); err != nil {
			return err
		}
	}
	r.state.Ended, r.state.Day, r.state.Through = true, r.state.Marks, r.state.At
	return nil
}

// evaluation reads what the pass needs.
func (r *runner) evaluation(ctx context.Context) (*evaluation, error) {
	in, err := r.read(ctx, inputsOf{r.org, r.state.At, r.parts})
	if err != nil {
		return nil, err
	}
	rules, err := r.readRules(ctx, r.org)
	if err != nil {
		return nil, err
	}
	settling, err := r.rows.Begin(ctx, r.org, recommendation.Pass{ID: r.state.ID, At: r.state.At})
	if err == nil {
		in.commitments.waste = sync.OnceValue(settling.Waste)
	}
	return &evaluation{
		worker: r.worker, org: r.org, parts: r.parts, in: in, rules: rules, settling: settling,
		evaluators: map[string]*evaluator{},
	}, err
}

// runWhole evaluates the parts of a whole pass that are left. It returns false if the time ended before: the next run
// continues.
func (r *runner) runWhole(ctx context.Context) (bool, error) {
	e, err := r.evaluation(ctx)
	if err != nil {
		return false, err
	}
	if err = e.measureApplied(ctx); err != nil {
		return false, err
	}
	parts := r.parts.ordered()
	for r.state.Next < len(parts) {
		if !r.Clock.Now().Before(r.until) {
			return false, nil
		}
		e.settled = recommendation.Settled{}
		if err = e.evaluatePart(ctx, parts[r.state.Next]); err != nil {
			return false, fmt.Errorf("evaluate part %d of %s: %w", parts[r.state.Next], r.org, err)
		}
		r.state.Settled.Add(e.settled)
		if r.state.Next++; r.state.Next == len(parts) {
			if err = r.end(ctx); err != nil {
				return false, err
			}
		}
		if err = r.save(ctx); err != nil {
			return false, err
		}
	}
	return true, nil
}

// changed returns the native ids of the resources that have changed since the last pass, in order.
func (r *runner) changed(ctx context.Context) ([]string, error) {
	since := r.state.Through.Add(-lateChanges)
	var out []string
	err := r.inventory.EachIndexed(ctx, r.org, func(res inventory.IndexedResource) {
		if res.ChangedAt.After(since) || res.StatusAt.After(since) {
			out = append(out, res.UID)
		}
	})
	slices.Sort(out)
	return out, fault.Wrap("find the changed resources of "+r.org, err)
}

// runChanged evaluates the resources that have changed since the last pass.
func (r *runner) runChanged(ctx context.Context, uids []string) error {
	e, err := r.evaluation(ctx)
	if err != nil {
		return err
	}
	if err = e.evaluateChanged(ctx, uids); err != nil {
		return fmt.Errorf("evaluate %d changed resources of %s: %w", len(uids), r.org, err)
	}
	r.state.Settled.Add(e.settled)
	r.state.Ended, r.state.Through = true, r.state.At
	return r.save(ctx)
}

// dayOf returns the name of the day of a time, in UTC.
func dayOf(at time.Time) string { return at.UTC().Format(time.DateOnly) }
