package recommendation

import (
	"slices"
	"time"
)

// measuredWithin is how long after its end a row is still measured: the bills of the days after an application take
// some days to settle.
const measuredWithin = 40 * 24 * time.Hour

// Unmeasured returns the ids of the rows that are applied, or were optimised lately without a measured saving.
func (t *Settling) Unmeasured() []string {
	after := t.pass.At.Add(-measuredWithin).UnixMilli()
	var out []string
	for i := range t.columns.entries {
		e := &t.columns.entries[i]
		s := statusNames[e.status]
		if s == Applied || s == Optimised && e.ended > after && !e.has(realizedFlag) {
			out = append(out, formatULID(e.id))
		}
	}
	slices.Sort(out)
	return out
}

// LastApplied returns when the row was applied last, by a workflow, a person or a change of its facts; zero if never.
func (r *Row) LastApplied() time.Time {
	for _, e := range slices.Backward(r.History) {
		if e.To == Applied {
			return e.At
		}
		if e.To == Open {
			return time.Time{}
		}
	}
	return time.Time{}
}
