package archiver

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"time"

	"lamplighter.dev/shared/engine/table"
)

// archiveNext archives the next object of a month, or completes the month. It returns false if another run is working
// on it.
func (r *round) archiveNext(ctx context.Context, e *entry, month time.Time) (bool, error) {
	if e.List == len(lists) {
		*e = entry{Org: e.Org, Month: month.Format(monthForm), Change: e.Change}
		r.did.Months++
		return r.storeEntry(ctx, e)
	}
	rows := lists[e.List].open(table.WithOrg(ctx, e.Org), r.Table, span{e.Org, month, e.After})
	first, ok, err := rows.next()
	if err != nil {
		return false, err
	}
	if !ok {
		e.List, e.File, e.After = e.List+1, 0, ""
		return true, nil // not noted: it costs less to look again
	}
	f := file{rows: rows, most: r.perFile, held: first}
	e.File++
	name := fmt.Sprintf("%s/%s/%s-%04d.ndjson.gz", e.Org, month.Format(monthForm), lists[e.List].name, e.File)
	if err = r.Archive.Put(ctx, name, f.writeTo); err != nil {
		return false, err
	}
	r.did.Objects, r.did.Rows = r.did.Objects+1, r.did.Rows+f.count
	e.After = f.last
	return r.storeEntry(ctx, e)
}

// file is an object being written: a number of rows, with all rows of its last key.
type file struct {
	rows  rows
	most  int
	held  row // the first
	count int
	last  string // key of the last row
}

// writeTo writes the rows as compressed lines of JSON. The same rows give the same bytes.
func (f *file) writeTo(to io.Writer) error {
	z := gzip.NewWriter(to)
	for r := f.held; ; {
		if _, err := z.Write(append(r.line, '\n')); err != nil {
			return fmt.Errorf("pack: %w", err)
		}
		f.count, f.last = f.count+1, r.key
		next, ok, err := f.rows.next()
		if err != nil {
			return err
		}
		if !ok || f.count >= f.most && next.key != f.last {
			break
		}
		r = next
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	return nil
}
