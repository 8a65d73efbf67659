package eraser

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/domain/opinion"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/engine/table"
)

// Walk is the list of an organization's partitions in the order of their erasure. Partitions that grant access come
// first.
type Walk []step

// step is a partition, and the function that erases the records that its items lead to. It runs before the items are
// erased.
type step struct {
	name  string
	leads lead
}

// lead erases the records that items lead to.
type lead func(*eraser, context.Context, []table.Item) error

// first are the partitions that are erased before all others, in this order. Entries of the audit log are erased
// before the log, so that they are not linked into it any more.
var first = slices.Concat([]string{"MEMBER", "INVITE", "SSO", "WAKELINK", "CA"}, audit.WaitingNames())

// leads are the functions for records that items of a partition lead to, besides the family with its name (JOB#<job>
// of JOB).
var leads = map[string]lead{
	"MEMBER":   (*eraser).eraseMemberships,
	"INVITE":   (*eraser).eraseInvitations,
	"SSO":      (*eraser).releaseDomains,
	"WAKELINK": (*eraser).wakeLinks,
	"CA":       (*eraser).eraseClouds,
	"JOB":      (*eraser).eraseScans,
	"HIST":     (*eraser).eraseHistories,
	"INV":      (*eraser).eraseIndexChunks,
	"COST":     (*eraser).eraseCostChunks,
	"RECX":     (*eraser).eraseRecommendationChunks,
}

// led are the families that leads reach.
var led = []table.Partition{
	inventory.ScanPartition, inventory.ChunkPartition, execution.HistoryOfResourcePartition,
	cost.ChunkPartition, recommendation.ChunkPartition,
}

// spread are the families that one list is spread over, with their members.
var spread = map[table.Partition]func(org string) []string{
	inventory.ResourcePartition: inventory.ResourcePKs,
	inventory.AttachedPartition: inventory.AttachedPKs,
	execution.ActionPartition:   execution.ActionPKs,
	execution.HistoryPartition:  execution.HistoryPKs,
	audit.WaitingPartition:      waitingPKs,
	measurement.Partition:       measurement.PKs,
	delivery.Partition:          delivery.PKs,
	recommendation.RowPartition: recommendation.RowPKs,
	opinion.Partition:           opinion.PKs,
}

// waitingPKs returns the partitions with an organization's entries that wait to be linked into its audit log.
func waitingPKs(org string) []string {
	pks := audit.WaitingNames()
	for i, name := range pks {
		pks[i] = table.OrgPK(org) + name
	}
	return pks
}

// Members returns the partitions that the list p of an organization is spread over, or none.
func Members(p table.Partition, org string) []string {
	if of := spread[p]; of != nil {
		return of(org)
	}
	return nil
}

// NewWalk returns the walk through all declared partitions, except those of the system. Partitions cannot be listed,
// so a family whose members no items lead to cannot be erased; that is an error.
func NewWalk(declared []table.Partition) (Walk, error) {
	var names []string
	var errs []error
	for _, p := range declared {
		switch {
		case !p.OfOrg() || p == identity.MetaPartition: // settings are erased last
		case !p.Family():
			names = append(names, p.Name())
		case spread[p] != nil:
			for _, pk := range Members(p, "") {
				names = append(names, strings.TrimPrefix(pk, table.OrgPK("")))
			}
		case !slices.Contains(led, p) && !slices.Contains(declared, ownerOf(p)):
			errs = append(errs,
				fmt.Errorf("nothing leads to the partitions %s: declare %s, whose sort keys name them, or teach "+
					"functions/eraser/walk.go", p, ownerOf(p)))
		}
	}
	slices.SortFunc(names, byTurn)
	walk := make(Walk, len(names))
	for i, name := range names {
		walk[i] = step{name, leads[listOf(name)]}
		if family := table.Partition("ORG#*#" + name + "#*"); slices.Contains(declared, family) &&
			!slices.Contains(led, family) {
			walk[i].leads = withFamily(name)
		}
	}
	return walk, errors.Join(errs...)
}

// listOf returns the list that a partition belongs to: HIST of HIST#03.
func listOf(name string) string {
	list, _, _ := strings.Cut(name, "#")
	return list
}

// ownerOf returns the partition whose items name the members of a family: JOB of JOB#*.
func ownerOf(family table.Partition) table.Partition {
	return table.Partition(strings.TrimSuffix(string(family), "#*"))
}

// byTurn compares names by their turn in the erasure.
func byTurn(a, b string) int {
	i, j := slices.Index(first, a), slices.Index(first, b)
	switch {
	case i >= 0 && j >= 0:
		return i - j
	case i >= 0:
		return -1
	case j >= 0:
		return 1
	}
	return strings.Compare(a, b)
}

// withFamily returns a lead for the partition name that also erases its family, if it has one.
func withFamily(name string) lead {
	return func(e *eraser, ctx context.Context, items []table.Item) error {
		if other := leads[name]; other != nil {
			if err := other(e, ctx, items); err != nil {
				return err
			}
		}
		return e.eraseFamily(ctx, name, items)
	}
}

// ReadWalk reads the walk from the variable LAMPLIGHTER_PARTITIONS. template.yaml sets it to the partitions of an
// organization in the format of NewWalk and Names.
func ReadWalk(getenv func(string) string) (Walk, error) {
	names := strings.Split(getenv("LAMPLIGHTER_PARTITIONS"), ",")
	if len(names) < 2 {
		return nil, errors.New("the variable LAMPLIGHTER_PARTITIONS does not name the partitions of an organization: " +
			"deploy the template as it is in the repository")
	}
	declared := make([]table.Partition, len(names))
	for i, n := range names {
		declared[i] = table.Partition("ORG#*#" + strings.TrimSpace(n))
	}
	return NewWalk(declared)
}
