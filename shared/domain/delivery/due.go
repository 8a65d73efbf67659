package delivery

import (
	"fmt"
	"time"

	"lamplighter.dev/shared/engine/table"
)

// DuePrefix begins the partitions of what is due; a transaction that writes one runs in table.Within(ctx, DuePrefix).
const DuePrefix = "DELIVERYDUE#"

// DuePartition is of what is due, of all organizations. It is an outbox, so that the stream brings at once what is due at once; a round
// each minute finds the rest.
const DuePartition table.Partition = DuePrefix + "*"

// dueShards is how many keys the list is spread over.
const dueShards = 16

// due says that deliveries of an organization are to be tried at a time. It lies there until each of them has ended, or is due at another
// time: so whatever becomes of who tries them, somebody tries them again.
type due struct {
	Org string    `json:"org"`
	At  time.Time `json:"at"`
	IDs []string  `json:"ids"`

	name string // tells it from others of the same time
}

// newDue makes the one that a write of a delivery leads to, which name and change tell from others.
func newDue(org string, at time.Time, ids []string, name string, change int) due {
	return due{Org: org, At: at, IDs: ids, name: fmt.Sprintf("%s#%d", name, change)}
}

// dueTime is how times are written in keys, where they sort.
const dueTime = "2006-01-02T15:04:05.000Z"

// key returns where it lies.
func (d *due) key() table.Key {
	sk := d.At.UTC().Format(dueTime) + "#" + d.name
	return table.Key{PK: duePK(table.ShardOf(d.name, dueShards)), SK: sk}
}

// put returns the write that lists it.
func (d due) put() (table.Write, error) {
	it, err := table.NewItem(d.key(), d)
	it.Expires = d.At.Add(Keep)
	return table.Put(it), err
}

func duePK(shard int) string { return fmt.Sprintf("%s%02d%s", DuePrefix, shard, table.OutboxSuffix) }
