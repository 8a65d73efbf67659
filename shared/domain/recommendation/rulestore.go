package recommendation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// The sort keys of versions: the one in force, and each version by its number.
const (
	inForceSK     = "V"
	versionPrefix = "V#"
)

// versionText returns a version so that texts are in the order of numbers.
func versionText(version int) string { return fmt.Sprintf("%09d", version) }

// ruleVersion is a stored version, with the version of each definition. Next, in the item of the version in force
// alone, is the number of the next change.
type ruleVersion struct {
	Version     int            `json:"version"`
	At          time.Time      `json:"at"`
	By          string         `json:"by,omitempty"`
	Why         string         `json:"why,omitempty"`
	Definitions map[string]int `json:"definitions"`
	Next        int            `json:"next,omitempty"`
}

// equals reports whether two definitions are the same apart from their versions.
func (d *RuleDefinition) equals(o *RuleDefinition) bool {
	a, err := json.Marshal(RuleDefinition{Own: d.Own, Overrides: d.Overrides})
	b, err2 := json.Marshal(RuleDefinition{Own: o.Own, Overrides: o.Overrides})
	return err == nil && err2 == nil && bytes.Equal(a, b)
}

// ReadRules reads the own rules and overrides in force. One round trip, and one more for each hundred definitions.
func (s *Store) ReadRules(ctx context.Context, org string) (*RuleSet, error) {
	v, err := s.readRuleVersion(ctx, org, inForceSK)
	if fault.Is(err, fault.NotFound) {
		return &RuleSet{}, nil
	}
	if err != nil {
		return nil, fault.Wrap("read the rules of "+org, err)
	}
	return s.readDefinitions(ctx, org, v)
}

// ReadRulesAt reads the own rules and overrides of a version, or fault.NotFound.
func (s *Store) ReadRulesAt(ctx context.Context, org string, version int) (*RuleSet, error) {
	if version == 0 {
		return &RuleSet{}, nil
	}
	v, err := s.readRuleVersion(ctx, org, versionPrefix+versionText(version))
	if fault.Is(err, fault.NotFound) {
		return nil, fault.New(fault.NotFound, "version %d of the rules does not exist: GET /recommendations/rules/"+
			"export shows the one in force", version)
	}
	if err != nil {
		return nil, fault.Wrap(fmt.Sprintf("read version %d of the rules of %s", version, org), err)
	}
	return s.readDefinitions(ctx, org, v)
}

func (s *Store) readRuleVersion(ctx context.Context, org, sk string) (ruleVersion, error) {
	return table.Read[ruleVersion](ctx, s.table, ruleKey(org, sk))
}

