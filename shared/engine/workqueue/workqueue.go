// Package workqueue keeps the list of work that has begun and not ended, across all organizations, so that the sweeper can
// start again what was lost between a commit and the start of its state machine. Work that cannot be brought to an end is
// parked: taken off the list, with the reason, for an operator.
package workqueue

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
)

// Shards is how many partitions the list is spread over.
const Shards = 16

// Prefix begins the partition keys of the list; an organization's transaction that writes one runs in
// table.Within(ctx, workqueue.Prefix).
const Prefix = "PENDING#"

// Partition is of the shards of the list, and of what is parked.
const Partition table.Partition = Prefix + "*"

// Settled is how old work is before the sweeper looks at it: until then its start may still be under way.
const Settled = 30 * time.Second

// Work is one execution that must come to an end: of Machine, for the record ID, in the organization Org.
type Work struct {
	ID      string `json:"id"` // act_…, bulk_…, job_…
	Org     string `json:"org"`
	Machine string `json:"machine"`
	Try     int    `json:"try"` // how often it was started anew after its execution had failed
	// the try at which it was unparked last: the tries before it do not count against it
	From  int             `json:"from,omitempty"`
	Input json.RawMessage `json:"input"`
	At    time.Time       `json:"at"`           // when it began
	Due   time.Time       `json:"due,omitzero"` // when the sweeper looks at it next; work without it, at once
	// it waits that long by itself, and is pending only from then on: for an event in some weeks
	Until time.Time `json:"until,omitzero"`
}

// PendingFor returns for how long the work has been pending at a time, which is what an alarm looks at.
func (w Work) PendingFor(now time.Time) time.Duration {
	return max(0, now.Sub(clock.Latest(w.At, w.Until)))
}

// ExecutionName returns the execution's name: the id, and the try from the second on.
func (w Work) ExecutionName() string {
	if w.Try == 0 {
		return w.ID
	}
	return fmt.Sprintf("%s-%d", w.ID, w.Try)
}

// WorkKey returns where the work of the id is listed.
func WorkKey(id string) table.Key {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id)) // a hash never fails
	return table.Key{PK: PK(int(h.Sum32() % Shards)), SK: id}
}

// PK returns the partition of a shard.
func PK(shard int) string { return fmt.Sprintf("%s%02d", Prefix, shard) }

// Lists returns all partitions of work: the shards, and what is parked.
func Lists() []string {
	out := []string{ParkedPK}
	for shard := range Shards {
		out = append(out, PK(shard))
	}
	return out
}

// AddWork returns the write that lists w, with input as its machine's input. It belongs into the transaction that begins the work.
func AddWork(w Work, input any) (table.Write, error) {
	b, err := json.Marshal(input)
	if err != nil {
		return table.Write{}, fmt.Errorf("encode input of %s: %w", w.ID, err)
	}
	w.Input, w.Due = b, w.At.Add(Settled)
	it, err := table.NewItem(WorkKey(w.ID), w)
	return table.Put(it), err
}

// RemoveWork returns the write that takes the work off the list. It belongs into the transaction that ends the work.
func RemoveWork(id string) table.Write { return table.Delete(WorkKey(id)) }

// Postpone returns the write that has w, as it was read, be looked at again at the time due. Its condition does not hold when
// the work has ended, or was started anew.
func Postpone(w Work, due time.Time) table.Write {
	return table.Update(WorkKey(w.ID), []table.Change{table.Set("due", due)}, table.Exists(), table.Equal("try", w.Try))
}

// CountTry returns the write that counts another try of w, as it was read, which is looked at again at the time due. It holds
// once.
func CountTry(w Work, due time.Time) table.Write {
	return table.Update(WorkKey(w.ID), []table.Change{table.Set("try", w.Try+1), table.Set("due", due)},
		table.Exists(), table.Equal("try", w.Try))
}
