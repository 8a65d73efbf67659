// Package dashboards is the operation group Dashboards: pages of widgets, built in or created by an organization. One
// call returns the data of all widgets on a page.
package dashboards

import (
	"context"
	"maps"
	"net/http"
	"slices"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/anomaly"
	"lamplighter.dev/shared/domain/budgeting"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/people/teams"
)

const (
	dashboards = "/dashboards"
	one        = dashboards + "/{dashboardID}"
	reading    = "dashboards:read"
	writing    = "dashboards:write"
)

type service struct {
	p         *platform.Platform
	store     store
	costs     *cost.Store
	inventory *inventory.Store
	budgets   *budgeting.Store
	anomalies *anomaly.Store
	savings   *report.SavingReader
	labels    report.LabelReader
}

// Operations returns the operations of the group.
func Operations(p *platform.Platform) *rest.Group {
	g := rest.NewGroup("Dashboards")
	known := inventory.New(p)
	s := &service{
		p,
		store{p.Table},
		cost.New(p), known, budgeting.NewStore(p.Table),
		anomaly.NewStore(p.Table), report.NewSavingReader(p),
		report.LabelReader{Inventory: known, Teams: teams.New(p.Table)},
	}
	invalid, absent := []int{http.StatusBadRequest}, []int{http.StatusNotFound}
	rest.Handle(g, rest.Op{
		ID: "listDashboards", Method: http.MethodGet, Path: dashboards, Policy: reading, Scoped: true,
		Statuses: invalid, Summary: "List dashboards",
		Description: "First the presets executive, engineering, finops and operations, then those of the " +
			"organization: at most 50, which all of its members see; a grant on teams or resources shows them " +
			"without the filters of their widgets.",
	}, s.list)
	rest.Handle(g, rest.Op{
		ID: "createDashboard", Method: http.MethodPost, Path: dashboards, Policy: writing,
		Statuses: []int{http.StatusBadRequest, http.StatusConflict},
		Summary:  "Create a dashboard", Description: shape,
	}, s.create)
	rest.Handle(g, rest.Op{
		ID: "listWidgets", Method: http.MethodGet, Path: dashboards + "/widgets", Policy: reading, Scoped: true,
		Summary: "List the types of widgets",
	}, s.widgets)
	rest.Handle(g, rest.Op{
		ID: "getDashboard", Method: http.MethodGet, Path: one, Policy: reading, Scoped: true, Statuses: absent,
		Summary: "Read a dashboard",
		Description: "A grant on teams or resources shows the filters of its widgets empty; the data is filtered all " +
			"the same.",
	}, s.get)
	rest.Handle(g, rest.Op{
		ID: "updateDashboard", Method: http.MethodPut, Path: one, Policy: writing,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict}, Summary: "Change a dashboard",
		Description: "Changes only the fields present; widgets replaces all widgets. A preset is 409: clone it. " +
			shape,
	}, s.update)
	rest.Handle(g, rest.Op{
		ID: "deleteDashboard", Method: http.MethodDelete, Path: one, Policy: writing,
		Statuses: []int{http.StatusNotFound, http.StatusConflict},
		Summary:  "Delete a dashboard", Description: "A preset is 409, and so is the organization's defaultDashboard.",
	}, s.remove)
	rest.Handle(g, rest.Op{
		ID: "cloneDashboard", Method: http.MethodPost, Path: one + "/clone", Policy: writing,
		Statuses:    []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict},
		Summary:     "Make a dashboard of another one",
		Description: "Of a preset, too. Left out, the name is that of the other one with (copy).",
	}, s.clone)
	rest.Handle(g, rest.Op{
		ID: "getDashboardData", Method: http.MethodGet, Path: one + "/data", Policy: reading, Scoped: true,
		Statuses: absent, Summary: "Read all that is on a dashboard",
		Description: "One answer for all widgets, in their order. A widget whose policy the caller lacks is " +
			"forbidden and empty; one that cannot be answered says why in error, and " +
			"the others are answered. A grant on teams or resources shows the costs, resources and actions of " +
			"just these.",
	}, s.data)
	return g
}

const shape = "At most 24 widgets; GET /dashboards/widgets lists their types and their fields. Names are unique " +
	"without regard to case. At most 50 dashboards an organization."

// DashboardInput names the dashboard of a request.
type DashboardInput struct {
	DashboardID string `path:"dashboardID" maxLength:"64"`
}

func (s *service) list(ctx context.Context, in *struct{ rest.Page }) (rest.List[Dashboard], error) {
	all, err := s.store.list(ctx, identity.CallerOrg(ctx))
	for i := range all {
		all[i] = hideFilters(ctx, all[i])
	}
	return rest.PageOf(all, in.Page), err
}

// WidgetType is a type of widget.
type WidgetType struct {
	Type        string   `json:"type" enum:"totals,trend,breakdown,top_resources,budgets,anomalies,savings,resources_by_state,actions_of_day"`
	Description string   `json:"description"`
	Policy      string   `json:"policy" doc:"Without it the widget is forbidden"`
	Query       []string `json:"query" doc:"The fields of a query that it takes"`
}

func (s *service) widgets(context.Context, *struct{}) ([]WidgetType, error) {
	var out []WidgetType
	for _, t := range slices.Sorted(maps.Keys(kinds)) {
		out = append(out, WidgetType{t, kinds[t].text, kinds[t].policy, append([]string{}, kinds[t].fields...)})
	}
	return out, nil
}

