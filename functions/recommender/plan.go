package recommender

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// planRules evaluates a plan of the rules: the changed rules and those in force over all resources, and a backtest. It
// changes no recommendation. A plan that is evaluated twice has one end.
func (w *worker) planRules(ctx context.Context, in recommendation.RefreshInput) (Progress, error) {
	ctx = table.WithOrg(ctx, in.Org)
	p, err := w.rows.ReadRulePlan(ctx, in.Org, in.JobID)
	if fault.Is(err, fault.NotFound) || err == nil && !p.EndedAt.IsZero() {
		return Progress{Done: true}, nil
	}
	if err != nil {
		return Progress{}, err
	}
	r := &planRun{worker: w, org: in.Org, plan: &p}
	if err = r.open(ctx); err != nil {
		return Progress{}, err
	}
	results, err := r.run(ctx)
	if err != nil {
		return Progress{}, fmt.Errorf("plan %s: %w", p.ID, err)
	}
	return Progress{Done: true}, w.rows.FinishRulePlan(ctx, in.Org, &p, results)
}

// planRun is the evaluation of one plan. One goroutine uses it.
type planRun struct {
	*worker
	org     string
	plan    *recommendation.RulePlan
	change  recommendation.RuleChange
	in      *inputs
	rules   [2]*orgRules // in force, and with the change; both with the changed rules alone
	changed map[string]time.Time
	pairs   map[string]*planPairs   // by type
	tallies map[string]*ruleTally   // by rule
	past    map[string][]*pastRules // by type
	found   [2]planFinding          // of the rule under evaluation

	usage      func(uid string) measurement.Use
	measured   measurement.Shard // of the records under evaluation
	historyErr error
}

// The indexes of planRun.rules and of pairs.
const (
	inForce = iota
	withChange
)

// open reads what the plan is compared with.
func (r *planRun) open(ctx context.Context) error {
	var err error
	if r.change, err = r.rows.ReadPlannedChange(ctx, r.org, r.plan); err != nil {
		return err
	}
	base, err := r.rows.ReadRules(ctx, r.org)
	if err != nil {
		return err
	}
	r.plan.Base = base.Version
	r.plan.Types = typesOf(base, r.change)
	if r.plan.Inventory, err = r.rows.InventoryPrint(ctx, r.org, r.plan.Types); err != nil {
		return err
	}
	next := base.With(r.change, base.Version+1)
	if r.rules[inForce], err = r.compileSet(ctx, r.org, r.org, base); err != nil {
		return err
	}
	if r.rules[withChange], err = r.compileSet(ctx, r.org, r.plan.ID, next); err != nil {
		return err
	}
	r.rules[inForce].only, r.rules[withChange].only = r.change, r.change
	r.pairs, r.past = map[string]*planPairs{}, map[string][]*pastRules{}
	r.tallies = map[string]*ruleTally{}
	for _, id := range r.change.IDs() {
		r.tallies[id] = newTally(id, base, r.change[id])
	}
	if r.in, err = r.read(ctx, inputsOf{r.org, r.Clock.Now().UTC(), everyPart}); err != nil {
		return err
	}
	return r.readChanges(ctx)
}

// readChanges reads when the resources of the plan's types changed last, for the backtest.
func (r *planRun) readChanges(ctx context.Context) error {
	r.changed = map[string]time.Time{}
	err := r.inventory.EachIndexed(ctx, r.org, func(res inventory.IndexedResource) {
		if recommendation.CoversType(r.plan.Types, res.Type) {
			r.changed[res.UID] = laterOf(res.ChangedAt, res.StatusAt)
		}
	})
	return fault.Wrap("read the changes of the resources of "+r.org, err)
}

