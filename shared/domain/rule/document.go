package rule

import (
	"cmp"
	"slices"

	"lamplighter.dev/shared/foundation/fault"
)

// Document is own rules and overrides, as a file of a repository holds them.
type Document struct {
	Version   int               `json:"version,omitempty" doc:"Of an export; it is ignored when a document is sent"`
	Rules     []OwnRule         `json:"rules,omitempty" maxItems:"500" doc:"Own rules"`
	Overrides []BuiltInOverride `json:"overrides,omitempty" maxItems:"5000" doc:"Overrides of built-in rules; they replace all overrides that the rule had"`
}

// Check checks everything that needs no CEL, and that nothing occurs twice. The kind of an error is Invalid.
func (d *Document) Check() error {
	had := map[string]bool{}
	for i := range d.Rules {
		o := &d.Rules[i]
		if _, err := o.Rule(1); err != nil {
			return err
		}
		if had[o.ID] {
			return fault.New(fault.Invalid, "rule %s occurs twice: remove one", o.ID)
		}
		had[o.ID] = true
	}
	if len(d.Rules) > MaxOwnRules {
		return fault.New(fault.Invalid, "there are %d own rules: at most %d are allowed", len(d.Rules), MaxOwnRules)
	}
	for _, some := range d.OverridesByRule() {
		if err := CheckOverrides(some); err != nil {
			return err
		}
	}
	return nil
}

// OverridesByRule returns the overrides of each rule.
func (d *Document) OverridesByRule() map[string][]BuiltInOverride {
	out := map[string][]BuiltInOverride{}
	for i := range d.Overrides {
		id := d.Overrides[i].Rule
		out[id] = append(out[id], d.Overrides[i])
	}
	return out
}

// Add adds the rules and overrides of another document.
func (d *Document) Add(o Document) {
	d.Rules, d.Overrides = append(d.Rules, o.Rules...), append(d.Overrides, o.Overrides...)
}

// Sort sorts the rules by ID, and the overrides by rule and scope.
func (d *Document) Sort() {
	slices.SortFunc(d.Rules, func(a, b OwnRule) int { return cmp.Compare(a.ID, b.ID) })
	SortOverrides(d.Overrides)
}
