// Package recommendation keeps what rules recommend for resources: the rows, their lifecycle, the columns that lists
// are read from, and the sums in which a saving counts once. It evaluates no conditions and links no cloud's SDK, so
// API functions may use it. See docs/decisions/072-recommendations.md.
package recommendation

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"lamplighter.dev/shared/domain/commitment"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/foundation/money"
)

// The partitions of recommendations.
const (
	RowPartition    table.Partition = "ORG#*#REC#*"  // the rows, by shard
	ColumnPartition table.Partition = "ORG#*#RECX"   // head and changes of the columns
	ChunkPartition  table.Partition = "ORG#*#RECX#*" // the chunks of the columns
	RulePartition   table.Partition = "ORG#*#RULE"   // counts by rule, refreshes, own rules, plans
)

// Shards is the number of partitions of the rows. A row is in the shard of its resource's native id, which is also the
// shard of the resource's record (inventory.ResourceShards).
const Shards = 16

// The times that ended rows are kept.
const (
	Keep          = 400 * 24 * time.Hour // an ended row, after its end
	KeepCandidate = 40 * 24 * time.Hour  // a candidate, after its last change
)

// Severity grades a recommendation.
type Severity string

// The severities, from the least to the most severe.
const (
	Info     Severity = "info"
	Low      Severity = "low"
	Medium   Severity = "medium"
	High     Severity = "high"
	Critical Severity = "critical"
)

// Severities are all severities, from the least to the most severe.
var Severities = []Severity{Info, Low, Medium, High, Critical}

// Rank orders severities: 0 for Info to 4 for Critical, -1 for another text.
func (s Severity) Rank() int {
	for i, v := range Severities {
		if v == s {
			return i
		}
	}
	return -1
}

// Status is the status of a row.
type Status string

// The statuses of the interface, and Candidate: the condition of a rule with metrics was true on one day. It opens on
// the second day, and no list shows it before.
const (
	Open      Status = "open"
	Dismissed Status = "dismissed"
	Applied   Status = "applied"
	Optimised Status = "optimised"
	Candidate Status = "candidate"
)

