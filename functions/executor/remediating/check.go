package remediating

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// plansAtOnce is how many targets are planned at the same time.
const plansAtOnce = 8

// Plan checks whether targets can be changed, reads them in their clouds, and plans their changes. It writes nothing.
func (r *Runner) Plan(ctx context.Context, in remediation.PlanInput) (remediation.Planned, error) {
	out := remediation.Planned{
		Targets: slices.Clone(in.Targets), Problems: make([]*remediation.Problem, len(in.Targets)),
	}
	c, err := r.newChecker(ctx, in)
	if err != nil {
		return out, err
	}
	var g errgroup.Group
	g.SetLimit(plansAtOnce)
	for i := range out.Targets {
		g.Go(func() error {
			_, err := c.planTarget(ctx, &out.Targets[i])
			out.Problems[i] = problemOf(err)
			return nil
		})
	}
	return out, g.Wait()
}

// problemKind returns the kind of an error of a plan. What a cloud refuses for good is a conflict.
func problemKind(err error) fault.Kind {
	switch {
	case isCloudError(err) && cloud.ClassOf(err).Retryable():
		return fault.Unavailable
	case isCloudError(err):
		return fault.Conflict
	}
	return fault.KindOf(err)
}

// checker checks targets of one organization at one moment.
type checker struct {
	r         *Runner
	in        remediation.PlanInput
	now       time.Time
	rows      map[string]recommendation.Row
	resources map[string]inventory.Listed   // by id
	records   map[string]inventory.Resource // by native id
	accounts  map[string]inventory.Account
	standing  scheduling.Standing
	events    scheduling.EventHolds
	holders   map[string]string // workflows by resource
}

// newChecker reads what the checks of targets need, beside the clouds.
func (r *Runner) newChecker(ctx context.Context, in remediation.PlanInput) (*checker, error) {
	c := &checker{
		r: r, in: in, now: r.Clock.Now(), resources: map[string]inventory.Listed{},
		records: map[string]inventory.Resource{}, accounts: map[string]inventory.Account{},
	}
	recs, resources := make([]string, len(in.Targets)), make([]string, len(in.Targets))
	for i := range in.Targets {
		recs[i], resources[i] = in.Targets[i].RecID, in.Targets[i].ResourceID
	}
	var err error
	if c.rows, err = r.Recommendations.ReadRows(ctx, in.Org, recs); err != nil {
		return nil, err
	}
	if c.holders, err = r.store().Holders(ctx, in.Org, resources...); err != nil {
		return nil, err
	}
	if c.standing, err = r.Schedules.ReadStanding(ctx, in.Org); err != nil {
		return nil, err
	}
	if c.events, err = scheduling.ReadEventHolds(ctx, r.Table, in.Org); err != nil {
		return nil, err
	}
	if err = c.readResources(ctx, resources); err != nil {
		return nil, err
	}
	return c, c.readAccounts(ctx)
}

// readResources reads the resources with their schedules, and their records with the actions in flight.
func (c *checker) readResources(ctx context.Context, ids []string) error {
	found, err := c.r.Inventory.ByIDs(ctx, c.in.Org, ids,
		inventory.SeeEverything().WithSchedules(scheduling.Heads{}))
	if err != nil {
		return err
	}
	var keys []table.Key
	for i := range found {
		c.resources[found[i].ID] = found[i]
		keys = append(keys, inventory.ResourceKey(c.in.Org, found[i].UID))
	}
	got, err := c.r.Table.BatchGet(ctx, keys...)
	if err != nil {
		return fmt.Errorf("read %d resources of %s: %w", len(keys), c.in.Org, err)
	}
	for _, it := range got {
		res, err := table.Decode[inventory.Resource](it)
		if err != nil {
			return err
		}
		c.records[res.UID] = res
	}
	return nil
}

func (c *checker) readAccounts(ctx context.Context) error {
	for i := range c.in.Targets {
		id := c.in.Targets[i].CloudAccountID
		if _, known := c.accounts[id]; known {
			continue
		}
		a, err := c.r.Inventory.ReadAccount(ctx, c.in.Org, id)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
		c.accounts[id] = a
	}
	return nil
}

// planTarget checks one target and sets its plan. It returns what its provider needs to set the present values again.
func (c *checker) planTarget(ctx context.Context, t *remediation.Target) (json.RawMessage, error) {
	ruleOf := rule.ByID(t.RuleID)
	means := remediation.MeansOf(ruleOf, t.Provider, t.ResourceType)
	if !means.Executable {
		return nil, fault.New(fault.Conflict, "it cannot be carried out: %s", means.Why)
	}
	t.Verb = means.Verb
	for _, check := range []error{
		remediation.CheckParameters(means, t.Parameters), c.checkRow(t), c.checkAccount(t), c.checkResource(t),
		c.checkStanding(t), c.checkCalendars(ctx, t), c.checkPolicies(ctx, t),
	} {
		if check != nil {
			return nil, check
		}
	}
	ch, err := c.r.open(ctx, c.in.Org, c.accounts[t.CloudAccountID], t)
	if err != nil {
		return nil, err
	}
	if s, is := ch.(*changing); is {
		e := c.rows[t.RecID].Evidence
		s.seen = remediation.Observed{Values: e.Values, Thresholds: e.Thresholds}
	}
	p, native, err := ch.plan(ctx, c.resources[t.ResourceID])
	if err != nil {
		return nil, err
	}
	if err = c.checkReason(ctx, ch, t); err != nil {
		return nil, err
	}
	if _, code := remediation.ControllerOf(c.resources[t.ResourceID].Tags); code != nil {
		return nil, planPatch(t, p, *code)
	}
	p.Undo = means.Undo
	t.SetPlan(p)
	return native, nil
}

