package recommender

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/foundation/money"
)

// rowsAtOnce is how many rows are read in one round trip.
const rowsAtOnce = 100

// comparedDays is how many days before the application of a recommendation are compared with as many after it: a week
// has the same weekdays on both sides. The day of the application itself is left out.
const comparedDays = recommendation.ComparedDays

// measureApplied measures the savings of applied recommendations whose days before and after are settled, and stores
// them with their lines of the savings ledger: those of the shards that are evaluated, because the bills of others are
// not read. To repeat it changes nothing.
func (e *evaluation) measureApplied(ctx context.Context) error {
	rows := slices.DeleteFunc(e.settling.Unmeasured(), func(recID string) bool {
		shard, known := recommendation.ShardOfID(recID)
		return !known || !e.parts.contains(shard)
	})
	for ids := range slices.Chunk(rows, rowsAtOnce) {
		rows, err := e.rows.ReadRows(ctx, e.org, ids)
		if err != nil {
			return err
		}
		for _, id := range ids {
			row := rows[id]
			line, ok := e.in.bills.realized(&row, e.in.now)
			if !ok {
				continue
			}
			if err = e.addStops(ctx, &line); err != nil {
				return err
			}
			if _, err = e.rows.Confirm(ctx, e.org, &line); err != nil {
				return fmt.Errorf("store the measured saving of %s: %w", id, err)
			}
		}
	}
	return nil
}

// addStops adds to a line the stops of its resource in the compared weeks, from the state history: one round trip.
func (e *evaluation) addStops(ctx context.Context, line *recommendation.LedgerLine) error {
	changes, err := execution.ReadChangesOf(ctx, e.Table, e.org, execution.ChangesOf{
		ResourceUID: line.ResourceUID, From: line.BeforeFrom().Add(-execution.LongestStop), To: line.AfterTo(),
	})
	if err != nil {
		return fmt.Errorf("measure the saving of %s: %w", line.RecommendationID, err)
	}
	rate := e.in.rates(line.ResourceUID)
	before := stopped(changes, line.BeforeFrom(), line.Applied())
	after := stopped(changes, line.From, line.AfterTo())
	line.StopsBefore, _ = rate.Saved(before)
	line.StopsAfter, _ = rate.Saved(after)
	line.RunSeconds = int64((comparedDays*day - after) / time.Second)
	return nil
}

// stopped returns how long stops lasted between two times.
func stopped(changes []execution.StateChange, from, to time.Time) (sum time.Duration) {
	for _, st := range execution.StopsOf(changes, from, to) {
		sum += st.To.Sub(st.From)
	}
	return sum
}

// realized returns the saving of a month that the bills show for an applied recommendation: the cost of the 7 days
// before less that of the 7 days after, as 30 days, and no more than the resource cost, less the cost of a snapshot
// that is kept for these days. It returns false if the days are not settled, the bills do not name the resource, the
// cost has not fallen, the saving arises at other resources, or it was measured already. The line lacks the stops of
// the resource.
func (b *bills) realized(row *recommendation.Row, now time.Time) (recommendation.LedgerLine, bool) {
	none := recommendation.LedgerLine{}
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
	line := recommendation.LedgerLine{
		RecommendationID: row.ID, RuleID: row.RuleID, RuleVersion: row.RuleVersion, Resource: row.Resource,
		From: applied.Add(day), MeasuredAt: now, RunSeconds: comparedDays * int64(day/time.Second),
		Before: b.costBetween(row.ResourceUID, at-comparedDays, at),
		After:  b.costBetween(row.ResourceUID, at+1, at+1+comparedDays),
	}
	line.Month = line.Before.Sub(line.After).MulInt(recommendation.LedgerDays).DivInt(comparedDays)
	if most := row.Savings.Cost; most.Sign() > 0 && line.Month.Cmp(most) > 0 {
		line.Month = most
	}
	if line.Copy = row.Savings.Copy; line.Copy != nil {
		line.Month = line.Month.Sub(line.Copy.USD)
	}
	return line, line.Month.Sign() > 0
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
