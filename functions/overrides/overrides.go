package overrides

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/evaluation"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// Override is an override as clients see it.
type Override struct {
	ID           string          `json:"id" example:"ovr_01k6v0e4y0c2b7m9q8r5t3w1xz"`
	ResourceUID  *string         `json:"resourceUID" doc:"Native identifier of the resource; null on a group"`
	ResourceID   *string         `json:"resourceID" doc:"Our id of the resource; null on a group"`
	GroupID      *string         `json:"groupID" doc:"Null on a resource"`
	Action       override.Action `json:"action" enum:"force_on,force_off"`
	Reason       string          `json:"reason"`
	Status       string          `json:"status" enum:"active,ended" doc:"ended from expiresAt on; the restore follows within a minute"`
	CreatedBy    string          `json:"createdBy" doc:"The address of who made it, or the id of a wake link"`
	CreatedAt    time.Time       `json:"createdAt"`
	ExpiresAt    time.Time       `json:"expiresAt"`
	EndedAt      *time.Time      `json:"endedAt" doc:"When it was ended, and restoring begun; null until then"`
	EndedBy      *string         `json:"endedBy" doc:"The address of who ended it before its time; else null"`
	BulkActionID string          `json:"bulkActionID" doc:"The bulk action that applied it; see GET /actions/bulk/{bulkActionID}"`
	Force        bool            `json:"force" doc:"It also holds targets of active event readiness plans"`
	RestoredBy   []string        `json:"restoredBy" doc:"The bulk actions that restored the resources at its end"`

	BulkActionIDs []string `json:"bulkActionIDs" doc:"All bulk actions that applied it, one for each 10,000 resources of a group"`
}

func (s *service) showOverride(o override.Override) Override {
	status := "ended"
	if o.Active(s.p.Clock.Now()) {
		status = "active"
	}
	return Override{
		ID: o.ID, ResourceUID: rest.Optional(o.ResourceUID), ResourceID: rest.Optional(o.ResourceID),
		GroupID: rest.Optional(o.GroupID),
		Action:  o.Action, Reason: o.Reason, Status: status, CreatedBy: o.CreatedBy, CreatedAt: o.CreatedAt,
		ExpiresAt: o.ExpiresAt,
		EndedAt:   rest.Optional(o.EndedAt), EndedBy: rest.Optional(o.EndedBy), BulkActionID: o.BulkActionID,
		Force: o.Force, RestoredBy: append([]string{}, o.RestoredBy...), BulkActionIDs: appliedBy(o),
	}
}

// appliedBy returns the bulk actions that applied an override. Records of earlier versions name only one.
func appliedBy(o override.Override) []string {
	if len(o.BulkActionIDs) > 0 || o.BulkActionID == "" {
		return append([]string{}, o.BulkActionIDs...)
	}
	return []string{o.BulkActionID}
}

// NewGroupOverride is the body of POST /resource-groups/{groupID}/overrides.
type NewGroupOverride struct {
	Action    override.Action `json:"action" enum:"force_on,force_off"`
	Reason    string          `json:"reason,omitempty" maxLength:"500" doc:"Why, for those who come across it"`
	ExpiresAt rest.Time       `json:"expiresAt" doc:"When it ends: after now, within 90 days"`
	Force     bool            `json:"force,omitempty" doc:"Hold also targets of active event readiness plans; needs actions:execute on every resource, and is audited"`
}

// NewOverride is the body of POST /overrides.
type NewOverride struct {
	ResourceUID string `json:"resourceUID,omitempty" minLength:"1" maxLength:"1024" doc:"Native identifier of the resource; or else groupID"`
	GroupID     string `json:"groupID,omitempty" minLength:"1" maxLength:"64" doc:"The resource group"`
	NewGroupOverride
}

// GroupPath names a group in a path. It is exported because the framework ignores unexported embedded structs.
type GroupPath struct {
	GroupID string `path:"groupID" maxLength:"64"`
}

func (s *service) createOverride(ctx context.Context, in *struct{ Body NewOverride }) (Override, error) {
	b := in.Body
	audit.NoteChange(ctx, audit.Change{Target: cmp.Or(b.ResourceUID, b.GroupID)})
	if (b.ResourceUID == "") == (b.GroupID == "") {
		return Override{}, fault.New(fault.Invalid, "resourceUID, groupID: send one of them")
	}
	if b.GroupID != "" {
		return s.holdGroup(ctx, b.GroupID, b.NewGroupOverride)
	}
	o, err := s.newOverride(ctx, b.NewGroupOverride)
	if err != nil {
		return Override{}, err
	}
	t, resourceID, err := s.resourceOf(ctx, b.ResourceUID)
	if err == nil {
		err = s.checkActionable(ctx, t, "resourceUID", b.ResourceUID)
	}
	if err == nil {
		err = s.mayForce(ctx, t, b.Force)
	}
	if err != nil {
		return Override{}, err
	}
	o.ResourceUID, o.ResourceID = b.ResourceUID, resourceID
	holds, err := inventory.HoldAccounts(identity.CallerOrg(ctx), []string{t.Resource.CloudAccountID})
	if err != nil {
		return Override{}, err
	}
	return s.beginOverride(ctx, o, t, holds...)
}

