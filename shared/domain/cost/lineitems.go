package cost

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// LineItems locates the line items of a billing period: files in a folder for each generation. The files never change.
type LineItems struct {
	AccountID  string `json:"account"`
	Provider   string `json:"provider"`
	Month      Month  `json:"month"`
	Generation string `json:"gen"`
	Rows       int64  `json:"rows"`
	Parts      int    `json:"parts"`
	// the bytes of the files that belong to no column; every reader reads them
	Footers int64 `json:"footers"`
	// Columns are the packed bytes of each column in all files. A question scans the bytes of the columns that it
	// reads.
	Columns map[string]int64 `json:"columns"`
	// Left are the sub-accounts whose lines count on another bill. Unnamed is the sub-account of lines without one:
	// see Leaves. Both are computed when the line items are listed, and not stored.
	Left    []string `json:"left,omitempty"`
	Unnamed string   `json:"unnamed,omitempty"`
}

// Leaves reports whether a line with this SubAccountId is excluded because it counts on another bill of the month.
func (l *LineItems) Leaves(subAccountID string) bool {
	if len(l.Left) == 0 {
		return false
	}
	sub := l.Unnamed
	if subAccountID != "" {
		sub = subAccountOf(subAccountID)
	}
	return slices.Contains(l.Left, sub)
}

// Path returns the folder within that of the organization: "aws/ca_1/2026-03/gen=01k…".
func (l *LineItems) Path() string {
	return strings.Join([]string{segment(l.Provider), segment(l.AccountID), l.Month.String(), "gen=" + l.Generation},
		"/")
}

// Folder returns the folder among all files.
func (l *LineItems) Folder(org string) string { return segment(org) + "/" + l.Path() }

// Part returns the name of the k-th file, from 0.
func (l *LineItems) Part(org string, k int) string {
	return fmt.Sprintf("%s/part-%d.parquet", l.Folder(org), k)
}

// segment returns an ID as a segment of an object's name. It encodes each other character as =3A, so that different
// IDs stay different.
func segment(id string) string {
	var b strings.Builder
	for i := range len(id) {
		if c := id[i]; c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "=%02X", c)
		}
	}
	return b.String()
}

// BeginItems returns the organization of the bill, and LineItems without files for the period, or those of the
// checkpoint from which the import continues. Files in its folder are deleted a week later unless the Builder commits
// with them.
func (b *Builder) BeginItems(ctx context.Context) (string, LineItems, error) {
	if b.begun != nil {
		return b.in.Org, *b.begun, nil
	}
	b.until = b.store.clock.Now().UTC().Add(checkpointKept)
	l := LineItems{
		AccountID: b.in.AccountID, Provider: b.in.Provider, Month: b.in.Month, Generation: b.store.newGeneration(),
		Columns: map[string]int64{},
	}
	err := b.store.announce(ctx, b.in.Org, l.Generation, l.Folder(b.in.Org))
	if err != nil {
		return "", LineItems{}, err
	}
	b.generation, b.begun = l.Generation, &l
	return b.in.Org, l, nil
}

// Attach makes Commit store the location of the line items. All files must be written.
func (b *Builder) Attach(l LineItems) { b.items = &l }

// LineItems lists the line items of the months from … to that count, by the same rules as reports: two round trips,
// and one more for each megabyte.
func (s *Store) LineItems(ctx context.Context, org string, from, to Month) ([]LineItems, error) {
	all, err := s.readLineItems(ctx, org, from, to)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	pointers, err := s.readPointers(ctx, org, from, to)
	if err != nil {
		return nil, err
	}
	of, err := newSources(pointers)
	if err != nil {
		return nil, fmt.Errorf("read what is on the bills of %s: %w", org, err)
	}
	return of.counting(all, pointers), nil
}

func (s *Store) readLineItems(ctx context.Context, org string, from, to Month) ([]LineItems, error) {
	var out []LineItems
	q := table.Query{
		PK: PK(org), From: itemsPrefix + from.String(), To: itemsPrefix + to.String() + "~",
		Limit: table.MaxPage,
	}
	for {
		some, next, err := table.ReadPage[LineItems](ctx, s.table, q)
		if err != nil {
			return nil, fmt.Errorf("read where line items of %s are: %w", org, err)
		}
		out = append(out, some...)
		if q.Cursor = next; next == "" {
			return out, nil
		}
	}
}

// counting returns the line items of bills that count at least in part, with the sub-accounts that do not count.
func (s *sources) counting(all []LineItems, pointers []pointer) []LineItems {
	bills := map[string]*pointer{}
	for i := range pointers {
		if p := &pointers[i]; !p.Estimated {
			bills[p.AccountID+p.Month.String()] = p
		}
	}
	var out []LineItems
	for _, l := range all {
		p := bills[l.AccountID+l.Month.String()]
		if p == nil {
			continue // deleted in the meantime
		}
		left, whole := s.superseded(p)
		if whole {
			continue
		}
		if len(left) > 0 {
			l.Left, l.Unnamed = slices.Sorted(maps.Keys(left)), p.holds("")
		}
		out = append(out, l)
	}
	return out
}

// itemsOf returns the write that accompanies the pointer next: the line items of its generation, or their absence. It
// returns no write for a pointer that keeps its generation.
func itemsOf(org string, old, next *pointer, items *LineItems) ([]table.Write, error) {
	at := itemsKey(org, next)
	switch {
	case next.Estimated, next.Generation == old.Generation:
		return nil, nil
	case items == nil && old.LineItems:
		return []table.Write{table.Delete(at)}, nil
	case items == nil:
		return nil, nil
	}
	it, err := table.NewItem(at, items)
	return []table.Write{table.Put(it)}, err
}

// folderOf returns the folder of the line items of a generation of the pointer, or "" if it has none.
func (p *pointer) folderOf(org, generation string) string {
	if !p.LineItems || generation != p.Generation {
		return ""
	}
	l := LineItems{
		AccountID: p.AccountID, Provider: p.Provider, Month: p.Month, Generation: cmp.Or(p.Folder, p.Generation),
	}
	return l.Folder(org)
}

func (s *Store) eraseItems(ctx context.Context, folder string) error {
	if folder == "" {
		return nil
	}
	return fault.Wrap("erase line items", s.files.Erase(ctx, folder))
}
