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

// DryRun is the plan of a bulk action.
type DryRun struct {
	Steps   []DryRunStep    `json:"steps" doc:"The orders in sequence. A step begins when the provider has accepted the one before; the first step of a tier begins when the whole tier before has ended"`
	LeftOut []DryRunLeftOut `json:"leftOut" doc:"The skipped resources and the reasons"`
	// HourlyUSD and WithoutRate are set by setPrices.
	HourlyUSD   *string `json:"hourlyUSD" doc:"What the resources of the steps cost an hour while they run, above what they cost while they are stopped: a stop saves it, a start costs it. Null if no price of them is known" example:"12.4000"`
	WithoutRate int     `json:"withoutRate" doc:"Resources of the steps whose price is not known; hourlyUSD leaves them out"`
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
	Status         cloud.Status `json:"status" doc:"From the inventory" enum:"running,stopped,starting,stopping,pending,terminated,unknown"`
	// Tags are those of the record, of which a terminated or missing resource has none.
	Tags      map[string]string `json:"tags" doc:"Its tags; empty of a resource that is gone"`
	HourlyUSD *string           `json:"hourlyUSD" doc:"What it costs an hour while it runs, above what it costs while it is stopped; null if its price is not known, and of a resource that is left out" example:"0.0960"`
}

// DryRunLeftOut is a resource that a bulk action would not act on.
type DryRunLeftOut struct {
	DryRunResource
	Reason   string  `json:"reason" doc:"event: an active event readiness plan holds it; else a sentence"`
	Detail   *string `json:"detail" doc:"For event a sentence that names the plan; else null"`
	CountsAs *string `json:"countsAs" enum:"completed,failed" doc:"How total counts it; null if it does not count"`
}

// planDryRun returns the plan of a bulk action on the chosen resources, from the present inventory. It stores
// nothing.
func (s *service) planDryRun(ctx context.Context, verb cloud.Verb, chosen choice) (BulkSubmitted, error) {
	running, err := s.runningBulk(ctx, verb, chosen.group.ID)
	if err != nil {
		return BulkSubmitted{}, err
	}
	foreseen, err := s.foreseeEnds(ctx, verb, chosen.members)
	if err != nil {
		return BulkSubmitted{}, err
	}
	left, err := s.droppedMembers(ctx, chosen)
	if err != nil {
		return BulkSubmitted{}, err
	}
	plan := DryRun{Steps: []DryRunStep{}, LeftOut: []DryRunLeftOut{}}
	for _, l := range append(chosen.left, left...) {
		plan.LeftOut = append(plan.LeftOut,
			DryRunLeftOut{dryRunResource(l.Member, nil), l.Reason, rest.Optional(l.Detail), nil})
	}
	for _, members := range execution.Sequence(verb, chosen.members) {
		plan.addStep(members, foreseen)
	}
	if err = s.addPrices(ctx, &plan); err != nil {
		return BulkSubmitted{}, err
	}
	return BulkSubmitted{
		BulkActionID: running.ID, Status: execution.BulkPlanned, Total: len(chosen.members),
		LeftOut: len(chosen.left), LeftOutOf: []execution.NotDone{}, Plan: &plan,
	}, nil
}

// runningBulk returns the bulk action on the group that a new one would join, or the zero bulk action if there is
// none.
func (s *service) runningBulk(ctx context.Context, verb cloud.Verb, groupID string) (execution.Bulk, error) {
	if groupID == "" {
		return execution.Bulk{}, nil
	}
	claim, err := table.Read[execution.GroupClaim](ctx, s.p.Table,
		execution.GroupClaimKey(identity.CallerOrg(ctx), groupID))
	if fault.Is(err, fault.NotFound) {
		return execution.Bulk{}, nil
	}
	if err != nil {
		return execution.Bulk{}, fmt.Errorf("read the bulk action under way on %s: %w", groupID, err)
	}
	return s.joinedBulk(ctx, verb, groupID, claim.BulkActionID)
}

// droppedMembers returns the members of a static group that a bulk action skips because they are terminated or gone.
func (s *service) droppedMembers(ctx context.Context, chosen choice) ([]execution.LeftOut, error) {
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

// foreseenEnd is the end of an action on a resource that asks nothing of the provider.
type foreseenEnd struct {
	status execution.Status // "" when it would be asked
	why    string
	tags   map[string]string // of the resource
}

// foreseeEnds reads the records that decide each member's action, in one round trip for each hundred members.
func (s *service) foreseeEnds(ctx context.Context, verb cloud.Verb, members []inventory.Member) (map[string]foreseenEnd,
	error,
) {
	org := identity.CallerFrom(ctx).Org
	var keys []table.Key
	for _, m := range members {
		keys = append(keys, inventory.ResourceKey(org, m.UID), inventory.AccountKey(org, m.CloudAccountID))
	}
	items, err := s.p.Table.BatchGet(ctx, keys...)
	if err != nil {
		return nil, fmt.Errorf("read %d resources: %w", len(members), err)
	}
	out := make(map[string]foreseenEnd, len(members))
	for _, m := range members {
		p := execution.Prospect{Member: m}
		if p.Record, err = decodeAt[inventory.Resource](items, inventory.ResourceKey(org, m.UID)); err != nil {
			return nil, err
		}
		if p.Account, err = decodeAt[inventory.Account](items,
			inventory.AccountKey(org, m.CloudAccountID)); err != nil {
			return nil, err
		}
		e := foreseenEnd{tags: p.Record.Tags}
		e.status, e.why = execution.Foresee(verb, p)
		out[m.ResourceID] = e
	}
	return out, nil
}

// decodeAt returns the item at k, or the zero value if there is none.
func decodeAt[T any](items map[table.Key]table.Item, k table.Key) (T, error) {
	it, there := items[k]
	if !there {
		var zero T
		return zero, nil
	}
	return table.Decode[T](it)
}

// addStep adds a step with the members that it would act on.
func (d *DryRun) addStep(members []inventory.Member, foreseen map[string]foreseenEnd) {
	step := DryRunStep{Tier: members[0].Tier, Order: members[0].Order}
	for _, m := range members {
		e := foreseen[m.ResourceID]
		shown := dryRunResource(m, e.tags)
		switch e.status {
		case "":
			step.Resources = append(step.Resources, shown)
		case execution.Succeeded:
			d.LeftOut = append(d.LeftOut, DryRunLeftOut{shown, e.why, nil, new("completed")})
		default:
			d.LeftOut = append(d.LeftOut, DryRunLeftOut{shown, e.why, nil, new("failed")})
		}
	}
	if len(step.Resources) > 0 {
		d.Steps = append(d.Steps, step)
	}
}

func dryRunResource(m inventory.Member, tags map[string]string) DryRunResource {
	return DryRunResource{
		ResourceID: m.ResourceID, ResourceUID: m.UID, Name: m.Name, Type: m.Type, CloudAccountID: m.CloudAccountID,
		Region: m.Region, Status: m.Status, Tags: rest.NonNilMap(tags),
	}
}
