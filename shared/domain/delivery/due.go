package delivery

import (
	"fmt"
	"time"

	"lamplighter.dev/shared/engine/table"
)

// DuePrefix begins the partitions of due rows. A transaction that writes one runs in table.Within(ctx, DuePrefix).
const DuePrefix = "DELIVERYDUE#"

// DuePartition holds the due rows of all organizations. Engine.Round reads them each minute.
const DuePartition table.Partition = DuePrefix + "*"

// NowPartition is the due partition that is also an outbox: the stream delivers redelivery requests at once.
const NowPartition table.Partition = nowPK

const nowPK = DuePrefix + "NOW" + table.OutboxSuffix

// dueShards is the number of the other due partitions.
const dueShards = 16

// due is a row that lists deliveries of an organization to try at a time. It exists until each of its deliveries has
// ended or belongs to another due row (Record.Due). So if an engine dies, another one tries its deliveries.
type due struct {
	Org  string    `json:"org"`
	At   time.Time `json:"at"`
	IDs  []string  `json:"ids,omitempty"`
	Name string    `json:"name"`
	// Rows are the keys of events whose receivers could not be found, in place of IDs. Tries counts the failed
	// attempts to find them.
	Rows  []string `json:"rows,omitempty"`
	Tries int      `json:"tries,omitempty"`

	key table.Key // the key of the row, set when it is read
}

// dueName returns the name of the due row that a change of a delivery creates. Each change has its own name.
func dueName(deliveryID string, change int) string { return fmt.Sprintf("%s#%d", deliveryID, change) }

// dueTime is the layout of times in keys; its text order is the time order.
const dueTime = "2006-01-02T15:04:05.000Z"

// put returns the write that stores d.
func (d due) put() (table.Write, error) {
	k := table.Key{PK: duePK(table.ShardOf(d.Name, dueShards)), SK: d.At.UTC().Format(dueTime) + "#" + d.Name}
	it, err := table.NewItem(k, d)
	it.Expires = d.At.Add(Keep)
	return table.Put(it), err
}

func duePK(shard int) string { return fmt.Sprintf("%s%02d", DuePrefix, shard) }

// duePKs returns all due partitions.
func duePKs() []string {
	out := []string{nowPK}
	for i := range dueShards {
		out = append(out, duePK(i))
	}
	return out
}

// decodeDue decodes a due row.
func decodeDue(it table.Item) (due, error) {
	d, err := table.Decode[due](it)
	d.key = it.Key
	return d, err
}
