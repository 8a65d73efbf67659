package execution

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
)

// BulkStatus is the status of a bulk action: queued → running → completed, with failures counted; or cancelled.
type BulkStatus string

// The statuses of a bulk action.
const (
	BulkQueued    BulkStatus = "queued"
	BulkRunning   BulkStatus = "running"
	BulkCompleted BulkStatus = "completed"
	BulkCancelled BulkStatus = "cancelled"
)

// BulkPlanned is the status of a dry run. It is never stored.
const BulkPlanned BulkStatus = "planned"

// Bulk is one start or stop of a whole resource group, or of resources that were named or found by a filter. Completed
// counts the resources that reached their state, Failed the others. In the end the two add up to Total, even if the
// bulk action is cancelled.
type Bulk struct {
	ID          string     `json:"id"`
	GroupID     string     `json:"groupID" doc:"Empty when it acts on resources that were named, or found by a filter"`
	Type        cloud.Verb `json:"type" enum:"start,stop"`
	Status      BulkStatus `json:"status" enum:"queued,running,completed,cancelled"`
	Total       int        `json:"total"`
	Completed   int        `json:"completed"`
	Failed      int        `json:"failed"`
	Force       bool       `json:"force" doc:"It also acts on resources that overrides and active event readiness plans hold"`
	LeftOut     int        `json:"leftOut" doc:"Number of resources that it does not act on, and that total does not count"`
	CreatedAt   time.Time  `json:"createdAt"`
	CompletedAt *time.Time `json:"completedAt" doc:"Null until it has ended"`
	LeftOutOf   []NotDone  `json:"leftOutResources" nullable:"false" doc:"The first 50 of these, and why"`
	Plan        *BulkPlan  `json:"plan,omitempty" hidden:"true"`
	CancelledBy string     `json:"cancelledBy,omitempty" hidden:"true"` // the reason of the actions that were not begun
	Ended       bool       `json:"ended,omitempty" hidden:"true"`       // no action of it is under way
	// of Failed: resources that were held, so that the provider was not asked
	Unasked int `json:"unasked,omitempty" hidden:"true"`
}

// Over reports whether no action of the bulk action is under way any more.
func (b Bulk) Over() bool { return b.Ended || b.Status == BulkCompleted }

// Waiting reports whether the bulk action can still be cancelled.
func (b Bulk) Waiting() bool { return b.Status == BulkQueued || b.Status == BulkRunning }

// BulkPlan is the part of a bulk action for the executor. It is stored, and never returned to callers.
type BulkPlan struct {
	ChangedBy     string    `json:"changedBy"`
	StepDelay     int       `json:"stepDelay,omitempty"` // seconds
	FailurePolicy string    `json:"failurePolicy"`
	Stage         Stage     `json:"stage,omitempty"`
	Chunks        int       `json:"chunks,omitempty"` // how many have counts of their own
	Keep          Retention `json:"keep,omitempty"`   // as the organization had it when it was planned
	Reason        string    `json:"reason,omitempty"` // of an Order: the cause; empty for a request of a user
	ScheduleID    string    `json:"scheduleID,omitempty"`
	// of an Order: the stop at the end of a wake link, including resources that no schedule stops
	Promised bool `json:"promised,omitempty"`

	// Scopes are where the requester may act; nil is everywhere. A group may change between the request and the
	// action.
	Scopes *grant.Scopes `json:"scopes,omitempty"`
}

// Stage is the progress of the preparation of a bulk action. Every stage can be resumed after a crash.
type Stage string

// The stages: chunks not complete, chunks written, actions created.
const (
	Unplanned Stage = ""
	Planned   Stage = "planned"
	Expanded  Stage = "expanded"
)

// WithoutInternals returns the bulk action as clients see it.
func (b Bulk) WithoutInternals() Bulk {
	b.Plan, b.CancelledBy, b.Ended, b.Unasked = nil, "", false, 0
	if b.LeftOutOf == nil {
		b.LeftOutOf = []NotDone{}
	}
	return b
}

// BulkInput is the input of the bulk-action machine and of its tasks: the bulk action, and for a step its number and
// its first chunk. With Cancel, the execution only ends the actions that a cancelled bulk action has not begun. It
// does not wait for the others; the execution that began them does.
type BulkInput struct {
	Org    string `json:"org"`
	BulkID string `json:"bulkID"`
	Step   int    `json:"step"`
	From   string `json:"from,omitempty"`
	Cancel bool   `json:"cancel,omitempty"`
}

// CancelName returns the name of the execution that ends the unstarted actions of a cancelled bulk action.
func CancelName(bulkID string) string { return bulkID + "-cancel" }

// Organisation returns the organization that the input belongs to.
func (in BulkInput) Organisation() string { return in.Org }

// BulkPK returns the partition of an organization's bulk actions, oldest first.
func BulkPK(org string) string { return table.OrgPK(org) + "BULK" }

// BulkKey returns where a bulk action is stored.
func BulkKey(org, bulkID string) table.Key { return table.Key{PK: BulkPK(org), SK: bulkID} }

// Ends returns when the bulk action and its records expire, with all bulk actions of the same month.
func (b Bulk) Ends() time.Time { return b.Keep().Until(id.TimeOf(b.ID)) }

// Keep returns the retention of the bulk action and its actions.
func (b Bulk) Keep() Retention {
	if b.Plan == nil {
		return 0
	}
	return b.Plan.Keep
}

