package dashboards

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/displayname"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

const (
	maxDashboards = 50 // of an organization, besides the presets
	maxWidgets    = 24
	maxName       = 128

	namePartition table.Partition = "ORG#*#DASHBOARDNAME"
)

// Dashboard is a page of widgets.
type Dashboard struct {
	ID          string    `json:"id" example:"dash_01k6v0e4y0c2b7m9q8r5t3w1xz"`
	Name        string    `json:"name"`
	Description string    `json:"description"`
	Preset      bool      `json:"preset" doc:"One of the service's own: it can be cloned, and not changed"`
	Widgets     []Widget  `json:"widgets"`
	CreatedBy   string    `json:"createdBy" doc:"Empty of a preset"`
	CreatedAt   time.Time `json:"createdAt"`
	UpdatedAt   time.Time `json:"updatedAt"`
}

// stored is a dashboard as it is stored. Generation is incremented by each change, and each change is conditional on
// it.
type stored struct {
	Dashboard
	Generation int64 `json:"generation"`
}

// launched is the creation time of the presets.
var launched = time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)

// presets are the built-in dashboards, one for each group of readers.
var presets = []Dashboard{
	preset("executive", "What it costs, where it goes and whether that is as planned",
		newWidget(totalsWidget, "This month", "small", WidgetQuery{}),
		newWidget(totalsWidget, "Last month", "small", WidgetQuery{Period: "last_month"}),
		newWidget(savingsWidget, "Saved this month", "small", WidgetQuery{}),
		newWidget(trendWidget, "The last twelve months", "full", WidgetQuery{Period: "last_12_months"}),
		newWidget(breakdownWidget, "By team", "medium", WidgetQuery{Dims: []string{"team_id"}}),
		newWidget(budgetsWidget, "Budgets", "medium", WidgetQuery{})),
	preset("engineering", "What the resources cost, and what is unusual",
		newWidget(topWidget, "What costs most", "large", WidgetQuery{Period: "last_30_days"}),
		newWidget(anomaliesWidget, "Anomalies", "medium", WidgetQuery{}),
		newWidget(breakdownWidget, "By service", "medium",
			WidgetQuery{Dims: []string{"service_name"}, Period: "last_30_days"}),
		newWidget(statesWidget, "Resources", "small", WidgetQuery{}),
		newWidget(actionsWidget, "Actions of the day", "small", WidgetQuery{})),
	preset("finops", "Every cost by who causes it, and how it is bought",
		newWidget(totalsWidget, "Effective cost", "small", WidgetQuery{Cost: "effective"}),
		newWidget(totalsWidget, "At list prices", "small", WidgetQuery{Cost: "list"}),
		newWidget(savingsWidget, "Saved in 30 days", "small", WidgetQuery{Period: "last_30_days"}),
		newWidget(trendWidget, "The last 90 days", "full", WidgetQuery{Period: "last_90_days", Cost: "effective"}),
		newWidget(breakdownWidget, "By provider and service", "large",
			WidgetQuery{Dims: []string{"provider", "service_name"}}),
		newWidget(breakdownWidget, "By purchase type", "medium",
			WidgetQuery{Dims: []string{"purchase_type"}, Cost: "effective"}),
		newWidget(budgetsWidget, "Budgets", "medium", WidgetQuery{}),
		newWidget(anomaliesWidget, "Anomalies", "medium", WidgetQuery{})),
	preset("operations", "What runs, and what was done today",
		newWidget(statesWidget, "Resources", "medium", WidgetQuery{}),
		newWidget(actionsWidget, "Actions of the day", "medium", WidgetQuery{}),
		newWidget(trendWidget, "The last week", "large", WidgetQuery{Period: "last_7_days"}),
		newWidget(anomaliesWidget, "Anomalies", "medium", WidgetQuery{})),
}

func preset(name, text string, widgets ...Widget) Dashboard {
	return Dashboard{
		ID: name, Name: strings.ToUpper(name[:1]) + name[1:], Description: text, Preset: true, Widgets: widgets,
		CreatedAt: launched, UpdatedAt: launched,
	}
}

func newWidget(of, title, size string, q WidgetQuery) Widget {
	return Widget{Type: of, Title: title, Size: size, Query: q}.complete()
}