// checkRow refuses a recommendation that is not open any more, or was decided with another version of the rule.
func (c *checker) checkRow(t *remediation.Target) error {
	row, there := c.rows[t.RecID]
	if !there || row.Status == recommendation.Candidate {
		return fault.New(fault.NotFound, "recommendation %.64q does not exist", t.RecID)
	}
	switch status := row.Effective(c.now); {
	case status != recommendation.Open:
		why := ""
		if n := len(row.History); n > 0 {
			why = ": " + row.History[n-1].Why
		}
		return fault.New(fault.Conflict, "it is %s since %s%s", status, row.UpdatedAt.Format(time.RFC3339), why)
	case t.RuleVersion != 0 && row.RuleVersion != t.RuleVersion:
		return fault.New(fault.Conflict, "the rule has changed from version %d to %d", t.RuleVersion, row.RuleVersion)
	}
	return nil
}

func (c *checker) checkAccount(t *remediation.Target) error {
	why := execution.Refusal(t.CloudAccountID, c.accounts[t.CloudAccountID])
	switch {
	case why == "":
		return nil
	case c.accounts[t.CloudAccountID].ReadOnly():
		return fault.New(fault.Denied, "%s; set permissionLevel to read_write to allow it", why)
	}
	return fault.New(fault.Conflict, "%s", why)
}

// checkResource refuses a resource that is gone, cannot be acted on, is changed by something else, or is kept as it is
// by a controller.
func (c *checker) checkResource(t *remediation.Target) error {
	listed, there := c.resources[t.ResourceID]
	record, recorded := c.records[t.ResourceUID]
	if !there || !recorded || listed.UID != t.ResourceUID || listed.Status == cloud.Terminated {
		return fault.New(fault.Conflict, "its resource %s is gone from the inventory", t.ResourceUID)
	}
	if err := checkSwitch(t, &listed); err != nil {
		return err
	}
	if record.ActionID != "" && record.ActionID != c.in.WorkflowID {
		return fault.New(fault.Conflict, "a %s of its resource is in flight (%s): wait until it has ended",
			record.ActionType, record.ActionID)
	}
	if by := c.holders[t.ResourceID]; by != "" && by != c.in.WorkflowID {
		return fault.New(fault.Conflict,
			"remediation workflow %s holds its resource: wait until it has ended, or cancel it", by)
	}
	if owner, code := remediation.ControllerOf(listed.Tags); owner != "" && code == nil {
		return fault.New(fault.Conflict,
			"its resource is managed by %s, which would undo the change: make the change there", owner)
	}
	return nil
}

// checkSwitch refuses to start and stop a resource that cannot be.
func checkSwitch(t *remediation.Target, listed *inventory.Listed) error {
	switches := t.Verb == rule.VerbStop || t.Verb == rule.VerbSchedule
	if switches && listed.Unschedulable != "" {
		return fault.New(fault.Conflict, "its resource cannot be started and stopped: %s", listed.Unschedulable)
	}
	return nil
}

// checkStanding refuses a resource that an override or an event readiness plan holds.
func (c *checker) checkStanding(t *remediation.Target) error {
	var s scheduling.Subject
	c.standing.Apply(t.ResourceID, &s)
	if o, held := s.HeldBy(c.now); held {
		return fault.New(fault.Conflict, "override %s (%s) holds its resource until %s: end it first", o.ID, o.Action,
			o.To.UTC().Format(time.RFC3339))
	}
	if held := c.events.Inside(t.ResourceUID); len(held) > 0 {
		return fault.New(fault.Conflict, "%s holds its resource: wait for its end", held[0])
	}
	return nil
}

// checkCalendars refuses a change while a calendar of one of the resource's schedules freezes stops.
func (c *checker) checkCalendars(ctx context.Context, t *remediation.Target) error {
	listed := c.resources[t.ResourceID]
	for _, id := range listed.ScheduleIDs {
		table, err := c.r.Schedules.ReadAsking(ctx, c.in.Org, id, c.now)
		if err != nil {
			return err
		}
		var s scheduling.Subject
		skip := s.MayAct(scheduling.Intent{Verb: cloud.Stop, Cause: scheduling.ByHand, At: c.now, Timetable: table})
		if skip.Reason == scheduling.ClosedByCalendar {
			return fault.New(fault.Conflict, "a calendar of schedule %s freezes its resource: %s", id, skip.Detail)
		}
	}
	return nil
}

// checkPolicies refuses to scale a group that an autoscaler policy scales: its next application would set its own
// sizes.
func (c *checker) checkPolicies(ctx context.Context, t *remediation.Target) error {
	if t.Verb != rule.VerbScale {
		return nil
	}
	policies, err := readiness.NewPolicyStore(c.r.Table, c.r.Clock).List(ctx, c.in.Org)
	for i := range policies {
		if p := &policies[i]; p.Target.UID == t.ResourceUID && p.Mode == readiness.Autopilot {
			return fault.New(fault.Conflict, "autoscaler policy %s (%s) scales its group: change the policy", p.ID,
				p.Name)
		}
	}
	return err
}