// ReadBulk reads a bulk action with its current counts, or fault.NotFound. It takes one round trip if the bulk action
// has ended, and two if it is under way.
func ReadBulk(ctx context.Context, s table.Store, org, bulkID string) (Bulk, error) {
	b, err := table.Read[Bulk](ctx, s, BulkKey(org, bulkID))
	if err != nil {
		return b, err
	}
	return ReadProgress(ctx, s, org, b)
}

// ReadProgress returns b, as it was read, with its current counts. While it is under way, the counts are in its
// chunks.
func ReadProgress(ctx context.Context, s table.Store, org string, b Bulk) (Bulk, error) {
	if b.Over() || b.Plan == nil || b.Plan.Chunks == 0 {
		return b, nil
	}
	counts, err := ReadChunkCounts(ctx, s, org, b.ID)
	if err != nil {
		return b, err
	}
	if len(counts) < b.Plan.Chunks { // it has ended meanwhile, and its counts are folded
		return table.Read[Bulk](ctx, s, BulkKey(org, b.ID))
	}
	b.Sum(counts)
	return b, nil
}

// Sum sets the counts of b to the sums of its chunks' counts.
func (b *Bulk) Sum(counts []ChunkCounts) {
	b.Completed, b.Failed, b.Unasked = 0, 0, 0
	for _, c := range counts {
		b.Completed += c.Completed()
		b.Failed += c.Failed()
		b.Unasked += c.LeftOut()
	}
}

// GroupClaim names the bulk action under way on a resource group; there is one at a time. It is written with the bulk
// action and deleted at its end.
type GroupClaim struct {
	BulkActionID string `json:"bulkActionID"`
}

// GroupClaimKey returns where the claim on a group is stored.
func GroupClaimKey(org, groupID string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "BULKGROUP", SK: groupID}
}

// ClaimGroup returns the write that claims the group of b for b. It fails while another bulk action holds the claim,
// unless that is over, a bulk action known to have ended.
func ClaimGroup(org string, b Bulk, over string) (table.Write, error) {
	it, err := table.NewItem(GroupClaimKey(org, b.GroupID), GroupClaim{b.ID})
	return table.Put(it, table.Any(table.Absent(), table.Equal("bulkActionID", over))), err
}

// ReleaseGroup returns the write that releases the claim of b, unless another bulk action holds it by now.
func ReleaseGroup(org string, b Bulk) table.Write {
	return table.Delete(GroupClaimKey(org, b.GroupID), table.Any(table.Absent(), table.Equal("bulkActionID", b.ID)))
}

// MaxTargets is how many resources a bulk action can act on.
const MaxTargets = 10_000

// Ordered reports whether the bulk action is an Order, and not a request of a user.
func (b Bulk) Ordered() bool { return b.Plan != nil && b.Plan.Reason != "" }

// Named are the resources of a bulk action without a group, as they were named or found at the request: by their ids,
// or, if they have different places, by inventory.EncodePlacements.
type Named struct {
	ResourceIDs []string `json:"resourceIDs"`
	Places      []byte   `json:"places,omitempty"`
}

// NamedKey returns where the resources of a bulk action without a group are stored.
func NamedKey(org, bulkID string) table.Key {
	return table.Key{PK: ChunkPK(org, bulkID), SK: "N"}
}

// ChunksOf returns the query for all chunks of a bulk action, in execution order.
func ChunksOf(org, bulkID string) table.Query {
	return table.Query{PK: ChunkPK(org, bulkID), From: chunkPrefix, To: "C~"}
}

// ChunkPK returns the partition of a bulk action's chunks, in execution order.
func ChunkPK(org, bulkID string) string { return BulkPK(org) + "#" + bulkID }

// Chunk is a part of a bulk action for one executor run: actions on resources of one kind, account and region in the
// same step. A step is one order within one tier; FirstStep and LastStep are those of its tier.
type Chunk struct {
	Tier           int      `json:"tier"`
	FirstStep      int      `json:"firstStep"`
	LastStep       int      `json:"lastStep"`
	Provider       string   `json:"provider"`
	CloudAccountID string   `json:"cloudAccountID"`
	Region         string   `json:"region"`
	ResourceType   string   `json:"resourceType"`
	Members        []Member `json:"members"`
	GroupID        string   `json:"groupID,omitempty"` // the group of the bulk action

	// Seen is the status of every member in the inventory when the chunk was planned. It is empty if the statuses
	// differ, or if one of the members cannot be acted on.
	Seen cloud.Status `json:"seen,omitempty"`
}

// Member is one resource of a chunk and the action that is taken on it.
type Member struct {
	ActionID    string `json:"actionID"`
	ResourceUID string `json:"resourceUID"`
}

// chunkPrefix begins the sort keys of chunks.
const chunkPrefix = "C#"

// ChunkKey returns the key of the n-th chunk of the step-th step. Steps are numbered in execution order.
func ChunkKey(org, bulkID string, step, n int) table.Key {
	return table.Key{PK: ChunkPK(org, bulkID), SK: fmt.Sprintf(chunkPrefix+"%06d#%06d", step, n)}
}

// MemberAction returns the id of the action of bulkID on a resource. It is always the same, so that a repeated
// expansion after a crash creates nothing twice.
func MemberAction(bulkID, resourceID string) string {
	sum := sha256.Sum256([]byte(bulkID + "|" + resourceID))
	var u ulid.ULID
	_ = u.SetTime(ulid.Timestamp(id.TimeOf(bulkID))) // an id's time always fits
	_ = u.SetEntropy(sum[:10])                       // ten bytes always fit
	return "act_" + strings.ToLower(u.String())
}
