package execution

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/id"
)

// The reasons of actions that no user requested.
const (
	ReasonSchedule        = "schedule"
	ReasonOverride        = "override"
	ReasonOverrideExpired = "override_expired"
)

// Order is a start or stop of resources that the service makes itself, for a schedule or an override. It is a bulk
// action on at most 10,000 members, in their tiers and orders. If the opposite action is in flight on a resource, the
// order waits for its end.
type Order struct {
	Verb          cloud.Verb         `json:"verb"`
	Members       []inventory.Member `json:"-"` // stored by NamedItem; nil when that was done before
	Total         int                `json:"total"`
	Reason        string             `json:"reason"`
	ChangedBy     string             `json:"changedBy"` // as in the state history
	ScheduleID    string             `json:"scheduleID,omitempty"`
	StepDelay     int                `json:"stepDelay,omitempty"` // seconds
	FailurePolicy string             `json:"failurePolicy"`
	Scopes        *grant.Scopes      `json:"scopes,omitempty"` // as in BulkPlan
	// it also acts on targets of active event readiness plans
	Force    bool `json:"force,omitempty"`
	Promised bool `json:"promised,omitempty"`

	// Cause and At name the order. A second order with the same cause and time is the same order.
	Cause string    `json:"cause"`
	At    time.Time `json:"at"`
}

// ID returns the id of the order's bulk action.
func (o Order) ID() string { return id.Derived("bulk", o.At, o.Cause) }

// Writes returns the writes that queue the order, for the transaction of its cause. The ctx of the transaction must
// allow workqueue.Prefix. The first write fails if the order was queued before.
func (o Order) Writes(org string) ([]table.Write, error) {
	bulkID := o.ID()
	row, err := table.NewItem(BulkKey(org, bulkID), Bulk{
		ID: bulkID, Type: o.Verb, Status: BulkQueued, Total: max(o.Total, len(o.Members)), CreatedAt: o.At,
		Force: o.Force,
		Plan: &BulkPlan{
			ChangedBy: o.ChangedBy, StepDelay: o.StepDelay, FailurePolicy: o.FailurePolicy, Reason: o.Reason,
			ScheduleID: o.ScheduleID,
			Scopes:     o.Scopes, Promised: o.Promised,
		},
	})
	if err != nil {
		return nil, err
	}
	work, err := workqueue.AddWork(workqueue.Work{ID: bulkID, Org: org, Machine: BulkMachine, At: o.At},
		BulkInput{Org: org, BulkID: bulkID})
	if err != nil {
		return nil, err
	}
	ws := []table.Write{table.Put(row, table.Absent()), work}
	if o.Members == nil {
		return ws, nil
	}
	named, err := o.NamedItem(org)
	return append(ws, table.Put(named)), err
}

// NamedItem returns the item with the resources of the order. It may be stored before the order is queued, even if the
// order is then never queued.
func (o Order) NamedItem(org string) (table.Item, error) {
	named, err := o.named()
	if err != nil {
		return table.Item{}, err
	}
	return table.NewItem(NamedKey(org, o.ID()), named)
}

// named returns the resources of the order as they are stored: with placements if there are several steps.
func (o Order) named() (n Named, err error) {
	places, steps := make([]inventory.GroupPlacement, len(o.Members)), false
	for i, m := range o.Members {
		places[i] = inventory.GroupPlacement{ResourceID: m.ResourceID, Tier: m.Tier, Order: m.Order}
		steps = steps || m.Tier != o.Members[0].Tier || m.Order != o.Members[0].Order
	}
	if steps {
		n.Places, err = inventory.EncodePlacements(places)
		return n, err
	}
	n.ResourceIDs = make([]string, len(places))
	for i, p := range places {
		n.ResourceIDs[i] = p.ResourceID
	}
	return n, nil
}

// Start starts the machine of a queued order. If the process dies before that, the sweeper starts it.
func (o Order) Start(ctx context.Context, p *platform.Platform, org string) error {
	bulkID := o.ID()
	if err := p.Workflow.Start(ctx, BulkMachine, bulkID, BulkInput{Org: org, BulkID: bulkID}); err != nil {
		return fmt.Errorf("start order %s: %w", bulkID, err)
	}
	return nil
}

// QueueOrders queues orders, each separately. It is idempotent. The extra writes are in the transaction of each order;
// they are conditions for queuing it. It returns the orders that it queued now.
func QueueOrders(ctx context.Context, s table.Store, org string, orders []Order,
	extra ...table.Write,
) ([]Order, error) {
	ctx = table.Within(ctx, workqueue.Prefix)
	var queued []Order
	for _, o := range orders {
		ws, err := o.Writes(org)
		if err != nil {
			return queued, err
		}
		err = s.Transact(ctx, append(ws, extra...)...)
		if lost, refused := errors.AsType[*table.ConditionError](err); refused {
			if _, before := lost.Old(0); before {
				continue
			}
		}
		if err != nil {
			return queued, fmt.Errorf("queue order %s: %w", o.ID(), err)
		}
		queued = append(queued, o)
	}
	return queued, nil
}

// ReadAccounts reads the cloud accounts of members, by id. It takes one round trip per hundred accounts. An account
// that is gone is missing.
func ReadAccounts(ctx context.Context, s table.Store, org string,
	members []inventory.Member,
) (map[string]inventory.Account, error) {
	keys := accountKeys(org, members)
	items, err := s.BatchGet(ctx, keys...)
	if err != nil {
		return nil, fmt.Errorf("read %d accounts: %w", len(keys), err)
	}
	return decodeAccounts(items)
}

// accountKeys returns the keys of the accounts of members, each once.
func accountKeys(org string, members []inventory.Member) []table.Key {
	keys := map[table.Key]bool{}
	for _, m := range members {
		keys[inventory.AccountKey(org, m.CloudAccountID)] = true
	}
	return slices.Collect(maps.Keys(keys))
}

func decodeAccounts(items map[table.Key]table.Item) (out map[string]inventory.Account, err error) {
	out = make(map[string]inventory.Account, len(items))
	for k, it := range items {
		if out[k.SK], err = table.Decode[inventory.Account](it); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Obeying splits members into those that can be started and stopped, and those that cannot, or that have an account
// that is read_only or gone.
func Obeying(members []inventory.Member, accounts map[string]inventory.Account) ([]inventory.Member, []LeftOut) {
	return sift(members, func(m inventory.Member) string {
		return cmp.Or(Refusal(m.CloudAccountID, accounts[m.CloudAccountID]), unactionable(m))
	})
}

// Unable returns why a resource can never be started and stopped, or "". An account that is read_only is not a reason.
func Unable(m inventory.Member, account inventory.Account) string {
	if account.ReadOnly() {
		return unactionable(m)
	}
	return cmp.Or(Refusal(m.CloudAccountID, account), unactionable(m))
}
