package recommender

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/domain/rule/condition"
	"lamplighter.dev/shared/foundation/fault"
)

// orgRules are the rules of an organization in one pass: the built-in ones with its overrides, and its own.
type orgRules struct {
	compiler *compiler
	own      []compiledRule
	overlays map[string][]rule.Overlay // by rule
	groups   map[string][]string       // by native id: the groups of overlays that the resource is in, in order
	only     recommendation.RuleChange // of a plan: the rules that it changes; nil for all rules
}

// readRules reads the rules in force of an organization, for one pass.
func (w *worker) readRules(ctx context.Context, org string) (*orgRules, error) {
	set, err := w.rows.ReadRules(ctx, org)
	if err != nil {
		return nil, err
	}
	return w.compileSet(ctx, org, org, set)
}

// compileSet compiles the own rules of a set that the process has not compiled under a name: that of the organization,
// or of a plan, whose version is not yet one.
func (w *worker) compileSet(ctx context.Context, org, name string, set *recommendation.RuleSet) (*orgRules, error) {
	out := &orgRules{compiler: w.compiler, overlays: map[string][]rule.Overlay{}}
	var groups []string
	for id, d := range set.Definitions {
		if d.Own != nil {
			out.own = append(out.own, w.compiler.ownRule(name, d.Own, d.Version))
		}
		for i := range d.Overrides {
			overlay, err := d.Overrides[i].Overlay()
			if err != nil { // the rule has changed since the override was stored
				w.Log.WarnContext(ctx, "an override no longer fits its rule", "org", org, "rule", id, "error", err)
				continue
			}
			out.overlays[id] = append(out.overlays[id], overlay)
			if overlay.Scope == rule.ForGroup {
				groups = append(groups, overlay.ScopeID)
			}
		}
	}
	slices.SortFunc(out.own, func(a, b compiledRule) int { return strings.Compare(a.ID, b.ID) })
	return out, out.readGroups(ctx, w.inventory, org, groups)
}

// readGroups reads which resources are in the groups of overlays.
func (o *orgRules) readGroups(ctx context.Context, inv *inventory.Store, org string, groups []string) error {
	o.groups = map[string][]string{}
	slices.Sort(groups)
	groups = slices.Compact(groups)
	if len(groups) == 0 {
		return nil
	}
	members, err := inv.ExpandGroups(ctx, org, groups...)
	for _, id := range groups { // in order, so those of a resource are
		for i := range members[id] {
			uid := members[id][i].UID
			o.groups[uid] = append(o.groups[uid], id)
		}
	}
	return fault.Wrap("read the groups of overrides of "+org, err)
}

// rulesOf returns the rules for resources of a type.
func (o *orgRules) rulesOf(kind string) ([]compiledRule, error) {
	out, err := o.compiler.rulesOf(kind)
	for i := range o.own {
		if o.own[i].AppliesTo(kind) {
			out = append(slices.Clip(out), o.own[i])
		}
	}
	if o.only == nil {
		return out, err
	}
	return slices.DeleteFunc(slices.Clone(out), func(r compiledRule) bool { _, is := o.only[r.ID]; return !is }), err
}

// setting is how a rule holds for a resource.
type setting struct {
	enabled    bool
	severity   rule.Severity
	params     *condition.Params
	thresholds map[string]any // the parameters by name, as evidence shows them; the evidence of resources shares them
	excludes   []*condition.Condition
}

// settingKey identifies a setting: the resources of an account that are in the same groups have the same one.
type settingKey struct{ rule, account, groups string }

// settingOf returns how a rule holds for the subject.
func (e *evaluator) settingOf(r *compiledRule, s *subject) (*setting, error) {
	overlays := e.org.overlays[r.ID]
	if len(overlays) == 0 {
		return r.standard, nil
	}
	groups := e.org.groups[s.UID]
	k := settingKey{r.ID, s.CloudAccountID, strings.Join(groups, " ")}
	if out := e.settings[k]; out != nil {
		return out, nil
	}
	out, err := e.org.resolve(r, slices.DeleteFunc(slices.Clone(overlays), func(o rule.Overlay) bool {
		return o.Scope == rule.ForAccount && o.ScopeID != s.CloudAccountID ||
			o.Scope == rule.ForGroup && !slices.Contains(groups, o.ScopeID)
	}))
	if err == nil {
		e.settings[k] = out
	}
	return out, err
}

