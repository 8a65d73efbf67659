package auditanchor

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/audit/anchor"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// together is the number of chains whose heads and anchored rows are read at once: 100 items a round trip.
const together = 50

// compareChains returns the leaves of the night for chains: their heads, if they continue the leaves of the night
// before.
func (n *notary) compareChains(ctx context.Context, chains []anchor.Chain, was anchor.Leaves) anchor.Leaves {
	out, gone := anchor.Leaves{}, maps.Clone(was)
	for group := range slices.Chunk(chains, together) {
		found := n.readGroup(ctx, group, was)
		for _, c := range group {
			delete(gone, c.Name)
			leaf, had := was[c.Name]
			next, err := n.nextLeaf(ctx, c, leaf, found)
			if err != nil {
				n.fail(err)
				next = keptLeaf(leaf, had, err)
			}
			if next != nil {
				out[c.Name] = *next
			}
		}
	}
	for _, leaf := range gone {
		if kept := n.missingLeaf(ctx, leaf); kept != nil {
			out[leaf.Chain] = *kept
		}
	}
	return out
}

// keptLeaf returns the leaf of the night before, with the reason if the chain does not continue from it.
func keptLeaf(leaf anchor.Leaf, had bool, err error) *anchor.Leaf {
	if !had {
		return nil
	}
	if b, ok := err.(*brokenError); ok { //nolint:errorlint // nextLeaf returns it as it is
		leaf.Broken = b.why
	}
	return &leaf
}

// group are the items of chains, or the errors of reading them.
type group struct {
	items map[table.Key]table.Item
	errs  map[string]error // by chain, if they were read one by one
}

// readGroup reads the heads of chains and their anchored rows. If that fails, it reads each chain by itself, so that a
// damaged one does not fail the others.
func (n *notary) readGroup(ctx context.Context, chains []anchor.Chain, was anchor.Leaves) group {
	var keys []table.Key
	for _, c := range chains {
		keys = append(keys, keysOf(c, was)...)
	}
	items, err := n.Table.BatchGet(ctx, keys...)
	g := group{items: items, errs: map[string]error{}}
	if err == nil {
		return g
	}
	g.items = map[table.Key]table.Item{}
	for _, c := range chains {
		some, err := n.Table.BatchGet(ctx, keysOf(c, was)...)
		maps.Copy(g.items, some)
		if err != nil {
			g.errs[c.Name] = err
		}
	}
	return g
}

// keysOf returns the keys of the head of a chain and of its anchored row.
func keysOf(c anchor.Chain, was anchor.Leaves) []table.Key {
	keys := []table.Key{c.Place.Head}
	if leaf, ok := was[c.Name]; ok {
		keys = append(keys, c.Place.RowKey(leaf.At, leaf.Seq))
	}
	return keys
}

// brokenError says that a chain does not continue from its anchor.
type brokenError struct{ chain, why string }

// Error names the chain and the reason.
func (e *brokenError) Error() string {
	return fmt.Sprintf("the chain %s does not continue its anchor: %s", e.chain, e.why)
}

// nextLeaf returns the leaf of the night of a chain; nil if there is no row to anchor. A chain that does not continue
// from its leaf is an error, unless its organization has ended or a restore explains it.
func (n *notary) nextLeaf(ctx context.Context, c anchor.Chain, was anchor.Leaf, g group) (*anchor.Leaf, error) {
	if err := g.errs[c.Name]; err != nil {
		return nil, fmt.Errorf("read the chain %s: %w", c.Name, err)
	}
	var head audit.Head
	if it, ok := g.items[c.Place.Head]; ok {
		var err error
		if head, err = table.Decode[audit.Head](it); err != nil {
			return nil, fmt.Errorf("read the chain %s: %w", c.Name, err)
		}
	}
	why := mismatch(c, head, was, g)
	switch {
	case why == "":
	case was.Explained(n.Settings.Epoch):
		n.did.Restored++
	case n.hasEnded(ctx, c, was):
		n.did.Ended++
		return nil, nil //nolint:nilnil // there is nothing to anchor
	default:
		n.did.Broken++
		return nil, &brokenError{c.Name, why}
	}
	return n.newLeaf(c, head, was, why == ""), nil
}