func laterOf(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// typesOf returns the types of the resources that the rules of a change are about, before or after it.
func typesOf(base *recommendation.RuleSet, c recommendation.RuleChange) []string {
	var out []string
	for id, d := range c {
		if builtIn := rule.ByID(id); builtIn != nil {
			out = append(out, builtIn.Type)
		}
		if d != nil && d.Own != nil {
			out = append(out, d.Own.ResourceType)
		}
		if was := base.Definitions[id].Own; was != nil {
			out = append(out, was.ResourceType)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// run evaluates all shards, and returns the results by rule.
func (r *planRun) run(ctx context.Context) ([]recommendation.RulePlanResult, error) {
	for shard := range inventory.ResourceShards {
		err := r.eachGroup(ctx, r.org, shard, func(measured int, records []table.Item) error {
			r.usage = r.shardUsage(ctx, shardOfHistory{
				org: r.org, shard: measured, end: r.in.end, days: backtestedDays, records: records,
				into: &r.measured,
			}, &r.historyErr)
			for _, it := range records {
				if err := r.evaluate(it); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
		if err != nil {
			return nil, err
		}
	}
	if err := r.backtestBills(ctx); err != nil {
		return nil, err
	}
	return r.results(), nil
}

// evaluate evaluates the changed rules for one stored record.
func (r *planRun) evaluate(it table.Item) error {
	rec, err := readRecord(it)
	if err != nil || rec.isTerminated() || rec.Status == cloud.Pending ||
		!recommendation.CoversType(r.plan.Types, rec.Type) {
		return err
	}
	pairs, err := r.pairsOf(rec.Type)
	if err != nil || pairs == nil {
		return err
	}
	s, err := pairs.by[withChange].begin(&rec, it.Data, r.usage)
	if err != nil {
		return err
	}
	r.plan.Totals.Resources++
	for i := range pairs.pairs {
		if err = r.compare(pairs, &pairs.pairs[i], s); err != nil {
			return err
		}
	}
	if err = r.backtest(&rec, it.Data); err != nil {
		return err
	}
	if r.historyErr != nil {
		return r.historyErr
	}
	return r.in.tables.err
}

// compare evaluates a rule in force and with the change.
func (r *planRun) compare(of *planPairs, p *rulePair, s *subject) error {
	found := [2]*planFinding{}
	for n, one := range p.rules {
		if one == nil {
			continue
		}
		f := &r.found[n]
		if err := f.evaluate(of.by[n], one, s); err != nil {
			return err
		}
		found[n] = f
	}
	r.tallies[p.id].add(found[inForce], found[withChange])
	return nil
}

// planFinding is a finding of a plan. Its memory is used again for the next rule: most findings are counted only, so
// just those that become samples are explained.
type planFinding struct {
	recommendation.Finding
	explain func()
}

// evaluate replaces the finding by that of a rule for the subject.
func (f *planFinding) evaluate(e *evaluator, r *compiledRule, s *subject) error {
	as, err := e.settingOf(r, s)
	if err != nil {
		return err
	}
	outcome, missing := e.decide(r, as)
	f.Outcome, f.Missing, f.explain = outcome, missing, nil
	if outcome != recommendation.True {
		return nil
	}
	f.Finding = newFinding(r, s, 0)
	if e.verify(r, as, s, &f.Finding); f.Outcome == recommendation.True {
		f.explain = func() { e.explain(r, as, s, &f.Finding) }
	}
	return nil
}

// planPairs are the changed rules for resources of one type, with the evaluators of both sets. Both evaluators share
// the subject, so a resource is read once.
type planPairs struct {
	by    [2]*evaluator
	pairs []rulePair
	seen  int // resources that the backtest evaluated
}

// rulePair is a rule in force and with the change; nil where there is none.
type rulePair struct {
	id    string
	rules [2]*compiledRule
}

func (r *planRun) pairsOf(kind string) (*planPairs, error) {
	if out, known := r.pairs[kind]; known {
		return out, nil
	}
	out, err := r.newPairs(kind)
	r.pairs[kind] = out
	return out, err
}

func (r *planRun) newPairs(kind string) (*planPairs, error) {
	out := &planPairs{}
	byID := map[string]*rulePair{}
	for n, rules := range r.rules {
		some, err := rules.rulesOf(kind)
		if err != nil {
			return nil, err
		}
		if out.by[n], err = r.in.evaluatorFor(rules, kind, some); err != nil {
			return nil, err
		}
		for i := range some {
			id := some[i].ID
			if byID[id] == nil {
				byID[id] = &rulePair{id: id}
			}
			byID[id].rules[n] = &some[i]
		}
	}
	if len(byID) == 0 || !isKnownType(kind) {
		return nil, nil
	}
	now, next := out.by[inForce], out.by[withChange]
	now.subject = next.subject
	for _, d := range now.derived {
		if !slices.Contains(next.derived, d) {
			next.derived = append(next.derived, d)
		}
	}
	for _, p := range byID {
		out.pairs = append(out.pairs, *p)
	}
	slices.SortFunc(out.pairs, func(a, b rulePair) int { return strings.Compare(a.id, b.id) })
	return out, nil
}
