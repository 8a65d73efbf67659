// Package budgets is the operation group Budgets: planned spending by scope, and its state.
package budgets

import (
	"net/http"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/budgeting"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
)

const (
	budgets = "/budgets"
	one     = budgets + "/{budgetID}"
	reading = "budgets:read"
	writing = "budgets:write"
)

type service struct {
	p         *platform.Platform
	store     *budgeting.Store
	costs     *cost.Store
	inventory *inventory.Store
}

// Operations returns the operations of the group.
func Operations(p *platform.Platform) *rest.Group {
	g := rest.NewGroup("Budgets")
	s := &service{p, budgeting.NewStore(p.Table), cost.New(p), inventory.New(p)}
	invalid, missing := []int{http.StatusBadRequest}, []int{http.StatusNotFound}
	rest.Handle(g, rest.Op{
		ID: "listBudgets", Method: http.MethodGet, Path: budgets, Policy: reading, Scoped: true, Statuses: invalid,
		Summary:     "List budgets",
		Description: "At most 200 an organization. " + scoped,
	}, s.list)
	rest.Handle(g, rest.Op{
		ID: "createBudget", Method: http.MethodPost, Path: budgets, Policy: writing,
		Statuses: []int{http.StatusBadRequest, http.StatusConflict},
		Summary:  "Create a budget", Description: shape,
	}, s.create)
	rest.Handle(g, rest.Op{
		ID: "summarizeBudgets", Method: http.MethodGet, Path: budgets + "/summary", Policy: reading, Scoped: true,
		Statuses: invalid,
		Summary:  "List the status of all budgets",
		Description: "The worst first: red, yellow, green, and of a colour the one that is spent furthest. byPeriod " +
			"adds up the budgets of each period, each cost once. Of budgets that have costs in common only the one " +
			"with the widest scope counts: the organization, else the scope that cost most in this and the last " +
			"three months, else the higher amount, else the older budget. leftOut names the others. Budgets have " +
			"costs in common if any cost of the period, or of the last three months, belongs to both. A resource " +
			"that several teams own does not count: each team has its share. Budgets of more than 4 tag keys are " +
			"compared for the first 4 keys in alphabetical order; a budget of another key is taken to have costs in " +
			"common with each budget that is not of its key. " + scoped +
			forecast,
	}, s.summary)
	rest.Handle(g, rest.Op{
		ID: "getBudget", Method: http.MethodGet, Path: one, Policy: reading, Scoped: true, Statuses: missing,
		Summary: "Read a budget", Description: scoped,
	}, s.get)
	rest.Handle(g, rest.Op{
		ID: "getBudgetStatus", Method: http.MethodGet, Path: one + "/status", Policy: reading, Scoped: true,
		Statuses: missing,
		Summary:  "Get the status of a budget",
		Description: "Includes the burn-down: a line for each day of the period. Accept: image/svg+xml asks for a " +
			"picture of it. " + scoped + forecast,
	}, s.statusOrPicture)
	rest.Handle(g, rest.Op{
		ID: "drawBudgetStatus", Method: http.MethodGet, Path: one + "/status.svg", Policy: reading, Scoped: true,
		Statuses: missing, Produces: rest.SVGType,
		Summary:     "Draw the status of a budget",
		Description: "Draws spent and forecast costs beside the plan and the amount. " + scoped + forecast,
	}, s.picture)
	rest.Handle(g, rest.Op{
		ID: "updateBudget", Method: http.MethodPut, Path: one, Policy: writing,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict}, Summary: "Change a budget",
		Description: "Changes only the fields present. A threshold that has sent its event sends no second one in " +
			"the period, even if the amount changes. " + shape,
	}, s.update)
	rest.Handle(g, rest.Op{
		ID: "deleteBudget", Method: http.MethodDelete, Path: one, Policy: writing,
		Statuses: []int{http.StatusNotFound, http.StatusConflict}, Summary: "Delete a budget",
	}, s.remove)
	return g
}

const (
	shape = "Billed costs count, in calendar months, quarters or years of UTC. scopeID is empty for org, our id of " +
		"an account, group or team, the native id of a resource, key=value of a tag. Each threshold, in percent, " +
		"sends one event a period: budget.warning below 100, budget.exceeded from 100 on; with forecastAlerts also " +
		"budget.warning when the forecast reaches it. A cost that is restated and grows again sends no second " +
		"event. At most 200 budgets an organization, of 10 thresholds each. Names are unique without regard to " +
		"case."
	scoped   = "A grant on teams or resources shows the budgets of just these. "
	forecast = "The signal is red when the amount is spent, yellow from 80 % on or when the forecast reaches it. " +
		"The forecast is the cost up to the last day whose bills are complete in all accounts, and for each later " +
		"day the mean of its weekday over the 28 days before (below 14 days: the mean of all) and the charges other " +
		"than usage that recur: those of each day, such as fees of savings plans, and those of a day of the month, " +
		"such as support. low and high hold four of five outcomes: 1.2816 × s × √(h + h²/n), with h remaining " +
		"days, n = 28 and the standard deviation s of up to 84 days from the means of their weekdays (Hyndman and " +
		"Athanasopoulos, Forecasting: Principles and Practice, 5.2 and 5.5)."
)

// BudgetInput names the budget of a request.
type BudgetInput struct {
	BudgetID string `path:"budgetID" maxLength:"64"`
}

// orders are the sort fields of budgets.
type orders struct{}

var _ rest.Orders[budgeting.Budget] = orders{}

func (orders) Orders() []rest.Order[budgeting.Budget] {
	return []rest.Order[budgeting.Budget]{
		rest.OrderByText("name", func(b budgeting.Budget) string { return b.Name }),
		rest.OrderByTime("createdAt", func(b budgeting.Budget) time.Time { return b.CreatedAt }),
		{Field: "amountUSD", Compare: func(a, b budgeting.Budget) int { return a.Amount.Cmp(b.Amount) }},
	}
}