// check normalizes and validates a dashboard. It returns fault.Invalid with the name of the wrong field.
func (d *Dashboard) check() (err error) {
	if d.Name, err = displayname.CleanName("name", d.Name, maxName); err != nil {
		return err
	}
	d.Widgets = append([]Widget{}, d.Widgets...)
	for i := range d.Widgets {
		d.Widgets[i] = d.Widgets[i].complete()
		if err = d.Widgets[i].check(fmt.Sprintf("widgets[%d]", i)); err != nil {
			return err
		}
	}
	for _, p := range presets {
		if strings.EqualFold(p.Name, d.Name) {
			return fault.New(fault.Conflict, "name: a preset is named %.64q; choose another name", d.Name)
		}
	}
	return nil
}

func key(org, dashboardID string) table.Key {
	return identity.DashboardKey(org, dashboardID)
}

// names returns the names of an organization's dashboards.
func names(org string) table.UniqueNames {
	return table.UniqueNames{PK: table.OrgPK(org) + namePartition.Name(), Noun: "dashboard"}
}

func missing(dashboardID string) error {
	return fault.New(fault.NotFound, "dashboard %.64q does not exist", dashboardID)
}

// limited returns the dashboards of an organization as a list of at most maxDashboards.
func limited(org string) table.LimitedList {
	return table.LimitedList{PK: names(org).PK, Noun: "dashboards"}
}

// store stores the dashboards of organizations.
type store struct{ table table.Store }

// read returns a dashboard or a preset, or fault.NotFound.
func (s store) read(ctx context.Context, org, dashboardID string) (stored, error) {
	for _, p := range presets {
		if p.ID == dashboardID {
			return stored{Dashboard: p}, nil
		}
	}
	if !id.IsValid("dash", dashboardID) {
		return stored{}, missing(dashboardID)
	}
	d, err := table.Read[stored](ctx, s.table, key(org, dashboardID))
	if fault.Is(err, fault.NotFound) {
		return d, missing(dashboardID)
	}
	return d, fault.Wrap("read dashboard "+dashboardID, err)
}

// list returns the presets, then the dashboards of an organization, the oldest first.
func (s store) list(ctx context.Context, org string) ([]Dashboard, error) {
	out := append([]Dashboard{}, presets...)
	for q := (table.Query{PK: key(org, "").PK, Limit: maxDashboards}); ; {
		page, next, err := table.ReadPage[stored](ctx, s.table, q)
		if err != nil {
			return nil, fmt.Errorf("list dashboards of %s: %w", org, err)
		}
		for _, d := range page {
			out = append(out, d.Dashboard)
		}
		if q.Cursor = next; next == "" {
			return out, nil
		}
	}
}

// write replaces old, as it was read, by next, together with the extra writes. The zero old creates a dashboard. It
// returns fault.Conflict if the dashboard has changed since, or if another dashboard has its name.
func (s store) write(ctx context.Context, org string, old stored, next Dashboard, extra ...table.Write) error {
	it, err := table.NewItem(key(org, next.ID), stored{next, old.Generation + 1})
	if err != nil {
		return err
	}
	cond := table.Equal("generation", old.Generation)
	if old.ID == "" {
		cond = table.Absent()
	}
	renamed, err := names(org).Rename(old.Name, next.Name, next.ID)
	if err != nil {
		return err
	}
	ws := append([]table.Write{table.Put(it, cond)}, renamed...)
	err = s.table.Transact(ctx, append(ws, extra...)...)
	return table.ExplainLost(err, "write dashboard "+next.ID, func(lost *table.ConditionError) error {
		if taken := names(org).Refusal(lost, next.Name); taken != nil {
			return taken
		}
		return changed(next.ID)
	})
}

func changed(dashboardID string) error {
	return fault.New(fault.Conflict, "dashboard %s was changed by someone else meanwhile; read it and try again",
		dashboardID)
}

// delete deletes a dashboard, as it was read, unless it is the default dashboard of its organization.
func (s store) delete(ctx context.Context, org string, d stored) error {
	err := s.table.Transact(ctx, table.Delete(key(org, d.ID), table.Equal("generation", d.Generation)),
		names(org).Release(d.Name),
		table.Check(identity.OrganisationKey(org),
			table.Any(table.Lacks("defaultDashboard"), table.NotEqual("defaultDashboard", d.ID))))
	if lost, ok := errors.AsType[*table.ConditionError](err); ok {
		if _, isDefault := lost.Old(2); isDefault {
			use := fault.Use{Kind: "organisation", ID: org, Name: "as its defaultDashboard"}
			return fault.InUse(fmt.Sprintf("dashboard %s (%s)", d.ID, d.Name), []fault.Use{use},
				"choose another default with PUT /organisation, then delete")
		}
		return changed(d.ID)
	}
	return fault.Wrap("delete dashboard "+d.ID, err)
}
