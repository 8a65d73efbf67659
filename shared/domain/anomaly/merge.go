package anomaly

import (
	"slices"
	"time"
)

// Judged is the organization, the day and the time of a finding.
type Judged struct {
	Org      string
	Day, Now time.Time
}

// Merge returns the Record of a finding on a day, given the previous Record, which is zero if there was none. Notes of
// users stay, and a closed anomaly opens again. Each severity is notified once, unless the finding continues another
// one or a narrower finding explains it.
func Merge(old Record, f *Finding, at Judged) Record {
	next := old
	next.ID, next.Type, next.ScopeID, next.Day = IDOf(at.Org, f.Scope, at.Day), f.Type, f.ID, at.Day
	next.Cost, next.Baseline, next.Severity, next.NewSpend, next.Continues = f.Cost, f.Baseline, f.Severity, f.NewSpend,
		f.Continues
	next.ExplainedBy = ""
	if f.ExplainedBy != nil {
		next.ExplainedBy = IDOf(at.Org, *f.ExplainedBy, at.Day)
	}
	if old.Change == 0 {
		next.CreatedAt, next.Status = at.Now, Open
	}
	if old.Status == Closed {
		next.Status, next.Reason = Open, ""
	}
	if f.Tells() && next.Status != Expected && !toldAtLeast(old.Told, f.Severity) {
		next.Told = append(slices.Clone(old.Told), f.Severity)
	}
	next.UpdatedAt = at.Now
	return next
}

func toldAtLeast(told []Severity, s Severity) bool {
	return slices.ContainsFunc(told, func(t Severity) bool { return t.rank() >= s.rank() })
}

// Changed reports whether an anomaly differs from old. It ignores the time of the check, and the contributors, which
// follow from the rest.
func (r *Record) Changed(old *Record) bool {
	return old.Change == 0 || r.Cost != old.Cost || r.Baseline != old.Baseline || r.Severity != old.Severity ||
		r.NewSpend != old.NewSpend ||
		r.Continues != old.Continues || r.ExplainedBy != old.ExplainedBy || r.Status != old.Status ||
		len(r.Told) != len(old.Told)
}

// Close returns the record of an anomaly as closed, for a day that is no longer anomalous.
func Close(old Record, now time.Time) Record {
	next := old
	next.Status, next.Reason, next.By, next.UpdatedAt = Closed, "restated", "", now
	return next
}
