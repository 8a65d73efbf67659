package resources

import (
	"context"
	"net/http"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

const (
	viewsPath = "/resources/views"
	viewPath  = viewsPath + "/{viewID}"
	// sharing is the policy for views that the whole organization sees.
	sharing = "resources:write"
)

// viewNote describes the fields of a view.
const viewNote = "filters holds query parameters of GET /resources by their names, each with its values as texts: " +
	"search, type, provider, status, region, cloud_account_id, group_id, team_id, tag, schedulable, created_after, " +
	"created_before, sort_by and sort_order. A view keeps a question, not its answer: each caller gets the resources " +
	"that they may see. A private view is its creator's alone. A shared one is seen by all members with " +
	"resources:read on the organization; sharing, and changing shared views, needs resources:write on it, else 403. " +
	"Names are unique among one's own and the shared views, ignoring case. At most 50 views a user and 500 an " +
	"organization."

func (s *service) viewOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "listViews", Method: http.MethodGet, Path: viewsPath, Policy: policy, Scoped: true,
		Statuses: []int{http.StatusBadRequest}, Summary: "List saved views",
		Description: "The caller's own views and, with a grant on the organization, the shared ones; by name.",
	}, s.listViews)
	rest.Handle(g, rest.Op{
		ID: "createView", Method: http.MethodPost, Path: viewsPath, Policy: policy, Scoped: true,
		Statuses: []int{http.StatusBadRequest, http.StatusConflict}, Summary: "Save a view", Description: viewNote,
	}, s.createView)
	rest.Handle(g, rest.Op{
		ID: "getView", Method: http.MethodGet, Path: viewPath, Policy: policy, Scoped: true,
		Statuses: []int{http.StatusNotFound}, Summary: "Read a saved view",
	}, s.getView)
	rest.Handle(g, rest.Op{
		ID: "updateView", Method: http.MethodPut, Path: viewPath, Policy: policy, Scoped: true,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict},
		Summary:  "Change a saved view",
		Description: "Changes only the fields present; filters replaces all filters. A shared view that is no longer " +
			"shared is its creator's alone. " + viewNote,
	}, s.updateView)
	rest.Handle(g, rest.Op{
		ID: "deleteView", Method: http.MethodDelete, Path: viewPath, Policy: policy, Scoped: true,
		Statuses: []int{http.StatusNotFound, http.StatusConflict}, Summary: "Delete a saved view",
		Description: "One's own, or with resources:write on the organization a shared one.",
	}, s.deleteView)
}

func (s *service) listViews(ctx context.Context, in *struct{ rest.Page }) (rest.List[View], error) {
	all, err := s.views.list(ctx, identity.CallerFrom(ctx))
	return rest.MapItems(rest.PageOf(all.visible, in.Page), storedView.view), err
}

// NewView is the body of POST /resources/views.
type NewView struct {
	Name    string              `json:"name" minLength:"1" maxLength:"128" example:"Stopped in Europe"`
	Filters map[string][]string `json:"filters" maxProperties:"14" doc:"Query parameters of GET /resources"`
	Shared  bool                `json:"shared,omitempty" doc:"Seen by the whole organization"`
}

func (s *service) createView(ctx context.Context, in *struct{ Body NewView }) (View, error) {
	now, c := s.p.Clock.Now(), identity.CallerFrom(ctx)
	v := storedView{View: View{
		ID: id.New("view", now), Name: in.Body.Name, Filters: in.Body.Filters, Shared: in.Body.Shared,
		CreatedBy: c.Email, CreatedAt: now, UpdatedAt: now,
	}, User: c.User}
	if err := checkSharing(c, v.Shared); err != nil {
		return View{}, err
	}
	if err := v.check(); err != nil {
		return View{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: v.ID, After: v.View, Final: true})
	return v.View, s.views.write(ctx, c, storedView{}, v)
}

// checkSharing refuses what concerns a shared view to a caller who may not share.
func checkSharing(c identity.Caller, shared bool) error {
	if shared && !identity.Allows(c, sharing) {
		return fault.New(fault.Denied,
			"permission denied: shared: %s on the whole organization is needed for views that all members see", sharing)
	}
	return nil
}

// ViewInput names the view of a request. It is exported because the framework ignores unexported embedded structs.
type ViewInput struct {
	ViewID string `path:"viewID" maxLength:"64"`
}

func (s *service) getView(ctx context.Context, in *ViewInput) (View, error) {
	v, err := s.views.read(ctx, identity.CallerFrom(ctx), in.ViewID)
	return v.View, err
}

// ChangedView is the body of PUT /resources/views/{viewID}.
type ChangedView struct {
	Name    rest.Patch[string]              `json:"name,omitzero" minLength:"1" maxLength:"128"`
	Filters rest.Patch[map[string][]string] `json:"filters,omitzero" maxProperties:"14"`
	Shared  rest.Patch[bool]                `json:"shared,omitzero"`
}

type updateViewInput struct {
	ViewInput
	Body ChangedView
}

func (s *service) updateView(ctx context.Context, in *updateViewInput) (View, error) {
	c := identity.CallerFrom(ctx)
	old, err := s.changeableView(ctx, c, in.ViewID)
	if err != nil {
		return View{}, err
	}
	if err = rest.RefuseNull(map[string]bool{
		"name": in.Body.Name.Null, "shared": in.Body.Shared.Null,
	}); err != nil {
		return View{}, err
	}
	next := old
	in.Body.Name.Apply(&next.Name)
	in.Body.Filters.Apply(&next.Filters)
	in.Body.Shared.Apply(&next.Shared)
	next.UpdatedAt = s.p.Clock.Now()
	if err = checkSharing(c, next.Shared); err != nil {
		return View{}, err
	}
	if err = next.check(); err != nil {
		return View{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: old.ID, Before: old.View, After: next.View, Final: true})
	return next.View, s.views.write(ctx, c, old, next)
}

// changeableView returns a view that the caller may change.
func (s *service) changeableView(ctx context.Context, c identity.Caller, viewID string) (storedView, error) {
	v, err := s.views.read(ctx, c, viewID)
	if err != nil {
		return v, err
	}
	return v, checkSharing(c, v.Shared)
}

func (s *service) deleteView(ctx context.Context, in *ViewInput) (rest.Deleted, error) {
	v, err := s.changeableView(ctx, identity.CallerFrom(ctx), in.ViewID)
	if err != nil {
		return rest.Deleted{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: v.ID, Before: v.View, Final: true})
	err = s.p.Table.Transact(ctx, table.Delete(viewKey(identity.CallerOrg(ctx), v.ID),
		table.Equal("generation", v.Generation)))
	return rest.Deleted{ID: v.ID}, table.ExplainLost(err, "delete view "+v.ID, func(*table.ConditionError) error {
		return changedView(v.ID)
	})
}
