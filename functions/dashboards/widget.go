package dashboards

import (
	"cmp"
	"slices"
	"strings"

	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/foundation/fault"
)

// The types of widgets.
const (
	totalsWidget    = "totals"
	trendWidget     = "trend"
	breakdownWidget = "breakdown"
	topWidget       = "top_resources"
	budgetsWidget   = "budgets"
	anomaliesWidget = "anomalies"
	savingsWidget   = "savings"
	statesWidget    = "resources_by_state"
	actionsWidget   = "actions_of_day"
)

// WidgetQuery holds the parameters of a widget. Fields that its type does not use have no effect.
type WidgetQuery struct {
	Period string              `json:"period" required:"false" enum:"month_to_date,last_month,last_7_days,last_30_days,last_90_days,last_12_months" doc:"Left out: month_to_date"`
	Cost   string              `json:"cost" required:"false" enum:"billed,effective,list" doc:"Left out: billed"`
	Dims   []string            `json:"dims" required:"false" maxItems:"3" doc:"The dimensions of a breakdown, in order" example:"[\"provider\",\"service_name\"]"`
	Filter map[string][]string `json:"filter" required:"false" doc:"Of a dimension any of these values; all dimensions must agree"`
	Limit  int                 `json:"limit" required:"false" minimum:"1" maximum:"50" doc:"How many rows; left out: 10"`
}

// Widget is a part of a dashboard.
type Widget struct {
	Type  string      `json:"type" enum:"totals,trend,breakdown,top_resources,budgets,anomalies,savings,resources_by_state,actions_of_day"`
	Title string      `json:"title" required:"false" maxLength:"128"`
	Size  string      `json:"size" required:"false" enum:"small,medium,large,full" default:"medium"`
	Query WidgetQuery `json:"query" required:"false"`
}

// kind is a type of widget: its description, its policy, and the fields of a query that it uses.
type kind struct {
	policy string
	text   string
	fields []string
}

const costReading = "reports:read"

var costFields = []string{"period", "cost", "filter"}

var kinds = map[string]kind{
	totalsWidget: {costReading, "What the period costs, beside the one before it", costFields},
	trendWidget:  {costReading, "What the period costs, day by day; by month beyond 92 days", costFields},
	breakdownWidget: {
		costReading, "What the period costs, split by dimensions; the rows sum to the total",
		append(slices.Clone(costFields), "dims", "limit"),
	},
	topWidget: {
		costReading, "The resources that cost most in the period",
		append(slices.Clone(costFields), "limit"),
	},
	budgetsWidget:   {"budgets:read", "How budgets stand, the worst first", []string{"limit"}},
	anomaliesWidget: {costReading, "The newest open anomalies", []string{"limit"}},
	savingsWidget:   {costReading, "What was saved in the period by stopping things", []string{"period"}},
	statesWidget:    {"resources:read", "How many resources there are in each state", nil},
	actionsWidget:   {"actions:read", "The actions of the last 24 hours, by status", nil},
}

// complete returns w with defaults in its empty fields.
func (w Widget) complete() Widget {
	q := &w.Query
	w.Size = cmp.Or(w.Size, "medium")
	q.Period, q.Cost, q.Limit = cmp.Or(q.Period, "month_to_date"), cmp.Or(q.Cost, string(cost.Billed)),
		cmp.Or(q.Limit, 10)
	if q.Dims = append([]string{}, q.Dims...); q.Filter == nil {
		q.Filter = map[string][]string{}
	}
	return w
}

// check returns an error if the widget cannot answer its query; at names the widget in messages.
func (w *Widget) check(at string) error {
	if w.Type == breakdownWidget && len(w.Query.Dims) == 0 {
		return fault.New(fault.Invalid, "%s.query.dims: a breakdown needs one at least, such as service_name", at)
	}
	for _, d := range w.Query.Dims {
		if !isDim(d) {
			return unknownDim(at+".query.dims", d)
		}
	}
	values := 0
	for d, of := range w.Query.Filter {
		if !isDim(d) {
			return unknownDim(at+".query.filter", d)
		}
		values += len(of)
	}
	if values > 100 {
		return fault.New(fault.Invalid, "%s.query.filter: it has %d values; 100 are the most", at, values)
	}
	return nil
}

func isDim(d string) bool {
	key, isTag := strings.CutPrefix(d, cost.TagDim)
	return isTag && key != "" && len(key) <= 128 || d == cost.ResourceDim || slices.Contains(cost.SummaryDims, d)
}

func unknownDim(at, d string) error {
	return fault.New(fault.Invalid, "%s: %.64q is no dimension; send one of %s, %s or tag:<key>", at, d,
		strings.Join(cost.SummaryDims, ", "), cost.ResourceDim)
}
