package recommendations

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/rule"
)

// RecommendationRule is a rule with the figures of its last evaluation. The figures are null for a grant on teams or
// resources.
type RecommendationRule struct {
	ID           string                  `json:"id" example:"aws-ec2-idle"`
	Version      int                     `json:"version"`
	Provider     string                  `json:"provider"`
	ResourceType string                  `json:"resourceType"`
	Category     string                  `json:"category"`
	Severity     recommendation.Severity `json:"severity" enum:"info,low,medium,high,critical" doc:"Of a row that saves 100 USD a month or more, or nothing; info if people call the rule wrong"`
	Title        string                  `json:"title"`
	Condition    string                  `json:"condition" doc:"In CEL"`
	Params       map[string]any          `json:"params"`
	Enabled      bool                    `json:"enabled"`
	Own          bool                    `json:"own" doc:"The organization wrote it"`
	Overrides    []RuleOverride          `json:"overrides" doc:"Of a built-in rule; empty for a grant on teams or resources"`
	Effort       string                  `json:"effort" enum:"low,medium,high"`
	Risk         string                  `json:"risk" enum:"low,medium,high"`
	Remediation  string                  `json:"remediation"`
	Verb         string                  `json:"verb" doc:"The change in machine form; licence, purchase and advice are always made by people. Of the others, plan.executable of a recommendation says whether the service can make the change"`
	Source       string                  `json:"source" doc:"Where the rule comes from"`
	Open         int                     `json:"open" doc:"Open recommendations"`
	SavingsUSD   string                  `json:"savingsUSD" doc:"Net a month, of the open ones"`
	Evaluated    *int                    `json:"evaluated" doc:"Resources"`
	True         *int                    `json:"true"`
	False        *int                    `json:"false"`
	Unknown      *int                    `json:"unknown"`
	Missing      []MissingFact           `json:"missing" doc:"Why it is unknown, most resources first; at most 20 for an account"`
	Precision    *float64                `json:"precision" doc:"0 to 1; null before the first decision"`

	RealizedOverPredicted *float64 `json:"realizedOverPredicted" doc:"null before the first measured saving"`
}

// RuleOverride changes how a built-in rule holds for the organization, a cloud account or a resource group. A value
// that is null, or a parameter that is not there, is that of the rule or of a wider scope.
type RuleOverride struct {
	Scope    string         `json:"scope" enum:"org,account,group"`
	ScopeID  *string        `json:"scopeID" doc:"The cloud account or resource group; null for org"`
	Enabled  *bool          `json:"enabled"`
	Severity *string        `json:"severity" enum:"info,low,medium,high,critical"`
	Params   map[string]any `json:"params"`
	Excludes []string       `json:"excludes" doc:"Conditions in CEL; a resource for which one is true has no recommendation"`
}

func newOverride(o *rule.BuiltInOverride) RuleOverride {
	return RuleOverride{
		o.Scope, rest.Optional(o.ScopeID), o.Enabled, rest.Optional(o.Severity), rest.NonNilMap(o.Params),
		filledList(o.Excludes),
	}
}

// MissingFact is a fact that the evaluation of a rule lacked.
type MissingFact struct {
	Fact           string  `json:"fact" example:"m.cpu_max_14d"`
	Permission     *string `json:"permission" doc:"The permission that would give it; null if none is missing"`
	Reason         string  `json:"reason" example:"few_points"`
	CloudAccountID string  `json:"cloudAccountID"`
	Resources      int     `json:"resources"`
}

type rulesInput struct {
	rest.Page
	Provider []string `query:"provider" maxItems:"10" doc:"Only of these providers"`
	Type     []string `query:"resource_type" maxItems:"50" doc:"Only for these types of resources"`
	Category []string `query:"category" maxItems:"9" enum:"idle,orphan,rightsizing,schedule,discount,governance,compliance,security,reliability" doc:"Only of these categories"`
	Search   string   `query:"search" maxLength:"200" doc:"Only those with this text in the id or the title"`
}

func (s *service) listRules(ctx context.Context, in *rulesInput) (rest.List[RecommendationRule], error) {
	c := identity.CallerFrom(ctx)
	r := &readings{service: s, caller: c}
	if err := r.read(ctx, false); err != nil {
		return rest.List[RecommendationRule]{}, err
	}
	out := rest.List[RecommendationRule]{Page: in.Page.Page, Limit: in.Limit}
	shown := ruleFigures{set: r.rules, sums: r.view.SumsByRule(), narrow: !c.Scopes(reading).All}
	if c.Scopes(reading).All {
		shown.counts, shown.precisions = byRule(r.counts), r.view.Precisions()
	}
	all := rule.All()
	for i := range all {
		if in.meets(&all[i]) {
			out.Add(shown.rule(&all[i]))
		}
	}
	own := r.rules.Own()
	for i := range own {
		if one := shown.ownRule(&own[i], r.rules.Definitions[own[i].ID].Version); in.meets(&rule.Rule{
			ID: one.ID, Provider: one.Provider, Type: one.ResourceType, Category: rule.Category(one.Category),
			Title: one.Title,
		}) {
			out.Add(one)
		}
	}
	return out, nil
}

