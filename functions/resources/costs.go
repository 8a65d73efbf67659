package resources

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/foundation/money"
)

func (s *service) costOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "getResourceCosts", Method: http.MethodGet, Path: "/resources/{resourceID}/costs", Policy: policy,
		Scoped:   true,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound},
		Summary:  "Get the costs of a resource",
		Description: "By day, in UTC; the days add up to totalUSD. The current month unless other days are " +
			"requested, at most 800: from is the first day and to the day after the last; period is a month. Costs " +
			"are invoiced amounts where they exist; estimated says that public prices stand in for days that are " +
			"not billed yet. The whole cost is shown, also of a resource that several teams own. cost is billed by " +
			"default.",
	}, s.getCosts)
}

type costsInput struct {
	ResourceID string `path:"resourceID" maxLength:"64"`
	Cost       string `query:"cost" enum:"billed,effective,list" doc:"The cost to report: as invoiced, with commitments spread over the usage that they cover, or at public prices"`
	Period     string `query:"period" maxLength:"7" doc:"A month; or give from and to" example:"2026-03"`
	rest.Window
}

// CostHistory is the cost of a resource by day.
type CostHistory struct {
	ResourceID  string               `json:"resourceID"`
	ResourceUID string               `json:"resourceUID"`
	Cost        string               `json:"cost" enum:"billed,effective,list" doc:"Which cost counts"`
	From        string               `json:"from" doc:"The first day" example:"2026-03-01"`
	To          string               `json:"to" doc:"The day after the last" example:"2026-04-01"`
	TotalUSD    string               `json:"totalUSD" example:"123.45"`
	Estimated   bool                 `json:"estimated" doc:"Part of the cost is estimated from public prices, as the bill has not come"`
	CostSource  string               `json:"costSource" enum:"estimated,actual" doc:"actual if every day up to the day before yesterday is billed, else estimated"`
	Unconverted []report.Unconverted `json:"unconverted" doc:"Charges in currencies without a known exchange rate; they are in no figure"`
	Items       []CostOfDay          `json:"items"`
}

// CostOfDay is the cost of a resource on one day.
type CostOfDay struct {
	Date      string `json:"date" example:"2026-03-01"`
	CostUSD   string `json:"costUSD" example:"4.12"`
	Estimated bool   `json:"estimated"`
}

func (s *service) getCosts(ctx context.Context, in *costsInput) (CostHistory, error) {
	asked := report.Asked{Cost: in.Cost, Period: in.Period, Window: in.Window}
	from, to, err := asked.Days(report.ThisMonth, s.p.Clock.Now())
	if err != nil {
		return CostHistory{}, err
	}
	c := identity.CallerFrom(ctx)
	r, err := s.inventory.ByID(ctx, c.Org, in.ResourceID, inventory.SightOf(c, policy))
	if err != nil {
		return CostHistory{}, err
	}
	q := cost.Question{
		From: from, To: to, Metric: cmp.Or(cost.Metric(in.Cost), cost.Billed), Daily: true,
		Filter: map[string][]string{cost.ResourceDim: {r.UID}},
	}
	a, err := s.reports.Ask(ctx, q)
	if err != nil {
		return CostHistory{}, err
	}
	out := newCostHistory(&q, &a, s.p.Clock.Now())
	out.ResourceID, out.ResourceUID = r.ID, r.UID
	return out, nil
}

// newCostHistory returns the days of an answer, in cents that add up to the total.
func newCostHistory(q *cost.Question, a *cost.Answer, now time.Time) CostHistory {
	out := CostHistory{
		Cost: string(q.Metric), From: q.From.Format(time.DateOnly), To: q.To.Format(time.DateOnly),
		TotalUSD: a.Total.Fixed(2), Estimated: slices.Contains(a.Estimated, true), CostSource: report.CostSource(q, a, now),
		Unconverted: report.NewUnconverted(a.Unconverted), Items: make([]CostOfDay, len(a.Days)),
	}
	for d, amount := range money.RoundPartsTo(a.Days, a.Total.Round(2), 2) {
		out.Items[d] = CostOfDay{q.From.AddDate(0, 0, d).Format(time.DateOnly), amount.Fixed(2), a.Estimated[d]}
	}
	return out
}
