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

// BulkStatus is how far a bulk action is: queued → running → completed, with failures counted; or cancelled.
type BulkStatus string

// The statuses of a bulk action.
const (
	BulkQueued    BulkStatus = "queued"
	BulkRunning   BulkStatus = "running"
	BulkCompleted BulkStatus = "completed"
	BulkCancelled BulkStatus = "cancelled"
)

// BulkPlanned is the status that a dry run answers; it is never stored.
const BulkPlanned BulkStatus = "planned"

// Bulk is one start or stop of a whole resource group, or of resources that were named or found by a filter. Completed
// counts the resources that reached their state, Failed those that did not: together they reach Total, also of one that is
// cancelled.
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
	CancelledBy string     `json:"cancelledBy,omitempty" hidden:"true"` // the reason of what was not begun
	Ended       bool       `json:"ended,omitempty" hidden:"true"`       // nothing of it is under way any more
	// of Failed: those that were not asked, as something held them
	Unasked int `json:"unasked,omitempty" hidden:"true"`
}

// Over reports whether nothing of the bulk action is under way any more.
func (b Bulk) Over() bool { return b.Ended || b.Status == BulkCompleted }

// Waiting reports whether the bulk action can still be cancelled.
func (b Bulk) Waiting() bool { return b.Status == BulkQueued || b.Status == BulkRunning }

// BulkPlan is what the executor must know of a bulk action. It is stored, and never answered.
type BulkPlan struct {
	ChangedBy     string    `json:"changedBy"`
	StepDelay     int       `json:"stepDelay,omitempty"` // seconds
	FailurePolicy string    `json:"failurePolicy"`
	Stage         Stage     `json:"stage,omitempty"`
	Chunks        int       `json:"chunks,omitempty"` // how many have counts of their own
	Keep          Retention `json:"keep,omitempty"`   // as the organization had it when it was planned
	Reason        string    `json:"reason,omitempty"` // of an Order: why it was made; else it was asked for by hand
	ScheduleID    string    `json:"scheduleID,omitempty"`
	// of an Order: the stop at the end of a wake link, which stops also what no schedule stops
	Promised bool `json:"promised,omitempty"`

	// Scopes are where who asked for it may act; nil is everywhere. A group changes between the question and the deed.
	Scopes *grant.Scopes `json:"scopes,omitempty"`
}

// Stage is how far the preparation of a bulk action is; every stage can be taken up again after a crash.
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

// BulkInput is the input of the bulk-action machine and of its tasks: the bulk action, and for step which one, and from
// which of its chunks on. With Cancel, the execution only ends what a cancelled bulk action has not begun: it does not wait
// for the rest, which the execution that began it does.
type BulkInput struct {
	Org    string `json:"org"`
	BulkID string `json:"bulkID"`
	Step   int    `json:"step"`
	From   string `json:"from,omitempty"`
	Cancel bool   `json:"cancel,omitempty"`
}

// CancelName returns the name of the execution that ends what a cancelled bulk action has not begun.
func CancelName(bulkID string) string { return bulkID + "-cancel" }

// Organisation returns the organization that the input belongs to.
func (in BulkInput) Organisation() string { return in.Org }

// BulkPK returns the partition of an organization's bulk actions, oldest first.
func BulkPK(org string) string { return table.OrgPK(org) + "BULK" }

// BulkKey returns where a bulk action is stored.
func BulkKey(org, bulkID string) table.Key { return table.Key{PK: BulkPK(org), SK: bulkID} }

// Ends returns when the bulk action goes, and what was written down for it: with all that was made in the same month.
func (b Bulk) Ends() time.Time { return b.Keep().Until(id.TimeOf(b.ID)) }

// Keep returns for how long the bulk action and its actions are kept.
func (b Bulk) Keep() Retention {
	if b.Plan == nil {
		return 0
	}
	return b.Plan.Keep
}

// ReadBulk reads a bulk action as far as it is; fault.NotFound when there is none. One that has ended takes one round trip, one that is
// under way two.
func ReadBulk(ctx context.Context, s table.Store, org, bulkID string) (Bulk, error) {
	b, err := table.Read[Bulk](ctx, s, BulkKey(org, bulkID))
	if err != nil {
		return b, err
	}
	return ReadProgress(ctx, s, org, b)
}

// ReadProgress returns a bulk action, as it was read, with how far it is: while it is under way its chunks count for
// themselves.
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

