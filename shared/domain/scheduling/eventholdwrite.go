package scheduling

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
)

// mostLevels is the maximum number of resources that enclose a target, such as a namespace and its cluster.
const mostLevels = 3

// EnclosingUIDs returns the UIDs of the resources that enclose the resource with a UID, the nearest first. It takes
// one round trip per level.
func EnclosingUIDs(ctx context.Context, s table.Store, org, uid string) ([]string, error) {
	var out []string
	for range mostLevels {
		got, err := s.BatchGet(ctx, inventory.ResourceKey(org, uid))
		if err != nil {
			return nil, fmt.Errorf("read the parent of resource %s: %w", uid, err)
		}
		it, there := got[inventory.ResourceKey(org, uid)]
		if !there {
			return out, nil
		}
		res, err := table.Decode[inventory.Resource](it)
		if err != nil || res.ParentUID == "" {
			return out, err
		}
		uid = res.ParentUID
		out = append(out, uid)
	}
	return out, nil
}

// BeginEventHold returns the writes that hold a target. They belong in the transaction that begins to raise it. They
// fail while a stop of the target is in flight. They are idempotent.
func BeginEventHold(org string, h EventHold) []table.Write {
	return []table.Write{
		table.Update(EventHoldKey(org), []table.Change{table.Set(h.PolicyID, h)}),
		table.Check(inventory.ResourceKey(org, h.UID),
			table.Any(table.Absent(), table.NotEqual("actionType", string(cloud.Stop)))),
	}
}

// EndEventHold returns the writes that end the hold on the target of a policy at a time. They belong in the
// transaction of the target's last restore. The context of that transaction must allow scheduling.DuePrefix. The
// evaluator then carries out the actions that schedules ordered during the hold. EndEventHold takes one round trip; a
// hold that does not exist needs no writes.
func EndEventHold(ctx context.Context, s table.Store, org, policyID string, at time.Time) ([]table.Write, error) {
	l, err := ReadEventHolds(ctx, s, org)
	if err != nil {
		return nil, err
	}
	h, held := l.OfPolicy(policyID)
	if !held {
		return nil, nil
	}
	h.EndedAt = at
	due, err := AddDue(org, at.Add(time.Minute).Truncate(time.Minute))
	if err != nil {
		return nil, err
	}
	field := fmt.Sprintf("%s%s#%d", endedPrefix, policyID, at.Unix())
	return []table.Write{
		table.Update(EventHoldKey(org), []table.Change{table.Remove(policyID), table.Set(field, h)}), due,
	}, nil
}

// DropEventHold returns the write that ends the hold on the target of a policy because of a forced stop. Afterwards
// its schedules act on the target as on any other resource.
func DropEventHold(org, policyID string) table.Write {
	return table.Update(EventHoldKey(org), []table.Change{table.Remove(policyID)})
}

// OwedOrder is an ordered stop of resources that plans hold.
type OwedOrder struct {
	BulkID   string
	UIDs     []string
	Promised bool // the end of a wake link: the resources are stopped also where no schedule wants it
}

// Owe returns the write that records the stops of an order in the list, so that the evaluator carries them out after
// the holds. The write fails when one of the holds has ended since the list was read; the stops can then be made at
// once. Owe returns false when no resource is held.
func (l EventHolds) Owe(org string, o OwedOrder) (table.Write, bool) {
	changes, conds := []table.Change(nil), map[string]table.Cond{}
	for _, uid := range o.UIDs {
		h, held := l.Of(uid)
		if !held {
			continue
		}
		sum := sha256.Sum256([]byte(uid)) // a UID may be longer than the name of a field
		field := fmt.Sprintf("%s%s#%s#%x", owedPrefix, h.PolicyID, o.BulkID, sum[:8])
		changes = append(changes,
			table.Set(field, OwedAction{PolicyID: h.PolicyID, Since: h.Since, UID: uid, Promised: o.Promised}))
		conds[h.PolicyID] = table.Has(h.PolicyID)
	}
	return table.Update(EventHoldKey(org), changes, slices.Collect(maps.Values(conds))...), len(changes) > 0
}

// Forget returns the write that removes an ended hold, by the name of its field, and the stops that it prevented.
func (l EventHolds) Forget(org, field string) table.Write {
	changes, policyID := []table.Change{table.Remove(field)}, l.ended[field].PolicyID
	for _, o := range l.owed {
		if _, again := l.byPolicy[policyID]; o.PolicyID == policyID && (!again || o.Since.Equal(l.ended[field].Since)) {
			changes = append(changes, table.Remove(o.field))
		}
	}
	return table.Update(EventHoldKey(org), changes)
}