// NewDashboard is the body of POST /dashboards.
type NewDashboard struct {
	Name        string   `json:"name" minLength:"1" maxLength:"128"`
	Description string   `json:"description,omitempty" maxLength:"500"`
	Widgets     []Widget `json:"widgets,omitempty" maxItems:"24"`
}

func (s *service) create(ctx context.Context, in *struct{ Body NewDashboard }) (Dashboard, error) {
	return s.add(ctx, in.Body.Name, in.Body.Description, in.Body.Widgets)
}

// add creates a dashboard.
func (s *service) add(ctx context.Context, name, description string, widgets []Widget) (Dashboard, error) {
	now := s.p.Clock.Now()
	d := Dashboard{
		ID: id.New("dash", now), Name: name, Description: description, Widgets: widgets,
		CreatedBy: identity.CallerFrom(ctx).Email,
		CreatedAt: now, UpdatedAt: now,
	}
	if err := d.check(); err != nil {
		return Dashboard{}, err
	}
	org := identity.CallerOrg(ctx)
	err := limited(org).Add(ctx, s.p.Table, func(take table.Write) error {
		if err := s.room(ctx); err != nil {
			return err
		}
		return s.store.write(ctx, org, stored{}, d, take)
	})
	if err != nil {
		return Dashboard{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: d.ID, After: d})
	return d, nil
}

// room returns an error if the organization has maxDashboards already.
func (s *service) room(ctx context.Context) error {
	all, err := s.store.list(ctx, identity.CallerOrg(ctx))
	if n := len(all) - len(presets); err == nil && n >= maxDashboards {
		return fault.New(fault.Invalid, "the organization has %d dashboards, which is the most; delete one first", n)
	}
	return err
}

func (s *service) get(ctx context.Context, in *DashboardInput) (Dashboard, error) {
	d, err := s.store.read(ctx, identity.CallerOrg(ctx), in.DashboardID)
	return hideFilters(ctx, d.Dashboard), err
}

// hideFilters returns the dashboard as the caller sees it. A caller whose grants are limited to teams or resources
// sees a shared dashboard without the values of its filters, because these may be IDs, names or tags outside the
// grants.
func hideFilters(ctx context.Context, d Dashboard) Dashboard {
	if identity.CallerFrom(ctx).Scopes(reading).All {
		return d
	}
	d.Widgets = slices.Clone(d.Widgets)
	for i := range d.Widgets {
		d.Widgets[i].Query.Filter = map[string][]string{}
	}
	return d
}

// own returns a dashboard that can be changed: one that is not a preset.
func (s *service) own(ctx context.Context, dashboardID string) (stored, error) {
	d, err := s.store.read(ctx, identity.CallerOrg(ctx), dashboardID)
	if err == nil && d.Preset {
		err = fault.New(fault.Conflict,
			"dashboard %s is a preset, which nobody can change: POST /dashboards/%[1]s/clone makes one of it "+
				"that is yours", d.ID)
	}
	return d, err
}

// ChangedDashboard is the body of PUT /dashboards/{dashboardID}.
type ChangedDashboard struct {
	Name        rest.Patch[string]   `json:"name,omitzero" minLength:"1" maxLength:"128"`
	Description rest.Patch[string]   `json:"description,omitzero" maxLength:"500"`
	Widgets     rest.Patch[[]Widget] `json:"widgets,omitzero" maxItems:"24"`
}

type updateInput struct {
	DashboardInput
	Body ChangedDashboard
}

func (s *service) update(ctx context.Context, in *updateInput) (Dashboard, error) {
	old, err := s.own(ctx, in.DashboardID)
	if err != nil {
		return Dashboard{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: old.ID, Before: old.Dashboard})
	next := old.Dashboard
	in.Body.Name.Apply(&next.Name)
	in.Body.Description.Apply(&next.Description)
	in.Body.Widgets.Apply(&next.Widgets)
	next.UpdatedAt = s.p.Clock.Now()
	if err = next.check(); err != nil {
		return Dashboard{}, err
	}
	if err = s.store.write(ctx, identity.CallerOrg(ctx), old, next); err != nil {
		return Dashboard{}, err
	}
	audit.NoteChange(ctx, audit.Change{After: next})
	return next, nil
}

func (s *service) remove(ctx context.Context, in *DashboardInput) (rest.Deleted, error) {
	d, err := s.own(ctx, in.DashboardID)
	if err != nil {
		return rest.Deleted{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: d.ID, Before: d.Dashboard})
	return rest.Deleted{ID: d.ID}, s.store.delete(ctx, identity.CallerOrg(ctx), d)
}

// DashboardCopy is the body of POST /dashboards/{dashboardID}/clone.
type DashboardCopy struct {
	Name string `json:"name,omitempty" maxLength:"128"`
}

type cloneInput struct {
	DashboardInput
	Body *DashboardCopy `required:"false"`
}

func (s *service) clone(ctx context.Context, in *cloneInput) (Dashboard, error) {
	d, err := s.store.read(ctx, identity.CallerOrg(ctx), in.DashboardID)
	if err != nil {
		return Dashboard{}, err
	}
	name := ""
	if in.Body != nil {
		name = in.Body.Name
	}
	if name == "" {
		name = d.Name + " (copy)"
	}
	return s.add(ctx, name, d.Description, d.Widgets)
}
