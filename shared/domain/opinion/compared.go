package opinion

import (
	"context"
	"fmt"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// Compared is an opinion with the result of its comparison.
type Compared struct {
	Opinion
	AccountID        string              `json:"account"`
	Provider         string              `json:"provider"`
	Source           cloud.OpinionSource `json:"source"`
	ResourceID       string              `json:"resource,omitempty"` // ours; empty if it is not in the inventory
	ResourceName     string              `json:"name,omitempty"`
	ResourceType     string              `json:"kind,omitempty"`
	Verdict          Verdict             `json:"verdict"`
	RecommendationID string              `json:"rec,omitempty"`
	RuleID           string              `json:"rule,omitempty"`
	OurUSD           *money.Amount       `json:"ourUSD,omitempty"`
	Difference       *Difference         `json:"difference,omitempty"`
	Why              *Why                `json:"why,omitempty"`
	ComparedAt       time.Time           `json:"-"`
}

// Take adds a judgement.
func (c *Compared) Take(j *Judgement) {
	c.Verdict, c.RecommendationID, c.RuleID = j.Verdict, j.RecommendationID, j.RuleID
	c.OurUSD, c.Difference, c.Why = j.OurUSD, j.Difference, j.Why
}

// The sort keys of a comparison: its first part, and the imports as they were compared, beside the first shard.
const (
	firstPart    = "C"
	accountsPart = "A"
)

// Comparison is the comparison of an organization's opinions, and the imports that it is of.
type Comparison struct {
	Accounts []Account
	All      []Compared
}

// WriteAccounts stores the imports as they are compared, so that readers need no round trip of their own for them.
func (s *Store) WriteAccounts(ctx context.Context, org string, all []Account) error {
	chunks, err := packChunks(all)
	if err != nil || len(chunks) == 0 {
		return fault.Wrap("pack the imports of opinions of "+org, err)
	}
	it, err := table.NewItem(shardKey(org, AccountShard, accountsPart), packed{Z: chunks[0], At: s.clock.Now()})
	if err != nil {
		return err
	}
	it.Expires = s.clock.Now().Add(keepCompared)
	return fault.Wrap("store the imports of opinions of "+org, s.table.BatchWrite(ctx, table.Put(it)))
}

func partKey(org string, shard int, gen string, n int) table.Key {
	return shardKey(org, shard, fmt.Sprintf("D#%s#%03d", gen, n))
}

// WriteCompared replaces the comparison of a shard. Readers see the old one or the new one.
func (s *Store) WriteCompared(ctx context.Context, org string, shard int, all []Compared) error {
	chunks, err := packChunks(all)
	if err != nil {
		return fmt.Errorf("pack the compared opinions of shard %d of %s: %w", shard, org, err)
	}
	key, now := shardKey(org, shard, firstPart), s.clock.Now()
	old, err := table.Read[packed](ctx, s.table, key)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return fault.Wrap("read the compared opinions of "+org, err)
	}
	if len(chunks) == 0 {
		if old.At.IsZero() {
			return nil
		}
		chunks = [][]byte{packer.Append(nil, []byte("[]"))}
	}
	first := packed{Z: chunks[0], Gen: newGen(now), More: len(chunks) - 1, At: now}
	var ws []table.Write
	for n, z := range chunks[1:] {
		it, err := table.NewItem(partKey(org, shard, first.Gen, n), packed{Z: z})
		if err != nil {
			return err
		}
		it.Expires = now.Add(keepCompared)
		ws = append(ws, table.Put(it))
	}
	return fault.Wrap(fmt.Sprintf("write the compared opinions of shard %d of %s", shard, org),
		s.swapParts(ctx, partSwap{org, shard, key, first, old}, ws))
}

// partSwap is the replacement of the first part of a comparison.
type partSwap struct {
	org        string
	shard      int
	key        table.Key
	first, old packed
}

func (s *Store) swapParts(ctx context.Context, p partSwap, following []table.Write) error {
	if len(following) > 0 {
		if err := s.table.BatchWrite(ctx, following...); err != nil {
			return err
		}
	}
	it, err := table.NewItem(p.key, p.first)
	if err != nil {
		return err
	}
	it.Expires = p.first.At.Add(keepCompared)
	ws := []table.Write{table.Put(it)}
	for n := range p.old.More {
		ws = append(ws, table.Delete(partKey(p.org, p.shard, p.old.Gen, n)))
	}
	return s.table.BatchWrite(ctx, ws...)
}

// ReadComparison reads all compared opinions and their imports. It takes one round trip, and one more for those of
// organizations with more than some 60,000.
func (s *Store) ReadComparison(ctx context.Context, org string) (Comparison, error) {
	var shards []int
	for shard := range Shards {
		shards = append(shards, shard)
	}
	return s.readComparison(ctx, org, shards, shardKey(org, AccountShard, accountsPart))
}

// ReadCompared reads the compared opinions of some shards, as ReadComparison does.
func (s *Store) ReadCompared(ctx context.Context, org string, shards ...int) ([]Compared, error) {
	out, err := s.readComparison(ctx, org, shards)
	return out.All, err
}

func (s *Store) readComparison(ctx context.Context, org string, shards []int, besides ...table.Key) (
	out Comparison, err error,
) {
	got, err := s.table.BatchGet(ctx, append(ComparedKeys(org, shards...), besides...)...)
	if err != nil {
		return out, fault.Wrap("read the compared opinions of "+org, err)
	}
	for _, k := range besides {
		if it, there := got[k]; there {
			if out.Accounts, _, err = unpackChunk(out.Accounts, it); err != nil {
				return out, err
			}
		}
	}
	out.All, err = s.Compared(ctx, org, got, shards...)
	return out, err
}

// ComparedKeys returns the keys of the items that Compared needs for some shards.
func ComparedKeys(org string, shards ...int) []table.Key {
	keys := make([]table.Key, len(shards))
	for i, shard := range shards {
		keys[i] = shardKey(org, shard, firstPart)
	}
	return keys
}

// Compared is ReadCompared for items that were read with the keys of ComparedKeys. Only opinions that do not fit into
// these items take a round trip.
func (s *Store) Compared(
	ctx context.Context, org string, got map[table.Key]table.Item, shards ...int,
) (out []Compared, err error) {
	var more []table.Key
	var at time.Time
	for i, k := range ComparedKeys(org, shards...) {
		it, there := got[k]
		if !there {
			continue
		}
		from := len(out)
		var p packed
		if out, p, err = unpackChunk(out, it); err != nil {
			return out, err
		}
		for n := range p.More {
			more = append(more, partKey(org, shards[i], p.Gen, n))
		}
		at = p.At
		setComparedAt(out[from:], at)
	}
	return s.readMore(ctx, out, more, at)
}

func setComparedAt(all []Compared, at time.Time) {
	for i := range all {
		all[i].ComparedAt = at
	}
}

// readMore appends the parts that follow the first ones. A part that was replaced meanwhile is left out.
func (s *Store) readMore(ctx context.Context, out []Compared, keys []table.Key, at time.Time) ([]Compared, error) {
	if len(keys) == 0 {
		return out, nil
	}
	got, err := s.table.BatchGet(ctx, keys...)
	if err != nil {
		return nil, fault.Wrap("read more compared opinions", err)
	}
	for _, k := range keys {
		if it, there := got[k]; there {
			from := len(out)
			if out, _, err = unpackChunk(out, it); err != nil {
				return nil, err
			}
			setComparedAt(out[from:], at)
		}
	}
	return out, nil
}
