package eraser

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/erasure"
	"lamplighter.dev/shared/people/membership"
)

// These are the partitions outside the organization that its rows lead to.
const (
	domainPrefix    = "SSODOMAIN#"
	wakePrefix      = "WAKE#"
	simulatedPrefix = "SIM#"
)

// batch is how many items are erased at a time.
const batch = 500

// erasePass erases everything except the mark that the organization has ended.
func (e *eraser) erasePass(ctx context.Context) error {
	if err := e.stopWork(ctx); err != nil {
		return err
	}
	// the organization is not archived any more
	if _, err := e.Table.Write(ctx, table.Delete(identity.DirectoryKey(e.in.Org))); err != nil {
		return fmt.Errorf("take %s out of the directory: %w", e.in.Org, err)
	}
	for _, s := range e.walk {
		if err := e.drainPartition(ctx, table.OrgPK(e.in.Org)+s.name, s.leads); err != nil {
			return err
		}
	}
	return e.eraseSettings(ctx)
}

// stopWork stops running work of the organization and removes it from the lists of unfinished and parked work.
func (e *eraser) stopWork(ctx context.Context) error {
	for _, pk := range workqueue.Lists() {
		q := table.Query{PK: pk, Limit: batch}
		for {
			page, err := e.Table.Query(ctx, q)
			if err != nil {
				return fmt.Errorf("read unfinished work of %s: %w", q.PK, err)
			}
			for _, it := range page.Items {
				if err = e.stopExecution(ctx, it); err != nil {
					return err
				}
			}
			if q.Cursor = page.Next; q.Cursor == "" {
				break
			}
		}
	}
	return nil
}

func (e *eraser) stopExecution(ctx context.Context, it table.Item) error {
	w, err := table.Decode[workqueue.Work](it)
	if err != nil {
		return err
	}
	if w.Org != e.in.Org || w.Machine == erasure.Machine {
		return nil
	}
	err = e.Workflow.Stop(ctx, w.Machine, w.ExecutionName(), "the organization was deleted")
	if err != nil && !fault.Is(err, fault.NotFound) { // of work that was never started there is nothing to stop
		return fmt.Errorf("stop %s: %w", w.ExecutionName(), err)
	}
	_, err = e.Table.Write(ctx, table.Delete(it.Key))
	return fault.Wrap("end "+w.ExecutionName(), err)
}

// drainPartition empties a partition, batch by batch. The records that its items lead to are erased before them.
func (e *eraser) drainPartition(ctx context.Context, pk string, leads lead) error {
	for {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("erase %s: %w", pk, err)
		}
		page, err := e.Table.Query(ctx, table.Query{PK: pk, Limit: batch})
		if err != nil {
			return fmt.Errorf("read %s: %w", pk, err)
		}
		if leads != nil && len(page.Items) > 0 {
			if err = leads(e, ctx, page.Items); err != nil {
				return err
			}
		}
		if err = e.eraseItems(ctx, page.Items); err != nil {
			return err
		}
		if page.Next == "" {
			return nil
		}
	}
}

func (e *eraser) eraseItems(ctx context.Context, items []table.Item) error {
	if len(items) == 0 {
		return nil
	}
	ws := make([]table.Write, len(items))
	for i, it := range items {
		ws[i] = table.Delete(it.Key)
	}
	return fault.Wrap(fmt.Sprintf("erase %d items of %s", len(ws), items[0].PK), e.Table.BatchWrite(ctx, ws...))
}

// eraseSettings erases the single records of an organization, except its Access, which marks it as ended.
func (e *eraser) eraseSettings(ctx context.Context) error {
	access := identity.AccessKey(e.in.Org)
	page, err := e.Table.Query(ctx, table.Query{PK: access.PK, Limit: batch})
	if err != nil {
		return fmt.Errorf("read %s: %w", access.PK, err)
	}
	kept := page.Items[:0]
	for _, it := range page.Items {
		if it.Key != access {
			kept = append(kept, it)
		}
	}
	return e.eraseItems(ctx, kept)
}

// eraseMemberships removes the organization from the lists of its members.
func (e *eraser) eraseMemberships(ctx context.Context, members []table.Item) error {
	ws := make([]table.Write, len(members))
	for i, it := range members {
		ws[i] = table.Delete(identity.MembershipKey(it.SK, e.in.Org))
	}
	return fault.Wrap("erase memberships", e.Table.BatchWrite(ctx, ws...))
}

// eraseInvitations removes its invitations from the lists of the invited addresses.
func (e *eraser) eraseInvitations(ctx context.Context, rows []table.Item) error {
	invitations, err := table.DecodeAll[membership.Invitation](rows)
	if err != nil {
		return err
	}
	ws := make([]table.Write, len(invitations))
	for i, inv := range invitations {
		ws[i] = table.Delete(membership.InvitedKey(e.Settings.Pepper, e.in.Org, inv.Email))
	}
	return fault.Wrap("erase invitations", e.Table.BatchWrite(ctx, ws...))
}