// Sum has b count what its chunks count.
func (b *Bulk) Sum(counts []ChunkCounts) {
	b.Completed, b.Failed, b.Unasked = 0, 0, 0
	for _, c := range counts {
		b.Completed += c.Completed()
		b.Failed += c.Failed()
		b.Unasked += c.LeftOut()
	}
}

// GroupClaim says which bulk action is under way on a resource group: there is one at a time. It is written with the bulk
// action and goes with its end.
type GroupClaim struct {
	BulkActionID string `json:"bulkActionID"`
}

// GroupClaimKey returns where the claim on a group is stored.
func GroupClaimKey(org, groupID string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "BULKGROUP", SK: groupID}
}

// ClaimGroup returns the write that claims the group of b for it. It fails while another bulk action holds the claim, but for
// over, which is known to have ended.
func ClaimGroup(org string, b Bulk, over string) (table.Write, error) {
	it, err := table.NewItem(GroupClaimKey(org, b.GroupID), GroupClaim{b.ID})
	return table.Put(it, table.Any(table.Absent(), table.Equal("bulkActionID", over))), err
}

// ReleaseGroup returns the write that gives the claim of b back, unless it is another one's by now.
func ReleaseGroup(org string, b Bulk) table.Write {
	return table.Delete(GroupClaimKey(org, b.GroupID), table.Any(table.Absent(), table.Equal("bulkActionID", b.ID)))
}

// MaxTargets is how many resources a bulk action can name, or find.
const MaxTargets = 10_000

// Ordered reports whether the bulk action is an Order: nobody asked for it by hand.
func (b Bulk) Ordered() bool { return b.Plan != nil && b.Plan.Reason != "" }

// Named are the resources of a bulk action that has no group, as they were named or found when it was asked for: by their ids, or
// where they do not all stand at one place, by inventory.EncodePlacements.
type Named struct {
	ResourceIDs []string `json:"resourceIDs"`
	Places      []byte   `json:"places,omitempty"`
}

// NamedKey returns where the resources of a bulk action without a group are stored.
func NamedKey(org, bulkID string) table.Key {
	return table.Key{PK: ChunkPK(org, bulkID), SK: "N"}
}

// ChunksOf returns the query for all chunks of a bulk action, in the order in which they run.
func ChunksOf(org, bulkID string) table.Query {
	return table.Query{PK: ChunkPK(org, bulkID), From: chunkPrefix, To: "C~"}
}

// ChunkPK returns the partition of a bulk action's chunks, in the order in which they run.
func ChunkPK(org, bulkID string) string { return BulkPK(org) + "#" + bulkID }

// Chunk is a part of a bulk action that one executor run works on: actions on resources of one kind, account and region
// that stand at the same step. A step is one order within one tier; FirstStep and LastStep are those of its tier.
type Chunk struct {
	Tier           int      `json:"tier"`
	FirstStep      int      `json:"firstStep"`
	LastStep       int      `json:"lastStep"`
	Provider       string   `json:"provider"`
	CloudAccountID string   `json:"cloudAccountID"`
	Region         string   `json:"region"`
	ResourceType   string   `json:"resourceType"`
	Members        []Member `json:"members"`
	GroupID        string   `json:"groupID,omitempty"` // that the bulk action is on

	// Seen is the status of every member as the inventory had it when the chunk was planned; empty when they differ, or one of
	// them cannot be acted on.
	Seen cloud.Status `json:"seen,omitempty"`
}

// Member is one resource of a chunk and the action that is taken on it.
type Member struct {
	ActionID    string `json:"actionID"`
	ResourceUID string `json:"resourceUID"`
}

// chunkPrefix begins the sort keys of chunks.
const chunkPrefix = "C#"

// ChunkKey returns where the n-th chunk of the step-th step is stored. Steps count in the order in which they run.
func ChunkKey(org, bulkID string, step, n int) table.Key {
	return table.Key{PK: ChunkPK(org, bulkID), SK: fmt.Sprintf(chunkPrefix+"%06d#%06d", step, n)}
}

// MemberAction returns the id of the action that bulkID takes on a resource: always the same one, so that expanding the bulk
// again after a crash makes nothing twice.
func MemberAction(bulkID, resourceID string) string {
	sum := sha256.Sum256([]byte(bulkID + "|" + resourceID))
	var u ulid.ULID
	_ = u.SetTime(ulid.Timestamp(id.TimeOf(bulkID))) // an id's time always fits
	_ = u.SetEntropy(sum[:10])                       // ten bytes always fit
	return "act_" + strings.ToLower(u.String())
}
