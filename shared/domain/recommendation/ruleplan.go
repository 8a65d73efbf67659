package recommendation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/foundation/money"
)

// RulePlan is a change of rules that was evaluated against the store before it comes into force.
type RulePlan struct {
	ID        string        `json:"id"` // job_…
	By        string        `json:"by,omitempty"`
	StartedAt time.Time     `json:"startedAt"`
	EndedAt   time.Time     `json:"endedAt,omitzero"`
	Error     string        `json:"error,omitempty"` // why it failed
	Inputs    int           `json:"inputs"`          // items of the change
	Results   int           `json:"results"`         // items of the results
	Base      int           `json:"base"`            // the version in force that it was compared with
	Types     []string      `json:"types,omitempty"` // of the resources that the changed rules are about
	Inventory string        `json:"inventory"`       // fingerprint of these resources
	Totals    RulePlanTotal `json:"totals"`
	Backtest  BacktestSpan  `json:"backtest"`
	// the version that it became; 0 until it is applied
	Applied int `json:"applied,omitempty"`
}

// RulePlanTotal sums the results of the changed rules.
type RulePlanTotal struct {
	Rules     int          `json:"rules"`
	Resources int          `json:"resources"` // evaluated
	Opened    int          `json:"opened"`
	Closed    int          `json:"closed"`
	Changed   int          `json:"changed"`
	Unknown   int          `json:"unknown"`
	Before    money.Amount `json:"before"` // net savings in USD a month, each rule by itself
	After     money.Amount `json:"after"`
}

// BacktestSpan names the days, months and resources of a backtest, as far as they are stored.
type BacktestSpan struct {
	Days      []string `json:"days,omitempty"` // evaluated, oldest first: 2026-03-01
	Measured  string   `json:"measured"`       // the first day with stored metrics; empty if no rule reads metrics
	Months    []string `json:"months,omitempty"`
	Resources int      `json:"resources"` // of these days, at most MaxBacktested for each type
}

// Limits of plans.
const (
	RulePlanHolds = 24 * time.Hour     // then a plan cannot be applied
	keepRulePlan  = 7 * 24 * time.Hour // then it is deleted
	lostRulePlan  = time.Hour          // then a plan without an end counts as failed
	planItemBytes = 250_000            // of a part before compression
)

// The states of a plan.
const (
	PlanRunning   = "running"
	PlanCompleted = "completed"
	PlanFailed    = "failed"
	PlanExpired   = "expired" // older than RulePlanHolds
	PlanApplied   = "applied"
)

// StatusAt returns the state of the plan at a time.
func (p *RulePlan) StatusAt(now time.Time) string {
	switch {
	case p.Applied > 0:
		return PlanApplied
	case p.Error != "" || p.EndedAt.IsZero() && now.Sub(p.StartedAt) >= lostRulePlan:
		return PlanFailed
	case p.EndedAt.IsZero():
		return PlanRunning
	case now.Sub(p.EndedAt) > RulePlanHolds:
		return PlanExpired
	}
	return PlanCompleted
}

// planKey returns the key of an item of a plan: 0 is the RulePlan, then the change, then the results.
func planKey(org, planID string, n int) table.Key {
	return ruleKey(org, fmt.Sprintf("PLAN#%s#%04d", planID, n))
}

// StartRulePlan stores a change and starts its evaluation.
func (s *Store) StartRulePlan(ctx context.Context, p *platform.Platform, org string, c RuleChange, by string) (
	RulePlan, error,
) {
	now := p.Clock.Now()
	plan := RulePlan{ID: id.New("job", now), By: by, StartedAt: now}
	parts, err := planItems(org, plan.ID, 1, c.IDs(), func(id string) any { return planned{id, c[id]} })
	if err != nil {
		return plan, err
	}
	if plan.Inputs = len(parts); plan.Inputs > 0 {
		if err = s.putParts(ctx, parts, now); err != nil {
			return plan, err
		}
	}
	in := RefreshInput{Org: org, JobID: plan.ID, Plan: true}
	work, err := workqueue.AddWork(workqueue.Work{ID: plan.ID, Org: org, Machine: Machine, At: now}, in)
	if err != nil {
		return plan, err
	}
	head, err := table.NewItem(planKey(org, plan.ID, 0), plan)
	if err != nil {
		return plan, err
	}
	head.Expires = now.Add(keepRulePlan)
	if err = p.Table.Transact(table.Within(ctx, workqueue.Prefix), table.Put(head, table.Absent()), work); err != nil {
		return plan, fault.Wrap("begin to plan a change of the rules of "+org, err)
	}
	startMachine(ctx, p, in)
	return plan, nil
}

