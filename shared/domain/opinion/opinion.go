// Package opinion keeps the cost recommendations of the cloud providers themselves, as second opinions, and what the
// comparison with our recommendations found. Discovery imports them once a day, and the recommender compares them. See
// docs/decisions/076-opinions.md.
package opinion

import (
	"fmt"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/money"
)

// The partitions of opinions.
const (
	AccountPartition table.Partition = "ORG#*#OPINION"   // the last import of each account
	Partition        table.Partition = "ORG#*#OPINION#*" // imported and compared opinions, by shard
)

// Shards is the number of partitions of the opinions. An opinion is in the shard of its resource's native id, which is
// also the shard of the resource's record and of its recommendations. Those about accounts are in AccountShard.
const (
	Shards       = 16
	AccountShard = 0
)

// MaxPerAccount is how many opinions of an account are imported.
const MaxPerAccount = 20_000

// The times that imports and comparisons are kept. Both are renewed every day.
const (
	keepImport   = 100 * 24 * time.Hour
	keepCompared = 8 * 24 * time.Hour
)

// Opinion is an imported opinion. USD is its saving a month in US dollars; nil if the provider names none, or no rate
// of its currency is known.
type Opinion struct {
	cloud.Opinion
	USD *money.Amount `json:"usd,omitempty"`
}

// Account is the last import of an account. A failed import leaves the opinions of the last one as they are.
type Account struct {
	AccountID string              `json:"accountID"`
	Provider  string              `json:"provider"`
	Source    cloud.OpinionSource `json:"source,omitempty"`
	State     cloud.OpinionState  `json:"state,omitempty"` // empty before the first import
	Message   string              `json:"message,omitempty"`
	At        time.Time           `json:"at,omitzero"` // of the last import that did not fail
	Count     int                 `json:"count"`
	Cut       bool                `json:"cut,omitempty"` // there were more than MaxPerAccount
	TriedAt   time.Time           `json:"triedAt"`
	Error     string              `json:"error,omitempty"` // of the last try; empty if it did not fail
	Gen       string              `json:"gen,omitempty"`   // of the chunks
	Chunks    [Shards]int         `json:"chunks"`          // their number by shard
}

// Due reports whether the opinions of the account were not asked for on the day of a time, in UTC.
func (a *Account) Due(now time.Time) bool {
	return a.TriedAt.UTC().Format(time.DateOnly) < now.UTC().Format(time.DateOnly)
}

// WasRead reports whether the opinions of the account are known, at least in part.
func (a *Account) WasRead() bool {
	return a.State == cloud.OpinionsRead || a.State == cloud.OpinionsPartial
}

// ShardOf returns the shard of the opinions about a resource, 0 to Shards-1. An empty native id is the account.
func ShardOf(uid string) int {
	if uid == "" {
		return AccountShard
	}
	return table.ShardOf(uid, Shards)
}

// Store reads and writes opinions.
type Store struct {
	table table.PatientStore
	clock clock.Clock
}

// New returns the Store of p.
func New(p *platform.Platform) *Store { return &Store{table.NewPatientStore(p.Table), p.Clock} }

func accountKey(org, accountID string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "OPINION", SK: accountID}
}

func shardKey(org string, shard int, sk string) table.Key {
	return table.Key{PK: fmt.Sprintf("%sOPINION#%02d", table.OrgPK(org), shard), SK: sk}
}

// PKs returns the partitions with the opinions of an organization.
func PKs(org string) []string {
	out := make([]string, Shards)
	for shard := range out {
		out[shard] = shardKey(org, shard, "").PK
	}
	return out
}
