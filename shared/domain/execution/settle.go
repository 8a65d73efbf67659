package execution

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
)

// Outcome is the end of an action: Succeeded, or Failed with Message. State is the last known state of the resource,
// empty if unknown. Changed reports whether the provider was asked to change anything. Without a change there is no
// history.
type Outcome struct {
	Action    Action
	Status    Status
	State     cloud.Status
	Steps     []cloud.Step // last known states, for resources that start and stop in steps
	Message   string
	Changed   bool
	Unstarted bool // end it only if nothing of it is under way: if it is pending or idle
	// it was not tried, because its resource was held: it counts as failed, and has no history
	LeftOut   bool
	Exhausted bool   // it failed after the maximum number of tries
	About     *About // the resource for notifications; nil for none: the action has never begun
	At        time.Time
}

// outcomesPerTransaction keeps a transaction below 100 writes: at most 5 per outcome, and 3 shared ones: a count, the
// states and the events.
const outcomesPerTransaction = 19

// settlers is how many chunks are settled concurrently. The transactions of one chunk run one after the other, because
// all of them write its counts.
const settlers = 4

// SettleActions ends actions. It changes status and log, the claim on the resource, its state in the inventory, the
// state history, the counts, the list of pending work and the events together. It is idempotent. All outcomes belong
// to one organization. Transactions of different chunks, or of different actions, write no common item.
func SettleActions(ctx context.Context, s table.Store, org string, outcomes []Outcome) error {
	g, ctx := errgroup.WithContext(table.Within(ctx, workqueue.Prefix))
	g.SetLimit(settlers)
	for _, chunk := range byChunk(outcomes) {
		g.Go(func() error {
			for some := range slices.Chunk(chunk, outcomesPerTransaction) {
				if err := settle(ctx, s, org, some); err != nil {
					return fmt.Errorf("settle %d actions from %s: %w", len(some), some[0].Action.ID, err)
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// byChunk groups outcomes by the chunk that counts them.
func byChunk(outcomes []Outcome) [][]Outcome {
	var out [][]Outcome
	place := map[table.Key]int{}
	for _, o := range outcomes {
		k := table.Key{PK: o.Action.BulkActionID, SK: o.chunk()}
		i, there := place[k]
		if !there {
			i = len(out)
			place[k], out = i, append(out, nil)
		}
		out[i] = append(out[i], o)
	}
	return out
}

// chunk returns the chunk of a bulk action that the action belongs to.
func (o Outcome) chunk() string {
	if o.Action.Progress == nil {
		return ""
	}
	return o.Action.Progress.Chunk
}

// settle runs one transaction. It retries without the actions that another process has ended meanwhile.
func settle(ctx context.Context, s table.Store, org string, outcomes []Outcome) error {
	for len(outcomes) > 0 {
		b, err := newBatch(org, outcomes)
		if err != nil {
			return err
		}
		err = s.Transact(ctx, b.writes...)
		lost, ok := errors.AsType[*table.ConditionError](err)
		if !ok {
			return err
		}
		outcomes = b.without(lost, outcomes)
	}
	return nil
}

// batch is a transaction under construction. It maps the indexes of its writes to the actions that they end, or whose
// claims they release.
type batch struct {
	org     string
	writes  []table.Write
	ends    map[int]int
	claims  map[int]int
	changes map[time.Time]int64 // put on record, by when they go
	seen    []inventory.Seen
	done    int64
	failed  int64
	leftOut int64
}

func newBatch(org string, outcomes []Outcome) (*batch, error) {
	b := &batch{org: org, ends: map[int]int{}, claims: map[int]int{}, changes: map[time.Time]int64{}}
	for i, o := range outcomes {
		if err := b.add(i, o); err != nil {
			return nil, err
		}
	}
	if err := b.tellAll(outcomes); err != nil {
		return nil, err
	}
	return b, b.share(outcomes[0])
}

// add adds the writes of o alone.
func (b *batch) add(i int, o Outcome) error {
	b.ends[len(b.writes)] = i
	b.writes = append(b.writes, end(b.org, o))
	if o.Action.Progress != nil && o.Action.Progress.Claimed {
		b.claims[len(b.writes)] = i
		b.writes = append(b.writes, release(b.org, o))
	}
	if o.State != "" {
		b.seen = append(b.seen, inventory.Seen{UID: o.Action.ResourceUID, Status: o.State, At: o.At})
	}
	if o.Status == Failed {
		b.failed++
	} else {
		b.done++
	}
	if o.Action.BulkActionID == "" {
		b.writes = append(b.writes, workqueue.RemoveWork(o.Action.ID))
	}
	if o.LeftOut {
		b.leftOut++
	}
	if !o.Changed && (o.Status != Failed || o.LeftOut) {
		return nil
	}
	return b.tell(o)
}

// tell adds the records of o.
func (b *batch) tell(o Outcome) error {
	end := o.Action.keep().Until(o.At)
	ws, err := historyWrites(b.org, newChange(o), end)
	b.writes = append(b.writes, ws...)
	b.changes[end]++
	return err
}

// share adds the writes that all outcomes share.
func (b *batch) share(first Outcome) error {
	if bulk := first.Action.BulkActionID; bulk != "" {
		b.writes = append(b.writes, b.countChunk(first))
	} else {
		for end, n := range b.changes {
			b.writes = append(b.writes, CountItems(b.org,
				ItemCount{List: HistoryList, Number: n, Expires: end, ShardBy: first.Action.ID}))
		}
	}
	if len(b.seen) == 0 {
		return nil
	}
	w, err := inventory.NoteStatuses(b.org, first.At, b.seen)
	if err != nil {
		return fmt.Errorf("note states in the index: %w", err)
	}
	b.writes = append(b.writes, w)
	return nil
}

// countChunk returns the write that counts the ended actions in their chunk.
func (b *batch) countChunk(first Outcome) table.Write {
	changes := []table.Change{
		table.Add(completedField, b.done), table.Add(failedField, b.failed), table.Expire(first.Action.ends()),
	}
	if b.leftOut > 0 {
		changes = append(changes, table.Add(leftOutField, b.leftOut))
	}
	for end, n := range b.changes {
		changes = append(changes, table.Add(HistoryList.endingAt(end), n))
	}
	return table.Update(chunkCountKey(b.org, first.Action.BulkActionID, first.chunk()), changes)
}

// without removes outcomes of actions that another process has ended, and claims that are not held any more.
func (b *batch) without(lost *table.ConditionError, outcomes []Outcome) []Outcome {
	gone := map[int]bool{}
	for _, f := range lost.Failed {
		if i, ok := b.ends[f.Index]; ok {
			gone[i] = true
		}
		if i, ok := b.claims[f.Index]; ok {
			p := *outcomes[i].Action.Progress
			p.Claimed = false
			outcomes[i].Action.Progress = &p
		}
	}
	kept := outcomes[:0:0]
	for i, o := range outcomes {
		if !gone[i] {
			kept = append(kept, o)
		}
	}
	return kept
}

// end returns the write that gives the action its last status. It fails when the action has ended already.
func end(org string, o Outcome) table.Write {
	a := o.Action
	step, status, message := "record", "ok", "recorded as "+string(o.Status)
	if o.Status == Failed {
		status, message = "failed", o.Message
	}
	a.AppendLog(o.At, step, status, message)
	changes := []table.Change{
		table.Set("status", string(o.Status)), table.Set("attempts", a.Attempts), table.Set("logs", a.Logs),
		table.Set("startedAt", started(a, o.At)), table.Set("completedAt", o.At), table.Remove("progress"),
		table.Remove("idle"),
	}
	if o.Status == Failed {
		changes = append(changes, table.Set("errorMessage", o.Message))
	}
	alive := table.Any(table.Equal("status", string(Pending)), table.Equal("status", string(Running)))
	if o.Unstarted {
		alive = table.Any(table.Equal("status", string(Pending)), table.Equal("idle", true))
	}
	return table.Update(ActionKey(org, a.ID), changes, alive)
}

func started(a Action, at time.Time) time.Time {
	if a.StartedAt.IsZero() {
		return at
	}
	return a.StartedAt
}

// release ends the claim on the resource, and records its state when that is known.
func release(org string, o Outcome) table.Write {
	if o.State == "" {
		return inventory.ReleaseResource(org, o.Action.ResourceUID, o.Action.ID)
	}
	return inventory.SettleResource(org, o.Action.ID,
		inventory.Seen{UID: o.Action.ResourceUID, Status: o.State, At: o.At})
}
