package resources

import (
	"context"
	"encoding/base64"
	"unicode/utf8"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/report/resourcelist"
	"lamplighter.dev/shared/foundation/fault"
)

// exportRows is how many resources one answer of an export contains.
const exportRows = 5000

type exportInput struct {
	Filters
	rest.Export
}

// exportResources returns the next page of an export. Pages are ordered by UID, which never changes, so resources
// that appear or vanish between two pages do not shift the others.
func (s *service) exportResources(ctx context.Context, in *exportInput) (rest.Raw, error) {
	after, err := readCursor(in.Cursor)
	if err != nil {
		return rest.Raw{}, err
	}
	c, bounds := identity.CallerFrom(ctx), s.most
	if bounds.Rows == 0 {
		bounds.Rows = exportRows
	}
	costs := pricing.NewCosts(s.p.Table)
	found, err := s.inventory.FindResources(ctx, c.Org,
		inventory.List{
			Filter: in.inventoryFilter(s.sight(c, costs)), By: inventory.ByUID, After: after,
			Limit: bounds.Rows + 1,
		})
	if err != nil {
		return rest.Raw{}, err
	}
	f := in.Begin(rest.Exported{Name: "resources", Format: rest.CSV, Columns: resourcelist.Columns, Bounds: bounds})
	for i := range found {
		if !f.Add(resourcelist.NewRecord(found[i], costs)) {
			return f.Answer(ctx, writeCursor(found[i-1].UID))
		}
	}
	return f.Answer(ctx, "")
}

// writeCursor returns the cursor for the last UID of a page.
func writeCursor(uid string) string { return base64.RawURLEncoding.EncodeToString([]byte(uid)) }

// readCursor returns the UID of a cursor, or "" for the beginning.
func readCursor(cursor string) (uid string, err error) {
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || !utf8.Valid(b) {
		return "", fault.New(
			fault.Invalid, "cursor: %.64q is not one that an answer gave; leave it out to begin anew", cursor)
	}
	return string(b), nil
}
