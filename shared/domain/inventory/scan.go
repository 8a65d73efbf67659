package inventory

import (
	"time"

	"lamplighter.dev/shared/cloud"
)

// MaxBatch is how many resources one UpsertScanned takes, of all batches together.
const MaxBatch = 1_000

// Partition is the scope of one listing of discovery: the resources of one kind in one region of one account.
type Partition struct {
	AccountID string // ca_…
	Provider  string
	Region    string
	Kind      string // "aws-ec2"; "aws-*" of a collective kind, whose resources have types of their own
}

// Scan is one pass of discovery over a partition. ID names the pass, and is the same for all its pages and retries.
// Started is the time of the request for its first page.
type Scan struct {
	Partition
	ID      string
	Started time.Time
}

// Batch is resources found by a scan, as of the time At. A repeated batch changes nothing.
type Batch struct {
	Scan
	At        time.Time
	Resources []cloud.Resource
}

// Changes counts the changes of the inventory by a write.
type Changes struct {
	Created   int `json:"created,omitempty"`
	Updated   int `json:"updated,omitempty"`
	Unchanged int `json:"unchanged,omitempty"`
	Vanished  int `json:"vanished,omitempty"` // by FinishScans: no longer found, now terminated
	Dropped   int `json:"dropped,omitempty"`  // by FinishScans and ForgetAccount: removed for good
}

// Add sums counts.
func (c Changes) Add(d Changes) Changes {
	return Changes{
		c.Created + d.Created, c.Updated + d.Updated, c.Unchanged + d.Unchanged,
		c.Vanished + d.Vanished, c.Dropped + d.Dropped,
	}
}
