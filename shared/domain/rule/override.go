package rule

import (
	"cmp"
	"encoding/json"
	"slices"

	"lamplighter.dev/shared/foundation/fault"
)

// BuiltInOverride is an Overlay of a built-in rule as it is sent, exported and stored. A field without a value leaves
// the value of the rule, or of an override of a wider scope.
type BuiltInOverride struct {
	Rule     string         `json:"rule" minLength:"1" maxLength:"80" example:"aws-ec2-idle" doc:"The id of a built-in rule"`
	Scope    string         `json:"scope" enum:"org,account,group" doc:"A narrower scope overrides a wider one; of several groups, the one with the greatest id"`
	ScopeID  string         `json:"scopeID,omitempty" maxLength:"64" doc:"The id of the cloud account or resource group; none for org"`
	Enabled  *bool          `json:"enabled,omitempty" doc:"false: no recommendations"`
	Severity string         `json:"severity,omitempty" enum:"info,low,medium,high,critical"`
	Params   map[string]any `json:"params,omitempty" doc:"Values of parameters of the rule"`
	Excludes []string       `json:"excludes,omitempty" maxItems:"20" doc:"Conditions in CEL; a resource for which one is true has no recommendation"`
}

// Overlay returns the overlay. It checks everything that needs no CEL. The kind of an error is Invalid.
func (o *BuiltInOverride) Overlay() (Overlay, error) {
	r := ByID(o.Rule)
	if r == nil {
		return Overlay{}, errNoBuiltIn(o.Rule)
	}
	out := Overlay{
		Rule: o.Rule, Scope: Scope(o.Scope), ScopeID: o.ScopeID, Enabled: o.Enabled, Excludes: o.Excludes,
	}
	if o.Severity != "" {
		s, err := ParseSeverity(o.Severity)
		if err != nil {
			return out, fault.Wrap("override of rule "+o.Rule, err)
		}
		out.Severity = &s
	}
	var err error
	if out.Params, err = paramTexts(o.Params); err != nil {
		return out, fault.New(fault.Invalid, "override of rule %s: %s", o.Rule, fault.Message(err))
	}
	return out, out.Check(r)
}

// errNoBuiltIn returns the error for an override of a rule that is not built in.
func errNoBuiltIn(ruleID string) error {
	shown := fault.CleanText(ruleID, maxOwnID)
	if IsOwnID(ruleID) {
		return fault.New(fault.Invalid, "override of rule %s: it is no built-in rule; change an own rule itself", shown)
	}
	var known []string
	for i := range All() {
		known = append(known, All()[i].ID)
	}
	return fault.New(fault.Invalid, "override of rule %s: there is no such built-in rule%s", shown,
		Nearest(shown, known))
}

// CheckOverrides checks the overrides of one built-in rule: each by itself, that no scope occurs twice, and their size
// together. The kind of an error is Invalid.
func CheckOverrides(all []BuiltInOverride) error {
	had := map[[2]string]bool{}
	for i := range all {
		o := &all[i]
		if _, err := o.Overlay(); err != nil {
			return err
		}
		key := [2]string{o.Scope, o.ScopeID}
		if had[key] {
			return fault.New(fault.Invalid, "rule %s has two overrides for %s %s: give one", o.Rule, o.Scope, o.ScopeID)
		}
		had[key] = true
	}
	b, err := json.Marshal(all)
	if err != nil {
		return fault.NewWithCause(fault.Invalid, err, "overrides cannot be written as JSON")
	}
	if len(all) > 0 && len(b) > MaxOwnBytes {
		return fault.New(fault.Invalid, "the overrides of rule %s have %d bytes as JSON: at most %d are allowed; give "+
			"fewer or shorter ones", all[0].Rule, len(b), MaxOwnBytes)
	}
	return nil
}

// SortOverrides sorts overrides by rule, scope from the widest, and id.
func SortOverrides(all []BuiltInOverride) {
	slices.SortStableFunc(all, func(a, b BuiltInOverride) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule),
			cmp.Compare(slices.Index(scopes, Scope(a.Scope)), slices.Index(scopes, Scope(b.Scope))),
			cmp.Compare(a.ScopeID, b.ScopeID))
	})
}
