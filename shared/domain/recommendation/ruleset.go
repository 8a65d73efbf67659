package recommendation

import (
	"maps"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/domain/rule"
)

// RuleSet is the own rules and overrides of an organization at one version. Each change makes the next version. The
// zero RuleSet is that of an organization that never changed a rule. Callers must not change a set that was read.
type RuleSet struct {
	Version     int
	At          time.Time
	By          string // the address of the person who made the change
	Definitions map[string]RuleDefinition
}

// RuleDefinition is an own rule, or the overrides of a built-in rule.
type RuleDefinition struct {
	Version   int                    `json:"version"` // of the set that it came with
	Own       *rule.OwnRule          `json:"own,omitempty"`
	Overrides []rule.BuiltInOverride `json:"overrides,omitempty"`
}

// Own returns the own rules by ID.
func (s *RuleSet) Own() []rule.OwnRule {
	var out []rule.OwnRule
	for _, id := range slices.Sorted(maps.Keys(s.Definitions)) {
		if o := s.Definitions[id].Own; o != nil {
			out = append(out, *o)
		}
	}
	return out
}

// Document returns the set as a document. Checked and sent as a plan, it changes nothing.
func (s *RuleSet) Document() rule.Document {
	out := rule.Document{Rules: s.Own()}
	for _, d := range s.Definitions {
		out.Overrides = append(out.Overrides, d.Overrides...)
	}
	out.Sort()
	return out
}

// RuleChange is a change of own rules and overrides. A nil definition removes the own rule, or all overrides of the
// built-in rule.
type RuleChange map[string]*RuleDefinition

// ChangeTo returns the change that puts a document into force. With prune, rules and overrides that the document does
// not have are removed. Equal definitions are no part of the change.
func (s *RuleSet) ChangeTo(d *rule.Document, prune bool) RuleChange {
	out := RuleChange{}
	for i := range d.Rules {
		out[d.Rules[i].ID] = &RuleDefinition{Own: &d.Rules[i]}
	}
	for id, some := range d.OverridesByRule() {
		rule.SortOverrides(some)
		out[id] = &RuleDefinition{Overrides: some}
	}
	for id := range s.Definitions {
		if _, wanted := out[id]; !wanted && prune {
			out[id] = nil
		}
	}
	maps.DeleteFunc(out, func(id string, next *RuleDefinition) bool {
		now, there := s.Definitions[id]
		return there && next != nil && now.equals(next)
	})
	return out
}

// Has reports whether a change would leave the set as it is.
func (s *RuleSet) Has(c RuleChange) bool {
	for id, next := range c {
		now, there := s.Definitions[id]
		if (next != nil) != there || there && !now.equals(next) {
			return false
		}
	}
	return true
}

// With returns the set after a change, at a version.
func (s *RuleSet) With(c RuleChange, version int) *RuleSet {
	out := &RuleSet{Version: version, At: s.At, By: s.By, Definitions: maps.Clone(s.Definitions)}
	if out.Definitions == nil {
		out.Definitions = map[string]RuleDefinition{}
	}
	for id, d := range c {
		if d == nil {
			delete(out.Definitions, id)
			continue
		}
		next := *d
		next.Version = version
		out.Definitions[id] = next
	}
	return out
}

// IDs returns the rules of the change, in order.
func (c RuleChange) IDs() []string { return slices.Sorted(maps.Keys(c)) }

// Document returns the definitions that the change sets, as a document.
func (c RuleChange) Document() rule.Document {
	var out rule.Document
	for _, id := range c.IDs() {
		if d := c[id]; d != nil && d.Own != nil {
			out.Rules = append(out.Rules, *d.Own)
		} else if d != nil {
			out.Overrides = append(out.Overrides, d.Overrides...)
		}
	}
	return out
}

// definitionKey returns the sort key of a version of a definition. No other sort key of the partition begins with a
// lower-case letter, as the IDs of rules do.
func definitionKey(ruleID string, version int) string { return ruleID + "#" + versionText(version) }

// definitionID returns the ID of a rule of a sort key of definitionKey.
func definitionID(sk string) string {
	id, _, _ := strings.Cut(sk, "#")
	return id
}

// Since returns the rules whose definitions differ from those of an earlier set, in order.
func (s *RuleSet) Since(before *RuleSet) []string {
	changed := map[string]bool{}
	for id, d := range s.Definitions {
		if before.Definitions[id].Version != d.Version {
			changed[id] = true
		}
	}
	for id := range before.Definitions {
		if _, there := s.Definitions[id]; !there {
			changed[id] = true
		}
	}
	return slices.Sorted(maps.Keys(changed))
}
