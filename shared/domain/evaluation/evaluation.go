// Package evaluation decides the actions that schedules and overrides want now in an organization, and carries them
// out once, for any number of concurrent evaluators and after any crash. It keeps the log of the schedules' actions
// and skips.
package evaluation

import (
	"context"
	"fmt"
	"slices"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
)

// Store evaluates organizations and queues their orders.
type Store struct {
	p         *platform.Platform
	inventory *inventory.Store
	schedules *scheduling.Store
}

// New returns the Store of p.
func New(p *platform.Platform) *Store { return &Store{p, inventory.New(p), scheduling.New(p)} }

// within allows a transaction of an organization to write rows of the due list and of pending work.
func within(ctx context.Context) context.Context {
	return table.Within(ctx, scheduling.DuePrefix, workqueue.Prefix)
}

// Target is the target of an override or a wake link: one resource, or a group. It has the current resources of the
// group, and those of them that cannot be acted on.
type Target struct {
	Group    inventory.Group  // zero for a resource
	Resource inventory.Listed // zero for a group
	Members  []inventory.Member
	LeftOut  []execution.LeftOut
	Events   scheduling.EventHolds // holds of the organisation, as they were read with the target
}

// GroupTarget returns a group as a target, or fault.NotFound.
func (s *Store) GroupTarget(ctx context.Context, org, groupID string) (Target, error) {
	g, members, _, err := execution.ExpandGroup(ctx, s.inventory, org, groupID)
	if err != nil {
		return Target{}, err
	}
	return s.target(ctx, org, g, members)
}

// ResourceTarget returns a resource as a target, by its id, or fault.NotFound.
func (s *Store) ResourceTarget(ctx context.Context, org, resourceID string) (Target, error) {
	found, err := s.inventory.ByIDs(ctx, org, []string{resourceID}, inventory.SeeEverything())
	if err != nil {
		return Target{}, err
	}
	members, gone := execution.Resources(found)
	if len(members) == 0 && len(gone) == 0 {
		return Target{}, fault.New(fault.NotFound, "resource %.64q does not exist", resourceID)
	}
	t, err := s.target(ctx, org, inventory.Group{}, members)
	t.Resource, t.LeftOut = found[0], append(t.LeftOut, gone...)
	return t, err
}

func (s *Store) target(ctx context.Context, org string, g inventory.Group, members []inventory.Member) (Target, error) {
	now, err := execution.ReadStanding(ctx, s.p.Table, org, members)
	if err != nil {
		return Target{}, err
	}
	t := Target{Group: g, Events: now.Events}
	t.Members, t.LeftOut = execution.Obeying(members, now.Accounts)
	return t, nil
}

// MaxHeld is how many resources one override can hold. One transaction can queue that many: 40 orders of
// execution.MaxTargets each.
const MaxHeld = 40 * execution.MaxTargets

// orders returns the orders for members of the target, based on o. If the members exceed the limit of one order, it
// returns several; it always returns at least one. A static group never exceeds the limit, so its tiers stay in one
// order.
func (t Target) orders(members []inventory.Member, o execution.Order) []execution.Order {
	o.StepDelay, o.FailurePolicy = t.Group.StepDelaySeconds, fallback(t.Group.FailurePolicy)
	o.Members = members
	if len(members) <= execution.MaxTargets {
		return []execution.Order{o}
	}
	cause, out := o.Cause, []execution.Order(nil)
	for some := range slices.Chunk(members, execution.MaxTargets) {
		o.Members, o.Total = some, len(some)
		out = append(out, o)
		o.Cause = fmt.Sprintf("%s part %d", cause, len(out)+1)
	}
	return out
}

// stage stores the resources of orders, if they do not fit into the transaction that queues the orders, and returns
// the orders as they are queued.
func (s *Store) stage(ctx context.Context, org string, orders []execution.Order) ([]execution.Order, error) {
	if total(orders) <= execution.MaxTargets {
		return orders, nil
	}
	ws, err := stagedWrites(org, orders, s.p.Clock.Now().Add(forgotten))
	if err != nil {
		return nil, err
	}
	if err = s.p.Table.BatchWrite(ctx, ws...); err != nil {
		return nil, fmt.Errorf("write down what %d orders act on: %w", len(orders), err)
	}
	out := slices.Clone(orders)
	for i := range out {
		out[i].Total, out[i].Members = len(out[i].Members), nil
	}
	return out, nil
}

func total(orders []execution.Order) (n int) {
	for _, o := range orders {
		n += len(o.Members)
	}
	return n
}

func idsOf(orders []execution.Order) []string {
	var out []string
	for _, o := range orders {
		out = append(out, o.ID())
	}
	return out
}

func fallback(policy string) string {
	if policy == "" {
		return inventory.ContinueOnFailure
	}
	return policy
}

// start starts queued orders. If a start fails, the sweeper repeats it.
func (s *Store) start(ctx context.Context, org string, orders []execution.Order) {
	for _, o := range orders {
		if err := o.Start(ctx, s.p, org); err != nil {
			s.p.Log.WarnContext(ctx, "order not started: the sweeper will", "order", o.ID(), "org", org, "error",
				err.Error())
		}
	}
}

// writesOf returns the writes that queue orders.
func writesOf(org string, orders []execution.Order) ([]table.Write, error) {
	var out []table.Write
	for _, o := range orders {
		ws, err := o.Writes(org)
		if err != nil {
			return nil, fmt.Errorf("queue %s: %w", o.ID(), err)
		}
		out = append(out, ws...)
	}
	return out, nil
}

// Access is the table access of functions that begin or end overrides, or evaluate, besides their own partitions.
func Access() table.Access {
	return scheduling.Access().With(override.Access, table.Access{
		Reads: []table.Partition{
			inventory.AccountPartition, inventory.IndexPartition, inventory.ChunkPartition,
			scheduling.EventHoldPartition,
		},
		Writes: []table.Partition{
			override.Partition, execution.BulkPartition, execution.ChunkPartition, scheduling.DuePartition,
			workqueue.Partition,
		},
	})
}
