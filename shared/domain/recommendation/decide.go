package recommendation

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/foundation/fault"
)

// MaxDismissal is the longest time that a dismissal may be limited to.
const MaxDismissal = 365 * 24 * time.Hour

// Decision is what a person says of a recommendation.
type Decision struct {
	Status Status    // the wanted status
	Reason string    // one of DismissalReasons; needed to dismiss, and refused otherwise
	Text   string    // more about the reason; at most 500 characters
	Until  time.Time // the end of the dismissal; zero: until the resource or the rule changes
	By     string    // the address of the person
	Why    string    // why, for the history; empty: because the person says so
	At     time.Time
}

// Decide returns the row after a decision, and whether it differs from old. It returns fault.Invalid for a decision
// that lacks something or is out of range, and fault.Conflict for a transition that a person cannot make.
func Decide(old Row, d Decision) (next Row, changed bool, err error) {
	if err = d.check(); err != nil {
		return old, false, err
	}
	if old.Status == Optimised && d.Status != Optimised {
		return old, false, fault.New(fault.Conflict,
			"status: recommendation %s is optimised since %s (%s); it opens again when its condition is true",
			old.ID, old.EndedAt.Format(time.RFC3339), old.Ended)
	}
	if d.Status == Optimised && old.Status != Optimised {
		return old, false, fault.New(fault.Conflict,
			"status: only an evaluation makes a recommendation optimised; send applied for %s, and it becomes "+
				"optimised when three evaluations find its condition false", old.ID)
	}
	if d.Status == old.Status && d.Status != Dismissed {
		return old, false, nil
	}
	next = old
	next.History = slices.Clone(old.History)
	next.decide(&d)
	next.UpdatedAt, next.Version = d.At, old.Version+1
	return next, true, nil
}

// check validates the fields of a decision.
func (d *Decision) check() error {
	dismisses := d.Status == Dismissed
	switch {
	case d.Status != Open && d.Status != Applied && d.Status != Optimised && !dismisses:
		return fault.New(fault.Invalid, "status: %.64q is not one of open, applied, dismissed, optimised", d.Status)
	case dismisses && !slices.Contains(DismissalReasons, d.Reason):
		return fault.New(fault.Invalid, "reason: %.64q is not one of %s; say why it is dismissed", d.Reason,
			strings.Join(DismissalReasons, ", "))
	case !dismisses && (d.Reason != "" || d.Text != "" || !d.Until.IsZero()):
		return fault.New(fault.Invalid, "reason, text and until go with status dismissed; leave them out for %s",
			d.Status)
	}
	return d.checkUntil()
}

// checkUntil validates the end of a dismissal.
func (d *Decision) checkUntil() error {
	switch {
	case d.Until.IsZero():
		return nil
	case !d.Until.After(d.At):
		return fault.New(fault.Invalid,
			"until: %s is in the past; send a later time, or none for a dismissal without end",
			d.Until.Format(time.RFC3339))
	case d.Until.Sub(d.At) > MaxDismissal:
		return fault.New(fault.Invalid, "until: %s is more than 365 days away; send an earlier time",
			d.Until.Format(time.RFC3339))
	}
	return nil
}

func (r *Row) decide(d *Decision) {
	r.Dismissal, r.AppliedAt, r.Falses = nil, time.Time{}, 0
	why := cmp.Or(d.Why, "a person says so")
	switch d.Status {
	case Dismissed:
		why = d.Reason
		r.Dismissal = &Dismissal{
			Reason: d.Reason, Text: d.Text, Until: d.Until, By: d.By, At: d.At, RuleVersion: r.RuleVersion,
			ResourceVersion: r.ResourceVersion, Saving: r.Savings.Net, Severity: r.Severity,
		}
	case Applied:
		r.AppliedAt = d.At
	default:
	}
	r.move(Event{At: d.At, To: d.Status, By: d.By, Why: why})
}

// Confirm returns the row after 7 settled days of cost have shown a saving, and whether it differs from old. An open or
// applied row becomes optimised.
func Confirm(old Row, m Realized) (next Row, changed bool) {
	if old.Realized != nil && old.Realized.Proof == m.Proof || old.Status == Candidate || old.Status == "" {
		return old, false
	}
	next = old
	next.History = slices.Clone(old.History)
	next.Realized = &m
	if old.Status == Open || old.Status == Applied {
		next.end(m.At, EndedRealized)
	}
	next.UpdatedAt, next.Version = m.At, old.Version+1
	return next, true
}

// Effective returns the status of a row at a time: a dismissal ends at its time, though no evaluation has run since.
func (r *Row) Effective(at time.Time) Status {
	if r.Status == Dismissed && r.dismissalOver(at) {
		return Open
	}
	return r.Status
}