func (s *service) createOfGroup(ctx context.Context, in *struct {
	GroupPath
	Body NewGroupOverride
},
) (Override, error) {
	audit.NoteChange(ctx, audit.Change{Target: in.GroupID})
	return s.holdGroup(ctx, in.GroupID, in.Body)
}

func (s *service) holdGroup(ctx context.Context, groupID string, b NewGroupOverride) (Override, error) {
	o, err := s.newOverride(ctx, b)
	if err != nil {
		return Override{}, err
	}
	t, err := s.groupOf(ctx, groupID, writing)
	if err == nil {
		err = s.checkActionable(ctx, t, "groupID", groupID)
	}
	if err == nil {
		err = s.mayForce(ctx, t, b.Force)
	}
	if err != nil {
		return Override{}, err
	}
	o.GroupID = groupID
	// A group that is being deleted gets no new override, and a group with an override is not deleted.
	return s.beginOverride(ctx, o, t, inventory.HoldGroup(identity.CallerOrg(ctx), groupID)...)
}

// newOverride builds an override from a body, without a target.
func (s *service) newOverride(ctx context.Context, b NewGroupOverride) (override.Override, error) {
	now, until := s.p.Clock.Now(), b.ExpiresAt.Time
	switch {
	case !until.After(now):
		return override.Override{},
			fault.New(fault.Invalid, "expiresAt: %s is not after now, which is %s", until.Format(time.RFC3339),
				now.UTC().Format(time.RFC3339))
	case until.Sub(now) > override.Longest:
		return override.Override{},
			fault.New(fault.Invalid, "expiresAt: %s is more than 90 days away: the latest is %s",
				until.Format(time.RFC3339), now.Add(override.Longest).UTC().Format(time.RFC3339))
	}
	c := identity.CallerFrom(ctx)
	return override.Override{
		ID: override.NewID(now), Action: b.Action, Reason: b.Reason, CreatedBy: c.Email, CreatedAt: now,
		ExpiresAt: until,
		Maker:     c.User, Scopes: narrowScopes(c), Force: b.Force,
	}, nil
}

func (s *service) beginOverride(ctx context.Context, o override.Override, t evaluation.Target,
	more ...table.Write) (Override,
	error,
) {
	audit.NoteChange(ctx, audit.Change{Target: o.ID, After: s.showOverride(o)})
	o, err := s.evaluation.BeginOverride(ctx, identity.CallerFrom(ctx).Org, o, t, more...)
	if err != nil {
		return Override{}, err
	}
	out := s.showOverride(o)
	audit.NoteChange(ctx, audit.Change{After: out})
	return out, nil
}

// OverridePath names an override in a path. It is exported because the framework ignores unexported embedded structs.
type OverridePath struct {
	OverrideID string `path:"overrideID" maxLength:"64"`
}

func (s *service) getOverride(ctx context.Context, in *OverridePath) (Override, error) {
	o, err := s.visibleOverride(ctx, in.OverrideID)
	return s.showOverride(o), err
}

// visibleOverride reads an override that the caller may see.
func (s *service) visibleOverride(ctx context.Context, overrideID string) (override.Override, error) {
	missing := fault.New(fault.NotFound, "no override %.64q", overrideID)
	if !id.IsValid("ovr", overrideID) {
		return override.Override{}, missing
	}
	o, err := table.Read[override.Override](ctx, s.p.Table, override.Key(identity.CallerOrg(ctx), overrideID))
	if err != nil && !fault.Is(err, fault.NotFound) {
		return o, fmt.Errorf("read override %s: %w", overrideID, err)
	}
	if err != nil {
		return o, missing
	}
	sees, err := s.overridesInSight(ctx)
	if err == nil && !sees(o) {
		err = missing
	}
	return o, err
}

