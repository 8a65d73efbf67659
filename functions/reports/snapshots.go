package reports

import (
	"context"
	"slices"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/report"
)

// Snapshot is a month whose bills are all final.
type Snapshot struct {
	Period       string               `json:"period" example:"2026-03"`
	BilledUSD    string               `json:"billedUSD"`
	EffectiveUSD string               `json:"effectiveUSD"`
	ListUSD      string               `json:"listUSD"`
	Accounts     int                  `json:"accounts" doc:"How many cloud accounts were billed; with a grant on teams or resources, how many of them charged for these"`
	Rows         int64                `json:"rows" doc:"How many lines their bills had; 0 with a grant on teams or resources, as lines are counted for whole bills"`
	CostSource   string               `json:"costSource" enum:"estimated,actual"`
	Unconverted  []report.Unconverted `json:"unconverted"`
}

// snapshotMonths is the number of past months that have snapshots.
const snapshotMonths = 36

func (s *service) snapshots(ctx context.Context, _ *struct{}) ([]Snapshot, error) {
	within, err := s.Within(ctx)
	if err != nil {
		return nil, err
	}
	periods, err := s.Books.Periods(ctx, identity.CallerOrg(ctx))
	if err != nil {
		return nil, err
	}
	now := cost.MonthOf(s.p.Clock.Now())
	closed := closedMonths(periods, now)
	if err = s.dropIncomplete(ctx, closed, now); err != nil {
		return nil, err
	}
	if within != nil {
		return s.scopedSnapshots(ctx, within, closed)
	}
	months, err := s.months(ctx, now.Add(-snapshotMonths).Start(), now.Start())
	if err != nil {
		return nil, err
	}
	out := []Snapshot{}
	for i := range months {
		if c, is := closed[months[i].Month]; is {
			out = append(out, newSnapshot(&months[i], c))
		}
	}
	slices.Reverse(out)
	return out, nil
}

// dropIncomplete removes the months whose bills are not all imported.
func (s *service) dropIncomplete(ctx context.Context, closed map[cost.Month]closing, now cost.Month) error {
	q := cost.Question{From: now.Add(-snapshotMonths).Start(), To: now.Start()}
	incomplete, err := s.IncompleteMonths(ctx, &q)
	for _, i := range incomplete {
		m, err := cost.ParseMonth(i.Period)
		if err != nil {
			return err
		}
		delete(closed, m)
	}
	return err
}

// closing counts the billed accounts and the bill lines of a closed month.
type closing struct {
	accounts int
	rows     int64
}

// closedMonths returns the months of the last snapshotMonths before now that have bills, all of them final.
func closedMonths(periods []cost.Period, now cost.Month) map[cost.Month]closing {
	out, open := map[cost.Month]closing{}, map[cost.Month]bool{}
	for i := range periods {
		p := &periods[i]
		if p.Estimated || p.Whole || !p.Month.Start().Before(now.Start()) ||
			p.Month.Start().Before(now.Add(-snapshotMonths).Start()) {
			continue
		}
		open[p.Month] = open[p.Month] || !p.Final
		c := out[p.Month]
		out[p.Month] = closing{c.accounts + 1, c.rows + p.Rows}
	}
	for m, is := range open {
		if is {
			delete(out, m)
		}
	}
	return out
}

func newSnapshot(m *cost.Summary, c closing) Snapshot {
	return Snapshot{
		Period: m.Month.String(), BilledUSD: m.Total.Billed.Fixed(2), EffectiveUSD: m.Total.Effective.Fixed(2),
		ListUSD:  m.Total.List.Fixed(2),
		Accounts: c.accounts, Rows: c.rows, CostSource: report.ActualCost,
		Unconverted: report.NewUnconverted(m.Unconverted),
	}
}
