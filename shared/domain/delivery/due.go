package delivery

import (
	"fmt"
	"time"

	"lamplighter.dev/shared/engine/table"
)

// DuePrefix begins the partitions of what is due; a transaction that writes one runs in table.Within(ctx, DuePrefix).
const DuePrefix = "DELIVERYDUE#"

// DuePartition is of what is due, of all organizations. A round each minute finds it.
const DuePartition table.Partition = DuePrefix + "*"

// NowPartition is the one of its partitions that is an outbox: the stream brings at once what somebody has begun again.
const NowPartition table.Partition = nowPK

const nowPK = DuePrefix + "NOW" + table.OutboxSuffix

// dueShards is how many keys the others are.
const dueShards = 16

// due says that deliveries of an organization are to be tried at a time. It lies there until each of them has ended, or another one sees to
// it (Record.Due): so whatever becomes of who tries them, somebody tries them again.
type due struct {
	Org  string    `json:"org"`
	At   time.Time `json:"at"`
	IDs  []string  `json:"ids"`
	Name string    `json:"name"`

	key table.Key // where it was read
}

// dueName returns the name of the row that the change of a delivery leads to: nobody else makes one of that name.
func dueName(deliveryID string, change int) string { return fmt.Sprintf("%s#%d", deliveryID, change) }

// dueTime is how times are written in keys, where they sort.
const dueTime = "2006-01-02T15:04:05.000Z"

// put returns the write that lists d.
func (d due) put() (table.Write, error) {
	k := table.Key{PK: duePK(table.ShardOf(d.Name, dueShards)), SK: d.At.UTC().Format(dueTime) + "#" + d.Name}
	it, err := table.NewItem(k, d)
	it.Expires = d.At.Add(Keep)
	return table.Put(it), err
}

func duePK(shard int) string { return fmt.Sprintf("%s%02d", DuePrefix, shard) }

// duePKs returns all partitions of what is due.
func duePKs() []string {
	out := []string{nowPK}
	for i := range dueShards {
		out = append(out, duePK(i))
	}
	return out
}

// decodeDue reads a row.
func decodeDue(it table.Item) (due, error) {
	d, err := table.Decode[due](it)
	d.key = it.Key
	return d, err
}
