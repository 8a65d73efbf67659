package executor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/foundation/fault"
)

// The persons of a rehearsal: one asks, another decides.
var (
	asker   = remediation.Person{User: "usr_rehearsal_asker", Email: "rehearsal"}
	decider = remediation.Person{User: "usr_rehearsal_decider", Email: "rehearsal"}
)

// carryOut plans the workflow, approves it, runs it to its end, and rolls it back if it has changed something.
func (t *trial) carryOut(ctx context.Context) (out remediation.RehearsedRun, err error) {
	if err = t.approve(ctx); err != nil {
		return out, err
	}
	if t.before, err = t.values(ctx); err != nil {
		return out, err
	}
	if err = t.drive(ctx); err != nil {
		return out, err
	}
	out = remediation.RehearsedRun{Fault: t.fault, Status: t.w.Status, Message: t.w.Message}
	if !t.w.RollbackUntil().IsZero() {
		if err = t.rollBack(ctx, &out); err != nil {
			return out, err
		}
	}
	out.Targets, err = t.compare(ctx)
	out.Steps = t.steps()
	return out, err
}

// mostPlans bounds how often a throttled plan is asked for.
const mostPlans = 100

// approve plans the targets with the runner's own plan and approves the workflow.
func (t *trial) approve(ctx context.Context) error {
	var got remediation.Planned
	var err error
	for range mostPlans { // a throttled plan is asked for again, as its requester would
		if got, err = t.runner().Plan(ctx, remediation.PlanInput{Org: t.in.Org, Targets: t.w.Targets}); err != nil {
			return err
		}
		if err = got.First(); !fault.Is(err, fault.Unavailable) {
			break
		}
		t.clock.Advance(time.Second)
	}
	if err != nil {
		return err
	}
	by := decider
	by.At = t.clock.Now()
	w, err := t.store.Create(ctx, remediation.Workflow{Org: t.in.Org, Targets: got.Targets, Requester: asker})
	if err == nil {
		t.w, err = t.store.Approve(ctx, w, by)
	}
	t.approved = by.At
	return err
}

// rollBack gives back what the workflow has changed, as a person's request does.
func (t *trial) rollBack(ctx context.Context, out *remediation.RehearsedRun) error {
	by := decider
	by.At = t.clock.Now()
	w, err := t.store.RequestRollback(ctx, t.w, by)
	if err != nil {
		return err
	}
	t.w = w
	if err = t.drive(ctx); err != nil {
		return err
	}
	if out.RolledBack = t.w.Status; t.w.Rollback != nil && t.w.Rollback.Error != "" {
		out.Message = t.w.Rollback.Error
	}
	return nil
}

// values returns the present values of the targets.
func (t *trial) values(ctx context.Context) ([]map[string]string, error) {
	out := make([]map[string]string, len(t.w.Targets))
	for i := range t.w.Targets {
		target := &t.w.Targets[i]
		out[i] = t.stage.Values(target.ResourceUID)
		if target.Verb != rule.VerbSchedule {
			continue
		}
		found, err := t.e.inventory.ByIDs(ctx, t.in.Org, []string{target.ResourceID},
			inventory.SeeEverything().WithSchedules(scheduling.Heads{}))
		if err != nil {
			return nil, err
		}
		for j := range found {
			out[i]["schedules"] = strings.Join(found[j].ScheduleIDs, ", ")
		}
	}
	return out, nil
}

// compare compares the values of the targets with those before.
func (t *trial) compare(ctx context.Context) ([]remediation.RehearsedTarget, error) {
	now, err := t.values(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]remediation.RehearsedTarget, len(t.w.Targets))
	for i := range t.w.Targets {
		differs := differencesOf(t.before[i], now[i])
		out[i] = remediation.RehearsedTarget{
			RecID: t.in.Targets[i].RecID, Restored: len(differs) == 0, Differences: differs,
			Expected: len(differs) > 0 && t.w.Targets[i].Changed && isFinal(&t.w.Targets[i]),
		}
	}
	return out, nil
}

// isFinal reports whether nothing gives the change of a target back, as its plan says.
func isFinal(target *remediation.Target) bool {
	of, known := cloud.ChangeOf(target.ResourceType, cloud.ChangeVerb(target.Verb))
	return known && !of.HasUndo()
}

// differencesOf returns the values that differ, in words.
func differencesOf(before, now map[string]string) []string {
	if now[cloud.ExistsValue] == "false" && before[cloud.ExistsValue] == "true" {
		return []string{"it does not exist any more"}
	}
	names := maps.Clone(before)
	maps.Copy(names, now)
	var out []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if before[name] != now[name] {
			out = append(out, fmt.Sprintf("%s was %q and is %q", name, before[name], now[name]))
		}
	}
	return out
}

// steps returns the calls of the run.
func (t *trial) steps() []remediation.RehearsedStep {
	recs := map[string]string{}
	for i := range t.in.Targets {
		recs[t.in.Targets[i].ResourceUID] = t.in.Targets[i].RecID
	}
	calls := t.stage.Calls()
	out := make([]remediation.RehearsedStep, min(len(calls), remediation.MaxRehearsedSteps))
	for i := range out {
		c := calls[i]
		out[i] = remediation.RehearsedStep{
			After: c.At.Sub(t.approved), RecID: recs[c.UID], Call: c.Call, Set: c.Set, Error: c.Error,
		}
	}
	return out
}