// overridesInSight returns a function that reports whether the caller sees an override: one of their own, one on a
// visible resource, or one on a group with a visible resource.
func (s *service) overridesInSight(ctx context.Context) (func(override.Override) bool, error) {
	c := identity.CallerFrom(ctx)
	sees, err := s.targetSight(ctx, c.Scopes(reading))
	if err != nil {
		return nil, err
	}
	return func(o override.Override) bool {
		return isOwn(c, o.Maker, o.CreatedBy) || sees(o.GroupID, o.ResourceID)
	}, nil
}

// isOwn reports whether the caller created a record. The record names its creator by user ID, or in older records by
// mail address.
func isOwn(c identity.Caller, maker, createdBy string) bool {
	return maker == c.User && maker != "" || maker == "" && createdBy == c.Email && createdBy != ""
}

// targetSight returns a function that reports whether a group or a resource is visible in scopes. A group is visible
// if one of its resources is.
func (s *service) targetSight(ctx context.Context, scopes grant.Scopes) (func(groupID, resourceID string) bool, error) {
	if scopes.All {
		return func(string, string) bool { return true }, nil
	}
	c := identity.CallerFrom(ctx)
	sets, err := s.inventory.ResourceSets(ctx, c.Org, scopes)
	if err != nil {
		return nil, err
	}
	parts, err := s.inventory.GroupsInScope(ctx, c.Org, scopes, "")
	if err != nil {
		return nil, err
	}
	groups := map[string]bool{}
	for _, p := range parts {
		groups[p.ID] = true
	}
	return func(groupID, resourceID string) bool {
		return groups[groupID] || resourceID != "" && sets[0].Has(resourceID)
	}, nil
}

type listInput struct {
	rest.Page
	Status      string `query:"status" enum:"active,ended"`
	ResourceUID string `query:"resource_uid" maxLength:"1024" doc:"Only those on this resource itself"`
	GroupID     string `query:"group_id" maxLength:"64" doc:"Only those on this group itself"`
}

func (s *service) listOverrides(ctx context.Context, in *listInput) (rest.List[Override], error) {
	sees, err := s.overridesInSight(ctx)
	if err != nil {
		return rest.List[Override]{}, err
	}
	r := rest.Reading[override.Override]{Store: s.p.Table, Page: in.Page}
	q := table.Query{
		PK: override.PK(identity.CallerOrg(ctx)), From: override.First, To: override.Last,
		Reverse: true,
	}
	all, err := r.Filtered(ctx, q, func(o override.Override) bool { return sees(o) && s.matches(in, o) })
	return rest.MapItems(all, s.showOverride), err
}

// matches reports whether an override matches the filters of a list.
func (s *service) matches(in *listInput, o override.Override) bool {
	return (in.Status == "" || (in.Status == "active") == o.Active(s.p.Clock.Now())) &&
		(in.ResourceUID == "" || in.ResourceUID == o.ResourceUID) && (in.GroupID == "" || in.GroupID == o.GroupID)
}

func (s *service) listOfGroup(ctx context.Context, in *struct {
	GroupPath
	rest.Page
},
) (rest.List[Override], error) {
	if _, err := s.groupOf(ctx, in.GroupID, reading); err != nil && !fault.Is(err, fault.Denied) {
		return rest.List[Override]{}, err
	}
	return s.listOverrides(ctx, &listInput{Page: in.Page, GroupID: in.GroupID})
}

func (s *service) endOverride(ctx context.Context, in *OverridePath) (rest.Deleted, error) {
	o, err := s.visibleOverride(ctx, in.OverrideID)
	if err != nil {
		return rest.Deleted{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: o.ID, Before: s.showOverride(o)})
	if err = s.mayEnd(ctx, o); err != nil {
		return rest.Deleted{}, err
	}
	c := identity.CallerFrom(ctx)
	o, err = s.evaluation.EndOverride(ctx, c.Org, o.ID, c.Email)
	if err == nil {
		audit.NoteChange(ctx, audit.Change{After: s.showOverride(o)})
	}
	return rest.Deleted{ID: o.ID}, err
}

// mayEnd refuses a caller who did not create the override and may not act on all of its resources.
func (s *service) mayEnd(ctx context.Context, o override.Override) error {
	c := identity.CallerFrom(ctx)
	if c.Scopes(writing).All || isOwn(c, o.Maker, o.CreatedBy) {
		return nil
	}
	return s.coversTarget(ctx, o.GroupID, o.ResourceUID)
}

// coversTarget refuses a caller who may not act on the resource or on all resources of the group.
func (s *service) coversTarget(ctx context.Context, groupID, resourceUID string) error {
	if groupID != "" {
		_, err := s.groupOf(ctx, groupID, writing)
		return err
	}
	_, _, err := s.resourceOf(ctx, resourceUID)
	return err
}
