package recommendation

import (
	"context"

	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/foundation/money"
)

// Unbooked is why a saving is unknown that is computed when all resources are evaluated, before the first time.
const Unbooked = "unbooked"

// withStored returns the finding with the savings of the row, if the savings of the finding are computed later. The
// amount lowers the severity that the rule has now.
func (f *Finding) withStored(r *Row) *Finding {
	if !f.Savings.Later {
		return f
	}
	out := *f
	out.Savings.Unknown = Unbooked
	if r.Savings.Form == f.Savings.Form && r.Savings.Given != "" && r.Status != Optimised {
		out.Savings = r.Savings
	}
	out.Savings.Later, out.Savings.Given = false, f.Severity
	out.Severity = Lowered(f.Severity, out.Savings.Net)
	return &out
}

// book takes the saving of an open row, and the severity that it has with it.
func (r *Row) book(f *Finding) bool {
	same := r.Severity == f.Severity && !r.movedTo(&f.Savings)
	if r.Status != Open || same {
		return false
	}
	r.Savings, r.Severity = f.Savings, f.Severity
	return true
}

// movedTo reports whether savings differ from those of the row.
func (r *Row) movedTo(s *Savings) bool {
	return r.Savings.Unknown != s.Unknown || moved(r.Savings.Net, s.Net) || moved(r.Savings.Gross, s.Gross)
}

// isStored reports whether a finding whose savings are computed later shows what an entry shows.
func (f *Finding) isStored(e *entry) bool {
	return e.has(jointFlag) && Severities[e.severity] == Lowered(f.Severity, money.FromScaled(e.net, 2))
}

// Lowered returns a severity as an amount of USD a month lowers it.
func Lowered(given Severity, monthly money.Amount) Severity {
	s, err := rule.ParseSeverity(string(given))
	if err != nil {
		return given
	}
	return Severity(rule.LowerSeverity(s, monthly).String())
}

// rowsAtOnce is how many rows OpenRows reads in one round trip.
const rowsAtOnce = 100

// OpenRows calls f with the open rows of form FormRequests, at most 100 at a time.
func (s *Store) OpenRows(ctx context.Context, org string, f func([]Row) error) error {
	c, _, err := s.open(ctx, org)
	if err != nil {
		return err
	}
	var ids []string
	for i := range c.entries {
		if e := &c.entries[i]; e.has(jointFlag) && statusNames[e.status] == Open {
			ids = append(ids, formatULID(e.id))
		}
	}
	for len(ids) > 0 {
		some := ids[:min(rowsAtOnce, len(ids))]
		ids = ids[len(some):]
		rows, err := s.ReadRows(ctx, org, some)
		if err != nil {
			return err
		}
		open := make([]Row, 0, len(rows))
		for _, id := range some {
			if r, there := rows[id]; there && r.Status == Open {
				open = append(open, r)
			}
		}
		if err = f(open); err != nil {
			return err
		}
	}
	return nil
}