// planned is one definition of the change of a plan.
type planned struct {
	ID         string          `json:"id"`
	Definition *RuleDefinition `json:"definition"` // nil removes it
}

// planItems returns the items of a list, from a number on, each with as many values as fit.
func planItems[T any](org, planID string, from int, values []T, of func(T) any) ([]table.Item, error) {
	var out []table.Item
	var part []json.RawMessage
	size := 0
	flush := func() error {
		b, err := json.Marshal(part)
		if err != nil {
			return fmt.Errorf("encode a part of plan %s: %w", planID, err)
		}
		it, err := itemOf(planKey(org, planID, from+len(out)), packer.Append(nil, b))
		out, part, size = append(out, it), nil, 0
		return err
	}
	for _, v := range values {
		b, err := json.Marshal(of(v))
		if err != nil {
			return nil, fmt.Errorf("encode a part of plan %s: %w", planID, err)
		}
		if size > 0 && size+len(b) > planItemBytes {
			if err = flush(); err != nil {
				return nil, err
			}
		}
		part, size = append(part, b), size+len(b)
	}
	if len(part) == 0 {
		return out, nil
	}
	return out, flush()
}

func (s *Store) putParts(ctx context.Context, parts []table.Item, at time.Time) error {
	ws := make([]table.Write, len(parts))
	for i := range parts {
		parts[i].Expires = at.Add(keepRulePlan)
		ws[i] = table.Put(parts[i])
	}
	return fault.Wrap(fmt.Sprintf("write %d parts of a plan", len(parts)), s.table.BatchWrite(ctx, ws...))
}

// ReadRulePlan reads a plan, or fault.NotFound.
func (s *Store) ReadRulePlan(ctx context.Context, org, planID string) (RulePlan, error) {
	missing := fault.New(fault.NotFound, "plan %.64q does not exist: plans are kept for 7 days", planID)
	if !id.IsValid("job", planID) {
		return RulePlan{}, missing
	}
	p, err := table.Read[RulePlan](ctx, s.table, planKey(org, planID, 0))
	if fault.Is(err, fault.NotFound) {
		return p, missing
	}
	return p, fault.Wrap("read plan "+planID, err)
}

// ReadPlannedChange reads the change of a plan.
func (s *Store) ReadPlannedChange(ctx context.Context, org string, p *RulePlan) (RuleChange, error) {
	all, err := readParts[planned](ctx, s, planKeys(org, p.ID, 1, p.Inputs))
	out := make(RuleChange, len(all))
	for _, one := range all {
		out[one.ID] = one.Definition
	}
	return out, err
}

// ReadPlanResults reads the results of a plan, by rule.
func (s *Store) ReadPlanResults(ctx context.Context, org string, p *RulePlan) ([]RulePlanResult, error) {
	return readParts[RulePlanResult](ctx, s, planKeys(org, p.ID, 1+p.Inputs, p.Results))
}

// planKeys returns the keys of n items of a plan.
func planKeys(org, planID string, from, n int) []table.Key {
	keys := make([]table.Key, n)
	for i := range keys {
		keys[i] = planKey(org, planID, from+i)
	}
	return keys
}

// readParts reads items of a plan, and returns the values that they hold.
func readParts[T any](ctx context.Context, s *Store, keys []table.Key) ([]T, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	got, err := s.table.BatchGet(ctx, keys...)
	if err != nil {
		return nil, fault.Wrap(fmt.Sprintf("read %d parts of a plan", len(keys)), err)
	}
	var out []T
	for _, k := range keys {
		it, there := got[k]
		if !there {
			return nil, fault.New(fault.NotFound, "the parts of the plan have expired: make another one")
		}
		b, err := unpackItem(it)
		if err != nil {
			return nil, err
		}
		var part []T
		if err = json.Unmarshal(b, &part); err != nil {
			return nil, &table.DamageError{Key: k, Err: err}
		}
		out = append(out, part...)
	}
	return out, nil
}

