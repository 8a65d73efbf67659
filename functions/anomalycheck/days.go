package anomalycheck

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/domain/anomaly"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/foundation/fault"
)

// judgeDays judges the last settled days, and earlier days with late bills. It writes new and changed anomalies and
// returns their number. It reads the costs of each resource of one week at a time, and of the days that they are
// compared with.
func (c *check) judgeDays(ctx context.Context) (written int, err error) {
	if c.rulesErr != nil {
		return 0, c.rulesErr
	}
	settled := c.settled()
	last := latest(settled)
	if last.IsZero() {
		return 0, nil
	}
	w := week{last: last, days: anomaly.Rejudged, told: true}
	for left := c.backfill(last); ; left -= w.days {
		n, err := c.judgeWeek(ctx, settled, w)
		if written += n; err != nil || left == 0 {
			return written, err
		}
		w = week{last: w.last.AddDate(0, 0, -w.days), days: min(left, anomaly.Rejudged)}
	}
}

// week is up to a week of days that are judged together. Anomalies of days before the regularly judged ones are listed
// without notifications.
type week struct {
	last time.Time
	days int
	told bool
}

func (c *check) judgeWeek(ctx context.Context, settled map[string]time.Time, w week) (written int, err error) {
	from, end := w.last.AddDate(0, 0, 1-anomaly.WindowDays), w.last.AddDate(0, 0, 1)
	a, err := c.costs.Ask(ctx, c.org, cost.Question{
		From: from, To: end, Metric: cost.Effective, Daily: true, UsageOnly: c.rules.UsageOnly,
		Dims: []string{cost.ResourceDim, cost.AccountDim, cost.TeamDim, cost.GroupDim, cost.ServiceDim},
	})
	if err != nil {
		return 0, fmt.Errorf("read the costs of %d days: %w", anomaly.WindowDays, err)
	}
	s := newScopes(a, from, settled)
	c.rules.OrgDays = a.Days
	first := anomaly.WindowDays - w.days
	found := c.rules.Pass(s.series(), first)
	known, err := c.anomalies.ReadDays(ctx, c.org, from.AddDate(0, 0, first), end)
	if err != nil {
		return 0, err
	}
	if s.told = first; !w.told {
		s.told = anomaly.WindowDays
	}
	return c.keep(ctx, s, found, known)
}

// backfill returns the number of days before the regularly judged ones that have bills and were not judged yet, such
// as the past months of a new account.
func (c *check) backfill(last time.Time) int {
	anew := last.AddDate(0, 0, 1-anomaly.Rejudged)
	first := anew.AddDate(0, 0, -anomaly.Backfilled)
	if billed := c.firstBilled(); billed.After(first) {
		first = billed
	}
	if !first.Before(anew) || !c.last.From.IsZero() && !first.Before(c.last.From) {
		return 0
	}
	c.last.From = first
	return int(anew.Sub(first) / (24 * time.Hour))
}

// firstBilled returns the first day with a bill.
func (c *check) firstBilled() time.Time {
	first := c.now
	for _, p := range c.periods {
		if start := p.Month.Start(); !p.Estimated && start.Before(first) {
			first = start
		}
	}
	return first
}

// keep writes the found anomalies, and closes the known ones that were not found again. An error in one does not stop
// the others.
func (c *check) keep(ctx context.Context, s *scopes, found []anomaly.Finding,
	known map[string]anomaly.Record,
) (written int, err error) {
	var errs []error
	for i := range found {
		n, err := c.keepOne(ctx, s, &found[i], known)
		written, errs = written+n, append(errs, err)
	}
	for _, old := range known {
		if old.Status == anomaly.Closed || !s.judged(old.Type, old.ScopeID, old.Day) {
			continue
		}
		errs = append(errs, c.replace(ctx, old, anomaly.Close(old, c.now), &written))
	}
	return written, errors.Join(errs...)
}

// keepOne writes a finding if it is new or has changed, and removes it from known.
func (c *check) keepOne(ctx context.Context, s *scopes, f *anomaly.Finding,
	known map[string]anomaly.Record,
) (written int, err error) {
	day := s.from.AddDate(0, 0, f.Day)
	anomalyID := anomaly.IDOf(c.org, f.Scope, day)
	old := known[anomalyID]
	delete(known, anomalyID)
	next := anomaly.Merge(old, f, anomaly.Judged{Org: c.org, Day: day, Now: c.now})
	if !next.Changed(&old) {
		return 0, nil
	}
	if next.Contributors, err = s.contributors(f); err != nil {
		return 0, fmt.Errorf("explain %s: %w", next.ID, err)
	}
	next.Within = s.belongings(f.Scope)
	if f.Day < s.told {
		old.Told = next.Told
	}
	err = c.replace(ctx, old, next, &written)
	return written, err
}

// replace writes an anomaly. If a user has changed it in the meantime, the next judgement sees that change.
func (c *check) replace(ctx context.Context, old, next anomaly.Record, written *int) error {
	_, err := c.anomalies.Replace(ctx, c.org, old, next)
	if fault.Is(err, fault.Conflict) {
		return nil
	}
	if err == nil {
		*written++
	}
	return err
}

// forgotten is how long an account without new bills delays the judgement of the organization. Until then its import
// counts as late; after that the account counts as removed.
const forgotten = 10 * 24 * time.Hour

// settled returns the last day of each account that can be judged. With the gate SettledDays it is the last day with
// complete bills, without it the last past day with any bills.
func (c *check) settled() map[string]time.Time {
	out := map[string]time.Time{}
	for _, p := range c.periods {
		through := p.SettledThrough
		if !c.rules.SettledDays {
			through = p.BilledThrough
		}
		if limit := c.rules.LastSettled(c.now, p.Provider); through.After(limit) {
			through = limit
		}
		for _, account := range p.Accounts() {
			if !p.Estimated && through.After(out[account]) {
				out[account] = midnight(through)
			}
		}
	}
	return out
}

func midnight(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}

func latest(settled map[string]time.Time) (last time.Time) {
	for _, t := range settled {
		if t.After(last) {
			last = t
		}
	}
	return last
}
