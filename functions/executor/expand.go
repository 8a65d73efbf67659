package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
)

// These constants limit how many resources one executor run works on: eight provider calls, for a kind that takes
// many resources in one call. For a kind that takes one resource a call, the calls wait for rate-limit tokens inside
// the run, which must end in time beside the 19 other runs of a bulk action. Azure takes 8 machines a second, Google
// 24, so their runs act for two minutes.
const (
	chunkSize      = 500
	leastChunkSize = 50
	batchesAChunk  = 8
)

func sizeOf(kind string) int {
	k, known := cloud.KindOf(kind)
	if !known {
		return chunkSize
	}
	return min(max(leastChunkSize, batchesAChunk*k.ActBatch), chunkSize)
}

// Ready is the number of resources of a bulk action.
type Ready struct {
	Total int `json:"total"`
}

// expandBulk prepares a bulk action: it stores, once, the resources and their order, and creates their actions. After
// a crash, calling it again completes the preparation. It creates no actions once the bulk action is cancelled.
func (e *Executor) expandBulk(ctx context.Context, in execution.BulkInput) (Ready, error) {
	b, err := table.Read[execution.Bulk](ctx, e.p.Table, execution.BulkKey(in.Org, in.BulkID))
	if err != nil {
		return Ready{}, fmt.Errorf("read bulk action %s: %w", in.BulkID, err)
	}
	if err = e.prepareBulk(ctx, in, &b); errors.Is(err, errCancelled) {
		err = nil
	}
	return Ready{Total: b.Total}, err
}

// errCancelled ends the preparation of a bulk action that was cancelled meanwhile.
var errCancelled = errors.New("the bulk action was cancelled")

// prepareBulk continues the preparation of b from its stored stage.
func (e *Executor) prepareBulk(ctx context.Context, in execution.BulkInput, b *execution.Bulk) error {
	if b.Status == execution.BulkCancelled {
		return errCancelled
	}
	if b.Plan.Stage == execution.Unplanned {
		var err error
		if b.Plan.Keep, err = execution.ReadRetention(ctx, e.p.Table, in.Org); err != nil {
			return err
		}
		if err = e.planBulk(ctx, in, b); err != nil {
			return err
		}
	}
	if b.Plan.Stage == execution.Planned {
		return e.createAll(ctx, in.Org, b)
	}
	return nil
}

// planBulk writes the chunks of the bulk action.
func (e *Executor) planBulk(ctx context.Context, in execution.BulkInput, b *execution.Bulk) error {
	members, left, err := execution.PartBulk(ctx, e.p.Table, e.inventory, in.Org, *b)
	if err != nil {
		return err
	}
	if err := e.oweLeftOut(ctx, in.Org, *b, left); err != nil {
		return err
	}
	b.LeaveOut(left)
	if err := e.clearChunks(ctx, in); err != nil {
		return err
	}
	all := cutChunks(b.ID, b.Type, members)
	if err := e.writeChunks(ctx, in.Org, b, all); err != nil {
		return fmt.Errorf("write %d chunks of %s: %w", len(all), b.ID, err)
	}
	b.Total, b.Plan.Chunks = len(members), len(all)
	return e.advanceStage(ctx, in.Org, b, execution.Planned)
}

// writeChunks writes the chunks and their counters.
func (e *Executor) writeChunks(ctx context.Context, org string, b *execution.Bulk, all []stepChunk) error {
	ws, counts := make([]table.Write, len(all)), make([]table.Write, len(all))
	for i, c := range all {
		c.GroupID = b.GroupID
		it, err := table.NewItem(execution.ChunkKey(org, b.ID, c.step, i), c.Chunk)
		if err != nil {
			return err
		}
		it.Expires = b.Ends()
		ws[i], counts[i] = table.Put(it), execution.OpenCounts(org, b.ID, it.SK, it.Expires)
	}
	if err := e.p.Table.BatchWrite(ctx, ws...); err != nil {
		return err
	}
	for some := range slices.Chunk(counts, maxCountsPerTransaction) {
		if err := e.openCounts(ctx, org, b, some); err != nil {
			return err
		}
	}
	return e.expireNamed(ctx, org, b)
}

// maxCountsPerTransaction is how many counters one transaction opens, beside its check of the bulk action.
const maxCountsPerTransaction = 99

