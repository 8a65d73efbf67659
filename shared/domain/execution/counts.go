package execution

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/engine/table"
)

// List is a long list of an organization. Its length is counted as it grows.
type List string

// The lists. Their names sort on either side of the counts of bulk actions, so that the parts of a total are adjacent.
const (
	ActionList  List = "ACT"
	HistoryList List = "HIST"
)

// countShards is the number of items of a count. Concurrent transactions on one item refuse each other.
const countShards = 16

// bulkCounts begins the sort keys of the counts of chunks.
const bulkCounts = "BULK#"

func countPK(org string) string { return table.OrgPK(org) + "COUNT" }

// endingAt returns the name of the count of the list's items that expire at a time.
func (l List) endingAt(end time.Time) string { return string(l) + "#" + end.Format("2006-01") }

// ItemCount is a number of new items of a list. All of them expire at Expires.
type ItemCount struct {
	List    List
	Number  int64
	Expires time.Time
	ShardBy string // a name, such as an item's ID; it selects the shard of the count to write
}

// CountItems returns the write that counts new items of a list.
func CountItems(org string, n ItemCount) table.Write {
	return addToCount(countKey(org, n.List.endingAt(n.Expires), n.ShardBy), n.Number, n.Expires)
}

// countKey returns the key of a shard of the count with a name. The name shardBy selects the shard.
func countKey(org, name, shardBy string) table.Key {
	return table.Key{PK: countPK(org), SK: fmt.Sprintf("%s#%02d", name, table.ShardOf(shardBy, countShards))}
}

// addToCount returns the write that adds n to a shard of a count. The shard expires at end.
func addToCount(shard table.Key, n int64, end time.Time) table.Write {
	return table.Update(shard, []table.Change{table.Add("n", n), table.Expire(end)})
}

// ReadTotal reads the length of a list. It takes one round trip.
func ReadTotal(ctx context.Context, s table.Store, org string, l List) (int, error) {
	q := table.Query{PK: countPK(org), From: string(l) + "#", To: bulkCounts + "~"}
	if q.From > q.To {
		q.From, q.To = bulkCounts, string(l)+"#~"
	}
	items, err := readAll(ctx, s, q)
	if err != nil {
		return 0, fmt.Errorf("read how many items %s has: %w", l, err)
	}
	total := int64(0)
	for _, it := range items {
		n, err := table.Decode[map[string]int64](it)
		if err != nil {
			return 0, err
		}
		for field, v := range n {
			if field == "n" || strings.HasPrefix(field, string(l)+"#") {
				total += v
			}
		}
	}
	return int(total), nil
}

// countsPage is how many counts are read at a time.
const countsPage = 1000

// readAll reads all items of q.
func readAll(ctx context.Context, s table.Store, q table.Query) ([]table.Item, error) {
	var out []table.Item
	for q.Limit = countsPage; ; {
		page, err := s.Query(ctx, q)
		if err != nil {
			return nil, err
		}
		out = append(out, page.Items...)
		if q.Cursor = page.Next; q.Cursor == "" {
			return out, nil
		}
	}
}

// The fields of a chunk's counts. There is also one field for each expiry time of the list items that the chunk has
// made.
const (
	completedField = "completed"
	failedField    = "failed"
	leftOutField   = "leftOut" // part of the failed actions
)

// ChunkCounts are the counts of a chunk of a bulk action. While the bulk action is under way, each chunk has its own
// counts, so that no two executors write the same item. At its end they are folded into the counts of the lists.
type ChunkCounts struct {
	table.Key
	Fields map[string]int64
}

// chunkCountKey returns where the counts of a chunk are.
func chunkCountKey(org, bulkID, chunk string) table.Key {
	return table.Key{PK: countPK(org), SK: bulkCounts + bulkID + "#" + strings.TrimPrefix(chunk, chunkPrefix)}
}

// OpenCounts returns the write that creates the counts of a chunk. It fails if they exist.
func OpenCounts(org, bulkID, chunk string, end time.Time) table.Write {
	data := fmt.Sprintf(`{%q:0,%q:0,%q:0}`, ActionList.endingAt(end), completedField, failedField)
	return table.Put(table.Item{Key: chunkCountKey(org, bulkID, chunk), Data: []byte(data), Expires: end},
		table.Absent())
}

