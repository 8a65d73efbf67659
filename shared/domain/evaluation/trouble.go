package evaluation

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/foundation/fault"
)

// The kinds of troubles.
const (
	overrideTrouble = "override" // it could not be ended
	scheduleTrouble = "schedule" // it could not be decided
	orderTrouble    = "order"    // it could not be queued
	roundTrouble    = "round"    // a part of the round could not be read
)

// retryDelays are the minutes from each failed try to the next one. After the last one a trouble is parked.
var retryDelays = []int64{1, 2, 4, 8, 16, 30, 30, 30}

const (
	parkedDelay  = 60  // minutes between two tries of an override or a schedule that is parked
	maxTroubles  = 200 // of an organization; a further one fails the whole evaluation
	maxErrorText = 300 // characters
)

// trouble is one override, schedule, order or round of an organization that failed. It fails alone: the rest of the
// organization is evaluated, and the trouble is tried again with a growing delay until it is parked. A parked override
// or schedule is tried once an hour; a parked order or round is not tried again.
type trouble struct {
	Kind string `json:"kind"`
	ID   string `json:"id"`
	// the minute of its first failure; for a schedule, the first undecided minute
	Since int64            `json:"since"`
	Tries int              `json:"tries"` // number of failed tries
	Next  int64            `json:"next"`  // the minute of the next try
	Error string           `json:"error"` // error of the last try
	Order *execution.Order `json:"order,omitempty"`
}

// isParked reports whether all tries of the trouble have failed.
func (t trouble) isParked() bool { return t.Tries > len(retryDelays) }

// isFinal reports whether the trouble will not be tried again.
func (t trouble) isFinal() bool {
	return t.isParked() && (t.Kind == orderTrouble || t.Kind == roundTrouble)
}

// troubles are the troubles of an organization.
type troubles []trouble

// find returns the index of a trouble, or -1.
func (ts troubles) find(kind, id string) int {
	return slices.IndexFunc(ts, func(t trouble) bool { return t.Kind == kind && t.ID == id })
}

// waits reports whether something has failed and must not be tried before a later minute.
func (ts troubles) waits(kind, id string, minute int64) bool {
	i := ts.find(kind, id)
	return i >= 0 && ts[i].Next > minute
}

// since returns the first undecided minute of a schedule.
func (ts troubles) since(scheduleID string) (int64, bool) {
	i := ts.find(scheduleTrouble, scheduleID)
	if i < 0 {
		return 0, false
	}
	return ts[i].Since, true
}

// with returns the troubles with one more failed try of t, and the updated t.
func (ts troubles) with(t trouble, cause error, minute int64) (troubles, trouble) {
	out := slices.Clone(ts)
	i := out.find(t.Kind, t.ID)
	if i < 0 {
		i, out = len(out), append(out, t)
	}
	n := &out[i]
	n.Tries++
	n.Error = fault.CleanText(cause.Error(), maxErrorText)
	n.Next = minute + parkedDelay
	if !n.isParked() {
		n.Next = minute + retryDelays[n.Tries-1]
	}
	tried := *n
	if tried.isFinal() {
		out = slices.Delete(out, i, i+1)
	}
	return out, tried
}

// without returns the troubles without one.
func (ts troubles) without(kind, id string) troubles {
	return slices.DeleteFunc(slices.Clone(ts), func(t trouble) bool { return t.Kind == kind && t.ID == id })
}

// keep returns the troubles without those of the kind whose subject no longer exists.
func (ts troubles) keep(kind string, exists func(id string) bool) troubles {
	return slices.DeleteFunc(slices.Clone(ts), func(t trouble) bool { return t.Kind == kind && !exists(t.ID) })
}

// soonest returns the earliest minute of the next try of a trouble, or 0 if there are no troubles.
func (ts troubles) soonest() (minute int64) {
	for _, t := range ts {
		if minute == 0 || t.Next < minute {
			minute = t.Next
		}
	}
	return minute
}

// fail records a failed try, and reports it as an error of the evaluation. After the last try the trouble is parked,
// and fail reports it only in the log.
func (e *pass) fail(ctx context.Context, t trouble, cause error) {
	if len(e.troubles) >= maxTroubles && e.troubles.find(t.Kind, t.ID) < 0 {
		e.broken = true // it cannot be noted, so its hint must stay
		e.errs = append(e.errs, cause)
		return
	}
	t.Since = cmp.Or(t.Since, e.minute)
	e.troubles, t = e.troubles.with(t, cause, e.minute)
	switch first := len(retryDelays) + 1; {
	case t.Tries < first:
		e.errs = append(e.errs, fmt.Errorf("%s %s, try %d: %w", t.Kind, t.ID, t.Tries, cause))
	case t.Tries == first:
		e.errs = append(e.errs, fmt.Errorf("%s %s, the last try: %w", t.Kind, t.ID, cause))
		e.p.Log.ErrorContext(ctx, "evaluation parked", "org", e.org, "kind", t.Kind, "id", t.ID, "since",
			startOf(t.Since).Format(time.RFC3339), "error", t.Error)
	default:
		e.p.Log.WarnContext(ctx, "parked evaluation failed again", "org", e.org, "kind", t.Kind, "id", t.ID, "error",
			t.Error)
	}
}

// recovered runs do and returns its panic as an error, so that one schedule or override fails alone.
func recovered(do func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fault.New(fault.Internal, "panic: %v", r)
		}
	}()
	return do()
}
