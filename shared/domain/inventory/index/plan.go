package index

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// plan lists the chunks that a compaction writes and those that it replaces. It is stored before the compaction writes
// anything, until it has deleted everything. Partitions cannot be listed, so the plan is the only way to find the
// chunks of a compaction that died. The chunks that the head names stay; the others are deleted.
type plan struct {
	org string
	id  string

	Chunks []string `json:"chunks"`
	Dead   bool     `json:"dead,omitempty"` // its compaction must not swap the head
}

// deadAge is the age from which a plan counts as that of a dead compaction. No function lives that long. If a
// compaction is alive all the same, its swap fails, because the head is swapped on condition that the plan is not
// dead.
const deadAge = time.Hour

func newPlan(c compaction, now time.Time) plan {
	p := plan{org: c.org, id: newULID(now)}
	for _, one := range c.made {
		p.Chunks = append(p.Chunks, one.id)
	}
	if c.whole {
		for _, one := range c.old.Chunks {
			p.Chunks = append(p.Chunks, one.ID)
		}
	}
	return p
}

func (p plan) key() table.Key { return Key(p.org, planPrefix+p.id) }

// announce writes the plan of a compaction that is about to begin.
func (s *Store) announce(ctx context.Context, p plan) error {
	it, err := table.NewItem(p.key(), p)
	if err != nil {
		return err
	}
	if _, err = s.table.Write(ctx, table.Put(it)); err != nil {
		return fmt.Errorf("announce a compaction of %s: %w", p.org, err)
	}
	return nil
}

// endPlan deletes the chunks of p that the head does not name, and then p.
func (s *Store) endPlan(ctx context.Context, p plan, h head) error {
	var gone []table.Write
	for _, id := range p.Chunks {
		if !h.names(id) {
			gone = append(gone, table.Delete(chunkKey(p.org, id)))
		}
	}
	if err := s.table.BatchWrite(ctx, gone...); err != nil {
		return fmt.Errorf("delete %d chunks of %s: %w", len(gone), p.org, err)
	}
	if _, err := s.table.Write(ctx, table.Delete(p.key())); err != nil {
		return fmt.Errorf("end a compaction of %s: %w", p.org, err)
	}
	return nil
}

// finishDead ends the plans of compactions that died. It marks them before it reads the head, so that no dead
// compaction can swap the head afterwards.
func (s *Store) finishDead(ctx context.Context, org string) error {
	page, err := s.table.Query(ctx, table.Query{PK: PK(org), Prefix: planPrefix, Limit: 1000})
	if err != nil {
		return fmt.Errorf("list compactions of %s: %w", org, err)
	}
	for _, it := range page.Items {
		p := plan{org: org, id: strings.TrimPrefix(it.SK, planPrefix)}
		if !p.aged(s.clock.Now()) {
			continue
		}
		if err = s.finish(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) finish(ctx context.Context, p plan) error {
	it, err := s.table.Write(ctx, table.Update(p.key(), []table.Change{table.Set("dead", true)}, table.Exists()))
	if _, ended := errors.AsType[*table.ConditionError](err); ended {
		return nil
	}
	if err != nil {
		return fmt.Errorf("mark a compaction of %s as dead: %w", p.org, err)
	}
	dead, err := table.Decode[plan](it)
	if err != nil {
		return err
	}
	p.Chunks = dead.Chunks
	h, err := table.Read[head](ctx, s.table, Key(p.org, headSK))
	if err != nil && !fault.Is(err, fault.NotFound) {
		return fmt.Errorf("read head of %s: %w", p.org, err)
	}
	return s.endPlan(ctx, p, h)
}

// aged reports whether the plan is too old to belong to a compaction under way.
func (p plan) aged(now time.Time) bool {
	u, err := ulid.ParseStrict(strings.ToUpper(p.id))
	return err == nil && now.Sub(ulid.Time(u.Time())) > deadAge
}

// ChunkPartitions returns the partitions of the chunks that items of the index partition name. The eraser deletes
// them.
func ChunkPartitions(org string, items []table.Item) ([]string, error) {
	named := map[string]bool{}
	for _, it := range items {
		switch {
		case it.SK == headSK:
			h, err := table.Decode[head](it)
			if err != nil {
				return nil, err
			}
			for _, c := range h.Chunks {
				named[c.ID] = true
			}
		case strings.HasPrefix(it.SK, planPrefix):
			p, err := table.Decode[plan](it)
			if err != nil {
				return nil, err
			}
			for _, id := range p.Chunks {
				named[id] = true
			}
		}
	}
	out := make([]string, 0, len(named))
	for id := range named {
		out = append(out, chunkKey(org, id).PK)
	}
	slices.Sort(out)
	return out, nil
}