// ActionCount is a number of new actions of a chunk. All of them expire at Expires.
type ActionCount struct {
	BulkID, Chunk string
	Number        int
	Expires       time.Time
}

// CountCreated returns the write that counts new actions of a chunk. It fails if the counts were folded: the bulk
// action has ended, and no further action of it may be created.
func CountCreated(org string, n ActionCount) table.Write {
	return table.Update(chunkCountKey(org, n.BulkID, n.Chunk),
		[]table.Change{table.Add(ActionList.endingAt(n.Expires), int64(n.Number))}, table.Exists())
}

// Created returns how many actions of the chunk exist.
func (c ChunkCounts) Created() (n int) {
	for field, v := range c.Fields {
		if strings.HasPrefix(field, string(ActionList)) {
			n += int(v)
		}
	}
	return n
}

// Completed returns how many actions of the chunk have succeeded.
func (c ChunkCounts) Completed() int { return int(c.Fields[completedField]) }

// Failed returns how many actions of the chunk have failed.
func (c ChunkCounts) Failed() int { return int(c.Fields[failedField]) }

// LeftOut returns how many of the failed actions were not tried, because their resources were held.
func (c ChunkCounts) LeftOut() int { return int(c.Fields[leftOutField]) }

// Ended reports whether no action of the chunk is under way.
func (c ChunkCounts) Ended() bool { return c.Completed()+c.Failed() == c.Created() }

// ReadChunkCounts reads the counts of a bulk action's chunks, in execution order. It takes one round trip. There are
// no counts before the chunks are written, and none when the bulk action has ended.
func ReadChunkCounts(ctx context.Context, s table.Store, org, bulkID string) ([]ChunkCounts, error) {
	items, err := readAll(ctx, s, table.Query{PK: countPK(org), Prefix: bulkCounts + bulkID + "#"})
	if err != nil {
		return nil, fmt.Errorf("read how far %s is: %w", bulkID, err)
	}
	out := make([]ChunkCounts, len(items))
	for i, it := range items {
		out[i].Key = it.Key
		if out[i].Fields, err = table.Decode[map[string]int64](it); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// folded is how many chunks one transaction folds. The transaction also writes a count for each month, and there are
// few of these.
const folded = 80

// FoldCounts moves the counts of chunks to the counts of the lists. It is idempotent. A count that changes meanwhile
// stays in its chunk.
func FoldCounts(ctx context.Context, s table.Store, org string, counts []ChunkCounts) error {
	for some := range slices.Chunk(counts, folded) {
		if err := fold(ctx, s, org, some); err != nil {
			return fmt.Errorf("fold %d counts from %s: %w", len(some), some[0].SK, err)
		}
	}
	return nil
}

// fold runs one transaction. It retries without the counts that have changed meanwhile or that another process has
// folded.
func fold(ctx context.Context, s table.Store, org string, counts []ChunkCounts) error {
	for len(counts) > 0 {
		ws := foldWrites(org, counts)
		err := s.Transact(ctx, ws...)
		lost, refused := errors.AsType[*table.ConditionError](err)
		if !refused {
			return err
		}
		counts = slices.DeleteFunc(slices.Clone(counts), func(c ChunkCounts) bool {
			return slices.ContainsFunc(lost.Failed, func(f table.Failure) bool { return ws[f.Index].Item.Key == c.Key })
		})
	}
	return nil
}

func foldWrites(org string, counts []ChunkCounts) []table.Write {
	ws, sums := make([]table.Write, 0, len(counts)+2), map[string]int64{}
	for _, c := range counts {
		unchanged := []table.Cond{table.Exists()}
		for field, n := range c.Fields {
			unchanged = append(unchanged, table.Equal(field, n))
			if strings.Contains(field, "#") {
				sums[field] += n
			}
		}
		ws = append(ws, table.Delete(c.Key, unchanged...))
	}
	for _, field := range slices.Sorted(maps.Keys(sums)) {
		_, month, _ := strings.Cut(field, "#")
		end, _ := time.Parse("2006-01", month) // as endingAt wrote it
		ws = append(ws, addToCount(countKey(org, field, counts[0].SK), sums[field], end))
	}
	return ws
}
