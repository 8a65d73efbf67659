package recommendation

import (
	"context"
	"time"

	"lamplighter.dev/shared/foundation/money"
)

// OpenRow is an open recommendation that saves something, as the columns have it.
type OpenRow struct {
	ID, RuleID, Title       string
	Type, Provider, Account string
	Gross                   money.Amount // USD a month
	Saving                  money.Amount // USD a month, as lists count it
	Updated                 time.Time
}

// Savers returns the open recommendations of the view that save something, alternatives included, in the order of their
// ids.
func (v *View) Savers() (out []OpenRow) {
	v.each(func(i int, e *entry) {
		if e.statusAt(v.now) != Open || e.gross <= 0 || e.has(boundFlag) {
			return
		}
		p, r := v.columns.names.places[e.place], v.columns.names.rules[e.rule]
		out = append(out, OpenRow{
			ID: formatULID(e.id), RuleID: r.id, Title: r.title, Type: p.kind, Provider: p.provider, Account: p.account,
			Gross: money.FromScaled(e.gross, 2), Saving: money.FromScaled(v.sums.net[i], 2),
			Updated: time.UnixMilli(e.updated).UTC(),
		})
	})
	return out
}

// Shows reports whether the caller may see a recommendation, and it is not a candidate.
func (v *View) Shows(recID string) bool {
	u, ok := parseULID(recID)
	if !ok {
		return false
	}
	i, there := v.columns.find(u)
	return there && v.visible(&v.columns.entries[i])
}

// ShowsResource reports whether the caller may see a resource by our id. One that the inventory does not know, with an
// empty id, is seen by callers who see everything.
func (v *View) ShowsResource(resourceID string) bool {
	if v.in == nil {
		return true
	}
	u, ok := parseULID(resourceID)
	return ok && v.in(u)
}

// Rows reads recommendations by their ids: one round trip for a hundred.
func (v *View) Rows(ctx context.Context, ids []string) (map[string]Row, error) {
	if len(ids) == 0 {
		return nil, nil //nolint:nilnil // none were asked for
	}
	return v.store.ReadRows(ctx, v.columns.org, ids)
}
