package dashboards

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/money"
)

// WidgetTotals is the cost of a period and of the period before.
type WidgetTotals struct {
	From        string `json:"from" example:"2026-11-01"`
	To          string `json:"to" doc:"The first day after it"`
	CostUSD     string `json:"costUSD"`
	PreviousUSD string `json:"previousUSD" doc:"Of the same days of the month before, or of as many days before"`
}

// WidgetTrendPoint is a day, or a month, of a trend.
type WidgetTrendPoint struct {
	Date      string `json:"date" doc:"The day, or the first of the month"`
	CostUSD   string `json:"costUSD"`
	Estimated bool   `json:"estimated" doc:"Some of it is estimated"`
}

// WidgetTrend is the cost of a period over time. Its points sum to its total.
type WidgetTrend struct {
	Granularity string             `json:"granularity" enum:"day,month"`
	TotalUSD    string             `json:"totalUSD"`
	Items       []WidgetTrendPoint `json:"items"`
}

// WidgetBreakdownRow is the cost of one combination of dimension values.
type WidgetBreakdownRow struct {
	Keys    []string `json:"keys" doc:"A value of each dimension; empty where there is none"`
	Labels  []string `json:"labels" doc:"The names of the keys, in their order: of accounts, groups and teams; else the keys themselves"`
	Others  bool     `json:"others" doc:"All that is not listed by itself"`
	CostUSD string   `json:"costUSD"`
}

// WidgetBreakdown is the cost of a period by dimensions. Its rows sum to its total.
type WidgetBreakdown struct {
	Dims     []string             `json:"dims"`
	TotalUSD string               `json:"totalUSD"`
	Rows     []WidgetBreakdownRow `json:"rows"`
}

// WidgetResource is the cost of a resource.
type WidgetResource struct {
	ResourceUID string `json:"resourceUID"`
	ResourceID  string `json:"resourceID" doc:"Ours; empty when the inventory does not have it"`
	Name        string `json:"name"`
	Type        string `json:"type"`
	CostUSD     string `json:"costUSD"`
}

// window returns a period and its comparison period; to and until are exclusive.
func window(period string, now time.Time) (from, to, before, until time.Time) {
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	tomorrow := today.AddDate(0, 0, 1)
	month := today.AddDate(0, 0, 1-today.Day())
	days := func(n int) (time.Time, time.Time, time.Time, time.Time) {
		return tomorrow.AddDate(0, 0, -n), tomorrow, tomorrow.AddDate(0, 0, -2*n), tomorrow.AddDate(0, 0, -n)
	}
	switch period {
	case "last_month":
		return month.AddDate(0, -1, 0), month, month.AddDate(0, -2, 0), month.AddDate(0, -1, 0)
	case "last_7_days":
		return days(7)
	case "last_30_days":
		return days(30)
	case "last_90_days":
		return days(90)
	case "last_12_months":
		return month.AddDate(0, -11, 0), tomorrow, month.AddDate(0, -23, 0), month.AddDate(0, -11, 0)
	}
	end := month.AddDate(0, -1, today.Day()) // the same number of days of the previous month, which may be shorter
	if end.After(month) {
		end = month
	}
	return month, tomorrow, month.AddDate(0, -1, 0), end
}

// question returns the cost question of a widget's query, restricted to the caller's scope.
func (p *page) question(q *WidgetQuery) cost.Question {
	from, to, _, _ := window(q.Period, p.now)
	out := cost.Question{From: from, To: to, Metric: cost.Metric(q.Cost), Filter: q.Filter}
	if scopes := p.caller.Scopes(costReading); !scopes.All {
		out.Within = &cost.Within{Resources: p.sets[costReading], Teams: scopes}
	}
	return out
}

// ask asks the cost store. Equal questions of several widgets are asked once.
func (p *page) ask(ctx context.Context, q cost.Question) (cost.Answer, error) {
	same := q
	same.Within = nil // equal for all questions of the caller
	name, err := json.Marshal(same)
	if err != nil {
		return cost.Answer{}, fmt.Errorf("encode a question: %w", err)
	}
	p.mu.Lock()
	a := p.asked[string(name)]
	if a == nil {
		a = &answer{}
		p.asked[string(name)] = a
	}
	p.mu.Unlock()
	a.once.Do(func() { a.Answer, a.err = p.costs.Ask(ctx, p.caller.Org, q) })
	return a.Answer, a.err
}

