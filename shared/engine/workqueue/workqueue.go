// Package workqueue keeps the list of work that has begun and not ended, across all organizations, so that the sweeper can
// start again what was lost between a commit and the start of its state machine.
package workqueue

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"time"

	"lamplighter.dev/shared/engine/table"
)

// Shards is how many partitions the list is spread over.
const Shards = 16

// Prefix begins the partition keys of the list; an organization's transaction that writes one runs in
// table.Within(ctx, pending.Prefix).
const Prefix = "PENDING#"

// Work is one execution that must come to an end: of Machine, for the record ID, in the organization Org.
type Work struct {
	ID      string          `json:"id"` // act_…, bulk_…, job_…
	Org     string          `json:"org"`
	Machine string          `json:"machine"`
	Try     int             `json:"try"` // how often it was started anew after its execution had failed
	Input   json.RawMessage `json:"input"`
	At      time.Time       `json:"at"`
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

// AddWork returns the write that lists w, with input as its machine's input. It belongs into the transaction that begins the work.
func AddWork(w Work, input any) (table.Write, error) {
	b, err := json.Marshal(input)
	if err != nil {
		return table.Write{}, fmt.Errorf("encode input of %s: %w", w.ID, err)
	}
	w.Input = b
	it, err := table.NewItem(WorkKey(w.ID), w)
	return table.Put(it), err
}

// RemoveWork returns the write that takes the work off the list. It belongs into the transaction that ends the work.
func RemoveWork(id string) table.Write { return table.Delete(WorkKey(id)) }

// Partition is of the shards of the list.
const Partition table.Partition = Prefix + "*"
