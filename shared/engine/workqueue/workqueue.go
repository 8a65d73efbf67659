// Package workqueue keeps a list of all work in progress of all organizations. The sweeper uses it to start work again
// that was lost between a commit and the start of its state machine. Work that cannot be completed is parked: it is
// moved off the list, with the reason, for an operator.
package workqueue

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
)

// Shards is the number of partitions of the list.
const Shards = 16

// Prefix is the prefix of the partition keys of the list. A transaction of an organization that writes to the list runs
// in table.Within(ctx, workqueue.Prefix).
const Prefix = "PENDING#"

// Partition matches the shards of the list, and the parked work.
const Partition table.Partition = Prefix + "*"

// Settled is the age of work from when on the sweeper checks it. Until then its start may still be in progress.
const Settled = 30 * time.Second

// Work is one execution that must be completed: of the state machine Machine, for the record ID in the organization
// Org.
type Work struct {
	ID      string `json:"id"` // act_…, bulk_…, job_…
	Org     string `json:"org"`
	Machine string `json:"machine"`
	Try     int    `json:"try"` // how often it was started again after its execution had failed
	// From is the try when it was unparked last. Earlier tries do not count.
	From  int             `json:"from,omitempty"`
	Input json.RawMessage `json:"input"`
	At    time.Time       `json:"at"`           // when it started
	Due   time.Time       `json:"due,omitzero"` // when the sweeper checks it next; at once if zero
	// Until is the end of a wait that is part of the work, for example for an event in some weeks. It counts as pending
	// only after it.
	Until time.Time `json:"until,omitzero"`
}

// PendingFor returns how long the work has been pending at the time now. An alarm watches it.
func (w Work) PendingFor(now time.Time) time.Duration {
	return max(0, now.Sub(clock.Latest(w.At, w.Until)))
}

// ExecutionName returns the name of the execution: the ID, followed by the try from the second on.
func (w Work) ExecutionName() string {
	if w.Try == 0 {
		return w.ID
	}
	return fmt.Sprintf("%s-%d", w.ID, w.Try)
}

// WorkKey returns the key of the work in the list.
func WorkKey(id string) table.Key {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id)) // a hash never fails
	return table.Key{PK: PK(int(h.Sum32() % Shards)), SK: id}
}

// PK returns the partition key of a shard.
func PK(shard int) string { return fmt.Sprintf("%s%02d", Prefix, shard) }

// Lists returns the partition keys of the shards and of the parked work.
func Lists() []string {
	out := []string{ParkedPK}
	for shard := range Shards {
		out = append(out, PK(shard))
	}
	return out
}

// AddWork returns the write that puts w on the list, with the input of its state machine. Use it in the transaction
// that starts the work.
func AddWork(w Work, input any) (table.Write, error) {
	b, err := json.Marshal(input)
	if err != nil {
		return table.Write{}, fmt.Errorf("encode input of %s: %w", w.ID, err)
	}
	w.Input, w.Due = b, w.At.Add(Settled)
	it, err := table.NewItem(WorkKey(w.ID), w)
	return table.Put(it), err
}

// RemoveWork returns the write that removes the work from the list. Use it in the transaction that completes the work.
func RemoveWork(id string) table.Write { return table.Delete(WorkKey(id)) }

// Postpone returns the write that makes the sweeper check w, as it was read, again at the time due. Its condition fails
// if the work was completed or started again.
func Postpone(w Work, due time.Time) table.Write {
	return table.Update(WorkKey(w.ID), []table.Change{table.Set("due", due)}, table.Exists(), table.Equal("try", w.Try))
}

// CountTry returns the write that counts another try of w, as it was read. The sweeper checks it again at the time due.
// The write succeeds once.
func CountTry(w Work, due time.Time) table.Write {
	return table.Update(WorkKey(w.ID), []table.Change{table.Set("try", w.Try+1), table.Set("due", due)},
		table.Exists(), table.Equal("try", w.Try))
}
