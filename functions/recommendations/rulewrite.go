package recommendations

import (
	"context"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/foundation/fault"
)

// RuleInput names the rule of a request.
type RuleInput struct {
	RuleID string `path:"ruleID" maxLength:"80"`
}

func (s *service) createRule(ctx context.Context, in *struct{ Body rule.OwnRule }) (RecommendationRule, error) {
	org, o := identity.CallerOrg(ctx), in.Body
	set, err := s.store.ReadRules(ctx, org)
	if err != nil {
		return RecommendationRule{}, err
	}
	if d, there := set.Definitions[o.ID]; there && d.Own != nil {
		return RecommendationRule{}, fault.New(fault.Conflict,
			"id: rule %s exists already; change it with PUT %s/%[1]s, or give another id", o.ID, rules)
	}
	return s.saveRule(ctx, set, o.ID, &recommendation.RuleDefinition{Own: &o})
}

// ChangedRecommendationRule is the body of PUT /recommendations/rules/{ruleID}. Of a built-in rule, it changes the
// override of a scope; an override without a value is removed.
type ChangedRecommendationRule struct {
	Enabled      rest.Patch[bool]           `json:"enabled,omitzero" doc:"false: no recommendations"`
	Severity     rest.Patch[string]         `json:"severity,omitzero" enum:"info,low,medium,high,critical"`
	Params       rest.Patch[map[string]any] `json:"params,omitzero" doc:"All parameters of an own rule; of a built-in one those with another value"`
	Scope        rest.Patch[string]         `json:"scope,omitzero" enum:"org,account,group" doc:"Of a built-in rule: which override; org by default"`
	ScopeID      rest.Patch[string]         `json:"scopeID,omitzero" maxLength:"64" doc:"Of a built-in rule: the cloud account or resource group"`
	Excludes     rest.Patch[[]string]       `json:"excludes,omitzero" maxItems:"20" doc:"Of a built-in rule: conditions in CEL; a resource for which one is true has no recommendation"`
	Title        rest.Patch[string]         `json:"title,omitzero" minLength:"1" maxLength:"200"`
	ResourceType rest.Patch[string]         `json:"resourceType,omitzero" minLength:"1" maxLength:"64"`
	Category     rest.Patch[string]         `json:"category,omitzero" enum:"idle,orphan,rightsizing,schedule,discount,governance,compliance,security,reliability"`
	Condition    rest.Patch[string]         `json:"condition,omitzero" minLength:"1" maxLength:"16000"`
	Effort       rest.Patch[string]         `json:"effort,omitzero" enum:"low,medium,high"`
	Risk         rest.Patch[string]         `json:"risk,omitzero" enum:"low,medium,high"`
	Remediation  rest.Patch[string]         `json:"remediation,omitzero" minLength:"1" maxLength:"2000"`
	Verb         rest.Patch[string]         `json:"verb,omitzero" maxLength:"20"`
	Target       rest.Patch[string]         `json:"target,omitzero" maxLength:"500"`
	Savings      rest.Patch[string]         `json:"savings,omitzero" maxLength:"100"`
	Source       rest.Patch[string]         `json:"source,omitzero" maxLength:"500"`
	Fixtures     rest.Patch[rule.Fixtures]  `json:"fixtures,omitzero"`
}

type updateRuleInput struct {
	RuleInput
	Body ChangedRecommendationRule
}

func (s *service) updateRule(ctx context.Context, in *updateRuleInput) (RecommendationRule, error) {
	set, err := s.store.ReadRules(ctx, identity.CallerOrg(ctx))
	if err != nil {
		return RecommendationRule{}, err
	}
	d := set.Definitions[in.RuleID]
	switch {
	case d.Own != nil:
		next, err := in.Body.applyTo(d.Own)
		if err != nil {
			return RecommendationRule{}, err
		}
		return s.saveRule(ctx, set, in.RuleID, &recommendation.RuleDefinition{Own: next})
	case rule.ByID(in.RuleID) != nil:
		some, err := in.Body.override(in.RuleID, d.Overrides)
		if err != nil {
			return RecommendationRule{}, err
		}
		next := &recommendation.RuleDefinition{Overrides: some}
		if len(some) == 0 {
			next = nil
		}
		return s.saveRule(ctx, set, in.RuleID, next)
	}
	return RecommendationRule{}, missingRule(in.RuleID)
}

