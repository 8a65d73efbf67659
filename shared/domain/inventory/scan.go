package inventory

import (
	"time"

	"lamplighter.dev/shared/cloud"
)

// MaxBatch is how many resources one Upsert takes.
const MaxBatch = 1_000

// Partition is what one listing of discovery covers: the resources of one kind in one region of one account.
type Partition struct {
	AccountID string // ca_…
	Provider  string
	Region    string
	Kind      string // "aws-ec2"
}

// Scan is one pass of discovery over a partition. ID names the pass and is the same for every page of it and for its
// retries; Started is when its first page was asked for.
type Scan struct {
	Partition
	ID      string
	Started time.Time
}

// Batch is resources that a scan found, at most MaxBatch, as they were at the time At. Giving the same batch again
// changes nothing.
type Batch struct {
	Scan
	At        time.Time
	Resources []cloud.Resource
}

// Changes counts what a write did to the inventory.
type Changes struct {
	Created, Updated, Unchanged int // of an Upsert
	Vanished                    int // by Finish: not found any more, now terminated
	Dropped                     int // by Finish and Forget: removed for good
}

// Add sums counts.
func (c Changes) Add(d Changes) Changes {
	return Changes{
		c.Created + d.Created, c.Updated + d.Updated, c.Unchanged + d.Unchanged,
		c.Vanished + d.Vanished, c.Dropped + d.Dropped,
	}
}
