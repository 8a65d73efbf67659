package smarttags

import (
	"cmp"
	"context"
	"slices"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/smarttag"
	"lamplighter.dev/shared/foundation/fault"
)

// maxResources is how many resources are read.
const maxResources = 20_000

// SmartTag is a tag that a policy derives for a resource.
type SmartTag struct {
	ResourceID   string `json:"resourceID"`
	ResourceUID  string `json:"resourceUID"`
	ResourceName string `json:"resourceName"`
	Key          string `json:"key"`
	Value        string `json:"value"`
	Status       string `json:"status" enum:"pending,accepted"`
	PolicyID     string `json:"policyID"`
}

// These are the statuses of a tag.
const (
	pending  = "pending"
	accepted = "accepted"
)

// SmartTags is a page of smart tags.
type SmartTags struct {
	Items []SmartTag `json:"items"`
	Total int        `json:"total"`
	Page  int        `json:"page"`
	Size  int        `json:"size"`
}

type listInput struct {
	Status string `query:"status" enum:"pending,accepted" doc:"Only those"`
	Key    string `query:"key" maxLength:"128" doc:"Only those of the key"`
	Page   int    `query:"page" minimum:"1" maximum:"999999" default:"1" doc:"Which page, from 1"`
	Size   int    `query:"size" minimum:"1" default:"10" doc:"Items a page; more than 100 counts as 100"`
}

func (s *service) listTags(ctx context.Context, in *listInput) (SmartTags, error) {
	st, err := s.store.Read(ctx, identity.CallerOrg(ctx))
	if err != nil {
		return SmartTags{}, err
	}
	all, err := s.deriveTags(ctx, st, st.Policies)
	if err != nil {
		return SmartTags{}, err
	}
	all = slices.DeleteFunc(all, func(t SmartTag) bool {
		return in.Status != "" && t.Status != in.Status || in.Key != "" && t.Key != in.Key
	})
	size := min(in.Size, 100)
	from := min((in.Page-1)*size, len(all))
	return SmartTags{append([]SmartTag{}, all[from:min(from+size, len(all))]...), len(all), in.Page, size}, nil
}

// deriveTags derives the tags of the resources that the caller may see, ordered by resource and key.
func (s *service) deriveTags(ctx context.Context, st *smarttag.State, by []smarttag.Policy) ([]SmartTag, error) {
	if len(by) == 0 {
		return nil, nil
	}
	c := identity.CallerFrom(ctx)
	f := inventory.Filter{Sight: inventory.SightOf(c, reading)}
	if len(by) == 1 {
		f.Providers, f.Types, f.Regions = allowedValues(by[0].Selector.Provider), allowedValues(by[0].Selector.Type),
			allowedValues(by[0].Selector.Region)
	}
	found, err := s.inventory.FindResources(ctx, c.Org,
		inventory.List{Filter: f, By: inventory.ByUID, Limit: maxResources})
	if err != nil {
		return nil, fault.Wrap("read the resources that policies select", err)
	}
	var out []SmartTag
	for i := range found {
		r := &found[i]
		for _, d := range smarttag.Derive(by, &r.Resource) {
			t := SmartTag{r.ID, r.UID, cmp.Or(r.Name, r.UID), d.Key, d.Value, pending, d.PolicyID}
			if st.Accepted(&d) {
				t.Status = accepted
			}
			out = append(out, t)
		}
	}
	return out, nil
}

// allowedValues returns the filter that allows a value; "" allows all values.
func allowedValues(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

// TagName names a smart tag.
type TagName struct {
	ResourceUID string `json:"resourceUID" minLength:"1" maxLength:"1024"`
	Key         string `json:"key" minLength:"1" maxLength:"128"`
}

// Named is a selection of smart tags: listed ones, or all of a policy.
type Named struct {
	PolicyID string    `json:"policyID,omitempty" maxLength:"64"`
	Tags     []TagName `json:"tags,omitempty" maxItems:"500"`
}

// Changed is the number of tags that were accepted or revoked.
type Changed struct {
	Count int `json:"count"`
}

func (s *service) acceptTags(ctx context.Context, in *struct{ Body Named }) (Changed, error) {
	st, tags, err := s.selectTags(ctx, &in.Body, pending)
	if err != nil {
		return Changed{}, err
	}
	if n := st.Size() + len(tags); n > smarttag.MaxAccepted {
		return Changed{},
			fault.New(fault.Invalid, "%d smart tags would be accepted, %d is the most; revoke some, or accept fewer", n,
				smarttag.MaxAccepted)
	}
	in.Body.noteTags(ctx)
	return Changed{len(tags)}, s.store.Accept(ctx, identity.CallerOrg(ctx), tags)
}

func (s *service) revokeTags(ctx context.Context, in *struct{ Body Named }) (Changed, error) {
	_, tags, err := s.selectTags(ctx, &in.Body, accepted)
	if err != nil {
		return Changed{}, err
	}
	in.Body.noteTags(ctx)
	return Changed{len(tags)}, s.store.Revoke(ctx, identity.CallerOrg(ctx), tags)
}

// noteTags records the request's selection for the audit row.
func (n *Named) noteTags(ctx context.Context) {
	target := n.PolicyID
	if target == "" {
		target = n.Tags[0].ResourceUID
	}
	audit.NoteChange(ctx, audit.Change{Target: target, After: *n})
}

// selectTags returns the selected tags with a status. A tag that is not derived is fault.NotFound. A tag with the
// other status is left as it is.
func (s *service) selectTags(ctx context.Context, n *Named, status string) (*smarttag.State, []smarttag.Derived,
	error,
) {
	if (n.PolicyID == "") == (len(n.Tags) == 0) {
		return nil, nil, fault.New(fault.Invalid, "policyID, tags: give one of them")
	}
	st, err := s.store.Read(ctx, identity.CallerOrg(ctx))
	if err != nil {
		return nil, nil, err
	}
	if n.PolicyID != "" {
		if _, err = st.Policy(n.PolicyID); err != nil {
			return nil, nil, err
		}
	}
	all, err := s.deriveTags(ctx, st, st.Policies)
	if err != nil {
		return nil, nil, err
	}
	out, err := n.selectFrom(all, status)
	return st, out, err
}

// selectFrom returns the selected tags with a status from all derived tags.
func (n *Named) selectFrom(all []SmartTag, status string) ([]smarttag.Derived, error) {
	wanted := map[TagName]bool{}
	for _, t := range n.Tags {
		wanted[t] = true
	}
	var out []smarttag.Derived
	for _, t := range all {
		name := TagName{t.ResourceUID, t.Key}
		hit := wanted[name] || n.PolicyID != "" && t.PolicyID == n.PolicyID
		delete(wanted, name)
		if hit && t.Status == status {
			out = append(out, smarttag.Derived{UID: t.ResourceUID, Key: t.Key, Value: t.Value, PolicyID: t.PolicyID})
		}
	}
	for t := range wanted {
		return nil, fault.New(fault.NotFound, "tags: no policy derives %.64q for resource %.64q", t.Key, t.ResourceUID)
	}
	return out, nil
}