// FinishRulePlan stores the results of a plan, and removes it from the list of work. It is idempotent: the first end
// counts.
func (s *Store) FinishRulePlan(ctx context.Context, org string, p *RulePlan, results []RulePlanResult) error {
	parts, err := planItems(org, p.ID, 1+p.Inputs, results, func(r RulePlanResult) any { return r })
	if err != nil {
		return err
	}
	if p.Results = len(parts); p.Results > 0 {
		if err = s.putParts(ctx, parts, p.StartedAt); err != nil {
			return err
		}
	}
	p.EndedAt = s.clock.Now()
	return s.endRulePlan(ctx, org, p.ID, []table.Change{
		table.Set("endedAt", p.EndedAt), table.Set("results", p.Results), table.Set("base", p.Base),
		table.Set("types", p.Types), table.Set("inventory", p.Inventory), table.Set("totals", p.Totals),
		table.Set("backtest", p.Backtest),
	})
}

// FailRulePlan records why a plan failed.
func (s *Store) FailRulePlan(ctx context.Context, org, planID, why string) error {
	return s.endRulePlan(ctx, org, planID, []table.Change{
		table.Set("endedAt", s.clock.Now()), table.Set("error", fault.CleanText(why, 400)),
	})
}

func (s *Store) endRulePlan(ctx context.Context, org, planID string, changes []table.Change) error {
	ctx = table.Within(ctx, workqueue.Prefix)
	done := workqueue.RemoveWork(planID)
	ended := table.Update(planKey(org, planID, 0), changes, table.Exists(), table.Lacks("endedAt"))
	err := s.table.Transact(ctx, ended, done)
	if _, before := errors.AsType[*table.ConditionError](err); before { // ended before, or expired
		_, err = s.table.Write(ctx, done)
	}
	return fault.Wrap("finish plan "+planID, err)
}

// ApplyRulePlan puts the change of a plan into force, and returns the new set and the one before. It returns
// fault.Conflict unless the plan has completed within RulePlanHolds, the version that it was compared with is in force,
// and the resources that its rules are about are as they were.
func (s *Store) ApplyRulePlan(ctx context.Context, org, planID, by string) (next, before *RuleSet, err error) {
	p, err := s.ReadRulePlan(ctx, org, planID)
	if err != nil {
		return nil, nil, err
	}
	now := s.clock.Now()
	if err = p.applicable(now); err != nil {
		return nil, nil, err
	}
	base, err := s.ReadRules(ctx, org)
	if err != nil {
		return nil, nil, err
	}
	if base.Version != p.Base {
		return nil, base, fault.New(fault.Conflict, "plan %s was compared with version %d of the rules, and "+
			"version %d is in force: plan the change again", p.ID, p.Base, base.Version)
	}
	found, err := s.InventoryPrint(ctx, org, p.Types)
	if err != nil {
		return nil, base, err
	}
	if found != p.Inventory {
		return nil, base, fault.New(fault.Conflict, "resources that the rules of plan %s are about have changed "+
			"since: plan the change again", p.ID)
	}
	c, err := s.ReadPlannedChange(ctx, org, &p)
	if err != nil {
		return nil, base, err
	}
	next, err = s.applyChange(ctx, org, &p, RuleEdit{Base: base, Change: c, By: by, At: now, Why: "plan " + p.ID})
	return next, base, err
}

// applyChange puts the change of a plan into force, and marks the plan. Both happen together.
func (s *Store) applyChange(ctx context.Context, org string, p *RulePlan, e RuleEdit) (*RuleSet, error) {
	e.Mark = func(version int) table.Write {
		return table.Update(planKey(org, p.ID, 0), []table.Change{table.Set("applied", version)}, table.Exists(),
			table.Lacks("applied"))
	}
	return s.ChangeRules(ctx, org, e)
}

// applicable returns fault.Conflict with the reason if the plan cannot be applied at a time.
func (p *RulePlan) applicable(now time.Time) error {
	switch status := p.StatusAt(now); status {
	case PlanCompleted:
		return nil
	case PlanApplied:
		return fault.New(fault.Conflict, "plan %s is applied already: it became version %d of the rules", p.ID,
			p.Applied)
	case PlanExpired:
		return fault.New(fault.Conflict, "plan %s ended at %s, more than 24 hours ago: plan the change again", p.ID,
			p.EndedAt.UTC().Format(time.RFC3339))
	case PlanRunning:
		return fault.New(fault.Conflict, "plan %s is still running: wait until it is completed", p.ID)
	default:
		return fault.New(fault.Conflict, "plan %s has failed: plan the change again", p.ID)
	}
}