// Row is a stored recommendation: of one rule for one resource, once for all times. A true condition after the end of
// an episode begins the next episode of the same row.
type Row struct {
	ID          string `json:"id"`
	RuleID      string `json:"ruleID"`
	RuleVersion int    `json:"ruleVersion"`
	Resource
	Category string   `json:"category"`
	Severity Severity `json:"severity"`
	Effort   string   `json:"effort"`
	Risk     string   `json:"risk"`
	Title    string   `json:"title"`
	Reason   string   `json:"reason"`
	Savings  Savings  `json:"savings"`
	Evidence Evidence `json:"evidence"`
	Code     *Code    `json:"code,omitempty"` // that the resource is made from, at the last evaluation
	// of a rule that recommends to buy a commitment: what to commit to, by scope, the largest gain first
	Commitment []commitment.Advice `json:"commitment,omitempty"`

	Status    Status     `json:"status"`
	Ended     string     `json:"ended,omitempty"` // why it is optimised: EndedFalse and so on
	Episode   int        `json:"episode"`         // 1 for the first; 0 for a candidate that never opened
	Reopened  int        `json:"reopened,omitempty"`
	Dismissal *Dismissal `json:"dismissal,omitempty"` // while it is dismissed
	AppliedAt time.Time  `json:"appliedAt,omitzero"`  // while it is applied
	Realized  *Realized  `json:"realized,omitempty"`  // of the last measured episode
	History   []Event    `json:"history,omitempty"`   // the last MaxHistory events, oldest first

	TrueDay string `json:"trueDay,omitempty"` // the first day of a candidate: 2026-03-01
	Falses  int    `json:"falses,omitempty"`  // evaluations in a row that found the condition false
	Pass    string `json:"pass,omitempty"`    // the pass that changed the row last

	PassAt    time.Time `json:"passAt,omitzero"` // the time of that pass
	OpenedAt  time.Time `json:"openedAt,omitzero"`
	EndedAt   time.Time `json:"endedAt,omitzero"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	Version   int       `json:"version"` // number of writes; each write is conditioned on it
}

// Dismissal is the decision of a person to dismiss a recommendation, with what it was decided on.
type Dismissal struct {
	Reason          string       `json:"reason"` // one of DismissalReasons
	Text            string       `json:"text,omitempty"`
	Until           time.Time    `json:"until,omitzero"` // zero: until the resource or the rule's version changes
	By              string       `json:"by"`             // an address
	At              time.Time    `json:"at"`
	RuleVersion     int          `json:"ruleVersion"`
	ResourceVersion int64        `json:"resourceVersion"`
	Saving          money.Amount `json:"saving"`
	Severity        Severity     `json:"severity"`
}

// The reasons of a dismissal. Wrong counts against the precision of the rule.
const (
	Intended     = "intended"
	Wrong        = "wrong"
	Later        = "later"
	RiskTooHigh  = "risk"
	OwnerUnknown = "owner_unknown"
)

// DismissalReasons are the reasons that a person can give.
var DismissalReasons = []string{Intended, Wrong, Later, RiskTooHigh, OwnerUnknown}

// Realized is a measured saving.
type Realized struct {
	USD   money.Amount `json:"usd"` // a month
	At    time.Time    `json:"at"`
	Proof string       `json:"proof"` // the days of the bill before and after the application
}

// Event is a change of the status of a row.
type Event struct {
	At   time.Time `json:"at"`
	From Status    `json:"from,omitempty"` // empty for the first event
	To   Status    `json:"to"`
	By   string    `json:"by,omitempty"` // the address of a person; empty for an evaluation
	Why  string    `json:"why"`
}

// MaxHistory is how many events a row keeps.
const MaxHistory = 50

// The reasons why a row is optimised.
const (
	EndedFalse    = "condition_false"  // three evaluations found the condition false
	EndedGone     = "resource_gone"    // the resource is no longer in the cloud
	EndedOff      = "rule_off"         // the rule was disabled or deleted, or excludes the resource
	EndedRealized = "saving_confirmed" // the cost of 7 settled days has fallen
)

// IDOf returns the id of the recommendation of a rule for a resource. It follows from the time of the resource's own
// id, the native id and the rule, so two passes make one row. Its last four bits are the shard of the row.
func IDOf(resourceID, nativeID, ruleID string) string {
	at, _ := parseULID(resourceID)
	return formatULID(rowULID(at, nativeID, ruleID))
}

// ShardOf returns the shard of the rows of a resource, 0 to Shards-1.
func ShardOf(nativeID string) int { return table.ShardOf(nativeID, Shards) }

// ShardOfID returns the shard of a row by its id. It returns false for a text that is no id of a recommendation.
func ShardOfID(recID string) (int, bool) {
	u, ok := parseULID(recID)
	return int(u[15] & 0x0f), ok && id.IsValid("rec", recID)
}

// rowULID returns the id of a row in binary; resource is the binary id of the resource.
func rowULID(resource ulid.ULID, nativeID, ruleID string) ulid.ULID {
	sum := sha256.Sum256([]byte(nativeID + "\x00" + ruleID))
	out := resource // the first 6 bytes are its time
	copy(out[6:], sum[:])
	out[15] = out[15]&0xf0 | byte(ShardOf(nativeID))
	return out
}

const idPrefix = "rec_"

// parseULID returns the binary form of an id with any prefix.
func parseULID(s string) (ulid.ULID, bool) {
	_, tail, _ := strings.Cut(s, "_")
	u, err := ulid.ParseStrict(strings.ToUpper(tail))
	return u, err == nil
}

func formatULID(u ulid.ULID) string { return idPrefix + strings.ToLower(u.String()) }

// rowPK returns the partition of the rows of a shard.
func rowPK(org string, shard int) string { return fmt.Sprintf("%sREC#%02d", table.OrgPK(org), shard) }

// Key returns where a row is stored. It returns false for a text that is no id of a recommendation.
func Key(org, recID string) (table.Key, bool) {
	u, ok := parseULID(recID)
	if !ok || !id.IsValid("rec", recID) {
		return table.Key{}, false
	}
	return table.Key{PK: rowPK(org, int(u[15]&0x0f)), SK: recID}, true
}

// RowPKs returns the partitions of an organization's rows.
func RowPKs(org string) []string {
	out := make([]string, Shards)
	for shard := range out {
		out[shard] = rowPK(org, shard)
	}
	return out
}