func missingRule(id string) error { return fault.New(fault.NotFound, "rule %.80q does not exist", id) }

// applyTo returns an own rule with the sent fields.
func (c *ChangedRecommendationRule) applyTo(o *rule.OwnRule) (*rule.OwnRule, error) {
	if c.Scope.Sent || c.ScopeID.Sent || c.Excludes.Sent {
		return nil, fault.New(fault.Invalid,
			"scope, scopeID, excludes: they are of overrides, and %s is an own rule; change its condition", o.ID)
	}
	if err := rest.RefuseNull(map[string]bool{
		"title": c.Title.Null, "resourceType": c.ResourceType.Null, "category": c.Category.Null,
		"severity": c.Severity.Null, "condition": c.Condition.Null, "remediation": c.Remediation.Null,
		"fixtures": c.Fixtures.Null,
	}); err != nil {
		return nil, err
	}
	next := *o
	c.Title.Apply(&next.Title)
	c.ResourceType.Apply(&next.ResourceType)
	c.Category.Apply(&next.Category)
	c.Severity.Apply(&next.Severity)
	c.Condition.Apply(&next.Condition)
	c.Params.Apply(&next.Params)
	c.Effort.Apply(&next.Effort)
	c.Risk.Apply(&next.Risk)
	c.Remediation.Apply(&next.Remediation)
	c.Verb.Apply(&next.Verb)
	c.Target.Apply(&next.Target)
	c.Savings.Apply(&next.Savings)
	c.Source.Apply(&next.Source)
	c.Fixtures.Apply(&next.Fixtures)
	applyOptional(c.Enabled, &next.Enabled)
	return &next, nil
}

// applyOptional changes a value that may be absent.
func applyOptional[T any](p rest.Patch[T], to **T) {
	switch {
	case p.Set():
		v := p.Value
		*to = &v
	case p.Null:
		*to = nil
	}
}

// override returns the overrides of a built-in rule with that of the sent scope changed.
func (c *ChangedRecommendationRule) override(ruleID string, all []rule.BuiltInOverride) (
	[]rule.BuiltInOverride, error,
) {
	if name := c.sentOfOwnRules(); name != "" {
		return nil, fault.New(fault.Invalid, "%s: it cannot be changed of the built-in rule %s; change enabled, "+
			"severity, params or excludes, or create an own rule, as %s%[2]s", name, ruleID, rule.CustomPrefix)
	}
	o := rule.BuiltInOverride{Rule: ruleID, Scope: string(rule.ForOrganization), ScopeID: c.ScopeID.Value}
	if c.Scope.Set() {
		o.Scope = c.Scope.Value
	}
	all = slices.Clone(all)
	if i := slices.IndexFunc(all, func(had rule.BuiltInOverride) bool {
		return had.Scope == o.Scope && had.ScopeID == o.ScopeID
	}); i >= 0 {
		o = all[i]
		all = slices.Delete(all, i, i+1)
	}
	applyOptional(c.Enabled, &o.Enabled)
	c.Severity.Apply(&o.Severity)
	c.Params.Apply(&o.Params)
	c.Excludes.Apply(&o.Excludes)
	if o.Enabled != nil || o.Severity != "" || len(o.Params) > 0 || len(o.Excludes) > 0 {
		all = append(all, o)
	}
	rule.SortOverrides(all)
	return all, nil
}

