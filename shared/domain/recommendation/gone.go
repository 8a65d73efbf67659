package recommendation

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lamplighter.dev/shared/domain/inventory"
)

// CloseGone ends the rows of a shard whose resources are no longer in the inventory, or are terminated. Call it once in
// a pass over all resources of the shard, whose inventory was read completely. It takes one round trip for the
// inventory, beside those of the rows.
func (t *Settling) CloseGone(ctx context.Context, shard int) (Settled, error) {
	gone, err := t.gone(ctx, shard)
	if err != nil || len(gone) == 0 {
		return Settled{}, err
	}
	rows, err := t.store.ReadRows(ctx, t.org, gone)
	if err != nil {
		return Settled{}, err
	}
	findings := make([]Finding, 0, len(rows))
	for id := range rows {
		r := rows[id]
		findings = append(findings, Finding{RuleID: r.RuleID, Resource: r.Resource, Outcome: Gone})
	}
	slices.SortFunc(findings, func(a, b Finding) int {
		return strings.Compare(a.Resource.ResourceUID+"\x00"+a.RuleID, b.Resource.ResourceUID+"\x00"+b.RuleID)
	})
	return t.Settle(ctx, findings)
}

// gone returns the ids of the rows of a shard that have not ended and whose resources are gone.
func (t *Settling) gone(ctx context.Context, shard int) ([]string, error) {
	look, err := t.store.inventory.OpenLookup(ctx, t.org)
	if err != nil {
		return nil, err
	}
	var out []string
	c := t.columns
	look.Read(func(find inventory.Find) {
		for i := range c.entries {
			e := &c.entries[i]
			if int(e.id[15]&0x0f) != shard || statusNames[e.status] == Optimised ||
				c.names.places[e.place].prefix != "res" {
				continue
			}
			if r, ok := find(e.resource); !ok || r.Terminated() {
				out = append(out, formatULID(e.id))
			}
		}
	})
	return out, nil
}

// Confirm records that the pass has evaluated all resources of shards: their rows are confirmed as of the pass. It
// takes two round trips, and those of a fold if one is due.
func (t *Settling) Confirm(ctx context.Context, shards ...int) error {
	seg := newSegment()
	for _, shard := range shards {
		seg.confirmed[shard] = t.pass.At.UnixMilli()
	}
	w, err := newDelta(t.org, t.store.clock.Now(), seg)
	if err != nil {
		return err
	}
	if _, err = t.store.table.Write(ctx, w); err != nil {
		return fmt.Errorf("confirm recommendations of %s: %w", t.org, err)
	}
	return t.store.Fold(ctx, t.org)
}
