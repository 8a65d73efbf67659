package reports

import (
	"context"
	"net/http"
	"time"

	"lamplighter.dev/functions/reports/unitmetric"
	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

const unitMetrics = reports + "/unit-metrics"

func (s *service) unitOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "listUnitMetrics", Method: http.MethodGet, Path: unitMetrics, Policy: reading, Scoped: true,
		Statuses: invalid,
		Summary:  "List costs per unit",
		Description: "For each metric, the cost, the number of units and the cost of one unit: by day, week or " +
			"month, where there were units. The last 30 days, 12 weeks or 12 months, including the current one, " +
			"unless days are requested. Units are those of the whole organization, also for a grant on teams or " +
			"resources." +
			effective + asked,
	}, s.units)
	rest.Handle(g, rest.Op{
		ID: "createUnitMetric", Method: http.MethodPost, Path: unitMetrics, Policy: writing,
		Statuses: []int{http.StatusBadRequest, http.StatusConflict},
		Summary:  "Create a unit metric",
		Description: "A unit metric counts units of business, such as orders, users or thousands of requests, to " +
			"report the cost of one. At most 50 an organization.",
	}, s.createUnit)
	rest.Handle(g, rest.Op{
		ID: "pushUnitValues", Method: http.MethodPost, Path: unitMetrics + "/{name}/values", Policy: writing,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound},
		Summary:  "Push the values of a unit metric",
		Description: "Up to 5,000 rows, one a day at most. A value takes the place of the one before of its day, so " +
			"that a push may be repeated.",
	}, s.pushUnits)
}

// UnitMetric is a business unit, such as an order. Reports divide costs by the number of units.
type UnitMetric struct {
	Name        string    `json:"name" example:"orders"`
	Unit        string    `json:"unit" example:"order"`
	Description string    `json:"description"`
	CreatedAt   time.Time `json:"createdAt"`
}

func newUnitMetric(m unitmetric.Metric) UnitMetric {
	return UnitMetric{m.Name, m.Unit, m.Description, m.CreatedAt}
}

// NewUnitMetric is the body of POST /reports/unit-metrics.
type NewUnitMetric struct {
	Name        string `json:"name" pattern:"^[a-z0-9][a-z0-9_.-]{0,63}$" doc:"Small letters, digits, and _ . - within"`
	Unit        string `json:"unit" minLength:"1" maxLength:"64" example:"order"`
	Description string `json:"description,omitempty" maxLength:"500"`
}

func (s *service) createUnit(ctx context.Context, in *struct{ Body NewUnitMetric }) (UnitMetric, error) {
	m := unitmetric.Metric{
		Name: in.Body.Name, Unit: in.Body.Unit, Description: in.Body.Description,
		CreatedAt: s.p.Clock.Now(),
	}
	audit.NoteChange(ctx, audit.Change{Target: m.Name, After: newUnitMetric(m)})
	org := identity.CallerOrg(ctx)
	return newUnitMetric(m), unitmetric.Limited(org).Add(ctx, s.p.Table, func(take table.Write) error {
		all, err := s.unitsOf.List(ctx, org)
		if err == nil && len(all) >= unitmetric.MaxMetrics {
			err = fault.New(fault.Invalid, "the organization has %d unit metrics, which is the most", len(all))
		}
		if err != nil {
			return err
		}
		return s.unitsOf.Create(ctx, org, m, take)
	})
}

// UnitValue is the number of units on a day.
type UnitValue struct {
	Date  rest.Time `json:"date"`
	Value rest.USD  `json:"value" doc:"How many; not below 0" example:"1200"`
}

// UnitValues is the body of POST /reports/unit-metrics/{name}/values.
type UnitValues struct {
	Values []UnitValue `json:"values" minItems:"1" maxItems:"5000"`
}

type pushInput struct {
	Name string `path:"name" maxLength:"64"`
	Body UnitValues
}

// Pushed is the number of values that were stored.
type Pushed struct {
	Name   string `json:"name"`
	Values int    `json:"values"`
}