func (in *rulesInput) meets(r *rule.Rule) bool {
	return rest.Among(in.Provider, r.Provider) && rest.Among(in.Type, r.Type) &&
		rest.Among(in.Category, string(r.Category)) && rest.Matches(in.Search, r.ID, r.Title)
}

// ruleFigures are the figures by rule. Counts and precisions are nil for a grant on teams or resources.
type ruleFigures struct {
	set        *recommendation.RuleSet
	narrow     bool // the caller has a grant on teams or resources
	sums       map[string]recommendation.RuleSums
	counts     map[string][]*recommendation.RuleCount
	precisions map[string]recommendation.Precision
}

// byRule returns the counts of the accounts by rule.
func byRule(counts []recommendation.RuleCount) map[string][]*recommendation.RuleCount {
	out := map[string][]*recommendation.RuleCount{}
	for i := range counts {
		out[counts[i].RuleID] = append(out[counts[i].RuleID], &counts[i])
	}
	return out
}

// rule returns a built-in rule as it holds for the organization.
func (f *ruleFigures) rule(r *rule.Rule) RecommendationRule {
	var overlays []rule.Overlay
	overrides := f.set.Definitions[r.ID].Overrides
	for i := range overrides {
		if o, err := overrides[i].Overlay(); err == nil && o.Scope == rule.ForOrganization {
			overlays = append(overlays, o)
		}
	}
	effective := rule.Resolve(r, overlays)
	out := f.shown(r, &effective)
	if !f.narrow {
		for i := range overrides {
			out.Overrides = append(out.Overrides, newOverride(&overrides[i]))
		}
	}
	return out
}

// ownRule returns an own rule. If it no longer fits the declarations of its type, its texts are shown as sent.
func (f *ruleFigures) ownRule(o *rule.OwnRule, version int) RecommendationRule {
	r, err := o.Draft(version)
	if err != nil {
		r = &rule.Rule{
			ID: o.ID, Version: version, Type: o.ResourceType, Category: rule.Category(o.Category), Title: o.Title,
			Condition: o.Condition, Remediation: o.Remediation,
		}
	}
	out := f.shown(r, &rule.Effective{Rule: r, Enabled: o.IsEnabled(), Severity: r.Severity, Params: r.Params})
	out.Own = true
	return out
}

// shown returns a rule with its figures.
func (f *ruleFigures) shown(r *rule.Rule, as *rule.Effective) RecommendationRule {
	sums := f.sums[r.ID]
	out := RecommendationRule{
		ID: r.ID, Version: r.Version, Provider: r.Provider, ResourceType: r.Type, Category: string(r.Category),
		Severity: recommendation.Severity(as.Severity.String()), Title: r.Title, Condition: r.Condition,
		Params: map[string]any{}, Enabled: as.Enabled, Overrides: []RuleOverride{}, Effort: string(r.Effort),
		Risk: string(r.Risk), Remediation: r.Remediation, Verb: string(r.Verb), Source: r.Source, Open: sums.Open,
		SavingsUSD: sums.Net.Fixed(2), Missing: []MissingFact{},
	}
	for _, p := range as.Params {
		out.Params[p.Name] = p.Value()
	}
	if f.precisions != nil {
		f.addFigures(&out)
	}
	return out
}

// addFigures adds what a caller who sees everything sees.
func (f *ruleFigures) addFigures(out *RecommendationRule) {
	var sum recommendation.RuleCount
	for _, c := range f.counts[out.ID] {
		sum.Evaluated, sum.True = sum.Evaluated+c.Evaluated, sum.True+c.True
		sum.False, sum.Unknown = sum.False+c.False, sum.Unknown+c.Unknown
		for _, m := range c.Missing {
			out.Missing = append(out.Missing, MissingFact{
				m.Fact, rest.Optional(m.Permission), m.Reason, c.AccountID, m.Resources,
			})
		}
	}
	out.Evaluated, out.True, out.False, out.Unknown = &sum.Evaluated, &sum.True, &sum.False, &sum.Unknown
	slices.SortFunc(out.Missing, func(a, b MissingFact) int {
		return cmp.Or(cmp.Compare(b.Resources, a.Resources), strings.Compare(a.Fact, b.Fact),
			strings.Compare(a.CloudAccountID, b.CloudAccountID))
	})
	p := f.precisions[out.ID]
	if p.Demoted() {
		out.Severity = recommendation.Info
	}
	out.Precision = ratio(int64(p.Cases-p.Wrong), int64(p.Cases))
	if p.Measured > 0 {
		out.RealizedOverPredicted = ratio(p.Realized, p.Predicted)
	}
}

// ratio returns a / b to a thousandth, or nil if b is 0.
func ratio(a, b int64) *float64 {
	if b == 0 {
		return nil
	}
	v := math.Round(1000*float64(a)/float64(b)) / 1000
	return &v
}
