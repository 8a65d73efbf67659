package smarttags

import (
	"context"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/smarttag"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/displayname"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// TagSelector selects the resources of a policy. A resource must match every field that is set.
type TagSelector struct {
	Provider string            `json:"provider" required:"false" maxLength:"32"`
	Type     string            `json:"type" required:"false" maxLength:"64"`
	Region   string            `json:"region" required:"false" maxLength:"64"`
	Tags     map[string]string `json:"tags" required:"false" maxProperties:"20"`
}

// TagValue defines the value of a tag from fields of the resource.
type TagValue struct {
	Fields    []string `json:"fields" minItems:"1" maxItems:"5" example:"res.type"`
	Separator string   `json:"separator" required:"false" maxLength:"8"`
	Lowercase bool     `json:"lowercase" required:"false"`
}

// TagPolicy is the client's view of a smart tag policy.
type TagPolicy struct {
	ID        string      `json:"id" example:"tagp_01k6v0e4y0c2b7m9q8r5t3w1xz"`
	Name      string      `json:"name"`
	Selector  TagSelector `json:"selector"`
	Key       string      `json:"key"`
	Value     TagValue    `json:"value"`
	CreatedAt time.Time   `json:"createdAt"`
	UpdatedAt time.Time   `json:"updatedAt"`
}

func newPolicy(p smarttag.Policy) TagPolicy {
	out := TagPolicy{
		p.ID, p.Name, TagSelector(p.Selector), p.Key,
		TagValue{p.Fields, p.Separator, p.Lowercase},
		p.CreatedAt, p.UpdatedAt,
	}
	if out.Selector.Tags == nil {
		out.Selector.Tags = map[string]string{}
	}
	return out
}

func (s *service) listPolicies(ctx context.Context, _ *struct{}) ([]TagPolicy, error) {
	st, err := s.store.Read(ctx, identity.CallerOrg(ctx))
	if err != nil {
		return nil, err
	}
	out := make([]TagPolicy, len(st.Policies))
	for i := range st.Policies {
		out[i] = newPolicy(st.Policies[i])
	}
	return out, nil
}

func (s *service) getPolicy(ctx context.Context, in *PolicyInput) (TagPolicy, error) {
	_, p, err := s.readPolicy(ctx, in)
	return newPolicy(p), err
}

func (s *service) readPolicy(ctx context.Context, in *PolicyInput) (*smarttag.State, smarttag.Policy, error) {
	st, err := s.store.Read(ctx, identity.CallerOrg(ctx))
	if err != nil {
		return nil, smarttag.Policy{}, err
	}
	p, err := st.Policy(in.PolicyID)
	return st, p, err
}

// NewTagPolicy is the body of POST /smart-tags/policies.
type NewTagPolicy struct {
	Name     string      `json:"name" minLength:"1" maxLength:"128"`
	Selector TagSelector `json:"selector,omitzero"`
	Key      string      `json:"key" minLength:"1" maxLength:"128"`
	Value    TagValue    `json:"value"`
}

func (s *service) createPolicy(ctx context.Context, in *struct{ Body NewTagPolicy }) (TagPolicy, error) {
	now, v := s.p.Clock.Now(), in.Body.Value
	p := smarttag.Policy{
		ID: id.New("tagp", now), Name: in.Body.Name, Selector: inventory.Selector(in.Body.Selector), Key: in.Body.Key,
		Fields: v.Fields, Separator: v.Separator, Lowercase: v.Lowercase, Version: 1, CreatedAt: now, UpdatedAt: now,
	}
	err := smarttag.Limited(identity.CallerOrg(ctx)).Add(ctx, s.p.Table, func(take table.Write) error {
		return s.addPolicy(ctx, &p, take)
	})
	return newPolicy(p), err
}

// addPolicy adds a valid policy, together with take, if there is room for one more.
func (s *service) addPolicy(ctx context.Context, p *smarttag.Policy, take table.Write) error {
	st, err := s.store.Read(ctx, identity.CallerOrg(ctx))
	if err != nil {
		return err
	}
	if len(st.Policies) >= smarttag.MaxPolicies {
		return fault.New(fault.Invalid,
			"the organization has %d smart tag policies, which is the most; delete one first", len(st.Policies))
	}
	if err = checkPolicy(p, st); err != nil {
		return err
	}
	return s.store.Add(ctx, identity.CallerOrg(ctx), *p, take)
}

// checkPolicy normalizes the name, and refuses a policy that derives no tag or has the name of another.
func checkPolicy(p *smarttag.Policy, st *smarttag.State) error {
	var err error
	if p.Name, err = displayname.CleanName("name", p.Name, 128); err != nil {
		return err
	}
	if slices.ContainsFunc(st.Policies, func(o smarttag.Policy) bool {
		return o.ID != p.ID && strings.EqualFold(o.Name, p.Name)
	}) {
		return fault.New(fault.Conflict, "name: a smart tag policy named %.64q exists already; choose another name",
			p.Name)
	}
	return p.Check()
}

// ChangedTagPolicy is the body of PUT /smart-tags/policies/{policyID}.
type ChangedTagPolicy struct {
	Name     rest.Patch[string]      `json:"name,omitzero" minLength:"1" maxLength:"128"`
	Selector rest.Patch[TagSelector] `json:"selector,omitzero"`
	Key      rest.Patch[string]      `json:"key,omitzero" minLength:"1" maxLength:"128"`
	Value    rest.Patch[TagValue]    `json:"value,omitzero"`
}

type updateInput struct {
	PolicyInput
	Body ChangedTagPolicy
}

func (s *service) updatePolicy(ctx context.Context, in *updateInput) (TagPolicy, error) {
	st, p, err := s.readPolicy(ctx, &in.PolicyInput)
	if err != nil {
		return TagPolicy{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: p.ID, Before: newPolicy(p)})
	in.Body.applyTo(&p)
	p.Version, p.UpdatedAt = p.Version+1, s.p.Clock.Now()
	if err = checkPolicy(&p, st); err != nil {
		return TagPolicy{}, err
	}
	if err = s.store.Put(ctx, identity.CallerOrg(ctx), p); err != nil {
		return TagPolicy{}, err
	}
	audit.NoteChange(ctx, audit.Change{After: newPolicy(p)})
	return newPolicy(p), nil
}

// applyTo changes the fields that were sent. checkPolicy refuses fields that must not be empty.
func (c *ChangedTagPolicy) applyTo(p *smarttag.Policy) {
	c.Name.Apply(&p.Name)
	c.Key.Apply(&p.Key)
	if c.Selector.Sent {
		p.Selector = inventory.Selector(c.Selector.Value)
	}
	if c.Value.Sent {
		p.Fields, p.Separator, p.Lowercase = c.Value.Value.Fields, c.Value.Value.Separator, c.Value.Value.Lowercase
	}
}

func (s *service) deletePolicy(ctx context.Context, in *PolicyInput) (rest.Deleted, error) {
	_, p, err := s.readPolicy(ctx, in)
	if err != nil {
		return rest.Deleted{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: p.ID, Before: newPolicy(p)})
	return rest.Deleted{ID: p.ID}, s.store.Delete(ctx, identity.CallerOrg(ctx), p)
}

// ValueCount is the number of resources that would have a value.
type ValueCount struct {
	Value string `json:"value"`
	Count int    `json:"count"`
}

// PolicyPreview is the effect of a policy.
type PolicyPreview struct {
	Resources int          `json:"resources" doc:"How many resources would have a tag"`
	Values    []ValueCount `json:"values" doc:"The 100 most frequent values"`
	Items     []SmartTag   `json:"items" doc:"The first 50"`
}

func (s *service) previewPolicy(ctx context.Context, in *PolicyInput) (PolicyPreview, error) {
	st, p, err := s.readPolicy(ctx, in)
	if err != nil {
		return PolicyPreview{}, err
	}
	all, err := s.deriveTags(ctx, st, []smarttag.Policy{p})
	if err != nil {
		return PolicyPreview{}, err
	}
	out := PolicyPreview{len(all), []ValueCount{}, append([]SmartTag{}, all[:min(len(all), 50)]...)}
	at := map[string]int{}
	for _, t := range all {
		n, had := at[t.Value]
		if !had {
			n = len(out.Values)
			at[t.Value], out.Values = n, append(out.Values, ValueCount{Value: t.Value})
		}
		out.Values[n].Count++
	}
	slices.SortStableFunc(out.Values, func(a, b ValueCount) int { return b.Count - a.Count })
	out.Values = out.Values[:min(len(out.Values), 100)]
	return out, nil
}