// resolve returns how a rule holds with overlays.
func (o *orgRules) resolve(r *compiledRule, overlays []rule.Overlay) (*setting, error) {
	effective := rule.Resolve(r.Rule, overlays)
	out := &setting{enabled: effective.Enabled, severity: effective.Severity, thresholds: thresholds(effective.Params)}
	var err error
	if out.params, err = r.condition.Bind(effective.Params); err != nil {
		return nil, fmt.Errorf("apply the overrides of rule %s: %w", r.ID, err)
	}
	for _, text := range effective.Excludes {
		c, err := o.compiler.exclude(r.Rule, text)
		if err != nil { // it compiled when it was saved
			return nil, fmt.Errorf("apply the overrides of rule %s: %w", r.ID, err)
		}
		out.excludes = append(out.excludes, c)
	}
	return out, nil
}

// excludesOf returns the conditions of all excludes of a rule that compile.
func (o *orgRules) excludesOf(r *rule.Rule) (out []*condition.Condition) {
	for _, overlay := range o.overlays[r.ID] {
		for _, text := range overlay.Excludes {
			if c, err := o.compiler.exclude(r, text); err == nil {
				out = append(out, c)
			}
		}
	}
	return out
}

// keptConditions is how many compiled conditions of organizations a process keeps.
const keptConditions = 5_000

// kept holds compiled conditions of own rules and excludes.
type kept struct {
	mu    sync.Mutex
	rules map[string]compiledRule
	texts map[[3]string]*condition.Condition // by rule, type and text
}

// ownRule compiles a version of an own rule once, under a name. A rule that no longer compiles, because a type has
// changed, has no condition: it is unknown for each resource.
func (c *compiler) ownRule(name string, o *rule.OwnRule, version int) compiledRule {
	key := fmt.Sprint(name, "#", o.ID, "#", version)
	c.kept.mu.Lock()
	defer c.kept.mu.Unlock()
	if out, known := c.kept.rules[key]; known {
		return out
	}
	out := c.compileOwn(o, version)
	if c.kept.rules == nil || len(c.kept.rules) >= keptConditions {
		c.kept.rules = map[string]compiledRule{}
	}
	c.kept.rules[key] = out
	return out
}

func (c *compiler) compileOwn(o *rule.OwnRule, version int) compiledRule {
	r, err := o.Rule(version)
	var one *condition.Condition
	if err == nil {
		one, err = c.catalogue.Compile(r)
	}
	if err != nil {
		return compiledRule{
			Rule:     &rule.Rule{ID: o.ID, Type: o.ResourceType, Title: o.Title, Version: version},
			standard: &setting{enabled: o.IsEnabled()},
		}
	}
	out := newCompiledRule(r.Type, r, one)
	out.standard.enabled = o.IsEnabled()
	return out
}

// exclude compiles a condition of an override. It may read the parameters of no rule.
func (c *compiler) exclude(r *rule.Rule, text string) (*condition.Condition, error) {
	key := [3]string{r.ID, r.Type, text}
	c.kept.mu.Lock()
	defer c.kept.mu.Unlock()
	if out := c.kept.texts[key]; out != nil {
		return out, nil
	}
	out, err := c.catalogue.Compile(&rule.Rule{ID: r.ID, Type: r.Type, Condition: text})
	if err != nil {
		return nil, fault.New(fault.Invalid, "excludes: %s", fault.Message(err))
	}
	if c.kept.texts == nil || len(c.kept.texts) >= keptConditions {
		c.kept.texts = map[[3]string]*condition.Condition{}
	}
	c.kept.texts[key] = out
	return out, nil
}

// invalidRule is the reason of an own rule that no longer compiles.
const invalidRule = "rule_invalid"

// offRules returns findings that end the rows of the subject whose rules are no longer in force: own rules that were
// deleted.
func (e *evaluation) offRules(r *record, of *evaluator) (out []recommendation.Finding) {
	for _, id := range e.settling.RulesOf(r.ID) {
		if of == nil || !slices.ContainsFunc(of.rules, func(c compiledRule) bool { return c.ID == id }) {
			s := &subject{Resource: r.Resource}
			out = append(out, recommendation.Finding{
				RuleID: id, Resource: resourceOf(s, r.Content), Outcome: recommendation.Off,
			})
		}
	}
	return out
}

// isKnownType reports whether the catalogue of clouds has a type.
func isKnownType(kind string) bool {
	_, known := cloud.KindOf(kind)
	return known
}
