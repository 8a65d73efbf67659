package archiver

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
)

// list is a list to archive, and its reader. The order is that of entry.List: new lists are appended.
type list struct {
	name string
	open func(ctx context.Context, s table.Store, of span) rows
}

var lists = []list{
	{"actions", byCreation("act", execution.ActionPKs, execution.Action.WithoutInternals)},
	{"history", byCreation("sh", execution.HistoryPKs, func(c execution.StateChange) execution.StateChange {
		return c
	})},
	{"bulk-actions", byCreation("bulk", bulkPKs, execution.Bulk.WithoutInternals)},
	{"bulk-chunks", openChunks},
}

func bulkPKs(org string) []string { return []string{execution.BulkPK(org)} }

// span selects the records of a month of an organization with sort keys greater than after.
type span struct {
	org   string
	month time.Time
	after string
}

// row is a line of JSON. Rows with the same key stay in one object.
type row struct {
	key  string
	line []byte
}

// rows are read one after another. false marks the end.
type rows interface{ next() (row, bool, error) }

// query selects the records with IDs of the kind prefix that were created in the month.
func (s span) query(prefix string) table.Query {
	q := table.Query{From: id.LowestAt(prefix, s.month), To: id.LowestAt(prefix, s.month.AddDate(0, 1, 0))}
	if s.after != "" {
		q.From = s.after + "~" // behind it, and before every other id
	}
	return q
}

// items reads items of partitions in the order of their sort keys, a page at a time.
type items struct {
	ctx   context.Context //nolint:containedctx // of one object, which is written by a callback
	merge *table.Merge
	page  []table.Item
	ended bool
}

func (i *items) next() (table.Item, bool, error) {
	if len(i.page) == 0 && !i.ended {
		var err error
		if i.page, err = i.merge.Next(i.ctx, pageSize); err != nil {
			return table.Item{}, false, fmt.Errorf("read the records to archive: %w", err)
		}
		i.ended = len(i.page) < pageSize
	}
	if len(i.page) == 0 {
		return table.Item{}, false, nil
	}
	it := i.page[0]
	i.page = i.page[1:]
	return it, true, nil
}

// shown converts items to the client's view.
type shown[T any] struct {
	items
	show func(T) T
}

// byCreation returns a reader of a list whose records have IDs of the kind prefix.
func byCreation[T any](prefix string, pks func(org string) []string, show func(T) T) func(context.Context, table.Store,
	span) rows {
	return func(ctx context.Context, s table.Store, of span) rows {
		return &shown[T]{items{ctx: ctx, merge: table.NewMerge(s, of.query(prefix), pks(of.org)...)}, show}
	}
}

func (s *shown[T]) next() (row, bool, error) {
	it, ok, err := s.items.next()
	if !ok || err != nil {
		return row{}, false, err
	}
	v, err := table.Decode[T](it)
	if err != nil {
		return row{}, false, err
	}
	line, err := json.Marshal(s.show(v))
	return row{it.SK, line}, err == nil, err
}

// chunks reads the chunks of one bulk action after another.
type chunks struct {
	bulks items
	store table.Store
	org   string
	bulk  string
	query table.Query // of the chunks of bulk; the zero Query when there are no more
	page  []table.Item
}

func openChunks(ctx context.Context, s table.Store, of span) rows {
	bulks := items{ctx: ctx, merge: table.NewMerge(s, of.query("bulk"), bulkPKs(of.org)...)}
	return &chunks{bulks: bulks, store: s, org: of.org}
}

func (c *chunks) next() (row, bool, error) {
	for len(c.page) == 0 {
		if more, err := c.readPage(); err != nil || !more {
			return row{}, false, err
		}
	}
	it := c.page[0]
	c.page = c.page[1:]
	chunk, err := table.Decode[execution.Chunk](it)
	if err != nil {
		return row{}, false, err
	}
	line, err := json.Marshal(struct {
		BulkActionID string `json:"bulkActionID"`
		Place        string `json:"place"` // its position in the running order of the chunks
		execution.Chunk
	}{c.bulk, it.SK, chunk})
	return row{c.bulk, line}, err == nil, err
}

// readPage reads the next page of chunks, of the next bulk action if this one has no more. It returns false at the
// end.
func (c *chunks) readPage() (bool, error) {
	if c.query.PK == "" {
		bulk, ok, err := c.bulks.next()
		if !ok || err != nil {
			return false, err
		}
		c.bulk, c.query = bulk.SK, execution.ChunksOf(c.org, bulk.SK)
		c.query.Limit = pageSize
	}
	page, err := c.store.Query(c.bulks.ctx, c.query)
	if err != nil {
		return false, fmt.Errorf("read the chunks of %s: %w", c.bulk, err)
	}
	c.page = page.Items
	if c.query.Cursor = page.Next; page.Next == "" {
		c.query = table.Query{}
	}
	return true, nil
}
