package billimport

import (
	"fmt"
	"time"

	"lamplighter.dev/shared/engine/table"
)

// gathered is how long changes are gathered that costs are rebuilt after, so that many of them are one rebuild.
const gathered = 2 * time.Minute

// RebuildPrefix begins the ids of rebuilds among work.
const RebuildPrefix = "rebuild_"

// AddRebuild returns the write that has the costs of an organization rebuilt within some minutes: after teams, groups or connected accounts have
// changed. It belongs into the transaction that changes them, run in table.Within(ctx, workqueue.Prefix); the sweeper starts what it lists. It has
// no condition: a second change is listed where the first one is, and one that comes late has its rebuild done again.
func AddRebuild(org string, now time.Time) (table.Write, error) {
	due := now.UTC().Truncate(gathered).Add(gathered)
	return AddWork(Input{Org: org, JobID: fmt.Sprintf("%s%s_%d", RebuildPrefix, org, due.Unix()), Rebuild: true}, due)
}