func (s *service) pushUnits(ctx context.Context, in *pushInput) (Pushed, error) {
	if _, err := s.unitsOf.Get(ctx, identity.CallerOrg(ctx), in.Name); err != nil {
		return Pushed{}, err
	}
	values := make(map[time.Time]money.Amount, len(in.Body.Values))
	for _, v := range in.Body.Values {
		at := report.Midnight(v.Date.Time)
		if _, twice := values[at]; twice {
			return Pushed{},
				fault.New(fault.Invalid, "values: %s is there twice; send one value a day", at.Format(time.DateOnly))
		}
		amount, err := v.Value.Read("values")
		if err != nil {
			return Pushed{}, err
		}
		if amount.Sign() < 0 {
			return Pushed{}, fault.New(fault.Invalid, "values: %s of %s is below 0", amount, at.Format(time.DateOnly))
		}
		values[at] = amount
	}
	audit.NoteChange(ctx, audit.Change{Target: in.Name, After: in.Body})
	return Pushed{in.Name, len(values)}, s.unitsOf.Put(ctx, identity.CallerOrg(ctx), in.Name, values)
}

// UnitPoint is the cost per unit in a day, week or month. It leaves out the cost of days without a known number of
// units.
type UnitPoint struct {
	Date           string  `json:"date" example:"2026-03-01"`
	CostUSD        string  `json:"costUSD" doc:"Of the days whose units are known"`
	Units          string  `json:"units"`
	CostPerUnitUSD *string `json:"costPerUnitUSD" doc:"Null of no units" example:"0.012300"`
}

// UnitCosts is a metric with its cost per unit over time.
type UnitCosts struct {
	UnitMetric
	Items []UnitPoint `json:"items"`
}

// UnitReport is the cost per unit of each metric.
type UnitReport struct {
	Basis
	Granularity string      `json:"granularity" enum:"day,week,month"`
	Items       []UnitCosts `json:"items"`
}

func (s *service) units(ctx context.Context, in *TrendInput) (UnitReport, error) {
	q, err := s.Question(ctx, &in.Asked, report.Recent(in.Granularity), cost.Effective)
	if err != nil {
		return UnitReport{}, err
	}
	all, err := s.unitsOf.List(ctx, identity.CallerOrg(ctx))
	if err != nil {
		return UnitReport{}, err
	}
	a, err := s.series(ctx, q)
	if err != nil {
		return UnitReport{}, err
	}
	values, err := s.unitsOf.Values(ctx, identity.CallerOrg(ctx), q.From, q.To)
	if err != nil {
		return UnitReport{}, err
	}
	out := UnitReport{Granularity: in.Granularity, Items: []UnitCosts{}}
	if out.Basis, err = s.basis(ctx, &q, &a); err != nil {
		return out, err
	}
	b := bucket(in.Granularity, q.From, &a)
	for _, m := range all {
		out.Items = append(out.Items, UnitCosts{newUnitMetric(m), unitPoints(&b, &a, q.From, values[m.Name])})
	}
	return out, nil
}

// unitPoints returns the cost per unit of each bucket. It leaves out buckets without a day whose units are known.
func unitPoints(b *buckets, a *cost.Answer, from time.Time, values map[time.Time]money.Amount) []UnitPoint {
	costs, units, known := make([]money.Amount, len(b.first)), make([]money.Amount, len(b.first)),
		make([]bool, len(b.first))
	for d, n := range b.of {
		if v, ok := values[from.AddDate(0, 0, d)]; ok {
			costs[n].Increase(&a.Days[d])
			units[n].Increase(&v)
			known[n] = true
		}
	}
	out := []UnitPoint{}
	for n := range known {
		if !known[n] {
			continue
		}
		p := UnitPoint{b.first[n].Format(time.DateOnly), costs[n].Fixed(2), units[n].String(), nil}
		if !units[n].IsZero() {
			each := costs[n].MulDiv(money.FromInt(1), units[n]).Fixed(6)
			p.CostPerUnitUSD = &each
		}
		out = append(out, p)
	}
	return out
}
