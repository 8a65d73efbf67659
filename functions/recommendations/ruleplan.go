package recommendations

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/foundation/fault"
)

// NewRulePlan is the body of POST /recommendations/rules/plan.
type NewRulePlan struct {
	Rules          []rule.OwnRule         `json:"rules,omitempty" maxItems:"500" doc:"Own rules to add or change"`
	Overrides      []rule.BuiltInOverride `json:"overrides,omitempty" maxItems:"5000" doc:"Overrides of built-in rules; those of a rule replace all that it had"`
	Document       string                 `json:"document,omitempty" maxLength:"1000000" doc:"Further rules and overrides as a text in YAML or JSON, in the form of the export"`
	Prune          bool                   `json:"prune,omitempty" doc:"Remove own rules and overrides that are not sent"`
	RestoreVersion *int                   `json:"restoreVersion,omitempty" minimum:"0" doc:"Instead of all others: plan the way back to this version; 0 has no own rules and no overrides"`
}

func (s *service) startPlan(ctx context.Context, in *struct{ Body NewRulePlan }) (rest.Job, error) {
	c := identity.CallerFrom(ctx)
	set, err := s.store.ReadRules(ctx, c.Org)
	if err != nil {
		return rest.Job{}, err
	}
	change, err := s.plannedChange(ctx, set, &in.Body)
	if err != nil {
		return rest.Job{}, err
	}
	if len(change) == 0 {
		return rest.Job{}, fault.New(fault.Conflict, "the rules are already as sent, in version %d: nothing to plan",
			set.Version)
	}
	p, err := s.store.StartRulePlan(ctx, s.p, c.Org, change, c.Email)
	if err != nil {
		return rest.Job{}, err
	}
	job := rest.Job{JobID: p.ID, Status: p.StatusAt(s.p.Clock.Now()), StatusURL: plans + "/" + p.ID}
	audit.NoteChange(ctx, audit.Change{Target: p.ID, After: job})
	return job, nil
}

// plannedChange returns the change that a body asks for, checked.
func (s *service) plannedChange(ctx context.Context, set *recommendation.RuleSet, b *NewRulePlan) (
	recommendation.RuleChange, error,
) {
	org := identity.CallerOrg(ctx)
	check := recommendation.RuleCheck{
		Org: org, Document: rule.Document{Rules: b.Rules, Overrides: b.Overrides}, Text: b.Document,
	}
	sent := len(b.Rules)+len(b.Overrides) > 0 || b.Document != "" || b.Prune
	prune := b.Prune
	switch {
	case b.RestoreVersion != nil && sent:
		return nil, fault.New(fault.Invalid, "restoreVersion: it takes the place of rules, overrides, document and "+
			"prune; send it alone")
	case b.RestoreVersion != nil:
		was, err := s.store.ReadRulesAt(ctx, org, *b.RestoreVersion)
		if err != nil {
			return nil, err
		}
		check.Document, prune = was.Document(), true
	case !sent:
		return nil, fault.New(fault.Invalid, "the body has no rules, overrides, document, prune or restoreVersion: "+
			"send what to plan")
	}
	d, err := recommendation.CheckRules(ctx, s.p.Workers, check)
	if err != nil {
		return nil, err
	}
	if b.RestoreVersion == nil { // an account of an earlier version may be gone: then its override holds for nothing
		if err = s.checkScopes(ctx, d.Overrides); err != nil {
			return nil, err
		}
	}
	return set.ChangeTo(&d, prune), nil
}

// RulePlan is a plan of a change of rules.
type RulePlan struct {
	ID             string         `json:"id"`
	Status         string         `json:"status" enum:"running,completed,failed,expired,applied" doc:"A completed plan can be applied for 24 hours"`
	StartedAt      time.Time      `json:"startedAt"`
	StartedBy      *string        `json:"startedBy"`
	EndedAt        *time.Time     `json:"endedAt"`
	Error          *string        `json:"error"`
	BaseVersion    int            `json:"baseVersion" doc:"The version in force that it was compared with"`
	AppliedVersion *int           `json:"appliedVersion" doc:"The version that it became; null before"`
	Resources      int            `json:"resources" doc:"Evaluated resources"`
	Opened         int            `json:"opened" doc:"Findings that the change opens, of all rules"`
	Closed         int            `json:"closed"`
	Changed        int            `json:"changed" doc:"Findings with another severity or saving"`
	Unknown        int            `json:"unknown" doc:"Resources and rules that cannot be decided; they open and close nothing"`
	SavingsUSD     PlanSavings    `json:"savings"`
	Backtest       PlanBacktest   `json:"backtest"`
	Rules          []RulePlanRule `json:"rules" doc:"A page of the changed rules, by id"`
	Total          int            `json:"total" doc:"Changed rules"`
	Page           int            `json:"page"`
	Limit          int            `json:"limit"`
}

// PlanSavings are net savings in USD a month, each rule by itself: alternatives of each other are not subtracted.
type PlanSavings struct {
	BeforeUSD string `json:"beforeUSD"`
	AfterUSD  string `json:"afterUSD"`
}

