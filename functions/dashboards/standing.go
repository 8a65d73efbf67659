package dashboards

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/domain/anomaly"
	"lamplighter.dev/shared/domain/budgeting"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
)

// WidgetBudget is the spending and the forecast of a budget.
type WidgetBudget struct {
	BudgetID    string           `json:"budgetID"`
	Name        string           `json:"name"`
	AmountUSD   string           `json:"amountUSD"`
	SpentUSD    string           `json:"spentUSD"`
	ForecastUSD string           `json:"forecastUSD"`
	PercentUsed float64          `json:"percentUsed"`
	Signal      budgeting.Signal `json:"signal" enum:"green,yellow,red"`
}

// WidgetAnomaly is an anomaly without its contributors.
type WidgetAnomaly struct {
	ID          string            `json:"id"`
	AnomalyType anomaly.ScopeType `json:"anomalyType" enum:"org,cloud_account,resource_group,resource,team"`
	ScopeID     string            `json:"scopeID"`
	Date        string            `json:"date"`
	CostUSD     string            `json:"costUSD"`
	BaselineUSD string            `json:"baselineUSD"`
	Severity    anomaly.Severity  `json:"severity" enum:"warning,critical,emergency"`
}

// WidgetActions counts the actions of the last 24 hours.
type WidgetActions struct {
	ByStatus  map[string]int `json:"byStatus"`
	ByType    map[string]int `json:"byType"`
	Truncated bool           `json:"truncated" doc:"There were more than 1,000: the newest are counted"`
}

func (p *page) budgetStates(ctx context.Context, q *WidgetQuery) ([]WidgetBudget, error) {
	all, err := p.budgets.List(ctx, p.caller.Org)
	if err != nil {
		return nil, err
	}
	const policy = "budgets:read"
	all = slices.DeleteFunc(all, func(b budgeting.Budget) bool {
		return !b.SeenIn(p.caller.Scopes(policy), p.sets[policy])
	})
	states, err := budgeting.ReadStates(ctx, p.costs, p.caller.Org, all, p.now)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(states, budgeting.CompareWorst)
	states = states[:min(len(states), q.Limit)]
	out := make([]WidgetBudget, len(states))
	for i := range states {
		st := &states[i]
		out[i] = WidgetBudget{
			st.Budget.ID, st.Budget.Name, st.Budget.Amount.Fixed(2), st.Spent.Fixed(2), st.Forecast.Mean.Fixed(2),
			st.PercentUsed(), st.Signal,
		}
	}
	return out, nil
}

// looked is the most rows of a list that are searched for visible ones.
const looked = 1000

func (p *page) openAnomalies(ctx context.Context, q *WidgetQuery) ([]WidgetAnomaly, error) {
	query := anomaly.Days(p.caller.Org, time.Time{}, time.Time{})
	query.Reverse, query.Limit = true, looked
	all, _, err := table.ReadPage[anomaly.Record](ctx, p.p.Table, query)
	if err != nil {
		return nil, fmt.Errorf("read anomalies: %w", err)
	}
	out := []WidgetAnomaly{}
	for _, r := range all {
		if r.Status == anomaly.Open && r.SeenIn(p.caller.Scopes(costReading), p.sets[costReading]) &&
			len(out) < q.Limit {
			out = append(out,
				WidgetAnomaly{
					r.ID, r.Type, r.ScopeID, r.Day.Format(time.DateOnly), r.Cost.Fixed(2),
					r.Baseline.Fixed(2), r.Severity,
				})
		}
	}
	return out, nil
}

// WidgetSavings is the savings of a period.
type WidgetSavings struct {
	From        string `json:"from" example:"2026-11-01"`
	To          string `json:"to" doc:"The first day after it"`
	SavingsUSD  string `json:"savingsUSD"`
	Stops       int    `json:"stops" doc:"How many times something stood still because we had stopped it"`
	WithoutRate int    `json:"withoutRate" doc:"The number of stops without a known price; they are in no sum"`
}

func (p *page) realized(ctx context.Context, q *WidgetQuery) (*WidgetSavings, error) {
	from, to, _, _ := window(q.Period, p.now)
	got, err := p.savings.Between(ctx, p.caller.Org, inventory.SightOf(p.caller, costReading), from, to)
	if err != nil {
		return nil, err
	}
	return &WidgetSavings{
		from.Format(time.DateOnly), to.Format(time.DateOnly), got.Total().Fixed(2), got.Stops(),
		got.WithoutRate,
	}, nil
}

func (p *page) states(ctx context.Context) (map[string]int, error) {
	sum, err := p.inventory.SummarizeResources(ctx, p.caller.Org,
		inventory.Filter{Sight: inventory.SightOf(p.caller, "resources:read")})
	return sum.ByStatus, err
}

func (p *page) actionsOfDay(ctx context.Context) (*WidgetActions, error) {
	q := table.Query{From: id.LowestAt("act", p.now.Add(-24*time.Hour)), To: "act_~", Reverse: true}
	items, err := table.NewMerge(p.p.Table, q, execution.ActionPKs(p.caller.Org)...).Next(ctx, looked)
	if err != nil {
		return nil, fmt.Errorf("read the actions of the day: %w", err)
	}
	all, err := table.DecodeAll[execution.Action](items)
	if err != nil {
		return nil, err
	}
	out := &WidgetActions{ByStatus: map[string]int{}, ByType: map[string]int{}, Truncated: len(items) == looked}
	for _, a := range all {
		if p.sets["actions:read"].HasUID(a.ResourceUID) {
			out.ByStatus[string(a.Status)]++
			out.ByType[string(a.Action)]++
		}
	}
	return out, nil
}
