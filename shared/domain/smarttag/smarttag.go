// Package smarttag derives tags for untagged resources from their fields. Policies define the tags, and a tag is in
// force once a user has accepted it. Smart tags are never written to the cloud.
package smarttag

import (
	"maps"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/fault"
)

// Policy defines a tag for resources: its Key, and a value made of their fields.
type Policy struct {
	ID        string             `json:"id"` // tagp_…
	Name      string             `json:"name"`
	Selector  inventory.Selector `json:"selector"` // the empty one selects all
	Key       string             `json:"key"`
	Fields    []string           `json:"fields"` // see Fields
	Separator string             `json:"separator"`
	Lowercase bool               `json:"lowercase"`
	Version   int64              `json:"version"` // grows with each change
	CreatedAt time.Time          `json:"createdAt"`
	UpdatedAt time.Time          `json:"updatedAt"`
}

// fields are the fields that a value can contain.
var fields = map[string]func(*inventory.Resource) string{
	"res.type":          func(r *inventory.Resource) string { return r.Type },
	"res.region":        func(r *inventory.Resource) string { return r.Region },
	"res.provider":      func(r *inventory.Resource) string { return r.Provider },
	"res.instance_type": func(r *inventory.Resource) string { return r.InstanceType },
	"res.name":          func(r *inventory.Resource) string { return r.Name },
}

// Fields returns the names of the fields that a value can contain.
func Fields() []string { return slices.Sorted(maps.Keys(fields)) }

// The bounds of a policy.
const (
	MaxPolicies  = 50
	MaxKey       = 128 // characters, as the clouds have it
	MaxValue     = 256
	maxSeparator = 8
)

// Check returns fault.Invalid, with the field's name, for a policy that makes no tag.
func (p *Policy) Check() error {
	switch {
	case p.Key == "" || len(p.Key) > MaxKey || strings.TrimSpace(p.Key) != p.Key:
		return fault.New(fault.Invalid, "key: %.64q; 1 to %d bytes without spaces around them are wanted", p.Key,
			MaxKey)
	case len(p.Fields) == 0 || len(p.Fields) > len(fields):
		return fault.New(fault.Invalid, "value.fields: there are %d, between 1 and %d are wanted", len(p.Fields),
			len(fields))
	case len(p.Separator) > maxSeparator:
		return fault.New(fault.Invalid, "value.separator: %.64q has more than %d bytes", p.Separator, maxSeparator)
	}
	for i, f := range p.Fields {
		if fields[f] == nil || slices.Contains(p.Fields[:i], f) {
			return fault.New(fault.Invalid, "value.fields: %.64q is none of %s, or is there twice", f,
				strings.Join(Fields(), ", "))
		}
	}
	return nil
}

// Selects reports whether the policy applies to a resource.
func (p *Policy) Selects(r *inventory.Resource) bool {
	s := &p.Selector
	if s.Provider != "" && s.Provider != r.Provider || s.Type != "" && s.Type != r.Type || s.Region != "" &&
		s.Region != r.Region {
		return false
	}
	for key, value := range s.Tags {
		if had, ok := r.Tags[key]; !ok || had != value {
			return false
		}
	}
	return true
}

// Value derives the value of a resource that the policy selects; "" when all of its parts are empty. Empty parts are
// left out.
func (p *Policy) Value(r *inventory.Resource) string {
	var parts []string
	for _, f := range p.Fields {
		if part := fields[f](r); part != "" {
			parts = append(parts, part)
		}
	}
	value := strings.Join(parts, p.Separator)
	if p.Lowercase {
		value = strings.ToLower(value)
	}
	if len(value) > MaxValue {
		value = strings.ToValidUTF8(value[:MaxValue], "")
	}
	return value
}

// Derived is a tag that a policy derives for a resource.
type Derived struct {
	UID      string
	Key      string
	Value    string
	PolicyID string
}

// Derive derives the tags of a resource, by key. If several policies have one key, the first one that yields a value
// decides. A tag that the resource has in its cloud wins; then none is derived.
func Derive(policies []Policy, r *inventory.Resource) []Derived {
	var out []Derived
	for i := range policies {
		p := &policies[i]
		if _, tagged := r.Tags[p.Key]; tagged || !p.Selects(r) || slices.ContainsFunc(out, func(d Derived) bool {
			return d.Key == p.Key
		}) {
			continue
		}
		if value := p.Value(r); value != "" {
			out = append(out, Derived{r.UID, p.Key, value, p.ID})
		}
	}
	slices.SortFunc(out, func(a, b Derived) int { return strings.Compare(a.Key, b.Key) })
	return out
}
