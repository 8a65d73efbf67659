package executor

import (
	"context"
	"strconv"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// stagedResources returns the resources of targets as their plans describe them.
func stagedResources(targets []remediation.Target) []simulated.StagedResource {
	out := make([]simulated.StagedResource, len(targets))
	for i := range targets {
		t := &targets[i]
		out[i] = simulated.StagedResource{Type: t.ResourceType, Region: t.Region, UID: t.ResourceUID}
		switch {
		case t.Verb == rule.VerbScale:
			out[i].Scaling = scalingBefore(t.Plan)
		case !remediation.UsesActions(t.Verb):
			out[i].Values, out[i].After = t.Plan.Before, t.Plan.After
		}
	}
	return out
}

// scalingBefore returns the sizes of a group before a plan. The plan has only the sizes that change, so the others are
// chosen such that they do not.
func scalingBefore(p remediation.Plan) cloud.Autoscaling {
	size := func(of map[string]string, name remediation.Bound, or int64) int64 {
		n, err := strconv.ParseInt(of[string(name)], 10, 64)
		if err != nil {
			return or
		}
		return n
	}
	largest := int64(1)
	for _, of := range []map[string]string{p.Before, p.After} {
		for name := range of {
			largest = max(largest, size(of, remediation.Bound(name), 0))
		}
	}
	out := cloud.Autoscaling{
		Min: size(p.Before, remediation.MinBound, 0), Max: size(p.Before, remediation.MaxBound, largest+1),
	}
	least := max(out.Min, size(p.After, remediation.MinBound, out.Min), 1)
	out.Desired = size(p.Before, remediation.DesiredBound, least)
	return out
}

// build fills the trial's store with what the checks of a plan read: accounts, resources, schedules and open
// recommendations.
func (t *trial) build(ctx context.Context, from *Executor) error {
	for i := range t.in.Targets {
		target := t.in.Targets[i]
		for _, step := range []func(context.Context, *remediation.Target) error{
			t.addAccount, t.addResource, t.addRecommendation,
			func(ctx context.Context, target *remediation.Target) error { return t.addSchedule(ctx, from, target) },
		} {
			if err := step(ctx, &target); err != nil {
				return err
			}
		}
		t.w.Targets = append(t.w.Targets, target)
	}
	return nil
}

// settings returns the settings of the simulated accounts: no resources beside those of the stage, and the fault.
func (t *trial) settings() map[string]string {
	out := map[string]string{"size": "0"}
	switch t.fault { //nolint:exhaustive // the others are the stage's
	case remediation.LostReplies:
		out["lostReply"] = "1"
	case remediation.Throttling:
		out["throttle"] = "0.25"
	}
	return out
}

func (t *trial) addAccount(ctx context.Context, target *remediation.Target) error {
	target.Provider = simulated.Name
	sealed, err := inventory.SealCredentials(ctx, t.e.p.Sealer,
		inventory.SecretPlace(t.in.Org, target.CloudAccountID), t.settings())
	if err != nil {
		return err
	}
	return t.put(ctx, inventory.AccountKey(t.in.Org, target.CloudAccountID), inventory.Account{
		ID: target.CloudAccountID, Provider: simulated.Name, CloudAccountID: "000000000001", Name: "rehearsal",
		AuthMethod: simulated.AuthMethod, PermissionLevel: "read_write", Status: inventory.AccountConnected,
		CreatedAt: t.clock.Now(), Sealed: sealed,
	})
}

func (t *trial) put(ctx context.Context, k table.Key, v any) error {
	it, err := table.NewItem(k, v)
	if err == nil {
		_, err = t.e.p.Table.Write(ctx, table.Put(it))
	}
	return fault.Wrap("write "+k.PK, err)
}

// addResource adds the resource to the inventory, and gives the target the ID that it has there.
func (t *trial) addResource(ctx context.Context, target *remediation.Target) error {
	scan := inventory.Scan{
		Partition: inventory.Partition{
			AccountID: target.CloudAccountID, Provider: simulated.Name, Region: target.Region,
			Kind: target.ResourceType,
		},
		ID: id.New("job", t.clock.Now()), Started: t.clock.Now(),
	}
	_, err := t.e.inventory.UpsertScanned(ctx, t.in.Org, inventory.Batch{
		Scan: scan, At: t.clock.Now(), Resources: []cloud.Resource{{
			UID: target.ResourceUID, Name: target.ResourceName, Type: target.ResourceType, Region: target.Region,
			Status: cloud.Running,
		}},
	})
	if err != nil {
		return err
	}
	found, err := t.e.inventory.ByUIDs(ctx, t.in.Org, []string{target.ResourceUID}, inventory.SeeEverything())
	if err == nil && len(found) != 1 {
		err = fault.New(fault.Internal, "the inventory has %d resources %s", len(found), target.ResourceUID)
	}
	if err == nil {
		target.ResourceID = found[0].ID
	}
	return err
}

// addRecommendation opens the recommendation of a target, with the evidence that its plan took values from.
func (t *trial) addRecommendation(ctx context.Context, target *remediation.Target) error {
	f := recommendation.Finding{
		RuleID: target.RuleID, RuleVersion: target.RuleVersion, Outcome: recommendation.True, Category: "rehearsal",
		Severity: recommendation.Low, Effort: "low", Risk: target.Risk, Title: target.Title, Reason: "rehearsal",
		Evidence: evidenceOf(target), Resource: recommendation.Resource{
			ResourceID: target.ResourceID, ResourceUID: target.ResourceUID, ResourceName: target.ResourceName,
			ResourceType: target.ResourceType, Provider: simulated.Name, CloudAccountID: target.CloudAccountID,
			Region: target.Region,
		},
	}
	target.RecID = recommendation.IDOf(target.ResourceID, target.ResourceUID, target.RuleID)
	pass := recommendation.Pass{ID: id.New("job", t.clock.Now()), At: t.clock.Now()}
	_, err := recommendation.New(t.e.p).Settle(ctx, t.in.Org, recommendation.ShardOf(target.ResourceUID), pass,
		[]recommendation.Finding{f})
	return err
}

// evidenceOf returns the evidence that the settings of a rule take values from: they are those of the plan.
func evidenceOf(target *remediation.Target) recommendation.Evidence {
	out := recommendation.Evidence{Values: map[string]any{}, Thresholds: map[string]any{}}
	r := rule.ByID(target.RuleID)
	if r == nil {
		return out
	}
	for _, s := range r.Target.Settings {
		switch s.Value.Kind { //nolint:exhaustive // the others take nothing from the evidence
		case rule.FromFact, rule.FromUse:
			out.Values[s.Value.Text] = target.Plan.After[s.Name]
		case rule.FromParam:
			out.Thresholds[s.Value.Text] = target.Plan.After[s.Name]
		}
	}
	return out
}

// addSchedule copies the schedule that a target attaches.
func (t *trial) addSchedule(ctx context.Context, from *Executor, target *remediation.Target) error {
	if target.Verb != rule.VerbSchedule {
		return nil
	}
	sch, err := from.schedules.ReadSchedule(ctx, t.in.Org, target.Parameters[remediation.ScheduleParameter])
	if err != nil {
		return err
	}
	if _, err = t.e.schedules.ReadSchedule(ctx, t.in.Org, sch.ID); err == nil {
		return nil // for another target
	}
	_, err = t.e.schedules.CreateSchedule(ctx, t.in.Org, sch)
	return err
}