func (s *Store) readDefinitions(ctx context.Context, org string, v ruleVersion) (*RuleSet, error) {
	out := &RuleSet{Version: v.Version, At: v.At, By: v.By, Definitions: map[string]RuleDefinition{}}
	keys := make([]table.Key, 0, len(v.Definitions))
	for id, version := range v.Definitions {
		keys = append(keys, ruleKey(org, definitionKey(id, version)))
	}
	if len(keys) == 0 {
		return out, nil
	}
	got, err := s.table.BatchGet(ctx, keys...)
	if err != nil {
		return nil, fault.Wrap(fmt.Sprintf("read %d rules of %s", len(keys), org), err)
	}
	for _, k := range keys {
		it, there := got[k]
		if !there {
			return nil, fault.New(fault.Internal, "version %d of the rules of %s lacks %s", v.Version, org, k.SK)
		}
		if out.Definitions[definitionID(k.SK)], err = decodeDefinition(it); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func decodeDefinition(it table.Item) (out RuleDefinition, err error) {
	b, err := unpackItem(it)
	if err != nil {
		return out, err
	}
	if err = json.Unmarshal(b, &out); err != nil {
		return out, &table.DamageError{Key: it.Key, Err: err}
	}
	return out, nil
}

// RuleEdit is a change of the rules with its author.
type RuleEdit struct {
	Base   *RuleSet // as it was read; the change is refused if another version is in force
	Change RuleChange
	By     string // the address of a person
	At     time.Time
	Why    string // "plan job_…", for the list of versions
	// Mark returns a write of the same transaction, given the new version; nil for none.
	Mark func(version int) table.Write
}

// errRulesMoved says that the rules have changed since they were read.
func errRulesMoved(base int) error {
	return fault.New(fault.Conflict, "the rules have changed since version %d: read them and try again", base)
}

// ChangeRules puts a change into force, and returns the new set. It returns fault.Conflict if another version than the
// base is in force, and fault.Invalid above rule.MaxOwnRules. It takes three round trips: one reserves the number of
// the version, so that definitions of two changes never have one key, one writes the definitions, and one puts them
// into force. A change that dies before its end leaves items that nothing names.
func (s *Store) ChangeRules(ctx context.Context, org string, e RuleEdit) (*RuleSet, error) {
	if n := len(e.Base.With(e.Change, 0).Own()); n > rule.MaxOwnRules {
		return nil, fault.New(fault.Invalid, "the organization would have %d own rules: at most %d are allowed; "+
			"delete some first", n, rule.MaxOwnRules)
	}
	version, err := s.reserveRuleVersion(ctx, org, e.Base.Version)
	if err != nil {
		return nil, err
	}
	next := e.Base.With(e.Change, version)
	next.At, next.By = e.At, e.By
	if err = s.writeDefinitions(ctx, org, e.Change, next); err != nil {
		return nil, err
	}
	return next, s.putInForce(ctx, org, &e, next)
}

// reserveRuleVersion returns the number of the next version, which no other change gets.
func (s *Store) reserveRuleVersion(ctx context.Context, org string, base int) (int, error) {
	for range changeTries {
		v, err := s.readRuleVersion(ctx, org, inForceSK)
		missing := fault.Is(err, fault.NotFound)
		if err != nil && !missing {
			return 0, fault.Wrap("read the rules of "+org, err)
		}
		if v.Version != base {
			return 0, errRulesMoved(base)
		}
		number := max(v.Next, 1)
		w := table.Update(ruleKey(org, inForceSK), []table.Change{table.Set("next", number+1)},
			table.Equal("next", v.Next))
		if missing {
			it, err := table.NewItem(ruleKey(org, inForceSK), ruleVersion{Next: 2})
			if err != nil {
				return 0, err
			}
			w = table.Put(it, table.Absent())
		}
		_, err = s.table.Write(ctx, w)
		if err == nil {
			return number, nil
		}
		if _, faster := errors.AsType[*table.ConditionError](err); !faster {
			return 0, fault.Wrap("reserve a version of the rules of "+org, err)
		}
	}
	return 0, errRulesMoved(base)
}

// writeDefinitions writes the definitions that a change sets.
func (s *Store) writeDefinitions(ctx context.Context, org string, c RuleChange, next *RuleSet) error {
	var ws []table.Write
	for _, id := range c.IDs() {
		if c[id] == nil {
			continue
		}
		b, err := json.Marshal(next.Definitions[id])
		if err != nil {
			return fmt.Errorf("encode rule %s: %w", id, err)
		}
		it, err := itemOf(ruleKey(org, definitionKey(id, next.Version)), packer.Append(nil, b))
		if err != nil {
			return err
		}
		ws = append(ws, table.Put(it))
	}
	if len(ws) == 0 {
		return nil
	}
	return fault.Wrap(fmt.Sprintf("write %d rules of %s", len(ws), org), s.table.BatchWrite(ctx, ws...))
}

// putInForce writes the version, and makes it the one in force if its base still is.
func (s *Store) putInForce(ctx context.Context, org string, e *RuleEdit, next *RuleSet) error {
	v := ruleVersion{Version: next.Version, At: e.At, By: e.By, Why: e.Why, Definitions: map[string]int{}}
	for id, d := range next.Definitions {
		v.Definitions[id] = d.Version
	}
	kept, err := table.NewItem(ruleKey(org, versionPrefix+versionText(v.Version)), v)
	if err != nil {
		return err
	}
	force := table.Update(ruleKey(org, inForceSK), []table.Change{
		table.Set("version", v.Version), table.Set("at", v.At), table.Set("by", v.By), table.Set("why", v.Why),
		table.Set("definitions", v.Definitions),
	}, table.Equal("version", e.Base.Version))
	ws := []table.Write{table.Put(kept, table.Absent()), force}
	if e.Mark != nil {
		ws = append(ws, e.Mark(v.Version))
	}
	err = s.table.Transact(ctx, ws...)
	if _, moved := errors.AsType[*table.ConditionError](err); moved {
		return errRulesMoved(e.Base.Version)
	}
	return fault.Wrap(fmt.Sprintf("put version %d of the rules of %s into force", v.Version, org), err)
}

// RuleVersion is a version in a list.
type RuleVersion struct {
	Version   int
	At        time.Time
	By        string
	Why       string
	Rules     int // own rules
	Overrides int // built-in rules with overrides
}

// MaxListedVersions is how many versions ListRuleVersions returns at most.
const MaxListedVersions = 100

// ListRuleVersions lists the newest versions, the newest first. One round trip.
func (s *Store) ListRuleVersions(ctx context.Context, org string) ([]RuleVersion, error) {
	all, _, err := table.ReadPage[ruleVersion](ctx, s.table, table.Query{
		PK: ruleKey(org, "").PK, Prefix: versionPrefix, Reverse: true, Limit: MaxListedVersions,
	})
	if err != nil {
		return nil, fault.Wrap("list the versions of the rules of "+org, err)
	}
	out := make([]RuleVersion, len(all))
	for i := range all {
		v := &all[i]
		out[i] = RuleVersion{Version: v.Version, At: v.At, By: v.By, Why: v.Why}
		for id := range maps.Keys(v.Definitions) {
			if rule.IsOwnID(id) {
				out[i].Rules++
			} else {
				out[i].Overrides++
			}
		}
	}
	return out, nil
}
