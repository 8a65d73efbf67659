package auditlogs

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// readRows is how many rows are read in one query.
const readRows = 1000

type exportInput struct {
	rest.Window
	rest.Export
}

func (s *service) exportRows(ctx context.Context, in *exportInput) (rest.Raw, error) {
	from, err := audit.ParseCursor(in.Cursor)
	if err != nil {
		return rest.Raw{}, err
	}
	org := identity.CallerOrg(ctx)
	if from == nil {
		if _, err = s.linkWaiting(ctx, org); err != nil {
			return rest.Raw{}, err
		}
	}
	q := withinWindow(org, in.Window)
	if from != nil {
		q.From = max(q.From, from.After())
	}
	f := in.Begin(rest.Exported{Name: "audit-logs", Format: rest.NDJSON, Columns: audit.Columns, Bounds: s.most})
	next, err := s.gatherRows(ctx, q, f)
	if err != nil {
		return rest.Raw{}, err
	}
	return f.Answer(ctx, next)
}

// gatherRows fills the file. next is the position after its last row, or "" if there are no more rows.
func (s *service) gatherRows(ctx context.Context, q table.Query, f *rest.File) (next string, err error) {
	q.Limit = readRows
	for {
		page, err := s.p.Table.Query(ctx, q)
		if err != nil {
			return "", fmt.Errorf("export %s: %w", q.PK, err)
		}
		for _, it := range page.Items {
			row, err := audit.DecodeStored(it)
			if err != nil {
				return "", fault.NewWithCause(fault.Internal, err, "the audit row %s %s is damaged", it.PK, it.SK)
			}
			if !f.Add(row.Shown()) {
				return next, nil
			}
			next = row.CursorOf().String()
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return "", nil
		}
	}
}
