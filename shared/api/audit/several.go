package audit

import (
	"context"
	"fmt"
	"slices"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
)

// AppendEach is Append for a row in each of several organizations, 30 at most, in one transaction with changes. The
// rows have different IDs, and none tells of the other organizations.
func (l *Log) AppendEach(ctx context.Context, orgs []string, row Row, changes ...table.Write) error {
	row = row.sanitizeRow()
	ctx = table.WithoutAttachment(ctx)
	changes = slices.Clip(changes)
	fs, notes := make([]final, len(orgs)), make([]*table.Write, len(orgs))
	for i, org := range orgs {
		r := row
		r.At = l.now()
		r.ID = id.New("aud", r.At)
		f := final{log: l, place: placeOf(org, r.IP), row: r, nth: l.count.Add(1)}
		it, err := l.newEntryItem(f.place, r, entry{Nth: f.nth})
		if err != nil {
			return err
		}
		fs[i], notes[i] = f, l.noteDue(f.place, r.ID, r.At)
		changes = append(changes, withNote(table.Put(it), notes[i])...)
		ctx = table.Within(ctx, f.place.waitingKey(r.ID).PK, f.place.duePK())
	}
	if err := l.store.Transact(ctx, changes...); err != nil {
		return fmt.Errorf("store audit entries of %d organizations: %w", len(orgs), err)
	}
	for i := range fs {
		l.rememberNote(fs[i].place, notes[i], fs[i].row.At)
		l.rememberEntry(fs[i].place, fs[i].row)
	}
	return nil
}
