package killpoint

import (
	"context"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
)

// Pending returns the work that has begun and not ended. A process that resumes does this work, as if the sweeper had
// restarted it.
func Pending(ctx context.Context, s table.Store) ([]workqueue.Work, error) {
	var out []workqueue.Work
	for shard := range workqueue.Shards {
		works, _, err := table.ReadPage[workqueue.Work](table.Within(ctx, workqueue.Prefix), s,
			table.Query{PK: workqueue.PK(shard), Limit: 100})
		if err != nil {
			return nil, err
		}
		out = append(out, works...)
	}
	return out, nil
}
