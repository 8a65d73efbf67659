package billimport

import (
	"fmt"
	"time"

	"lamplighter.dev/shared/engine/table"
)

// renewalGathered is the delay of an update of resource costs, so that the imports within it share one update.
const renewalGathered = time.Minute

// AddRenewal returns the write that lists an update of the known costs of an organization's resources, which begins
// within two minutes. Like AddRebuild, the write has no condition. Write it after the bills have changed.
func AddRenewal(org string, now time.Time) (table.Write, error) {
	due := now.UTC().Truncate(renewalGathered).Add(renewalGathered)
	return AddWork(Input{Org: org, JobID: fmt.Sprintf("renewal_%s_%d", org, due.Unix()), Renewal: true}, due)
}

// The delays of a rebuild, and of the attribution of closed months behind it. Changes within a delay share one of each.
const (
	gathered       = 2 * time.Minute
	gatheredClosed = 10 * time.Minute
)

// The prefixes of the IDs of rebuilds, and of attributions of closed months, in the work queue.
const (
	RebuildPrefix     = "rebuild_"
	AttributionPrefix = "attribution_"
)

// AddRebuild returns the write that lists a rebuild of an organization's costs, which begins within some minutes. A
// change of teams, groups or connected accounts needs one: add the write to the transaction of the change, run in
// table.Within(ctx, workqueue.Prefix). The sweeper starts listed rebuilds. The write has no condition: the rebuild of
// a second change replaces that of the first, and a change during a rebuild causes another one.
func AddRebuild(org string, now time.Time) (table.Write, error) {
	due := now.UTC().Truncate(gathered).Add(gathered)
	return AddWork(Input{Org: org, JobID: fmt.Sprintf("%s%s_%d", RebuildPrefix, org, due.Unix()), Rebuild: true}, due)
}

// AddAttribution returns the write that lists the attribution of an organization's closed months to its present teams
// and groups, which begins within about ten minutes. A rebuild that finds closed months behind lists one.
func AddAttribution(org string, now time.Time) (table.Write, error) {
	due := now.UTC().Truncate(gatheredClosed).Add(gatheredClosed)
	jobID := fmt.Sprintf("%s%s_%d", AttributionPrefix, org, due.Unix())
	return AddWork(Input{Org: org, JobID: jobID, Rebuild: true, Closed: true}, due)
}