// PlanBacktest is the window of a backtest: the stored part of the last 35 days of metrics and 13 months of bills.
type PlanBacktest struct {
	Days          []string `json:"days" doc:"The evaluated earlier days. Facts of earlier days are not stored: a resource that has changed since is unknown on the day"`
	MeasuredSince *string  `json:"measuredSince" doc:"The first day of which metrics are stored; null if no rule read one"`
	Months        []string `json:"months" doc:"The months with a bill" example:"[\"2026-02\"]"`
	Resources     int      `json:"resources" doc:"Resources that the earlier days are of: at most 5,000 of each type"`
}

// RulePlanRule is the result of a plan for one rule.
type RulePlanRule struct {
	RuleID     string        `json:"ruleID"`
	Change     string        `json:"change" enum:"added,changed,removed" doc:"Of the own rule, or of the overrides of the built-in rule"`
	Evaluated  int           `json:"evaluated" doc:"Resources"`
	Before     int           `json:"before" doc:"Matches of the version in force"`
	After      int           `json:"after" doc:"Matches with the change"`
	Opened     int           `json:"opened"`
	Closed     int           `json:"closed"`
	Changed    int           `json:"changed"`
	Unknown    int           `json:"unknown"`
	Missing    []PlanMissing `json:"missing" doc:"Why it is unknown, most resources first"`
	SavingsUSD PlanSavings   `json:"savings"`
	Samples    []PlanSample  `json:"samples" doc:"At most 5 of each effect"`
	Days       []PlanDay     `json:"days"`
	Months     []PlanMonth   `json:"months"`
	Billed     int           `json:"billed" doc:"Matches that months are of: at most 2,000"`
}

// PlanMissing is a fact that an evaluation lacked.
type PlanMissing struct {
	Fact       string  `json:"fact"`
	Permission *string `json:"permission"`
	Reason     string  `json:"reason"`
	Resources  int     `json:"resources"`
}

// PlanSample is a resource that a rule matches before or after the change.
type PlanSample struct {
	Effect         string                  `json:"effect" enum:"opened,closed,changed,unchanged"`
	ResourceID     string                  `json:"resourceID"`
	ResourceUID    string                  `json:"resourceUid"`
	ResourceName   string                  `json:"resourceName"`
	CloudAccountID string                  `json:"cloudAccountID"`
	Severity       recommendation.Severity `json:"severity" enum:"info,low,medium,high,critical"`
	Reason         string                  `json:"reason"`
	Values         map[string]any          `json:"values" doc:"Facts and statistics of metrics"`
	Thresholds     map[string]any          `json:"thresholds"`
	SavingsUSD     string                  `json:"savingsUSD" doc:"Net a month"`
}

// PlanDay is an earlier day of a backtest.
type PlanDay struct {
	Day     string `json:"day" example:"2026-03-01"`
	Matches int    `json:"matches"`
	Unknown int    `json:"unknown"`
}

// PlanMonth is the cost of the present matches in a month.
type PlanMonth struct {
	Month      string `json:"month" example:"2026-02"`
	CostUSD    string `json:"costUSD"`
	SavingsUSD string `json:"savingsUSD" doc:"The share of the cost that the rule saves now"`
}

// PlanInput names the plan of a request.
type PlanInput struct {
	PlanID string `path:"planID" maxLength:"64"`
}

type getPlanInput struct {
	PlanInput
	rest.Page
}

func (s *service) getPlan(ctx context.Context, in *getPlanInput) (RulePlan, error) {
	org := identity.CallerOrg(ctx)
	p, err := s.store.ReadRulePlan(ctx, org, in.PlanID)
	if err != nil {
		return RulePlan{}, err
	}
	results, err := s.store.ReadPlanResults(ctx, org, &p)
	if err != nil {
		return RulePlan{}, err
	}
	list := rest.List[RulePlanRule]{Page: in.Page.Page, Limit: in.Limit}
	for i := range results {
		list.Add(newPlanRule(&results[i]))
	}
	out := RulePlan{
		ID: p.ID, Status: p.StatusAt(s.p.Clock.Now()), StartedAt: p.StartedAt, StartedBy: rest.Optional(p.By),
		EndedAt: rest.Optional(p.EndedAt), Error: rest.Optional(p.Error), BaseVersion: p.Base,
		AppliedVersion: rest.Optional(p.Applied), Resources: p.Totals.Resources, Opened: p.Totals.Opened,
		Closed: p.Totals.Closed, Changed: p.Totals.Changed, Unknown: p.Totals.Unknown,
		SavingsUSD: PlanSavings{p.Totals.Before.Fixed(2), p.Totals.After.Fixed(2)},
		Backtest: PlanBacktest{
			Days: filledList(p.Backtest.Days), MeasuredSince: rest.Optional(p.Backtest.Measured),
			Months: filledList(p.Backtest.Months), Resources: p.Backtest.Resources,
		},
		Rules: filledList(list.Items), Total: list.Total, Page: in.Page.Page, Limit: in.Limit,
	}
	return out, nil
}

