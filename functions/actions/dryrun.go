package actions

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// DryRun is what a bulk action would do.
type DryRun struct {
	Steps   []DryRunStep    `json:"steps" doc:"What would be asked, in this order: a step begins when the provider has accepted the one before, the first of a tier when all of the tier before has ended"`
	LeftOut []DryRunLeftOut `json:"leftOut" doc:"What nothing would be asked of, and why"`
}

// DryRunStep is one order of one tier.
type DryRunStep struct {
	Tier      int              `json:"tier"`
	Order     int              `json:"order"`
	Resources []DryRunResource `json:"resources" doc:"Asked side by side"`
}

// DryRunResource is a resource that a bulk action would act on.
type DryRunResource struct {
	ResourceID     string       `json:"resourceID" doc:"Our id"`
	ResourceUID    string       `json:"resourceUID" doc:"Native provider identifier"`
	Name           string       `json:"name"`
	Type           string       `json:"type" example:"aws-ec2"`
	CloudAccountID string       `json:"cloudAccountID" doc:"Our id of the cloud account"`
	Region         string       `json:"region"`
	Status         cloud.Status `json:"status" doc:"As the inventory has it; the provider is not asked" enum:"running,stopped,starting,stopping,pending,terminated,unknown"`
}

// DryRunLeftOut is a resource that a bulk action would not act on.
type DryRunLeftOut struct {
	DryRunResource
	Reason   string  `json:"reason" doc:"event: an active event readiness plan holds it; else a sentence"`
	Detail   *string `json:"detail" doc:"For event a sentence that names the plan; else null"`
	CountsAs *string `json:"countsAs" enum:"completed,failed" doc:"As what total counts it; null when it does not count at all"`
}

// dryRun returns what a bulk action on what was chosen would do, by what the inventory knows now. It stores nothing.
func (s *service) dryRun(ctx context.Context, verb cloud.Verb, chosen choice) (BulkSubmitted, error) {
	running, err := s.running(ctx, verb, chosen.group.ID)
	if err != nil {
		return BulkSubmitted{}, err
	}
	foreseen, err := s.foresee(ctx, verb, chosen.members)
	if err != nil {
		return BulkSubmitted{}, err
	}
	left, err := s.dropped(ctx, chosen)
	if err != nil {
		return BulkSubmitted{}, err
	}
	plan := DryRun{Steps: []DryRunStep{}, LeftOut: []DryRunLeftOut{}}
	for _, l := range append(chosen.left, left...) {
		plan.LeftOut = append(plan.LeftOut, DryRunLeftOut{brief(l.Member), l.Reason, rest.Optional(l.Detail), nil})
	}
	for _, members := range execution.Sequence(verb, chosen.members) {
		plan.add(members, foreseen)
	}
	return BulkSubmitted{BulkActionID: running.ID, Status: execution.BulkPlanned, Total: len(chosen.members),
		LeftOut: len(chosen.left), LeftOutOf: []execution.NotDone{}, Plan: &plan}, nil
}

// running returns the bulk action that one on the group would join; the zero one when it would begin.
func (s *service) running(ctx context.Context, verb cloud.Verb, groupID string) (execution.Bulk, error) {
	if groupID == "" {
		return execution.Bulk{}, nil
	}
	claim, err := table.Read[execution.GroupClaim](ctx, s.p.Table,
		execution.GroupClaimKey(identity.CallerOrg(ctx), groupID))
	if fault.Is(err, fault.NotFound) {
		return execution.Bulk{}, nil
	}
	if err != nil {
		return execution.Bulk{}, fmt.Errorf("read what is under way on %s: %w", groupID, err)
	}
	return s.joined(ctx, verb, groupID, claim.BulkActionID)
}

// dropped returns the members of a static group that a bulk action passes over, because they are terminated or gone.
func (s *service) dropped(ctx context.Context, chosen choice) ([]execution.LeftOut, error) {
	if chosen.group.ID == "" || chosen.group.Selector != nil ||
		chosen.group.Size <= len(chosen.members)+len(chosen.left) {
		return nil, nil
	}
	org := identity.CallerOrg(ctx)
	places, err := s.inventory.ListPlacements(ctx, org, chosen.group.ID)
	if err != nil {
		return nil, err
	}
	found := make(map[string]bool, len(chosen.members)+len(chosen.left))
	for _, m := range chosen.members {
		found[m.ResourceID] = true
	}
	for _, l := range chosen.left {
		found[l.ResourceID] = true
	}
	var out []execution.LeftOut
	for _, p := range places {
		if !found[p.ResourceID] {
			m := inventory.Member{ResourceID: p.ResourceID, Tier: p.Tier, Order: p.Order, Status: cloud.Unknown}
			out = append(out,
				execution.LeftOut{Member: m, Reason: "the resource is terminated, or gone from the inventory"})
		}
	}
	return out, nil
}

// end is how a bulk action would end on a resource without asking anything of it.
type end struct {
	status execution.Status // "" when it would be asked
	why    string
}

// foresee reads what decides on each of members: one round trip for each hundred of them.
func (s *service) foresee(ctx context.Context, verb cloud.Verb, members []inventory.Member) (map[string]end, error) {
	org := identity.CallerOrg(ctx)
	var keys []table.Key
	for _, m := range members {
		keys = append(keys, inventory.ResourceKey(org, m.UID), inventory.AccountKey(org, m.CloudAccountID))
	}
	items, err := s.p.Table.BatchGet(ctx, keys...)
	if err != nil {
		return nil, fmt.Errorf("read %d resources: %w", len(members), err)
	}
	out := make(map[string]end, len(members))
	for _, m := range members {
		p := execution.Prospect{Member: m}
		if p.Record, err = decoded[inventory.Resource](items, inventory.ResourceKey(org, m.UID)); err != nil {
			return nil, err
		}
		if p.Account, err = decoded[inventory.Account](items, inventory.AccountKey(org, m.CloudAccountID)); err != nil {
			return nil, err
		}
		var e end
		e.status, e.why = execution.Foresee(verb, p)
		out[m.ResourceID] = e
	}
	return out, nil
}

// decoded returns the item at k, the zero value when there is none.
func decoded[T any](items map[table.Key]table.Item, k table.Key) (T, error) {
	it, there := items[k]
	if !there {
		var zero T
		return zero, nil
	}
	return table.Decode[T](it)
}

// add adds a step, of what of it would be asked.
func (d *DryRun) add(members []inventory.Member, foreseen map[string]end) {
	step := DryRunStep{Tier: members[0].Tier, Order: members[0].Order}
	for _, m := range members {
		switch e := foreseen[m.ResourceID]; e.status {
		case "":
			step.Resources = append(step.Resources, brief(m))
		case execution.Succeeded:
			d.LeftOut = append(d.LeftOut, DryRunLeftOut{brief(m), e.why, nil, new("completed")})
		default:
			d.LeftOut = append(d.LeftOut, DryRunLeftOut{brief(m), e.why, nil, new("failed")})
		}
	}
	if len(step.Resources) > 0 {
		d.Steps = append(d.Steps, step)
	}
}

func brief(m inventory.Member) DryRunResource {
	return DryRunResource{m.ResourceID, m.UID, m.Name, m.Type, m.CloudAccountID, m.Region, m.Status}
}