// sentOfOwnRules returns the first sent field that only own rules have.
func (c *ChangedRecommendationRule) sentOfOwnRules() string {
	sent := map[string]bool{
		"title": c.Title.Sent, "resourceType": c.ResourceType.Sent, "category": c.Category.Sent,
		"condition": c.Condition.Sent, "effort": c.Effort.Sent, "risk": c.Risk.Sent,
		"remediation": c.Remediation.Sent, "verb": c.Verb.Sent, "target": c.Target.Sent, "savings": c.Savings.Sent,
		"source": c.Source.Sent, "fixtures": c.Fixtures.Sent,
	}
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		if sent[name] {
			return name
		}
	}
	return ""
}

// saveRule checks a definition and puts it into force; nil removes it. It returns the rule. A definition that is in
// force already makes no version.
func (s *service) saveRule(
	ctx context.Context, set *recommendation.RuleSet, id string, d *recommendation.RuleDefinition,
) (RecommendationRule, error) {
	c := identity.CallerFrom(ctx)
	change := recommendation.RuleChange{id: d}
	if shown := shownRule(set, id); shown != nil && set.Has(change) {
		return *shown, nil
	}
	document := change.Document()
	var g errgroup.Group
	g.Go(func() error { return s.checkScopes(ctx, document.Overrides) })
	g.Go(func() error {
		_, err := recommendation.CheckRules(ctx, s.p.Workers,
			recommendation.RuleCheck{Org: c.Org, Document: document})
		return err
	})
	if err := g.Wait(); err != nil {
		return RecommendationRule{}, err
	}
	before := shownRule(set, id)
	if before != nil {
		audit.NoteChange(ctx, audit.Change{Target: id, Before: before})
	}
	next, err := s.store.ChangeRules(ctx, c.Org, recommendation.RuleEdit{
		Base: set, Change: change, By: c.Email, At: s.p.Clock.Now(), Why: id,
	})
	if err != nil {
		return RecommendationRule{}, err
	}
	after := shownRule(next, id)
	audit.NoteChange(ctx, audit.Change{Target: id, After: after})
	if after == nil {
		return RecommendationRule{}, nil
	}
	return *after, nil
}

// shownRule returns a rule without figures, or nil if there is none.
func shownRule(set *recommendation.RuleSet, id string) *RecommendationRule {
	shown := ruleFigures{set: set}
	if o := set.Definitions[id].Own; o != nil {
		out := shown.ownRule(o, set.Definitions[id].Version)
		return &out
	}
	if r := rule.ByID(id); r != nil {
		out := shown.rule(r)
		return &out
	}
	return nil
}

// checkScopes returns fault.NotFound for the first account or group of overrides that the organization does not have.
func (s *service) checkScopes(ctx context.Context, all []rule.BuiltInOverride) error {
	org := identity.CallerOrg(ctx)
	seen := map[string]bool{}
	for i := range all {
		o := &all[i]
		if seen[o.ScopeID] || o.ScopeID == "" {
			continue
		}
		seen[o.ScopeID] = true
		var err error
		switch rule.Scope(o.Scope) {
		case rule.ForAccount:
			_, err = s.inventory.ReadAccount(ctx, org, o.ScopeID)
		case rule.ForGroup:
			_, err = s.inventory.ReadGroup(ctx, org, o.ScopeID)
		case rule.ForOrganization:
		}
		if err != nil {
			return fault.Wrap("override of rule "+o.Rule, err)
		}
	}
	return nil
}

func (s *service) deleteRule(ctx context.Context, in *RuleInput) (rest.Deleted, error) {
	set, err := s.store.ReadRules(ctx, identity.CallerOrg(ctx))
	if err != nil {
		return rest.Deleted{}, err
	}
	if _, there := set.Definitions[in.RuleID]; !there {
		if rule.ByID(in.RuleID) != nil {
			return rest.Deleted{}, fault.New(fault.NotFound, "rule %s has no override: a built-in rule is switched "+
				"off with PUT %s/%[1]s and enabled false", in.RuleID, rules)
		}
		return rest.Deleted{}, missingRule(in.RuleID)
	}
	_, err = s.saveRule(ctx, set, in.RuleID, nil)
	return rest.Deleted{ID: in.RuleID}, err
}
