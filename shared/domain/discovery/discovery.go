// Package discovery keeps the record of each pass of discovery over a cloud account, from its request to its end. The
// operations that begin a pass and show its progress use it, and the worker that runs the pass.
package discovery

import (
	"time"

	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/id"
)

// Machine is the state machine that runs a pass. Its name is that of its file in statemachines/.
const Machine = "discovery"

// Deadline is the age from which a pass counts as lost, so that a new one may begin beside it. The machine's
// TimeoutSeconds are fewer.
const Deadline = 3 * time.Hour

// kept is how long the record of a pass is kept.
const kept = 30 * 24 * time.Hour

// Input is the input of the machine.
type Input struct {
	Org       string `json:"org"`
	AccountID string `json:"accountID"`
	JobID     string `json:"jobID"`
}

// Organisation returns the organization that the input belongs to.
func (in Input) Organisation() string { return in.Org }

// Status is the status of a pass.
type Status string

// The statuses of a pass.
const (
	Running   Status = "running"
	Succeeded Status = "succeeded" // every partition was read to its end
	Partial   Status = "partial"   // some partitions could not be read; their resources are unchanged
	Failed    Status = "failed"    // nothing could be read
)

// Job is one pass over an account.
type Job struct {
	ID          string    `json:"id"`
	AccountID   string    `json:"accountID"`
	Status      Status    `json:"status"`
	Partitions  int       `json:"partitions"` // how many there are to read; 0 until that is known
	Error       string    `json:"error,omitempty"`
	Refused     bool      `json:"refused,omitempty"` // the cloud does not accept the credentials
	StartedAt   time.Time `json:"startedAt"`
	CompletedAt time.Time `json:"completedAt,omitzero"`
}

// PartStatus is the status of one partition of a pass.
type PartStatus string

// The statuses of a partition. Only a partition in PartDone can show that resources have vanished.
const (
	PartRunning   PartStatus = "running"
	PartDone      PartStatus = "done"
	PartDenied    PartStatus = "denied"    // the credentials may not list it
	PartThrottled PartStatus = "throttled" // the cloud kept refusing for too many requests
	PartFailed    PartStatus = "failed"
)

// Part is one partition of a pass: a kind in a region, with counts so far.
type Part struct {
	Region    string            `json:"region"`
	Kind      string            `json:"kind"`
	Status    PartStatus        `json:"status"`
	Pages     int               `json:"pages,omitempty"`
	Resources int               `json:"resources,omitempty"`
	Changes   inventory.Changes `json:"changes,omitzero"`
	Error     string            `json:"error,omitempty"`
}

// region is the stored form of the parts of a pass in one region. One row costs one write.
type region struct {
	Parts []Part `json:"parts"`
}

// IsFinal reports whether nothing more will be read of the partition.
func (p Part) IsFinal() bool { return p.Status != PartRunning }

// JobKey returns where a pass is stored.
func JobKey(org, jobID string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "JOB", SK: jobID}
}

// PartsKey returns the key of a pass's partitions in a region.
func PartsKey(org, jobID, region string) table.Key {
	return table.Key{PK: partsPK(org, jobID), SK: region}
}

func partsPK(org, jobID string) string { return table.OrgPK(org) + "JOB#" + jobID }

// NewJob makes a pass that begins now, and the writes that record it. They belong into the transaction that puts
// Account.JobID, run in table.Within(ctx, workqueue.Prefix).
func NewJob(org, accountID string, now time.Time) (Job, []table.Write, error) {
	return newJob(org, Job{ID: id.New("job", now), AccountID: accountID, Status: Running, StartedAt: now})
}

func newJob(org string, j Job) (Job, []table.Write, error) {
	it, err := table.NewItem(JobKey(org, j.ID), j)
	if err != nil {
		return Job{}, nil, err
	}
	it.Expires = j.StartedAt.Add(kept)
	work, err := workqueue.AddWork(workqueue.Work{ID: j.ID, Org: org, Machine: Machine, At: j.StartedAt},
		j.machineInput(org))
	if err != nil {
		return Job{}, nil, err
	}
	return j, []table.Write{table.Put(it, table.Absent()), work}, nil
}

func (j Job) machineInput(org string) Input {
	return Input{Org: org, AccountID: j.AccountID, JobID: j.ID}
}

// mayBeRunning reports whether the pass may still be under way at the time now.
func (j Job) mayBeRunning(now time.Time) bool {
	return j.Status == Running && now.Sub(j.StartedAt) < Deadline
}
