package recommendation

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// RuleCount counts the outcomes of a rule for the resources of an account.
type RuleCount struct {
	RuleID    string         `json:"ruleID"`
	AccountID string         `json:"accountID"`
	Evaluated int            `json:"evaluated"` // resources
	True      int            `json:"true,omitempty"`
	False     int            `json:"false,omitempty"`
	Unknown   int            `json:"unknown,omitempty"`
	Missing   []MissingCount `json:"missing,omitempty"`
}

// MissingCount counts the resources that lack a fact.
type MissingCount struct {
	Missing
	Resources int `json:"resources"`
}

// MaxMissing is how many missing facts of a rule and account are kept, those of most resources.
const MaxMissing = 20

// countsPerItem is how many counts one item holds.
const countsPerItem = 2_000

func countsPrefix(shard int) string { return fmt.Sprintf("STAT#%02d#", shard) }

func ruleKey(org, sk string) table.Key { return table.Key{PK: table.OrgPK(org) + "RULE", SK: sk} }

// Add adds the counts of another shard to the counts of the same rule and account.
func (c *RuleCount) Add(o *RuleCount) {
	c.Evaluated += o.Evaluated
	c.True += o.True
	c.False += o.False
	c.Unknown += o.Unknown
	for _, m := range o.Missing {
		c.Miss(m.Missing, m.Resources)
	}
}

// Miss counts resources that lack a fact.
func (c *RuleCount) Miss(m Missing, resources int) {
	for i := range c.Missing {
		if c.Missing[i].Missing == m {
			c.Missing[i].Resources += resources
			return
		}
	}
	c.Missing = append(c.Missing, MissingCount{m, resources})
}

// MostMissing returns the missing facts, those of most resources first, at most MaxMissing.
func (c *RuleCount) MostMissing() []MissingCount {
	c.trim()
	return c.Missing
}

// trim orders the missing facts, those of most resources first, and keeps MaxMissing of them.
func (c *RuleCount) trim() {
	slices.SortFunc(c.Missing, func(a, b MissingCount) int {
		return cmp.Or(cmp.Compare(b.Resources, a.Resources), strings.Compare(a.Fact, b.Fact),
			strings.Compare(a.Permission, b.Permission), strings.Compare(a.Reason, b.Reason))
	})
	c.Missing = c.Missing[:min(len(c.Missing), MaxMissing)]
}

// WriteCounts replaces the counts of a shard by those of a pass over all of its resources. It writes only items that
// differ, so an equal pass writes nothing. It takes one round trip, and one more if something has changed.
func (s *Store) WriteCounts(ctx context.Context, org string, shard int, counts []RuleCount) error {
	counts = slices.Clone(counts)
	for i := range counts {
		counts[i].Missing = slices.Clone(counts[i].Missing)
		counts[i].trim()
	}
	slices.SortFunc(counts, func(a, b RuleCount) int {
		return cmp.Or(strings.Compare(a.RuleID, b.RuleID), strings.Compare(a.AccountID, b.AccountID))
	})
	stored, err := s.queryAll(ctx, table.Query{PK: ruleKey(org, "").PK, Prefix: countsPrefix(shard)})
	if err != nil {
		return fmt.Errorf("read the counts of shard %d of %s: %w", shard, org, err)
	}
	ws, err := countWrites(org, shard, counts, stored)
	if err != nil || len(ws) == 0 {
		return err
	}
	return fault.Wrap(fmt.Sprintf("write the counts of shard %d of %s", shard, org), s.table.BatchWrite(ctx, ws...))
}

// countWrites returns the writes that turn the stored items into those of counts.
func countWrites(org string, shard int, counts []RuleCount, stored []table.Item) ([]table.Write, error) {
	had := map[string]table.Item{}
	for _, it := range stored {
		had[it.SK] = it
	}
	var ws []table.Write
	n := 0
	for some := range slices.Chunk(counts, countsPerItem) {
		b, err := json.Marshal(some)
		if err != nil {
			return nil, fmt.Errorf("encode counts of %s: %w", org, err)
		}
		k := ruleKey(org, fmt.Sprintf("%s%03d", countsPrefix(shard), n))
		it, err := itemOf(k, packer.Append(nil, b))
		if err != nil {
			return nil, err
		}
		if old, ok := had[k.SK]; !ok || !holds(old, b) {
			ws = append(ws, table.Put(it))
		}
		delete(had, k.SK)
		n++
	}
	for _, it := range had {
		ws = append(ws, table.Delete(it.Key))
	}
	return ws, nil
}

// holds reports whether an item holds the content b.
func holds(it table.Item, b []byte) bool {
	was, err := unpackItem(it)
	return err == nil && bytes.Equal(was, b)
}

// ReadCounts returns the counts of all shards, added up by rule and account, in that order. One round trip.
func (s *Store) ReadCounts(ctx context.Context, org string) ([]RuleCount, error) {
	items, err := s.queryAll(ctx, table.Query{PK: ruleKey(org, "").PK, Prefix: "STAT#"})
	if err != nil {
		return nil, fmt.Errorf("read the counts of rules of %s: %w", org, err)
	}
	sums := map[[2]string]*RuleCount{}
	for _, it := range items {
		if err = addCounts(sums, it); err != nil {
			return nil, err
		}
	}
	out := make([]RuleCount, 0, len(sums))
	for _, c := range sums {
		c.trim()
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b RuleCount) int {
		return cmp.Or(strings.Compare(a.RuleID, b.RuleID), strings.Compare(a.AccountID, b.AccountID))
	})
	return out, nil
}

func addCounts(sums map[[2]string]*RuleCount, it table.Item) error {
	b, err := unpackItem(it)
	if err != nil {
		return err
	}
	var counts []RuleCount
	if err = json.Unmarshal(b, &counts); err != nil {
		return &table.DamageError{Key: it.Key, Err: err}
	}
	for i := range counts {
		c := &counts[i]
		k := [2]string{c.RuleID, c.AccountID}
		if sums[k] == nil {
			sums[k] = &RuleCount{RuleID: c.RuleID, AccountID: c.AccountID}
		}
		sums[k].Add(c)
	}
	return nil
}

// queryAll reads all items of a query: one round trip for a megabyte.
func (s *Store) queryAll(ctx context.Context, q table.Query) ([]table.Item, error) {
	var out []table.Item
	q.Limit = table.MaxPage
	for {
		page, err := s.table.Query(ctx, q)
		if err != nil {
			return nil, err
		}
		out = append(out, page.Items...)
		if q.Cursor = page.Next; q.Cursor == "" {
			return out, nil
		}
	}
}
