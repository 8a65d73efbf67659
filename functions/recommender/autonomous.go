package recommender

import (
	"context"
	"slices"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/foundation/fault"
)

// maxRequested is how many recommendations the service has carried out after one daily pass. Of each rule, the first is
// changed and validated before the others begin.
const maxRequested = 10

// maxCandidates is how many open recommendations of autonomous rules are looked at, those with the largest savings
// first.
const maxCandidates = 500

// planTime is how long the executor may take to read the clouds.
const planTime = 2 * time.Minute

// requestAutonomous requests workflows for open recommendations that the organization lets run without approval. A pass
// that runs twice requests each once. What the executor cannot plan now is left to the next day.
func (r *runner) requestAutonomous(ctx context.Context) error {
	rules, err := remediation.Listed(ctx, r.Table, r.org)
	if err != nil || len(rules) == 0 {
		return err
	}
	targets, err := r.autonomousTargets(ctx, rules)
	if err != nil || len(targets) == 0 {
		return err
	}
	planned, err := r.planTargets(ctx, targets)
	if err != nil {
		r.Log.WarnContext(ctx, "autonomous rules are not carried out today", "org", r.org, "error", err)
		return nil
	}
	for _, ruleID := range ruleIDsOf(planned) {
		if err = r.requestRule(ctx, ruleID, rules[ruleID], planned); err != nil {
			return err
		}
	}
	return nil
}

// autonomousTargets returns the recommendations to carry out, at most maxRequested, and no more than the changes that
// the organization has left today.
func (r *runner) autonomousTargets(
	ctx context.Context, rules map[string]identity.Enabler,
) ([]remediation.Target, error) {
	store := remediation.New(r.Platform)
	used, err := store.ChangesOn(ctx, r.org, r.Clock.Now())
	left := min(maxRequested, remediation.MaxDayChanges-used)
	if err != nil || left <= 0 {
		return nil, err
	}
	open, err := r.openOf(ctx, rules)
	if err != nil || len(open) == 0 {
		return nil, err
	}
	accounts, err := readAccounts(ctx, r.inventory, r.org)
	if err != nil {
		return nil, err
	}
	before, err := store.List(ctx, r.org)
	if err != nil {
		return nil, err
	}
	var out []remediation.Target
	for i := range open {
		row := &open[i].Row
		t := remediation.NewTarget(row, nil)
		account := accounts[row.CloudAccountID]
		if len(out) < left && isAutomatic(&t) && execution.Refusal(account.ID, account) == "" &&
			!remediation.IsSpent(before, row, r.Clock.Now()) {
			out = append(out, t)
		}
	}
	return out, nil
}

// openOf returns the open recommendations of rules that count, those with the largest savings first.
func (r *runner) openOf(ctx context.Context, rules map[string]identity.Enabler) ([]recommendation.Item, error) {
	l := recommendation.List{
		Statuses: []string{string(recommendation.Open)}, By: recommendation.SavingsOrder, Descending: true,
		Limit: maxCandidates, Scopes: grant.Scopes{All: true},
	}
	for id := range rules {
		l.Rules = append(l.Rules, id)
	}
	items, _, err := r.rows.List(ctx, r.org, l)
	return slices.DeleteFunc(items, func(it recommendation.Item) bool { return it.AlternativeOf != "" }), err
}

// isAutomatic reports whether a target may be carried out without a person: it may run without approval, and needs no
// parameter of a request.
func isAutomatic(t *remediation.Target) bool {
	means := remediation.MeansOf(rule.ByID(t.RuleID), t.Provider, t.ResourceType)
	return t.MayRunAlone() && means.Executable && len(means.Needs) == 0
}

// planTargets has the executor plan targets, and returns those that can be changed.
func (r *runner) planTargets(ctx context.Context, targets []remediation.Target) ([]remediation.Target, error) {
	ctx, cancel := context.WithTimeout(ctx, planTime)
	defer cancel()
	call, err := remediation.PlanCall(remediation.PlanInput{Org: r.org, Targets: targets})
	if err != nil {
		return nil, err
	}
	var got remediation.Planned
	if err = r.Workers.RunTask(ctx, remediation.Executor, call, &got); err != nil {
		return nil, err
	}
	var out []remediation.Target
	for i := range got.Targets {
		if i < len(got.Problems) && got.Problems[i] == nil {
			out = append(out, got.Targets[i])
		}
	}
	return out, nil
}

// ruleIDsOf returns the rules of targets, in the order of their first targets.
func ruleIDsOf(targets []remediation.Target) (out []string) {
	for i := range targets {
		if !slices.Contains(out, targets[i].RuleID) {
			out = append(out, targets[i].RuleID)
		}
	}
	return out
}

// requestRule requests the workflow of a rule. A conflict says that this pass requested it before, or that somebody
// else holds a resource since the plan; then the next day tries again.
func (r *runner) requestRule(ctx context.Context, ruleID string, by identity.Enabler, all []remediation.Target) error {
	w, err := remediation.New(r.Platform).CreateAutonomous(ctx, r.log, remediation.Autonomous{
		Org: r.org, PassID: r.state.ID, At: r.state.At, RuleID: ruleID, Enabled: by,
		Targets: slices.DeleteFunc(slices.Clone(all), func(t remediation.Target) bool { return t.RuleID != ruleID }),
	})
	if fault.Is(err, fault.Conflict) {
		r.Log.InfoContext(ctx, "an autonomous rule is not carried out now", "org", r.org, "rule", ruleID, "error", err)
		return nil
	}
	if err != nil {
		return fault.Wrap("request workflows of rule "+ruleID, err)
	}
	if err = r.Workflow.Start(ctx, remediation.Machine, w.WorkID(), remediation.Input{
		Org: r.org, WorkflowID: w.ID,
	}); err != nil {
		r.Log.WarnContext(ctx, "a workflow will be started by the sweeper", "workflow", w.ID, "error", err)
	}
	return nil
}
