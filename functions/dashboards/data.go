package dashboards

import (
	"context"
	"sync"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/fault"
)

// WidgetData is the data of a widget. The field named after its type is set; the others are null.
type WidgetData struct {
	Type         string           `json:"type" enum:"totals,trend,breakdown,top_resources,budgets,anomalies,savings,resources_by_state,actions_of_day"`
	Title        string           `json:"title"`
	Size         string           `json:"size" enum:"small,medium,large,full"`
	Forbidden    bool             `json:"forbidden" doc:"The caller lacks the policy of the widget"`
	Error        *string          `json:"error" doc:"Why it cannot be answered; null when it is"`
	Totals       *WidgetTotals    `json:"totals"`
	Trend        *WidgetTrend     `json:"trend"`
	Breakdown    *WidgetBreakdown `json:"breakdown"`
	TopResources []WidgetResource `json:"topResources"`
	Budgets      []WidgetBudget   `json:"budgets"`
	Anomalies    []WidgetAnomaly  `json:"anomalies"`
	Savings      *WidgetSavings   `json:"savings"`
	States       map[string]int   `json:"resourcesByState"`
	Actions      *WidgetActions   `json:"actionsOfDay"`
}

// DashboardData is the data of all widgets on a dashboard.
type DashboardData struct {
	DashboardID string       `json:"dashboardID"`
	Name        string       `json:"name"`
	At          time.Time    `json:"at" doc:"When it was read"`
	Widgets     []WidgetData `json:"widgets"`
}

// page is one read of a dashboard. It holds the data that its widgets share.
type page struct {
	*service
	caller identity.Caller
	now    time.Time

	mu    sync.Mutex
	asked map[string]*answer
	sets  map[string]inventory.ResourceSet // by policy
}

// answer is an answer of the cost store, requested once.
type answer struct {
	once sync.Once
	cost.Answer
	err error
}

// atOnce is the most widgets that are answered concurrently.
const atOnce = 4

func (s *service) data(ctx context.Context, in *DashboardInput) (DashboardData, error) {
	d, err := s.store.read(ctx, identity.CallerOrg(ctx), in.DashboardID)
	if err != nil {
		return DashboardData{}, err
	}
	p := &page{service: s, caller: identity.CallerFrom(ctx), now: s.p.Clock.Now().UTC(), asked: map[string]*answer{}}
	if err = p.see(ctx, d.Widgets); err != nil {
		return DashboardData{}, err
	}
	out := DashboardData{DashboardID: d.ID, Name: d.Name, At: p.now, Widgets: make([]WidgetData, len(d.Widgets))}
	var wg sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i := range d.Widgets {
		slots <- struct{}{}
		wg.Go(func() {
			out.Widgets[i] = p.answer(ctx, &d.Widgets[i])
			<-slots
		})
	}
	wg.Wait()
	return out, nil
}

// see reads the resources that the caller may see by the policies of the widgets. It makes no round trip for a caller
// who may see all.
func (p *page) see(ctx context.Context, widgets []Widget) error {
	p.sets = map[string]inventory.ResourceSet{}
	for _, w := range widgets {
		policy := kinds[w.Type].policy
		if _, had := p.sets[policy]; had {
			continue
		}
		sets, err := p.inventory.ResourceSets(ctx, p.caller.Org, p.caller.Scopes(policy))
		if err != nil {
			return err
		}
		p.sets[policy] = sets[0]
	}
	return nil
}

// answer returns the data of a widget. On failure it sets the widget's error to a message that a client may see, and
// logs the cause.
func (p *page) answer(ctx context.Context, w *Widget) WidgetData {
	out := WidgetData{
		Type: w.Type, Title: w.Title, Size: w.Size, TopResources: []WidgetResource{}, Budgets: []WidgetBudget{},
		Anomalies: []WidgetAnomaly{}, States: map[string]int{},
	}
	scopes := p.caller.Scopes(kinds[w.Type].policy)
	if out.Forbidden = !scopes.All && scopes.None(); out.Forbidden {
		return out
	}
	if err := p.fill(ctx, w, &out); err != nil {
		message := fault.Message(err)
		out.Error = &message
		if fault.Is(err, fault.Internal) || fault.Is(err, fault.Unavailable) {
			p.p.Log.ErrorContext(ctx, "a widget could not be answered", "widget", w.Type, "error", err.Error())
		}
	}
	return out
}

func (p *page) fill(ctx context.Context, w *Widget, out *WidgetData) (err error) {
	switch w.Type {
	case totalsWidget:
		out.Totals, err = p.totals(ctx, &w.Query)
	case trendWidget:
		out.Trend, err = p.trend(ctx, &w.Query)
	case breakdownWidget:
		out.Breakdown, err = p.breakdown(ctx, &w.Query)
	case topWidget:
		out.TopResources, err = p.topResources(ctx, &w.Query)
	case budgetsWidget:
		out.Budgets, err = p.budgetStates(ctx, &w.Query)
	case anomaliesWidget:
		out.Anomalies, err = p.openAnomalies(ctx, &w.Query)
	case savingsWidget:
		out.Savings, err = p.realized(ctx, &w.Query)
	case statesWidget:
		out.States, err = p.states(ctx)
	case actionsWidget:
		out.Actions, err = p.actionsOfDay(ctx)
	}
	return err
}
