package budgets

import (
	"context"
	"slices"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/budgeting"
	"lamplighter.dev/shared/foundation/money"
)

// BudgetForecast is the expected cost of a whole period.
type BudgetForecast struct {
	Low  string `json:"low"`
	Mean string `json:"mean"`
	High string `json:"high"`
}

// BudgetStanding is the spending and the forecast of a budget.
type BudgetStanding struct {
	BudgetID     string              `json:"budgetID"`
	Name         string              `json:"name"`
	ScopeType    budgeting.ScopeType `json:"scopeType" enum:"org,cloud_account,resource_group,resource,team,tag"`
	ScopeID      string              `json:"scopeID"`
	Period       budgeting.Period    `json:"period" enum:"month,quarter,year"`
	From         string              `json:"from" example:"2026-11-01"`
	To           string              `json:"to" doc:"The first day after the period" example:"2026-12-01"`
	AmountUSD    string              `json:"amountUSD"`
	SpentUSD     string              `json:"spentUSD"`
	RemainingUSD string              `json:"remainingUSD" doc:"Below 0 if the budget is overspent"`
	PercentUsed  float64             `json:"percentUsed"`
	ForecastUSD  BudgetForecast      `json:"forecastUSD"`
	Signal       budgeting.Signal    `json:"signal" enum:"green,yellow,red"`
	SettledUntil string              `json:"settledUntil" doc:"The last day whose bills are complete" example:"2026-11-20"`
	// AttributedFrom is set by attribute.
	AttributedFrom *string `json:"attributedFrom" doc:"Of a budget of a team or resource group: the first day of the period from which on its costs follow its present resources; earlier days follow those of an earlier time. It lies behind the last day with costs if no day follows them yet, and is null if all days do, and of other budgets" example:"2026-11-01"`
}

func newStanding(st *budgeting.State) BudgetStanding {
	b := &st.Budget
	return BudgetStanding{
		BudgetID: b.ID, Name: b.Name, ScopeType: b.ScopeType, ScopeID: b.ScopeID, Period: b.Period,
		From: st.From.Format(time.DateOnly), To: st.To.Format(time.DateOnly),
		AmountUSD: b.Amount.Fixed(2), SpentUSD: st.Spent.Fixed(2),
		RemainingUSD: b.Amount.Sub(st.Spent.Round(2)).Fixed(2), PercentUsed: st.PercentUsed(),
		ForecastUSD:  BudgetForecast{st.Forecast.Low.Fixed(2), st.Forecast.Mean.Fixed(2), st.Forecast.High.Fixed(2)},
		Signal:       st.Signal,
		SettledUntil: st.Trail.Last.Format(time.DateOnly),
	}
}

// BudgetDay is a day of a burn-down.
type BudgetDay struct {
	Date         string `json:"date"`
	SpentUSD     string `json:"spentUSD" doc:"From the beginning of the period to the end of the day"`
	RemainingUSD string `json:"remainingUSD"`
	PlannedUSD   string `json:"plannedUSD" doc:"The amount that would remain if every day cost the same"`
	Forecast     bool   `json:"forecast" doc:"The day has not settled: its cost is expected"`
}

// BudgetThreshold is a threshold of a budget and whether it is reached.
type BudgetThreshold struct {
	Percent   int    `json:"percent"`
	AmountUSD string `json:"amountUSD"`
	Reached   bool   `json:"reached"`
}

// BudgetStatus is the spending and the forecast of a budget, with its thresholds and days.
type BudgetStatus struct {
	BudgetStanding
	Thresholds []BudgetThreshold `json:"thresholds"`
	BurnDown   []BudgetDay       `json:"burnDown"`
}

func (s *service) status(ctx context.Context, in *BudgetInput) (BudgetStatus, error) {
	b, err := s.seen(ctx, in.BudgetID)
	if err != nil {
		return BudgetStatus{}, err
	}
	states, err := budgeting.ReadStates(ctx, s.costs, identity.CallerOrg(ctx), []budgeting.Budget{b}, s.p.Clock.Now())
	if err != nil {
		return BudgetStatus{}, err
	}
	out := newStatus(&states[0])
	return out, s.attribute(ctx, states, []*BudgetStanding{&out.BudgetStanding})
}

func newStatus(st *budgeting.State) BudgetStatus {
	out := BudgetStatus{BudgetStanding: newStanding(st), Thresholds: []BudgetThreshold{}, BurnDown: []BudgetDay{}}
	for _, t := range st.Budget.Thresholds {
		limit := st.Budget.Amount.MulInt(int64(t)).DivInt(100)
		out.Thresholds = append(out.Thresholds, BudgetThreshold{t, limit.Fixed(2), st.Spent.Cmp(limit) >= 0})
	}
	for _, d := range st.Budget.BurnDown(st.From, st.Known, &st.Trail) {
		out.BurnDown = append(out.BurnDown,
			BudgetDay{d.Day.Format(time.DateOnly), d.Spent.Fixed(2), d.Left.Fixed(2), d.Planned.Fixed(2), d.Forecast})
	}
	return out
}

