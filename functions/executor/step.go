package executor

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/engine/table"
)

// StepResult tells the machine its next work: chunks to run at the same time until they are accepted or settled.
// After DelaySeconds the machine continues with step Next, or with the rest of this step from the chunk From on. Last
// means that there is no further step.
type StepResult struct {
	Last         bool                 `json:"last"`
	Chunks       []execution.RunInput `json:"chunks"`
	DelaySeconds int                  `json:"delaySeconds"`
	Next         int                  `json:"next"`
	From         string               `json:"from"`
}

// stepSize is how many chunks the machine runs at the same time. Their list must stay well below the 256 KiB limit of
// a state's output.
const stepSize = 1000

// beginBulk prepares a bulk action and returns its first step. Doing both in one state saves a state.
func (e *Executor) beginBulk(ctx context.Context, in execution.BulkInput) (StepResult, error) {
	if _, err := e.expandBulk(ctx, in); err != nil {
		return StepResult{}, err
	}
	return e.nextStep(ctx, in)
}

// nextStep returns one step of a bulk action. The last step of a tier runs until every resource of the tier has
// reached its state or failed. The other steps run until the provider has accepted their actions.
func (e *Executor) nextStep(ctx context.Context, in execution.BulkInput) (StepResult, error) {
	b, err := execution.ReadBulk(ctx, e.p.Table, in.Org, in.BulkID)
	if err != nil {
		return StepResult{}, fmt.Errorf("read bulk action %s: %w", in.BulkID, err)
	}
	switch {
	case b.Status == execution.BulkCancelled: // also when it has ended: actions created at that moment still exist
		return e.windDown(ctx, in, cancelledBy(b))
	case b.Over():
		return StepResult{Last: true, Chunks: []execution.RunInput{}}, nil
	}
	if failed := b.Failed - b.Unasked; b.Plan.FailurePolicy == "abort" && failed > 0 {
		return e.windDown(ctx, in,
			fmt.Sprintf("not done: %d of the resources before it failed, and the group's failurePolicy is abort",
				failed))
	}
	until, first, err := e.stepBounds(ctx, in)
	if err != nil || until == "" {
		return StepResult{Last: err == nil, Chunks: []execution.RunInput{}}, err
	}
	keys, err := e.chunkKeys(ctx, in, table.Query{From: max(stepKey(first), in.From), To: stepKey(in.Step + 1)})
	if err != nil {
		return StepResult{}, err
	}
	out := StepResult{DelaySeconds: b.Plan.StepDelay, Next: in.Step + 1}
	if len(keys) > stepSize {
		out = StepResult{Next: in.Step, From: keys[stepSize]}
		keys = keys[:stepSize]
	} else if out.Last, err = e.isLast(ctx, in, until); err != nil {
		return StepResult{}, err
	}
	out.Chunks = make([]execution.RunInput, len(keys))
	for i, k := range keys {
		out.Chunks[i] = execution.RunInput{Org: in.Org, BulkID: in.BulkID, Chunk: k, Until: until}
	}
	return out, nil
}

// isLast reports whether no step follows. A step that is not the last of its tier runs until its chunks are accepted,
// so another one follows. After a tier's last step isLast queries the table, which costs less than a state that finds
// nothing.
func (e *Executor) isLast(ctx context.Context, in execution.BulkInput, until string) (bool, error) {
	if until == execution.UntilAccepted {
		return false, nil
	}
	after, err := e.p.Table.Query(ctx, table.Query{
		PK: execution.ChunkPK(in.Org, in.BulkID), From: stepKey(in.Step + 1), To: lastChunk, Limit: 1,
	})
	if err != nil {
		return false, fmt.Errorf("look for a step after %d of %s: %w", in.Step, in.BulkID, err)
	}
	return len(after.Items) == 0, nil
}

// stepBounds returns until when a step runs and the first step of its tier. until is empty if there is no such step.
func (e *Executor) stepBounds(ctx context.Context, in execution.BulkInput) (until string, first int, err error) {
	page, err := e.p.Table.Query(ctx, table.Query{
		PK: execution.ChunkPK(in.Org, in.BulkID), From: stepKey(in.Step), To: stepKey(in.Step + 1), Limit: 1,
	})
	if err != nil || len(page.Items) == 0 {
		return "", 0, err
	}
	c, err := table.Decode[execution.Chunk](page.Items[0])
	if err != nil {
		return "", 0, err
	}
	if in.Step < c.LastStep {
		return execution.UntilAccepted, in.Step, nil
	}
	return execution.UntilSettled, c.FirstStep, nil
}

// stepKey returns the lowest sort key of a step's chunks.
func stepKey(step int) string { return fmt.Sprintf("C#%06d", step) }

// lastChunk is a sort key after those of all chunks.
const lastChunk = "C~"

// allChunks is the query for all chunks.
var allChunks = table.Query{From: stepKey(0), To: lastChunk}

// chunkPage is how many chunks, of up to 500 members each, are read at a time.
const chunkPage = 20

// eachChunk calls f for the chunks that q selects, in running order.
func (e *Executor) eachChunk(ctx context.Context, in execution.BulkInput, q table.Query,
	f func(key string, c execution.Chunk) error,
) error {
	q.PK, q.Limit = execution.ChunkPK(in.Org, in.BulkID), chunkPage
	for {
		page, err := e.p.Table.Query(ctx, q)
		if err != nil {
			return fmt.Errorf("read chunks of %s: %w", in.BulkID, err)
		}
		for _, it := range page.Items {
			c, err := table.Decode[execution.Chunk](it)
			if err != nil {
				return err
			}
			if err := f(it.SK, c); err != nil {
				return err
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return nil
		}
	}
}

func (e *Executor) chunkKeys(ctx context.Context, in execution.BulkInput, q table.Query) ([]string, error) {
	var keys []string
	err := e.eachChunk(ctx, in, q, func(key string, _ execution.Chunk) error {
		keys = append(keys, key)
		return nil
	})
	return keys, err
}
