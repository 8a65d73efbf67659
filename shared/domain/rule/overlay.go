package rule

import (
	"cmp"
	"slices"

	"lamplighter.dev/shared/foundation/fault"
)

// Scope tells for which resources an overlay holds.
type Scope string

// The scopes of overlays, the widest first.
const (
	ForOrganization Scope = "org"
	ForAccount      Scope = "account"
	ForGroup        Scope = "group"
)

var scopes = []Scope{ForOrganization, ForAccount, ForGroup}

// Overlay changes how a rule holds for an organization, an account or a group of resources. A field without a value
// leaves what the rule, or an overlay of a wider scope, says.
type Overlay struct {
	Rule     string // the ID
	Scope    Scope
	ScopeID  string            // of the account or the group; "" for the organization
	Enabled  *bool             // false: no rows
	Severity *Severity         // instead of the rule's
	Params   map[string]string // values by name, as Param.Text
	Excludes []string          // CEL over the rule's facts and metrics; a resource for which one is true has no row
}

// Limits of an overlay.
const (
	MaxExcludes     = 20
	MaxExcludeBytes = 2000
)

// Effective is a rule as it holds for one resource.
type Effective struct {
	*Rule

	Enabled  bool
	Severity Severity
	Params   []Param
	Excludes []string // of all overlays together
}

// Check returns what is wrong with an overlay of a rule, or nil. It does not compile the excludes (package condition
// does). The kind of an error is Invalid.
func (o *Overlay) Check(r *Rule) error {
	switch {
	case o.Rule != r.ID:
		return fault.New(fault.Invalid, "the override is of rule %s, not of %s", fault.CleanText(o.Rule, 80), r.ID)
	case !slices.Contains(scopes, o.Scope) || (o.ScopeID == "") != (o.Scope == ForOrganization):
		return fault.New(fault.Invalid, "scope is %q of %q: give org without an id, or account or group with an id",
			fault.CleanText(string(o.Scope), 20), fault.CleanText(o.ScopeID, 60))
	case o.Severity != nil && *o.Severity > Critical:
		return fault.New(fault.Invalid, "severity is no info, low, medium, high or critical")
	case len(o.Excludes) > MaxExcludes:
		return fault.New(fault.Invalid, "excludes has %d conditions: give %d at most", len(o.Excludes), MaxExcludes)
	}
	for i, text := range o.Excludes {
		if text == "" || len(text) > MaxExcludeBytes {
			return fault.New(fault.Invalid, "excludes[%d] has %d bytes: give 1 to %d", i, len(text), MaxExcludeBytes)
		}
	}
	return o.checkParams(r)
}

// checkParams returns what is wrong with the values of an overlay.
func (o *Overlay) checkParams(r *Rule) error {
	var names []string
	for _, p := range r.Params {
		names = append(names, p.Name)
	}
	for name, text := range o.Params {
		p, ok := r.Param(name)
		if !ok {
			return fault.New(fault.Invalid, "rule %s has no parameter %s%s", r.ID, fault.CleanText(name, 40),
				nearest(name, names))
		}
		if _, err := p.With(text); err != nil {
			return fault.Wrap("set a parameter of rule "+r.ID, err)
		}
	}
	return nil
}

// Resolve returns the rule as it holds for a resource, given the overlays for its organization, account and groups.
// Overlays of other rules are left out. A narrower scope overrides a wider one; of several groups, the one with the
// greatest ID overrides. Excludes add up. A value that no longer fits the parameter is left out: a rule may change
// after an overlay was stored. The lists that are given stay as they are.
func Resolve(r *Rule, overlays []Overlay) Effective {
	e := Effective{Rule: r, Enabled: true, Severity: r.Severity, Params: slices.Clone(r.Params)}
	for _, o := range inOrder(overlays) {
		if o.Rule == r.ID {
			e.apply(o)
		}
	}
	return e
}

// inOrder sorts overlays so that each overrides those before it.
func inOrder(overlays []Overlay) []Overlay {
	return slices.SortedStableFunc(slices.Values(overlays), func(a, b Overlay) int {
		return cmp.Or(cmp.Compare(slices.Index(scopes, a.Scope), slices.Index(scopes, b.Scope)),
			cmp.Compare(a.ScopeID, b.ScopeID))
	})
}

// apply lets an overlay override what was said before.
func (e *Effective) apply(o Overlay) {
	if o.Enabled != nil {
		e.Enabled = *o.Enabled
	}
	if o.Severity != nil {
		e.Severity = min(*o.Severity, Critical)
	}
	for i, p := range e.Params {
		if text, is := o.Params[p.Name]; is {
			if changed, err := p.With(text); err == nil {
				e.Params[i] = changed
			}
		}
	}
	for _, text := range o.Excludes {
		if !slices.Contains(e.Excludes, text) {
			e.Excludes = append(e.Excludes, text)
		}
	}
}
