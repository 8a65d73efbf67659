package recommender

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/foundation/money"
)

// comparedDays is how many days before the application of a recommendation are compared with as many after it: a week
// has the same weekdays on both sides. The day of the application itself is left out.
const comparedDays = 7

// rowsAtOnce is how many rows are read in one round trip.
const rowsAtOnce = 100

// measureApplied measures the savings of applied recommendations whose days before and after are settled, and stores
// them. To repeat it changes nothing.
func (e *evaluation) measureApplied(ctx context.Context) error {
	for ids := range slices.Chunk(e.settling.Unmeasured(), rowsAtOnce) {
		rows, err := e.rows.ReadRows(ctx, e.org, ids)
		if err != nil {
			return err
		}
		for _, id := range ids {
			row := rows[id]
			m, ok := e.in.bills.realized(&row, e.in.now)
			if !ok {
				continue
			}
			if _, err = e.rows.Confirm(ctx, e.org, id, m); err != nil {
				return fmt.Errorf("store the measured saving of %s: %w", id, err)
			}
		}
	}
	return nil
}

// realized returns the saving of a month that the bills show for an applied recommendation: the cost of the 7 days
// before less that of the 7 days after, as 30 days, and no more than the resource cost. It returns false if the days
// are not settled, the bills do not name the resource, the cost has not fallen, the saving arises at other resources,
// or it was measured already.
func (b *bills) realized(row *recommendation.Row, now time.Time) (recommendation.Realized, bool) {
	none := recommendation.Realized{}
	applied, from := row.LastApplied().UTC().Truncate(day), b.from[row.CloudAccountID]
	known := row.Realized != nil && !row.Realized.At.Before(row.LastApplied())
	if row.LastApplied().IsZero() || from.IsZero() || known || len(row.Savings.Claims) > 0 ||
		len(b.of[row.ResourceUID]) == 0 {
		return none, false
	}
	at := int(applied.Sub(from) / day)
	if at < comparedDays || at+comparedDays >= billedDays {
		return none, false
	}
	before := b.costBetween(row.ResourceUID, at-comparedDays, at)
	after := b.costBetween(row.ResourceUID, at+1, at+1+comparedDays)
	saved := before.Sub(after).MulInt(billedDays).DivInt(comparedDays)
	if saved.Sign() <= 0 {
		return none, false
	}
	if most := row.Savings.Cost; most.Sign() > 0 && saved.Cmp(most) > 0 {
		saved = most
	}
	return recommendation.Realized{USD: saved, At: now, Proof: fmt.Sprintf("bill of %s to %s and %s to %s",
		dayOf(applied.AddDate(0, 0, -comparedDays)), dayOf(applied.AddDate(0, 0, -1)),
		dayOf(applied.AddDate(0, 0, 1)), dayOf(applied.AddDate(0, 0, comparedDays)))}, true
}

// costBetween returns the cost of a resource on days of the 30, by their numbers; the last one is not included.
func (b *bills) costBetween(uid string, first, last int) (sum money.Amount) {
	for i := range b.of[uid] {
		days := &b.of[uid][i].days
		for n := first; n < last && n < days.Len(); n++ {
			sum = sum.Add(days.At(n))
		}
	}
	return sum
}
