package recommendation

import (
	"math"
	"slices"
	"time"

	"lamplighter.dev/shared/foundation/money"
)

// The rules of the lifecycle.
const (
	falsesToEnd  = 3                  // evaluations in a row
	appliedGrace = 3 * 24 * time.Hour // until a true condition reopens an applied row
	changePer    = 50                 // a saving that differs by more than a fiftieth (2 %) …
	changeUSD    = 1                  // … and by more than this is another one
	growthUSD    = 50                 // a dismissed saving has grown by more than this and is above 1.5 times as large
)

// Advance returns the row after a finding of a pass, and whether it differs from old. The zero Row stands for no row.
// It is pure: the same arguments give the same row, so a pass that is repeated changes nothing.
func Advance(old Row, f *Finding, p Pass) (next Row, changed bool) {
	if f.Outcome == Unknown || p.At.Before(old.PassAt) || p.ID == old.Pass {
		return old, false
	}
	next = old
	next.History = slices.Clone(old.History)
	f = f.withStored(&old)
	switch f.Outcome {
	case Gone:
		changed = next.disappear(p, EndedGone)
	case Off: // a dismissal stays: the rule may be enabled again
		changed = old.Status != Dismissed && next.disappear(p, EndedOff)
	case Booked:
		changed = next.book(f)
	case False:
		changed = next.falsify(f, p)
	default:
		changed = next.verify(f, p)
	}
	if !changed {
		return old, false
	}
	next.UpdatedAt, next.Version = p.At, old.Version+1
	if f.Outcome != Booked { // an evaluation that is repeated after a booking still takes the row once
		next.Pass, next.PassAt = p.ID, p.At
	}
	return next, true
}

// disappear ends the row of a resource that is gone, or of a rule that is off for it.
func (r *Row) disappear(p Pass, why string) bool {
	switch r.Status {
	case "":
		return false
	case Candidate, Optimised:
		return r.forgetDay()
	default:
		r.end(p.At, why)
		return true
	}
}

// falsify takes a false condition.
func (r *Row) falsify(f *Finding, p Pass) bool {
	switch r.Status {
	case "":
		return false
	case Candidate, Optimised:
		return r.forgetDay()
	case Dismissed:
		if !r.dismissalOver(p.At) {
			return false
		}
		r.reopen(p.At, "the time of the dismissal is over")
		r.Falses = 1
		return true
	case Open:
		if f.Followed {
			r.move(Event{At: p.At, To: Applied, Why: "the resource was changed as recommended"})
			r.AppliedAt, r.Falses = p.At, 1
			return true
		}
	default: // applied
	}
	if r.Falses++; r.Falses >= falsesToEnd {
		r.end(p.At, EndedFalse)
	}
	return true
}

// verify takes a true condition.
func (r *Row) verify(f *Finding, p Pass) bool {
	switch r.Status {
	case "", Candidate, Optimised:
		return r.begin(f, p)
	case Dismissed:
		why := r.reopening(f, p.At)
		if why == "" {
			return false
		}
		r.reopen(p.At, why)
		r.take(f)
		return true
	case Applied:
		return r.verifyApplied(f, p)
	default: // open
	}
	changed := r.Falses > 0 || r.differs(f)
	r.Falses = 0
	if changed {
		r.take(f)
	}
	return changed
}

// verifyApplied takes a true condition of an applied row: the change needs some days to show.
func (r *Row) verifyApplied(f *Finding, p Pass) bool {
	if p.At.Sub(r.AppliedAt) < appliedGrace {
		had := r.Falses
		r.Falses = 0
		return had > 0
	}
	r.reopen(p.At, "the condition is true again, 3 days after the recommendation was applied")
	r.take(f)
	return true
}

