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
	"lamplighter.dev/shared/foundation/fault"
)

// pass is the stored state of an organization's last scheduled pass, or of the pass of a refresh. A process that
// resumes a pass continues it with the same ID and the same time, so each row takes it once.
type pass struct {
	ID      string                 `json:"id,omitempty"`
	At      time.Time              `json:"at,omitzero"`
	Whole   bool                   `json:"whole,omitempty"` // everything, or state rules of changed resources
	Next    int                    `json:"next,omitempty"`  // the first shard of a whole pass that is not evaluated
	Ended   bool                   `json:"ended,omitempty"`
	Settled recommendation.Settled `json:"settled,omitzero"`
	Marks   string                 `json:"marks,omitempty"` // becomes Day when a whole pass ends
	Day     string                 `json:"day,omitempty"`   // of the last daily pass that ended, or firstPass
	First   string                 `json:"first,omitempty"` // the day of the first pass of all
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
	until time.Time // then no further shard is begun
}

// open reads the state of the last pass.
func (w *worker) open(ctx context.Context, org, jobID string, until time.Time) (*runner, error) {
	r := &runner{worker: w, org: org, key: recommendation.PassKey(org, jobID), until: until}
	var err error
	if r.state, err = table.Read[pass](ctx, w.Table, r.key); fault.Is(err, fault.NotFound) {
		return r, nil
	}
	return r, fault.Wrap("read the last pass of "+org, err)
}

// keptPasses is how long the state of a refresh's pass is kept.
const keptPasses = 30 * day

// save stores the state. It returns errOvertaken if another process has stored one meanwhile.
func (r *runner) save(ctx context.Context) error {
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
	_, err = r.Table.Write(ctx, table.Put(it, cond))
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
	now := r.Clock.Now().UTC()
	r.state = pass{
		ID: id, At: now, Whole: marks != "", Marks: marks, Day: r.state.Day, Through: r.state.Through,
		Seq: r.state.Seq, First: cmp.Or(r.state.First, dayOf(now)),
	}
	return r.save(ctx)
}

// evaluation reads what the pass needs.
func (r *runner) evaluation(ctx context.Context) (*evaluation, error) {
	in, err := r.read(ctx, r.org, r.state.At)
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
		worker: r.worker, org: r.org, in: in, rules: rules, settling: settling, evaluators: map[string]*evaluator{},
	}, err
}

// runWhole evaluates the shards of a whole pass that are left. It returns false if the time ended before: the next run
// continues.
func (r *runner) runWhole(ctx context.Context) (bool, error) {
	e, err := r.evaluation(ctx)
	if err != nil {
		return false, err
	}
	if err = e.measureApplied(ctx); err != nil {
		return false, err
	}
	for r.state.Next < inventory.ResourceShards {
		if !r.Clock.Now().Before(r.until) {
			return false, nil
		}
		e.settled = recommendation.Settled{}
		if err = e.evaluateShard(ctx, r.state.Next); err != nil {
			return false, fmt.Errorf("evaluate shard %d of %s: %w", r.state.Next, r.org, err)
		}
		r.state.Settled.Add(e.settled)
		if r.state.Next++; r.state.Next == inventory.ResourceShards {
			r.state.Ended, r.state.Day, r.state.Through = true, r.state.Marks, r.state.At
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
