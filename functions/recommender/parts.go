package recommender

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/engine/table"
)

// partSet is a set of the parts of a pass over everything: the shards of records, and the accounts of the organization.
type partSet uint32

// accountsPart is the number of the part that evaluates the rules about accounts. Numbers below it are shards. Its
// counts by rule are stored as those of a shard.
const accountsPart = inventory.ResourceShards

// everyPart is all parts of a pass.
const everyPart partSet = 1<<(accountsPart+1) - 1

func (p partSet) contains(part int) bool { return p&(1<<part) != 0 }

// contain reports whether the record of a resource is in the parts.
func (p partSet) contain(uid string) bool {
	return p == everyPart || p.contains(table.ShardOf(uid, inventory.ResourceShards))
}

// ordered returns the numbers of the parts in the order of their evaluation: the accounts first, because what they
// deduct as waste is the open recommendations of the moment when the pass begins.
func (p partSet) ordered() []int {
	var out []int
	if p.contains(accountsPart) {
		out = append(out, accountsPart)
	}
	for shard := range inventory.ResourceShards {
		if p.contains(shard) {
			out = append(out, shard)
		}
	}
	return out
}

// recordsAtOnce is how many records, and the measurements of their resources, are held in memory at the same time for
// each of the shards of measurements of a shard of records. An organization of more than 64 times as many, 512,000,
// reads its measurements several times: with 2,000, one of 500,000 would read them four times.
const recordsAtOnce = 8_000

// eachGroup calls f with the records of a shard in groups of at most recordsAtOnce, each with the shard of their
// measurements.
func (w *worker) eachGroup(
	ctx context.Context, org string, shard int, f func(measured int, records []table.Item) error,
) error {
	var groups [metricShards][]table.Item
	q := table.Query{PK: inventory.ResourcePKs(org)[shard], Limit: table.MaxPage}
	for {
		page, err := w.Table.Query(table.Eventually(ctx), q)
		if err != nil {
			return fmt.Errorf("read shard %d of the resources of %s: %w", shard, org, err)
		}
		for _, it := range page.Items {
			measured := table.ShardOf(it.SK, measurement.Shards)
			group := &groups[measured/inventory.ResourceShards]
			if *group = append(*group, it); len(*group) < w.recordsAtOnce {
				continue
			}
			if err = f(measured, *group); err != nil {
				return err
			}
			clear(*group)
			*group = (*group)[:0]
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	for n, group := range groups {
		if err := f(shard+n*inventory.ResourceShards, group); err != nil {
			return err
		}
	}
	return nil
}