// newLeaf returns the leaf of a head, or the leaf of the night before if the chain has no new row.
func (n *notary) newLeaf(c anchor.Chain, head audit.Head, was anchor.Leaf, continues bool) *anchor.Leaf {
	if head.Seq == 0 {
		return nil
	}
	if continues && head.Seq == was.Seq {
		was.Broken = ""
		if was.Explained(n.Settings.Epoch) { // a later cut is not explained by an earlier restore
			was.Anchored = n.night.At
		}
		return &was
	}
	n.did.Moved++
	return &anchor.Leaf{Chain: c.Name, Seq: head.Seq, Hash: head.Hash, At: head.At, Anchored: n.night.At}
}

// mismatch returns the reason why a chain does not continue from its leaf, or "".
func mismatch(c anchor.Chain, head audit.Head, was anchor.Leaf, g group) string {
	if was.Seq == 0 {
		return ""
	}
	on := was.Anchored.Format("2006-01-02")
	if head.Seq < was.Seq {
		return fmt.Sprintf("it ends with row %d, and row %d was anchored on %s", head.Seq, was.Seq, on)
	}
	var row struct{ Hash string }
	it, ok := g.items[c.Place.RowKey(was.At, was.Seq)]
	if ok {
		_ = json.Unmarshal(it.Data, &row) // a damaged row has no hash
	}
	if row.Hash != was.Hash || head.Seq == was.Seq && head.Hash != was.Hash {
		return fmt.Sprintf("its row %d is not the one that was anchored on %s", was.Seq, on)
	}
	return ""
}

// missingLeaf returns the leaf of an organization that is not in the directory any more; nil if it has ended.
func (n *notary) missingLeaf(ctx context.Context, leaf anchor.Leaf) *anchor.Leaf {
	switch {
	case leaf.Explained(n.Settings.Epoch):
		n.did.Restored++
		return nil
	case n.hasEnded(ctx, anchor.ChainOf(leaf.Chain), leaf):
		n.did.Ended++
		return nil
	}
	n.did.Broken++
	leaf.Broken = "its organization is not in the store, and there is no record of its end"
	n.fail(&brokenError{leaf.Chain, leaf.Broken})
	return &leaf
}

// hasEnded reports whether the organization of a chain is being erased, or was erased since its leaf was made. An error
// of reading counts as no: the next night looks again.
func (n *notary) hasEnded(ctx context.Context, c anchor.Chain, leaf anchor.Leaf) bool {
	if anchor.FileOf(c.Name) == anchor.SystemFile {
		return false
	}
	access, err := table.Read[identity.Access](ctx, n.Table, identity.AccessKey(c.Name))
	if !fault.Is(err, fault.NotFound) {
		return err == nil && access.Ended
	}
	rows := table.Query{PK: audit.ErasuresPK(), Limit: table.MaxPage}
	rows.From, rows.To = audit.WindowKeys(leaf.Anchored, n.night.At)
	return n.recordsErasure(ctx, rows, c.Name)
}

// recordsErasure reports whether one of the rows of a query records the erasure of an organization.
func (n *notary) recordsErasure(ctx context.Context, q table.Query, org string) bool {
	for {
		page, err := n.Table.Query(ctx, q)
		if err != nil {
			n.fail(fmt.Errorf("look for the end of %s: %w", org, err))
			return false
		}
		for _, it := range page.Items {
			if isErasure(it, org) {
				return true
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return false
		}
	}
}

// isErasure reports whether an item is the row that records the erasure of an organization.
func isErasure(it table.Item, org string) bool {
	row, err := table.Decode[audit.Row](it)
	return err == nil && row.Action == audit.EraseAction && row.Target == org
}
