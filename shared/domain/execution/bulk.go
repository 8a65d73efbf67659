package execution

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"lamplighter.dev/shared/api/identity"
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

// Bulk is one start or stop of a whole resource group. Completed counts the resources that reached their state, Failed
// those that did not: together they reach Total.
type Bulk struct {
	ID          string     `json:"id"`
	GroupID     string     `json:"groupID"`
	Type        cloud.Verb `json:"type" enum:"start,stop"`
	Status      BulkStatus `json:"status" enum:"queued,running,completed,cancelled"`
	Total       int        `json:"total"`
	Completed   int        `json:"completed"`
	Failed      int        `json:"failed"`
	CreatedAt   time.Time  `json:"createdAt"`
	CompletedAt *time.Time `json:"completedAt" doc:"Null until it has ended"`
	Plan        *BulkPlan  `json:"plan,omitempty" hidden:"true"`
}

// BulkPlan is what the executor must know of a bulk action. It is stored, and never answered.
type BulkPlan struct {
	ChangedBy     string `json:"changedBy"`
	StepDelay     int    `json:"stepDelay,omitempty"` // seconds
	FailurePolicy string `json:"failurePolicy"`
	Stage         Stage  `json:"stage,omitempty"`

	// Scopes are where who asked for it may act; nil is everywhere. A group changes between the question and the deed.
	Scopes *identity.Scopes `json:"scopes,omitempty"`
}

// Stage is how far the preparation of a bulk action is; every stage can be taken up again after a crash.
type Stage string

// The stages: chunks not complete, chunks written, actions created.
const (
	Unplanned Stage = ""
	Planned   Stage = "planned"
	Expanded  Stage = "expanded"
)

// Public is the bulk action as clients see it.
func (b Bulk) Public() Bulk {
	b.Plan = nil
	return b
}

// BulkInput is the input of the bulk-action machine and of its tasks: the bulk action, and for step which one, and from
// which of its chunks on.
type BulkInput struct {
	Org    string `json:"org"`
	BulkID string `json:"bulkID"`
	Step   int    `json:"step"`
	From   string `json:"from,omitempty"`
}

// Tenant is the organization that the input belongs to.
func (in BulkInput) Tenant() string { return in.Org }

// BulkPK is the partition of an organization's bulk actions, oldest first.
func BulkPK(org string) string { return table.TenantPK(org) + "BULK" }

// BulkKey is where a bulk action is stored.
func BulkKey(org, bulkID string) table.Key { return table.Key{PK: BulkPK(org), SK: bulkID} }

// ChunkPK is the partition of a bulk action's chunks, in the order in which they run.
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
}

// Member is one resource of a chunk and the action that is taken on it.
type Member struct {
	ActionID    string `json:"actionID"`
	ResourceUID string `json:"resourceUID"`
}

// ChunkKey is where the n-th chunk of the step-th step is stored. Steps count in the order in which they run.
func ChunkKey(org, bulkID string, step, n int) table.Key {
	return table.Key{PK: ChunkPK(org, bulkID), SK: fmt.Sprintf("C#%06d#%06d", step, n)}
}

// MemberAction is the id of the action that bulkID takes on a resource: always the same one, so that expanding the bulk
// again after a crash makes nothing twice.
func MemberAction(bulkID, resourceID string) string {
	sum := sha256.Sum256([]byte(bulkID + "|" + resourceID))
	var u ulid.ULID
	_ = u.SetTime(ulid.Timestamp(id.Time(bulkID))) // an id's time always fits
	_ = u.SetEntropy(sum[:10])                     // ten bytes always fit
	return "act_" + strings.ToLower(u.String())
}