// BudgetSummary is the spending and the forecasts of all budgets.
type BudgetSummary struct {
	Count     int                 `json:"count"`
	Green     int                 `json:"green"`
	Yellow    int                 `json:"yellow"`
	Red       int                 `json:"red"`
	Period    budgeting.Period    `json:"period" enum:"month,quarter,year" doc:"The period of amountUSD and spentUSD: the shortest one that has budgets; month without any"`
	AmountUSD string              `json:"amountUSD" doc:"The amountUSD of that period in byPeriod"`
	SpentUSD  string              `json:"spentUSD" doc:"The spentUSD of that period in byPeriod"`
	ByPeriod  []BudgetPeriodTotal `json:"byPeriod" doc:"A total for each period that has budgets, the shortest first"`
	Items     []BudgetStanding    `json:"items"`
}

// BudgetPeriodTotal adds up the budgets of one period. Each cost counts once.
type BudgetPeriodTotal struct {
	Period       budgeting.Period `json:"period" enum:"month,quarter,year"`
	From         string           `json:"from" example:"2026-11-01"`
	To           string           `json:"to" doc:"The first day after the period" example:"2026-12-01"`
	AmountUSD    string           `json:"amountUSD" doc:"Of the budgets in counted"`
	SpentUSD     string           `json:"spentUSD" doc:"Of the budgets in counted"`
	RemainingUSD string           `json:"remainingUSD" doc:"Below 0 if more is spent than planned"`
	Counted      []string         `json:"counted" doc:"IDs of the budgets that count: they have no costs in common"`
	LeftOut      []BudgetLeftOut  `json:"leftOut" doc:"The budgets that do not count"`
}

// BudgetLeftOut is a budget that does not count in a total, because another one that counts covers the same costs.
type BudgetLeftOut struct {
	BudgetID        string `json:"budgetID"`
	SharesCostsWith string `json:"sharesCostsWith" doc:"ID of a budget that counts and has costs in common with it"`
}

func (s *service) summary(ctx context.Context, _ *struct{}) (BudgetSummary, error) {
	all, err := s.visible(ctx)
	if err != nil {
		return BudgetSummary{}, err
	}
	org, now := identity.CallerOrg(ctx), s.p.Clock.Now()
	states, err := budgeting.ReadStates(ctx, s.costs, org, all, now)
	if err != nil {
		return BudgetSummary{}, err
	}
	totals, err := budgeting.ReadTotals(ctx, s.costs, org, states, now)
	if err != nil {
		return BudgetSummary{}, err
	}
	out := summarize(states, totals)
	shown := make([]*BudgetStanding, len(out.Items))
	for i := range out.Items {
		shown[i] = &out.Items[i] // in the order of states, which summarize sorts
	}
	return out, s.attribute(ctx, states, shown)
}

func summarize(states []budgeting.State, totals []budgeting.Total) BudgetSummary {
	slices.SortStableFunc(states, budgeting.CompareWorst)
	out := BudgetSummary{
		Count: len(states), Items: make([]BudgetStanding, len(states)),
		ByPeriod: make([]BudgetPeriodTotal, len(totals)),
		Period:   budgeting.Month, AmountUSD: money.Amount{}.Fixed(2), SpentUSD: money.Amount{}.Fixed(2),
	}
	count := map[budgeting.Signal]int{}
	for i := range states {
		out.Items[i] = newStanding(&states[i])
		count[states[i].Signal]++
	}
	out.Green, out.Yellow, out.Red = count[budgeting.Green], count[budgeting.Yellow], count[budgeting.Red]
	for i := range totals {
		out.ByPeriod[i] = newPeriodTotal(&totals[i])
	}
	if len(totals) > 0 {
		first := &out.ByPeriod[0]
		out.Period, out.AmountUSD, out.SpentUSD = first.Period, first.AmountUSD, first.SpentUSD
	}
	return out
}

func newPeriodTotal(t *budgeting.Total) BudgetPeriodTotal {
	out := BudgetPeriodTotal{
		Period: t.Period, From: t.From.Format(time.DateOnly), To: t.To.Format(time.DateOnly),
		AmountUSD: t.Amount.Fixed(2), SpentUSD: t.Spent.Fixed(2), RemainingUSD: t.Amount.Sub(t.Spent).Fixed(2),
		Counted: t.Counted, LeftOut: []BudgetLeftOut{},
	}
	for _, l := range t.LeftOut {
		out.LeftOut = append(out.LeftOut, BudgetLeftOut(l))
	}
	return out
}
