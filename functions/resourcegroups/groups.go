package resourcegroups

import (
	"cmp"
	"context"
	"slices"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/displayname"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// Group is the client's view of a resource group.
type Group struct {
	ID          string   `json:"id" example:"grp_01k6v0e4y0c2b7m9q8r5t3w1xz"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Members     []Member `json:"members" nullable:"true" doc:"Null in lists"`
	MemberCount *int     `json:"memberCount" doc:"Members that the caller may see"`
	// States is set where a group is read, and not where it is changed.
	States           map[string]int `json:"states" doc:"Members that the caller may see, by status; empty in the answer to a change" example:"{\"running\":3}"`
	Selector         *Selector      `json:"selector" doc:"Null for a static group"`
	StepDelaySeconds int            `json:"stepDelaySeconds" doc:"Wait between two steps of a bulk action"`
	FailurePolicy    string         `json:"failurePolicy" enum:"continue,abort"`
	CreatedAt        time.Time      `json:"createdAt"`
	UpdatedAt        time.Time      `json:"updatedAt"`
}

// Member is a resource of a group and its position.
type Member struct {
	ResourceID string `json:"resourceID" maxLength:"64" doc:"Our id of the resource (res_…)"`
	Tier       int    `json:"tier" required:"false" minimum:"1" maximum:"10000" default:"1" doc:"Tiers run one after another"`
	Order      int    `json:"order" required:"false" minimum:"1" maximum:"10000" default:"1" doc:"Within a tier, orders run one after another"`
}

// Selector selects the resources of a dynamic group. A resource must match every field that is set.
type Selector struct {
	Provider string            `json:"provider" required:"false" maxLength:"32"`
	Type     string            `json:"type" required:"false" maxLength:"64"`
	Region   string            `json:"region" required:"false" maxLength:"64"`
	Tags     map[string]string `json:"tags" required:"false" maxProperties:"20"`
}

// newBriefGroup returns a group without its members.
func newBriefGroup(g inventory.Group) Group {
	out := Group{
		States: map[string]int{},
		ID:     g.ID, Name: g.Name, Description: g.Description, StepDelaySeconds: g.StepDelaySeconds,
		FailurePolicy: g.FailurePolicy, CreatedAt: g.CreatedAt, UpdatedAt: g.UpdatedAt,
	}
	if g.Selector == nil {
		out.MemberCount = &g.Size
		return out
	}
	sel := Selector(*g.Selector)
	if sel.Tags == nil {
		sel.Tags = map[string]string{}
	}
	out.Selector = &sel
	return out
}

// readGroup reads a group without its members. A malformed ID is reported as missing without a look-up.
func (s *service) readGroup(ctx context.Context, groupID string) (inventory.Group, error) {
	if !id.IsValid("grp", groupID) {
		return inventory.Group{}, fault.New(fault.NotFound, "resource group %.64q does not exist", groupID)
	}
	return s.inventory.ReadGroup(ctx, identity.CallerOrg(ctx), groupID)
}

// groupWithMembers returns a group with its members.
func (s *service) groupWithMembers(ctx context.Context, g inventory.Group) (Group, error) {
	out := newBriefGroup(g)
	out.Members = []Member{}
	if g.Selector != nil {
		members, err := s.inventory.ExpandGroup(ctx, identity.CallerOrg(ctx), g.ID)
		for _, m := range members {
			out.Members = append(out.Members, Member{m.ResourceID, m.Tier, m.Order})
		}
		n := len(members)
		out.MemberCount = &n
		return out, err
	}
	places, err := s.inventory.ListPlacements(ctx, identity.CallerOrg(ctx), g.ID)
	for _, p := range places {
		out.Members = append(out.Members, Member(p))
	}
	return out, err
}

// maxName is the maximum number of characters of a name.
const maxName = 128

// NewGroup is the body of POST /resource-groups.
type NewGroup struct {
	Name             string    `json:"name" minLength:"1" maxLength:"128"`
	Description      string    `json:"description,omitempty" maxLength:"500"`
	Members          []Member  `json:"members,omitempty" maxItems:"10000"`
	Selector         *Selector `json:"selector,omitempty"`
	StepDelaySeconds int       `json:"stepDelaySeconds,omitempty" minimum:"0" maximum:"3600"`
	FailurePolicy    string    `json:"failurePolicy,omitempty" enum:"continue,abort" default:"continue"`
}

func (s *service) createGroup(ctx context.Context, in *struct{ Body NewGroup }) (Group, error) {
	now := s.p.Clock.Now()
	g := inventory.Group{
		ID: id.New("grp", now), Name: in.Body.Name, Description: in.Body.Description,
		StepDelaySeconds: in.Body.StepDelaySeconds,
		FailurePolicy:    cmp.Or(in.Body.FailurePolicy, inventory.ContinueOnFailure),
		CreatedAt:        now, UpdatedAt: now, MembersChangedAt: now,
	}
	if in.Body.Selector != nil {
		sel := inventory.Selector(*in.Body.Selector)
		g.Selector = &sel
	}
	if err := checkGroup(&g, len(in.Body.Members)); err != nil {
		return Group{}, err
	}
	places, held, err := s.placementsOf(ctx, in.Body.Members)
	if err != nil {
		return Group{}, err
	}
	if held, err = s.andRebuild(ctx, held, true); err != nil {
		return Group{}, err
	}
	org := identity.CallerOrg(ctx)
	err = inventory.LimitedGroups(org).Add(ctx, s.p.Table, func(take table.Write) error {
		if err := s.checkRoom(ctx); err != nil {
			return err
		}
		with := append(slices.Clip(held), take)
		g, err = s.inventory.CreateGroup(table.Within(ctx, workqueue.Prefix), org, g, places, with...)
		return err
	})
	if err != nil {
		return Group{}, err
	}
	return s.groupWithMembers(ctx, g)
}

// andRebuild returns ws and, if the members of a group have changed, a write that rebuilds the costs.
func (s *service) andRebuild(ctx context.Context, ws []table.Write, changed bool) ([]table.Write, error) {
	if !changed {
		return ws, nil
	}
	w, err := billimport.AddRebuild(identity.CallerOrg(ctx), s.p.Clock.Now())
	return append(ws, w), err
}

// checkGroup normalizes the name, and refuses a group with contradictory fields.
func checkGroup(g *inventory.Group, members int) error {
	var err error
	if g.Name, err = displayname.CleanName("name", g.Name, maxName); err != nil {
		return err
	}
	switch {
	case g.Selector != nil && members > 0:
		return fault.New(fault.Invalid, "members, selector: a group has either; leave one out")
	case g.Selector != nil && g.Selector.Empty():
		return fault.New(fault.Invalid,
			"selector: it is empty and would choose everything; set provider, type, region or tags")
	}
	return nil
}

// checkRoom refuses one group more than the maximum.
func (s *service) checkRoom(ctx context.Context) error {
	all, err := s.inventory.ListGroups(ctx, identity.CallerOrg(ctx))
	if err == nil && len(all) >= inventory.MaxGroups {
		return fault.New(fault.Invalid, "the organization has %d resource groups, which is the most; delete one first",
			len(all))
	}
	return err
}

// ChangedGroup is the body of PUT /resource-groups/{groupID}.
type ChangedGroup struct {
	Name             rest.Patch[string]   `json:"name,omitzero" minLength:"1" maxLength:"128"`
	Description      rest.Patch[string]   `json:"description,omitzero" maxLength:"500"`
	Members          rest.Patch[[]Member] `json:"members,omitzero" maxItems:"10000"`
	Selector         rest.Patch[Selector] `json:"selector,omitzero"`
	StepDelaySeconds rest.Patch[int]      `json:"stepDelaySeconds,omitzero" minimum:"0" maximum:"3600"`
	FailurePolicy    rest.Patch[string]   `json:"failurePolicy,omitzero" enum:"continue,abort"`
}

type updateInput struct {
	GroupInput
	Body ChangedGroup
}

func (s *service) updateGroup(ctx context.Context, in *updateInput) (Group, error) {
	old, err := s.readGroup(ctx, in.GroupID)
	if err != nil {
		return Group{}, err
	}
	if err = s.noteBefore(ctx, old, in.Body.Members.Sent); err != nil {
		return Group{}, err
	}
	g := old
	in.Body.applyTo(&g)
	g.UpdatedAt = s.p.Clock.Now()
	if err = checkGroup(&g, len(in.Body.Members.Value)); err != nil {
		return Group{}, err
	}
	var places []inventory.GroupPlacement // nil leaves the members as they are
	var held []table.Write
	if in.Body.Members.Sent {
		if places, held, err = s.placementsOf(ctx, in.Body.Members.Value); err != nil {
			return Group{}, err
		}
	}
	regrouped := in.Body.Members.Sent || in.Body.Selector.Sent
	if regrouped {
		g.MembersChangedAt = g.UpdatedAt
		if err = s.checkRegrouping(ctx, old, g, places); err != nil {
			return Group{}, err
		}
	}
	if held, err = s.andRebuild(ctx, held, regrouped); err != nil {
		return Group{}, err
	}
	if g, err = s.inventory.UpdateGroup(table.Within(ctx, workqueue.Prefix), identity.CallerOrg(ctx), old,
		inventory.Grouping{Group: g, Places: places}, held...); err != nil {
		return Group{}, err
	}
	return s.groupWithMembers(ctx, g)
}

// noteBefore records the group's state before the change for the audit row, with its members if they are replaced.
func (s *service) noteBefore(ctx context.Context, old inventory.Group, members bool) error {
	was := newBriefGroup(old)
	if members && old.Selector == nil {
		places, err := s.inventory.ListPlacements(ctx, identity.CallerOrg(ctx), old.ID)
		if err != nil {
			return err
		}
		was.Members = newMembers(places)
	}
	audit.NoteChange(ctx, audit.Change{Before: was})
	return nil
}

// newMembers returns the client's view of places.
func newMembers(places []inventory.GroupPlacement) []Member {
	out := make([]Member, len(places))
	for i, p := range places {
		out[i] = Member(p)
	}
	return out
}

// applyTo changes the fields that were sent. A field that cannot be empty gets its default for null.
func (c ChangedGroup) applyTo(g *inventory.Group) {
	c.Name.Apply(&g.Name)
	c.Description.Apply(&g.Description)
	c.StepDelaySeconds.Apply(&g.StepDelaySeconds)
	c.FailurePolicy.Apply(&g.FailurePolicy)
	g.FailurePolicy = cmp.Or(g.FailurePolicy, inventory.ContinueOnFailure)
	if c.Selector.Sent {
		g.Selector = nil
	}
	if c.Selector.Set() {
		sel := inventory.Selector(c.Selector.Value)
		g.Selector = &sel
	}
}
