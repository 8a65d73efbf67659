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
	"lamplighter.dev/shared/foundation/id"
)

// Outcome is how an action ended: Succeeded, or Failed with Message. State is the resource's state as it was last seen,
// empty when it is not known. Changed reports whether the provider was asked to change anything: what was already so
// leaves no history. Exhausted tells that every attempt was used up.
type Outcome struct {
	Action    Action
	Status    Status
	State     cloud.Status
	Message   string
	Changed   bool
	Exhausted bool
	Unstarted bool // end it only if it is still pending
	At        time.Time
}

// Event is one row of an organization's outbox; consumers dedupe by ID.
type Event struct {
	ID             string    `json:"id"`
	Key            string    `json:"key"` // an event type key of the interface: "resource.stopped"
	At             time.Time `json:"at"`
	ActionID       string    `json:"actionID"`
	ResourceUID    string    `json:"resourceUID"`
	CloudAccountID string    `json:"cloudAccountID"`
	Message        string    `json:"message,omitempty"`
}

// outcomesPerTransaction keeps a transaction below 100 writes: at most 9 an outcome and 3 that all share.
const outcomesPerTransaction = 10

// settlers is how many transactions are under way at once: few, because all of them touch the same counters.
const settlers = 4

// eventsKept is how long an event stays in the outbox for consumers that lag.
const eventsKept = 7 * 24 * time.Hour

// SettleActions ends actions: status and log, the claim on the resource, its state in the inventory, the state history, the
// events, the bulk action's counters and the list of pending work change together, once, however often it is called.
// All outcomes belong to one organization and, when they belong to a bulk action, to the same one.
func SettleActions(ctx context.Context, s table.Store, org string, outcomes []Outcome) error {
	g, ctx := errgroup.WithContext(table.Within(ctx, workqueue.Prefix))
	g.SetLimit(settlers)
	for some := range slices.Chunk(outcomes, outcomesPerTransaction) {
		g.Go(func() error {
			if err := settle(ctx, s, org, some); err != nil {
				return fmt.Errorf("settle %d actions from %s: %w", len(some), some[0].Action.ID, err)
			}
			return nil
		})
	}
	return g.Wait()
}

// settle runs one transaction. What someone else has ended meanwhile is left out of the next try.
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

// batch is a transaction under construction: which write is the end of which action, which the release of its claim.
type batch struct {
	org     string
	writes  []table.Write
	ends    map[int]int
	claims  map[int]int
	changes map[string]int64
	seen    []inventory.Seen
	done    int64
	failed  int64
}

func newBatch(org string, outcomes []Outcome) (*batch, error) {
	b := &batch{org: org, ends: map[int]int{}, claims: map[int]int{}, changes: map[string]int64{}}
	for i, o := range outcomes {
		if err := b.add(i, o); err != nil {
			return nil, err
		}
	}
	return b, b.share(outcomes[0])
}

// add adds the writes that o alone needs.
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
	if o.Status != Failed && !o.Changed {
		return nil
	}
	return b.tell(o)
}

// tell puts o on record and into the outbox.
func (b *batch) tell(o Outcome) error {
	c := newChange(o)
	ws, err := historyWrites(b.org, c)
	if err != nil {
		return err
	}
	b.writes = append(b.writes, ws...)
	b.changes["all"]++
	b.changes[ChangedByType(c.ChangedBy)]++
	e := Event{At: o.At, ActionID: o.Action.ID, ResourceUID: o.Action.ResourceUID, CloudAccountID: o.Action.CloudAccountID, Message: o.Message}
	for _, key := range o.events() {
		e.ID, e.Key = id.New("evt", o.At), key
		it, err := table.NewItem(table.Key{PK: table.OrgPK(b.org) + "EVENTS", SK: e.ID}, e)
		if err != nil {
			return err
		}
		it.Expires = o.At.Add(eventsKept)
		b.writes = append(b.writes, table.Put(it))
	}
	return nil
}

func (o Outcome) events() []string {
	switch {
	case o.Status == Succeeded && o.Action.Action == cloud.Start:
		return []string{"resource.started"}
	case o.Status == Succeeded:
		return []string{"resource.stopped"}
	case o.Exhausted:
		return []string{"resource.failed", "resource.retry_exhausted"}
	default:
		return []string{"resource.failed"}
	}
}

// share adds the writes that all outcomes have in common.
func (b *batch) share(first Outcome) error {
	if len(b.changes) > 0 {
		adds := make([]table.Change, 0, len(b.changes))
		for field, n := range b.changes {
			adds = append(adds, table.Add(field, n))
		}
		b.writes = append(b.writes, table.Update(CountKey(b.org, "HIST"), adds))
	}
	if bulk := first.Action.BulkActionID; bulk != "" {
		b.writes = append(b.writes, table.Update(BulkKey(b.org, bulk), []table.Change{
			table.Add("completed", b.done), table.Add("failed", b.failed),
		}, table.Exists()))
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

// without takes out of outcomes what was ended by someone else, and the claims that are not held any more.
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
	}
	if o.Status == Failed {
		changes = append(changes, table.Set("errorMessage", o.Message))
	}
	alive := table.Any(table.Equal("status", string(Pending)), table.Equal("status", string(Running)))
	if o.Unstarted {
		alive = table.Equal("status", string(Pending))
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
	return inventory.SettleResource(org, o.Action.ID, inventory.Seen{UID: o.Action.ResourceUID, Status: o.State, At: o.At})
}
