package readiness

import (
	"context"
	"fmt"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/engine/table"
)

// PrecheckReader finds obstacles to raising targets in the store.
type PrecheckReader struct {
	Table     table.Store
	Inventory *inventory.Store
}

// PrecheckQuery asks for the obstacles of targets at a time, as known now. An override that ends before At is no
// obstacle. With Acting, a stop that is under way is an obstacle, too.
type PrecheckQuery struct {
	Org     string
	Targets []PolicyTarget
	At      time.Time
	Acting  bool
}

// Obstacles returns why targets cannot be raised, by native ID, without the targets that can. It takes one round
// trip, and one or two more when an override is on a group.
func (c PrecheckReader) Obstacles(ctx context.Context, q PrecheckQuery) (map[string]string, error) {
	out := map[string]string{}
	if len(q.Targets) == 0 {
		return out, nil
	}
	live := override.LiveKey(q.Org)
	got, err := c.Table.BatchGet(ctx, append(recordKeys(q), live)...)
	if err != nil {
		return nil, fmt.Errorf("read %d targets of %s: %w", len(q.Targets), q.Org, err)
	}
	list, err := override.DecodeLive(got[live])
	if err != nil {
		return nil, err
	}
	holding, err := list.Holding(ctx, c.Inventory, q.Org, q.At)
	if err != nil {
		return nil, err
	}
	for _, k := range recordKeys(q) {
		if err = q.note(out, got[k], holding); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func recordKeys(q PrecheckQuery) []table.Key {
	var out []table.Key
	seen := map[string]bool{}
	for _, t := range q.Targets {
		if !seen[t.UID] {
			out = append(out, inventory.ResourceKey(q.Org, t.UID))
		}
		seen[t.UID] = true
	}
	return out
}

// note adds the obstacle of the resource in item it, if any.
func (q PrecheckQuery) note(out map[string]string, it table.Item, holding override.Holding) error {
	if it.Data == nil {
		return nil
	}
	r, err := table.Decode[inventory.Resource](it)
	if err != nil {
		return err
	}
	why := holding.Against(cloud.Start, r.ID)
	if why == "" && q.Acting {
		why = execution.InFlight(cloud.Start, r)
	}
	if why != "" {
		out[r.UID] = why
	}
	return nil
}

// StartProblem returns why a target with 0 instances cannot be started, or not at its own size. It returns "" when it
// can. It takes one round trip.
func (c PrecheckReader) StartProblem(ctx context.Context, org string, t PolicyTarget) (string, error) {
	record, memory := inventory.ResourceKey(org, t.UID), execution.SnapshotKey(org, t.UID)
	got, err := c.Table.BatchGet(ctx, record, memory)
	if err != nil {
		return "", fmt.Errorf("read target %s: %w", t.UID, err)
	}
	if got[record].Data == nil {
		return "it is not in the inventory: discover its account", nil
	}
	r, err := table.Decode[inventory.Resource](got[record])
	if err != nil {
		return "", err
	}
	k, known := cloud.KindOf(r.Type)
	switch {
	case r.Unschedulable != "":
		return r.Unschedulable, nil
	case known && !k.Actionable:
		return execution.Unactionable(r.Provider, r.Type), nil
	case !known || !k.Remembers:
		return "", nil
	case got[memory].Data == nil:
		return execution.Snapshot{}.StartProblem(), nil
	}
	kept, err := table.Decode[execution.Snapshot](got[memory])
	return kept.StartProblem(), err
}
