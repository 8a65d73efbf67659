package reports

import (
	"context"
	"strings"
	"time"

	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/money"
)

// Previous is the period that a report is compared with.
type Previous struct {
	From        string  `json:"from" doc:"The first day" example:"2026-02-01"`
	To          string  `json:"to" doc:"The day behind the last" example:"2026-03-01"`
	TotalUSD    *string `json:"totalUSD" doc:"Null if no day of it has bills or estimates" example:"1234.56"`
	CoveredFrom *string `json:"coveredFrom" doc:"The first day in a month with bills or estimates; null if no month has any. A change in percent misleads unless it is the first day" example:"2026-02-01"`
}

// comparison is the costs of a previous period, by the keys of rows.
type comparison struct {
	Previous
	rows  map[string]money.Amount
	shown map[string]money.Amount // the rounded amount of each node by its ID
}

// compare asks a question for the previous period, and adds rows of it that the answer lacks to the answer.
func (s *service) compare(ctx context.Context, q cost.Question, a *cost.Answer) (*comparison, error) {
	q.From, q.To = daysBefore(q.From, q.To)
	before, err := s.Ask(ctx, q)
	if err != nil {
		return nil, err
	}
	out := &comparison{
		Previous: Previous{From: q.From.Format(time.DateOnly), To: q.To.Format(time.DateOnly)},
		rows:     make(map[string]money.Amount, len(before.Rows)),
		shown:    map[string]money.Amount{rootID: before.Total.Round(2)},
	}
	if from, _ := before.Attribution.Covered(); !from.IsZero() {
		out.TotalUSD = new(before.Total.Fixed(2))
		out.CoveredFrom = new(clock.Latest(from, q.From).Format(time.DateOnly))
	}
	out.join(a, before.Rows)
	return out, nil
}

// join keeps the amounts of the previous rows, and adds those that the answer lacks to it with an amount of zero.
func (c *comparison) join(a *cost.Answer, before []cost.Row) {
	had := make(map[string]bool, len(a.Rows))
	for i := range a.Rows {
		had[rowKey(a.Rows[i].Keys)] = true
	}
	for i := range before {
		key := rowKey(before[i].Keys)
		if c.rows[key] = before[i].Amount; !had[key] {
			a.Rows = append(a.Rows, cost.Row{Keys: before[i].Keys})
		}
	}
}

// rowKey joins the values of a row. No value has the separator.
func rowKey(keys []string) string { return strings.Join(keys, "\x00") }

// parts returns the previous costs of the members of a node, in cents that add up to the node's; zeros without a
// comparison.
func (c *comparison) parts(parent string, members []member) []money.Amount {
	sums := make([]money.Amount, len(members))
	if c == nil {
		return sums
	}
	for i := range members {
		for _, row := range members[i].rows {
			sums[i] = sums[i].Add(c.rows[rowKey(row.Keys)])
		}
	}
	return money.RoundPartsTo(sums, c.shown[parent], 2)
}

// daysBefore returns the days to compare a period with: as many whole months before if the period is whole months, the
// same days of the month before if it begins with a month and ends in it, else as many days before.
func daysBefore(from, to time.Time) (before, until time.Time) {
	first, last := cost.MonthOf(from), cost.MonthOf(to.Add(-report.Day))
	days := report.DaysBetween(from, to)
	switch {
	case !from.Equal(first.Start()):
		return from.AddDate(0, 0, -days), from
	case to.Equal(last.End()):
		months := 12*(last.End().Year()-from.Year()) + int(last.End().Month()-from.Month())
		return from.AddDate(0, -months, 0), from
	case first == last:
		before = first.Add(-1).Start()
		return before, clock.Earliest(before.AddDate(0, 0, days), from)
	}
	return from.AddDate(0, 0, -days), from
}

// show returns the previous cost of the node id, which is one of the parts; nil without a comparison or if the period
// has no costs.
func (c *comparison) show(id string, part money.Amount) *string {
	if c == nil || c.TotalUSD == nil {
		return nil
	}
	c.shown[id] = part
	return new(part.Fixed(2))
}

// total returns the costs of the previous period; nil without a comparison or if it has none.
func (c *comparison) total() *string {
	if c == nil {
		return nil
	}
	return c.TotalUSD
}

// period returns the period of a comparison, or nil without one.
func (c *comparison) period() *Previous {
	if c == nil {
		return nil
	}
	return &c.Previous
}