// openCounts writes the counters that do not exist yet, unless the bulk action was cancelled.
func (e *Executor) openCounts(ctx context.Context, org string, b *execution.Bulk, counts []table.Write) error {
	for len(counts) > 0 {
		ws := append(slices.Clip(counts), table.Check(execution.BulkKey(org, b.ID), notCancelled...))
		err := e.patientStore().Transact(ctx, ws...)
		lost, refused := errors.AsType[*table.ConditionError](err)
		if !refused {
			return err
		}
		if refusedAsCancelled(lost, len(counts)) {
			return errCancelled
		}
		var left []table.Write
		for i, w := range counts {
			if _, there := lost.Old(i); !there {
				left = append(left, w)
			}
		}
		counts = left
	}
	return nil
}

// expireNamed sets the expiry of the resource list of a bulk action without a group to that of the bulk action.
func (e *Executor) expireNamed(ctx context.Context, org string, b *execution.Bulk) error {
	if b.GroupID != "" {
		return nil
	}
	_, err := e.p.Table.Write(ctx,
		table.Update(execution.NamedKey(org, b.ID), []table.Change{table.Expire(b.Ends())}, table.Exists()))
	return err
}

// clearChunks removes the chunks that an interrupted planning has left.
func (e *Executor) clearChunks(ctx context.Context, in execution.BulkInput) error {
	keys, err := e.chunkKeys(ctx, in, allChunks)
	if err != nil || len(keys) == 0 {
		return err
	}
	ws := make([]table.Write, len(keys))
	for i, k := range keys {
		ws[i] = table.Delete(table.Key{PK: execution.ChunkPK(in.Org, in.BulkID), SK: k})
	}
	return e.p.Table.BatchWrite(ctx, ws...)
}

// advanceStage stores the stage that the bulk action's preparation has reached, unless it was cancelled.
func (e *Executor) advanceStage(ctx context.Context, org string, b *execution.Bulk, to execution.Stage) error {
	b.Plan.Stage = to
	_, err := e.p.Table.Write(ctx, table.Update(execution.BulkKey(org, b.ID), []table.Change{
		table.Set("plan", b.Plan), table.Set("total", b.Total), table.Set("status", string(execution.BulkRunning)),
		table.Set("leftOut", b.LeftOut), table.Set("leftOutResources", b.LeftOutOf), table.Expire(b.Ends()),
	}, notCancelled...))
	if lost, ok := errors.AsType[*table.ConditionError](err); ok && refusedAsCancelled(lost, 0) {
		return errCancelled
	}
	if err != nil {
		return fmt.Errorf("advance %s to %s: %w", b.ID, to, err)
	}
	return nil
}

// notCancelled is the condition that a bulk action exists and was not cancelled.
var notCancelled = []table.Cond{table.Exists(), table.NotEqual("status", string(execution.BulkCancelled))}

// refusedAsCancelled reports whether the n-th write was refused because the existing bulk action was cancelled.
func refusedAsCancelled(lost *table.ConditionError, n int) bool {
	old, refused := lost.Old(n)
	return refused && old.Data != nil
}

// stepChunk is a chunk and its step.
type stepChunk struct {
	step int
	execution.Chunk
}

// cutChunks splits the members into steps, and each step into chunks of one account, region and kind.
func cutChunks(bulkID string, verb cloud.Verb, members []inventory.Member) []stepChunk {
	var out []stepChunk
	for step, some := range execution.Sequence(verb, members) {
		for i, m := range some {
			if i == 0 || !fitsChunk(&out[len(out)-1].Chunk, m) {
				out = append(out, stepChunk{step, chunkFor(m)})
			}
			c := &out[len(out)-1]
			c.Members = append(c.Members, execution.Member{
				ActionID: execution.MemberAction(bulkID, m.ResourceID), ResourceUID: m.UID,
			})
			if m.Status != c.Seen || m.Unschedulable != "" {
				c.Seen = ""
			}
		}
	}
	boundTiers(out)
	return out
}

func chunkFor(m inventory.Member) execution.Chunk {
	return execution.Chunk{
		Tier: m.Tier, Provider: m.Provider, CloudAccountID: m.CloudAccountID, Region: m.Region, ResourceType: m.Type,
		Seen: m.Status,
	}
}

func fitsChunk(c *execution.Chunk, m inventory.Member) bool {
	return len(c.Members) < sizeOf(c.ResourceType) && c.Provider == m.Provider &&
		c.CloudAccountID == m.CloudAccountID &&
		c.Region == m.Region && c.ResourceType == m.Type
}

// boundTiers sets the first and last step of its tier on every chunk.
func boundTiers(cs []stepChunk) {
	first, last := map[int]int{}, map[int]int{}
	for _, c := range cs {
		if _, ok := first[c.Tier]; !ok {
			first[c.Tier] = c.step
		}
		last[c.Tier] = c.step
	}
	for i := range cs {
		cs[i].FirstStep, cs[i].LastStep = first[cs[i].Tier], last[cs[i].Tier]
	}
}
