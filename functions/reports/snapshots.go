package reports

import (
	"context"
	"slices"

	"lamplighter.dev/shared/domain/cost"
)

// Snapshot is a month whose bills are all final.
type Snapshot struct {
	Period       string        `json:"period" example:"2026-03"`
	BilledUSD    string        `json:"billedUSD"`
	EffectiveUSD string        `json:"effectiveUSD"`
	ListUSD      string        `json:"listUSD"`
	Accounts     int           `json:"accounts" doc:"How many cloud accounts were billed"`
	Rows         int64         `json:"rows" doc:"How many lines their bills had"`
	CostSource   string        `json:"costSource" enum:"estimated,actual"`
	Unconverted  []Unconverted `json:"unconverted"`
}

// snapshotMonths is how far back snapshots go.
const snapshotMonths = 36

func (s *service) snapshots(ctx context.Context, _ *struct{}) ([]Snapshot, error) {
	periods, err := s.Books.Periods(ctx, callerOrg(ctx))
	if err != nil {
		return nil, err
	}
	now := cost.MonthOf(s.p.Clock.Now())
	months, err := s.months(ctx, now.Add(-snapshotMonths).Start(), now.Start())
	if err != nil {
		return nil, err
	}
	out := []Snapshot{}
	for i := range months {
		if one, closed := newSnapshot(&months[i], periods); closed {
			out = append(out, one)
		}
	}
	slices.Reverse(out)
	return out, nil
}

// newSnapshot tells of a month; false when a bill of it may still change, or there is none.
func newSnapshot(m *cost.Summary, periods []cost.Period) (Snapshot, bool) {
	out := Snapshot{
		Period: m.Month.String(), BilledUSD: m.Total.Billed.Fixed(2), EffectiveUSD: m.Total.Effective.Fixed(2), ListUSD: m.Total.List.Fixed(2),
		CostSource: actualCost, Unconverted: []Unconverted{},
	}
	for i := range periods {
		p := &periods[i]
		if p.Month != m.Month || p.Estimated || p.Whole {
			continue
		}
		if !p.Final {
			return out, false
		}
		out.Accounts++
		out.Rows += p.Rows
	}
	for _, u := range m.Unconverted {
		out.Unconverted = append(out.Unconverted, Unconverted{u.Currency, u.Amount.Fixed(2)})
	}
	return out, out.Accounts > 0
}