// filledList returns the list, or an empty one for nil.
func filledList[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

func newPlanRule(r *recommendation.RulePlanResult) RulePlanRule {
	out := RulePlanRule{
		RuleID: r.RuleID, Change: r.Change, Evaluated: r.Evaluated, Before: r.Before, After: r.After,
		Opened: r.Opened, Closed: r.Closed, Changed: r.Changed, Unknown: r.Unknown, Billed: r.Billed,
		SavingsUSD: PlanSavings{r.SavedUSD.Before.Fixed(2), r.SavedUSD.After.Fixed(2)},
		Missing:    make([]PlanMissing, len(r.Missing)), Samples: make([]PlanSample, len(r.Samples)),
		Days: make([]PlanDay, len(r.Days)), Months: make([]PlanMonth, len(r.Months)),
	}
	for i, m := range r.Missing {
		out.Missing[i] = PlanMissing{m.Fact, rest.Optional(m.Permission), m.Reason, m.Resources}
	}
	for i := range r.Samples {
		o := &r.Samples[i]
		out.Samples[i] = PlanSample{
			o.Effect, o.ResourceID, o.ResourceUID, o.ResourceName, o.AccountID, o.Severity, o.Reason,
			rest.NonNilMap(o.Values),
			rest.NonNilMap(o.Thresholds), o.NetUSD.Fixed(2),
		}
	}
	for i, d := range r.Days {
		out.Days[i] = PlanDay(d)
	}
	for i, m := range r.Months {
		out.Months[i] = PlanMonth{m.Month, m.Cost.Fixed(2), m.Saving.Fixed(2)}
	}
	return out
}

// AppliedPlan is the result of applying a plan.
type AppliedPlan struct {
	PlanID          string   `json:"planID"`
	Version         int      `json:"version" doc:"The version of the rules that is in force now"`
	PreviousVersion int      `json:"previousVersion" doc:"To undo it, plan restoreVersion with this number and apply that plan"`
	Rules           []string `json:"rules" doc:"The changed rules"`
}

func (s *service) applyPlan(ctx context.Context, in *PlanInput) (AppliedPlan, error) {
	c := identity.CallerFrom(ctx)
	next, before, err := s.store.ApplyRulePlan(ctx, c.Org, in.PlanID, c.Email)
	if err != nil {
		return AppliedPlan{}, err
	}
	out := AppliedPlan{in.PlanID, next.Version, before.Version, filledList(next.Since(before))}
	audit.NoteChange(ctx, audit.Change{
		Target: in.PlanID, Before: map[string]any{"version": before.Version}, After: out,
	})
	return out, nil
}

// RuleSetVersion is a version of the own rules and overrides.
type RuleSetVersion struct {
	Version   int       `json:"version"`
	At        time.Time `json:"at"`
	By        *string   `json:"by"`
	Why       *string   `json:"why" doc:"The changed rule, or the applied plan"`
	Rules     int       `json:"rules" doc:"Own rules"`
	Overrides int       `json:"overrides" doc:"Built-in rules with overrides"`
}

func (s *service) listVersions(ctx context.Context, _ *struct{}) ([]RuleSetVersion, error) {
	all, err := s.store.ListRuleVersions(ctx, identity.CallerOrg(ctx))
	out := make([]RuleSetVersion, len(all))
	for i, v := range all {
		out[i] = RuleSetVersion{v.Version, v.At, rest.Optional(v.By), rest.Optional(v.Why), v.Rules, v.Overrides}
	}
	return out, err
}

const (
	yamlType = "application/yaml"
	jsonType = "application/json"
)

type exportRulesInput struct {
	Format  string `query:"format" enum:"yaml,json" default:"yaml" doc:"Format of the document"`
	Version int    `query:"version" minimum:"1" doc:"An earlier version; by default the one in force"`
}

func (s *service) exportRules(ctx context.Context, in *exportRulesInput) (rest.Raw, error) {
	org := identity.CallerOrg(ctx)
	var set *recommendation.RuleSet
	var err error
	if in.Version > 0 {
		set, err = s.store.ReadRulesAt(ctx, org, in.Version)
	} else {
		set, err = s.store.ReadRules(ctx, org)
	}
	if err != nil {
		return rest.Raw{}, err
	}
	d := set.Document()
	b, err := json.Marshal(exportedRules{set.Version, filledList(d.Rules), filledList(d.Overrides)})
	if err != nil {
		return rest.Raw{}, fmt.Errorf("encode the rules of %s: %w", org, err)
	}
	kind := jsonType
	if in.Format == "yaml" {
		if b, err = rest.YAML(b); err != nil {
			return rest.Raw{}, fmt.Errorf("encode the rules of %s: %w", org, err)
		}
		kind = yamlType
	}
	return rest.Raw{Body: b, Header: http.Header{
		"Content-Type": {kind}, "Content-Disposition": {`attachment; filename="rules.` + in.Format + `"`},
	}}, nil
}

// exportedRules is a document with all its members.
type exportedRules struct {
	Version   int                    `json:"version"`
	Rules     []rule.OwnRule         `json:"rules"`
	Overrides []rule.BuiltInOverride `json:"overrides"`
}
