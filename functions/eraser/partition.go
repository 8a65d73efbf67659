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
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/erasure"
	"lamplighter.dev/shared/people/membership"
)

// The partitions outside of the organization's that rows of it lead to.
const (
	domainPrefix    = "SSODOMAIN#"
	wakePrefix      = "WAKE#"
	simulatedPrefix = "SIM#"
)

// batch is how many items are erased at a time.
const batch = 500

// erasePass erases everything but that the organization has ended.
func (e *eraser) erasePass(ctx context.Context) error {
	if err := e.halt(ctx); err != nil {
		return err
	}
	// nothing more of it is archived
	if _, err := e.Table.Write(ctx, table.Delete(identity.DirectoryKey(e.in.Org))); err != nil {
		return fmt.Errorf("take %s out of the directory: %w", e.in.Org, err)
	}
	for _, s := range e.walk {
		if err := e.drain(ctx, table.OrgPK(e.in.Org)+s.name, s.leads); err != nil {
			return err
		}
	}
	return e.settings(ctx)
}

// halt stops what still runs for the organization and takes it off the lists of unfinished and of parked work.
func (e *eraser) halt(ctx context.Context) error {
	for _, pk := range workqueue.Lists() {
		q := table.Query{PK: pk, Limit: batch}
		for {
			page, err := e.Table.Query(ctx, q)
			if err != nil {
				return fmt.Errorf("read unfinished work of %s: %w", q.PK, err)
			}
			for _, it := range page.Items {
				if err = e.stop(ctx, it); err != nil {
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

func (e *eraser) stop(ctx context.Context, it table.Item) error {
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

// drain empties a partition, batch by batch, each after what its items lead to.
func (e *eraser) drain(ctx context.Context, pk string, leads lead) error {
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
		if err = e.erase(ctx, page.Items); err != nil {
			return err
		}
		if page.Next == "" {
			return nil
		}
	}
}

func (e *eraser) erase(ctx context.Context, items []table.Item) error {
	if len(items) == 0 {
		return nil
	}
	ws := make([]table.Write, len(items))
	for i, it := range items {
		ws[i] = table.Delete(it.Key)
	}
	return fault.Wrap(fmt.Sprintf("erase %d items of %s", len(ws), items[0].PK), e.Table.BatchWrite(ctx, ws...))
}

// settings erases what there is one of in an organization, but for its Access, by which it is known to have ended.
func (e *eraser) settings(ctx context.Context) error {
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
	return e.erase(ctx, kept)
}

// memberships returns the organization in the lists of its members.
func (e *eraser) memberships(ctx context.Context, members []table.Item) error {
	ws := make([]table.Write, len(members))
	for i, it := range members {
		ws[i] = table.Delete(identity.MembershipKey(it.SK, e.in.Org))
	}
	return fault.Wrap("erase memberships", e.Table.BatchWrite(ctx, ws...))
}

// invited returns its invitations as their addresses have them.
func (e *eraser) invited(ctx context.Context, rows []table.Item) error {
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

// domains returns its claims to mail domains, which are free from then on.
func (e *eraser) domains(ctx context.Context, setups []table.Item) error {
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

// wakeLinks takes away what the addresses of its wake links lead to.
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

// clouds returns the simulated ones, which exist in the store only, and takes all off the lists of those that are discovered and billed.
func (e *eraser) clouds(ctx context.Context, accounts []table.Item) error {
	var ws []table.Write
	for _, it := range accounts {
		ws = append(ws, discovery.RemoveDue(it.SK), table.Delete(billimport.DueKey(it.SK)))
	}
	if err := e.Table.BatchWrite(ctx, ws...); err != nil {
		return fault.Wrap("end the discoveries of accounts and the imports of their bills", err)
	}
	for _, it := range accounts {
		if err := e.drain(ctx, simulatedPrefix+it.SK, nil); err != nil {
			return err
		}
	}
	return nil
}

// scans returns what discoveries had found so far.
func (e *eraser) scans(ctx context.Context, jobs []table.Item) error {
	return e.members(ctx, "SCAN", jobs)
}

// chunks erases the chunks of the index of the inventory, and the parts of the costs of resources, which lie beside them.
func (e *eraser) chunks(ctx context.Context, items []table.Item) error {
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

// costs erases what the costs are made of.
func (e *eraser) costs(ctx context.Context, items []table.Item) error {
	pks, err := cost.ChunkPartitions(e.in.Org, items)
	if err != nil {
		return err
	}
	return e.drainAll(ctx, pks)
}

func (e *eraser) drainAll(ctx context.Context, pks []string) error {
	for _, pk := range pks {
		if err := e.drain(ctx, pk, nil); err != nil {
			return err
		}
	}
	return nil
}

// members returns the partitions of the family name that items have by their sort keys: JOB#<job> of JOB.
func (e *eraser) members(ctx context.Context, name string, items []table.Item) error {
	for _, it := range items {
		if err := e.drain(ctx, table.OrgPK(e.in.Org)+name+"#"+it.SK, nil); err != nil {
			return err
		}
	}
	return nil
}

// histories returns the changes by resource: each is in the whole history too.
func (e *eraser) histories(ctx context.Context, items []table.Item) error {
	changes, err := table.DecodeAll[execution.StateChange](items)
	if err != nil {
		return err
	}
	pks := map[string]bool{}
	for _, c := range changes {
		pks[execution.HistoryResourcePK(e.in.Org, c.ResourceUID)] = true
	}
	for pk := range pks {
		if err = e.drain(ctx, pk, nil); err != nil {
			return err
		}
	}
	return nil
}