func (p *page) totals(ctx context.Context, q *WidgetQuery) (*WidgetTotals, error) {
	ask := p.question(q)
	now, err := p.ask(ctx, ask)
	if err != nil {
		return nil, err
	}
	out := &WidgetTotals{
		From: ask.From.Format(time.DateOnly), To: ask.To.Format(time.DateOnly),
		CostUSD: now.Total.Fixed(2),
	}
	_, _, ask.From, ask.To = window(q.Period, p.now)
	before, err := p.ask(ctx, ask)
	out.PreviousUSD = before.Total.Fixed(2)
	return out, err
}

// mostDays is the most days that a trend shows individually.
const mostDays = 92

func (p *page) trend(ctx context.Context, q *WidgetQuery) (*WidgetTrend, error) {
	ask := p.question(q)
	ask.Daily = true
	a, err := p.ask(ctx, ask)
	if err != nil {
		return nil, err
	}
	out := &WidgetTrend{Granularity: "day", TotalUSD: a.Total.Fixed(2), Items: []WidgetTrendPoint{}}
	if len(a.Days) > mostDays {
		out.Granularity = "month"
	}
	var amounts []money.Amount
	for i, d := range a.Days {
		day := ask.From.AddDate(0, 0, i)
		if out.Granularity == "month" {
			day = day.AddDate(0, 0, 1-day.Day())
		}
		date := day.Format(time.DateOnly)
		if n := len(out.Items); n == 0 || out.Items[n-1].Date != date {
			out.Items, amounts = append(out.Items, WidgetTrendPoint{Date: date}), append(amounts, money.Amount{})
		}
		n := len(out.Items) - 1
		amounts[n] = amounts[n].Add(d)
		out.Items[n].Estimated = out.Items[n].Estimated || i < len(a.Estimated) && a.Estimated[i]
	}
	for i, shown := range money.RoundParts(amounts, 2) {
		out.Items[i].CostUSD = shown.Fixed(2)
	}
	return out, nil
}

func (p *page) breakdown(ctx context.Context, q *WidgetQuery) (*WidgetBreakdown, error) {
	ask := p.question(q)
	ask.Dims = q.Dims
	a, err := p.ask(ctx, ask)
	if err != nil {
		return nil, err
	}
	labels, err := p.labels.Read(ctx, q.Dims...)
	if err != nil {
		return nil, err
	}
	out := &WidgetBreakdown{Dims: q.Dims, TotalUSD: a.Total.Fixed(2), Rows: []WidgetBreakdownRow{}}
	var amounts []money.Amount
	rest := a.Total
	for _, r := range a.Rows[:min(len(a.Rows), q.Limit)] {
		row := WidgetBreakdownRow{Keys: r.Keys, Labels: make([]string, len(r.Keys))}
		for i, key := range r.Keys {
			row.Labels[i] = labels.Of(q.Dims[i], key)
		}
		out.Rows, amounts = append(out.Rows, row), append(amounts, r.Amount)
		rest = rest.Sub(r.Amount)
	}
	if len(a.Rows) > q.Limit {
		others := WidgetBreakdownRow{Keys: []string{}, Labels: []string{}, Others: true}
		out.Rows, amounts = append(out.Rows, others), append(amounts, rest)
	}
	for i, shown := range money.RoundParts(amounts, 2) {
		out.Rows[i].CostUSD = shown.Fixed(2)
	}
	return out, nil
}

func (p *page) topResources(ctx context.Context, q *WidgetQuery) ([]WidgetResource, error) {
	ask := p.question(q)
	ask.Dims = []string{cost.ResourceDim}
	a, err := p.ask(ctx, ask)
	if err != nil {
		return nil, err
	}
	out := []WidgetResource{}
	var uids []string
	for _, r := range a.Rows {
		if uid := r.Keys[0]; uid != "" && len(out) < q.Limit {
			out, uids = append(out, WidgetResource{ResourceUID: uid, CostUSD: r.Amount.Fixed(2)}), append(uids, uid)
		}
	}
	known, err := p.inventory.ByUIDs(ctx, p.caller.Org, uids, inventory.SightOf(p.caller, "resources:read"))
	for _, k := range known {
		for i := range out {
			if out[i].ResourceUID == k.UID {
				out[i].ResourceID, out[i].Name, out[i].Type = k.ID, k.Name, k.Type
			}
		}
	}
	return out, err
}