// releaseDomains releases its claims to mail domains.
func (e *eraser) releaseDomains(ctx context.Context, setups []table.Item) error {
	type setup struct {
		Domains []struct {
			Name string `json:"name"`
		} `json:"domains"`
	}
	all, err := table.DecodeAll[setup](setups)
	if err != nil {
		return err
	}
	for _, s := range all {
		for _, d := range s.Domains {
			_, err = e.Table.Write(ctx,
				table.Delete(table.Key{PK: domainPrefix + d.Name, SK: "D"}, table.Equal("org", e.in.Org)))
			if _, others := errors.AsType[*table.ConditionError](err); err != nil && !others {
				return fmt.Errorf("free the domain %s: %w", d.Name, err)
			}
		}
	}
	return nil
}

// wakeLinks removes the records that the addresses of its wake links lead to.
func (e *eraser) wakeLinks(ctx context.Context, links []table.Item) error {
	type link struct {
		Hash string `json:"hash"`
	}
	all, err := table.DecodeAll[link](links)
	if err != nil {
		return err
	}
	var writes []table.Write
	for _, l := range all {
		if l.Hash == "" {
			continue
		}
		writes = append(writes, table.Delete(table.Key{PK: wakePrefix + l.Hash, SK: "L"}))
	}
	return fault.Wrap("take away wake links", e.Table.BatchWrite(ctx, writes...))
}

// eraseClouds erases its simulated clouds, which exist only in the store, and removes its accounts from the due
// discoveries and billing imports.
func (e *eraser) eraseClouds(ctx context.Context, accounts []table.Item) error {
	var ws []table.Write
	for _, it := range accounts {
		ws = append(ws, discovery.RemoveDue(it.SK), table.Delete(billimport.DueKey(it.SK)))
	}
	if err := e.Table.BatchWrite(ctx, ws...); err != nil {
		return fault.Wrap("end the discoveries of accounts and the imports of their bills", err)
	}
	for _, it := range accounts {
		if err := e.drainPartition(ctx, simulatedPrefix+it.SK, nil); err != nil {
			return err
		}
	}
	return nil
}

// eraseScans erases the intermediate results of discoveries.
func (e *eraser) eraseScans(ctx context.Context, jobs []table.Item) error {
	return e.eraseFamily(ctx, "SCAN", jobs)
}

// eraseIndexChunks erases the chunks of the inventory's index, and the chunks of the costs of resources beside them.
func (e *eraser) eraseIndexChunks(ctx context.Context, items []table.Item) error {
	chunks, err := inventory.ChunkPartitions(e.in.Org, items)
	if err != nil {
		return err
	}
	costs, err := pricing.CostPartitions(e.in.Org, items)
	if err != nil {
		return err
	}
	return e.drainAll(ctx, slices.Concat(chunks, costs))
}

// eraseCostChunks erases the chunks of the costs.
func (e *eraser) eraseCostChunks(ctx context.Context, items []table.Item) error {
	pks, err := cost.ChunkPartitions(e.in.Org, items)
	if err != nil {
		return err
	}
	return e.drainAll(ctx, pks)
}

// eraseRecommendationChunks erases the chunks of the columns of recommendations.
func (e *eraser) eraseRecommendationChunks(ctx context.Context, items []table.Item) error {
	pks, err := recommendation.ChunkPartitions(e.in.Org, items)
	if err != nil {
		return err
	}
	return e.drainAll(ctx, pks)
}

func (e *eraser) drainAll(ctx context.Context, pks []string) error {
	for _, pk := range pks {
		if err := e.drainPartition(ctx, pk, nil); err != nil {
			return err
		}
	}
	return nil
}

// eraseFamily erases the partitions of the family name that items lead to by their sort keys, for example JOB#<job>
// of JOB.
func (e *eraser) eraseFamily(ctx context.Context, name string, items []table.Item) error {
	for _, it := range items {
		if err := e.drainPartition(ctx, table.OrgPK(e.in.Org)+name+"#"+it.SK, nil); err != nil {
			return err
		}
	}
	return nil
}

// eraseHistories erases the changes by resource. Each of them is also in the whole history.
func (e *eraser) eraseHistories(ctx context.Context, items []table.Item) error {
	changes, err := table.DecodeAll[execution.StateChange](items)
	if err != nil {
		return err
	}
	pks := map[string]bool{}
	for _, c := range changes {
		pks[execution.HistoryResourcePK(e.in.Org, c.ResourceUID)] = true
	}
	for pk := range pks {
		if err = e.drainPartition(ctx, pk, nil); err != nil {
			return err
		}
	}
	return nil
}
