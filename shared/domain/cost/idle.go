package cost

import (
	"context"
	"fmt"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// idleKept is how long an unreferenced generation is kept, so that readers that have begun can finish.
const idleKept = 7 * 24 * time.Hour

// idle records that no pointer names a generation, or not yet, and the time from which it may be deleted.
type idle struct {
	Generation string    `json:"gen"`
	Due        time.Time `json:"due"`
	Folder     string    `json:"folder,omitempty"` // of its line items, deleted with it
}

func idleKey(org, generation string) table.Key { return key(org, idlePrefix+generation) }

// announce lists a generation before any of its chunks is written, so that the chunks of a process that died are
// found.
func (s *Store) announce(ctx context.Context, org, generation, folder string) error {
	w, err := putIdle(org, idle{generation, s.clock.Now().UTC().Add(idleKept), folder})
	if err != nil {
		return err
	}
	_, err = s.table.Write(ctx, w)
	return fault.Wrap("announce a generation of costs of "+org, err)
}

func putIdle(org string, g idle) (table.Write, error) {
	it, err := table.NewItem(idleKey(org, g.Generation), g)
	return table.Put(it), err
}

// putIdles returns the writes that mark the generations as idle that old names and next does not.
func putIdles(org string, until time.Time, old, next *pointer) ([]table.Write, error) {
	var out []table.Write
	for _, generation := range old.only(next) {
		w, err := putIdle(org, idle{generation, until, old.folderOf(org, generation)})
		if err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out, nil
}

// sweep deletes the generations that are idle and due.
func (s *Store) sweep(ctx context.Context, org string) error {
	q := table.Query{PK: PK(org), Prefix: idlePrefix, Limit: 1000}
	for more := true; more; more = q.Cursor != "" {
		all, next, err := table.ReadPage[idle](ctx, s.table, q)
		if err == nil {
			err = s.sweepIdle(ctx, org, all)
		}
		if err != nil {
			return err
		}
		q.Cursor = next
	}
	return nil
}

func (s *Store) sweepIdle(ctx context.Context, org string, all []idle) (err error) {
	for _, g := range all {
		if g.Due.After(s.clock.Now()) || g.Folder != "" && s.files == nil { // a process with files deletes it
			continue
		}
		if err = s.eraseItems(ctx, g.Folder); err == nil {
			err = s.deleteGeneration(ctx, org, g.Generation)
		}
		if err != nil {
			return fmt.Errorf("delete generation %s of costs: %w", g.Generation, err)
		}
	}
	return nil
}

func (s *Store) deleteGeneration(ctx context.Context, org, generation string) error {
	q := table.Query{PK: PK(org) + "#" + generation, Limit: 100}
	for {
		page, err := s.table.Query(ctx, q)
		if err != nil {
			return err
		}
		ws := make([]table.Write, len(page.Items))
		for i, it := range page.Items {
			ws[i] = table.Delete(it.Key)
		}
		if err = s.table.BatchWrite(ctx, ws...); err != nil {
			return err
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return s.table.BatchWrite(ctx, table.Delete(idleKey(org, generation)))
		}
	}
}