// begin opens an episode, or makes a candidate of the first day of a rule with metrics.
func (r *Row) begin(f *Finding, p Pass) bool {
	day := p.At.UTC().Format(time.DateOnly)
	needsDays := f.Metrics && !f.TrueBefore
	if needsDays && r.TrueDay == "" {
		r.TrueDay = day
		if r.Status == "" {
			r.create(f, p)
			r.Status = Candidate
		}
		return true
	}
	if needsDays && r.TrueDay == day {
		return false
	}
	if r.Status == "" {
		r.create(f, p)
	}
	r.take(f)
	why := "the condition is true"
	if r.Episode > 0 {
		why = "the condition is true again"
	}
	r.move(Event{At: p.At, To: Open, Why: why})
	r.Episode++
	r.OpenedAt, r.EndedAt, r.Ended, r.TrueDay, r.Falses = p.At, time.Time{}, "", "", 0
	return true
}

func (r *Row) create(f *Finding, p Pass) {
	r.ID = IDOf(f.Resource.ResourceID, f.Resource.ResourceUID, f.RuleID)
	r.RuleID, r.CreatedAt = f.RuleID, p.At
	r.take(f)
}

// take copies what a finding shows.
func (r *Row) take(f *Finding) {
	r.RuleVersion, r.Resource, r.Category, r.Severity = f.RuleVersion, f.Resource, f.Category, f.Severity
	r.Effort, r.Risk, r.Title, r.Reason = f.Effort, f.Risk, f.Title, f.Reason
	r.Savings, r.Evidence, r.Commitment, r.Code = f.Savings, f.Evidence, f.Commitment, f.Code
}

// forgetDay forgets the first day of a candidate.
func (r *Row) forgetDay() bool {
	had := r.TrueDay != ""
	r.TrueDay = ""
	return had
}

func (r *Row) end(at time.Time, why string) {
	r.move(Event{At: at, To: Optimised, Why: why})
	r.Ended, r.EndedAt, r.Falses, r.TrueDay = why, at, 0, ""
	r.Dismissal, r.AppliedAt = nil, time.Time{}
}

func (r *Row) reopen(at time.Time, why string) {
	if r.Status == Applied {
		r.Reopened++
	}
	r.move(Event{At: at, To: Open, Why: why})
	r.Dismissal, r.AppliedAt, r.Falses = nil, time.Time{}, 0
}

// move changes the status, and records it.
func (r *Row) move(e Event) {
	e.From = r.Status
	if r.Status == Candidate {
		e.From = ""
	}
	r.Status = e.To
	r.History = append(r.History, e)
	if over := len(r.History) - MaxHistory; over > 0 {
		r.History = r.History[over:]
	}
}

func (r *Row) dismissalOver(at time.Time) bool {
	return r.Dismissal != nil && !r.Dismissal.Until.IsZero() && !at.Before(r.Dismissal.Until)
}

// reopening returns why a true condition reopens a dismissed row, or "".
func (r *Row) reopening(f *Finding, at time.Time) string {
	d := r.Dismissal
	grown := f.Savings.Net.Sub(d.Saving)
	switch {
	case r.dismissalOver(at):
		return "the time of the dismissal is over"
	case f.Severity.Rank() > d.Severity.Rank():
		return "the severity has risen"
	case grown.Cmp(money.FromInt(growthUSD)) > 0 && f.Savings.Net.MulInt(2).Cmp(d.Saving.MulInt(3)) > 0:
		return "the saving is more than 1.5 times as large"
	case d.Until.IsZero() && f.RuleVersion != d.RuleVersion:
		return "the rule has changed"
	case d.Until.IsZero() && f.Resource.ResourceVersion != d.ResourceVersion:
		return "the resource has changed"
	}
	return ""
}

// differs reports whether a finding shows something else than the row.
func (r *Row) differs(f *Finding) bool {
	return r.Severity != f.Severity || r.fingerprint() != f.fingerprint() ||
		r.movedTo(&f.Savings)
}

// moved reports whether a saving differs by more than 2 % and by more than 1 USD a month.
func moved(was, is money.Amount) bool {
	d := is.Sub(was).Abs()
	return d.Cmp(money.FromInt(changeUSD)) > 0 && d.MulInt(changePer).Cmp(was) > 0
}

// twoDigits returns v rounded to two significant digits.
func twoDigits(v float64) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return v
	}
	scale := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-1)
	return math.Round(v/scale) * scale
}
