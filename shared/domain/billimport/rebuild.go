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

// AddRebuild returns the write that lists a rebuild of an organization's costs, which begins within some minutes. A
// change of teams, groups or connected accounts needs one: add the write to the transaction of the change, run in
// table.Within(ctx, workqueue.Prefix). The sweeper starts listed rebuilds. The write has no condition: a second change
// is listed in the place of the first, and a change that comes late has its rebuild done again.
func AddRebuild(org string, now time.Time) (table.Write, error) {
	due := now.UTC().Truncate(gathered).Add(gathered)
	return AddWork(Input{Org: org, JobID: fmt.Sprintf("%s%s_%d", RebuildPrefix, org, due.Unix()), Rebuild: true}, due)
}
