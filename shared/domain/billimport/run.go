package billimport

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// Machine is the state machine that imports bills, named like its file in statemachines/.
const Machine = "billing-sync"

// UploadMachine is the state machine that imports one uploaded file. It is a separate machine because it waits for
// people.
const UploadMachine = "bill-upload"

// Input is the input of the machines: the bills to import. Without an account and an upload, the run covers all
// accounts of the organization, and the organization's run row names it.
type Input struct {
	Org       string `json:"org"`
	JobID     string `json:"jobID"`
	AccountID string `json:"accountID,omitempty"` // only the bills of this account
	UploadID  string `json:"uploadID,omitempty"`  // only this upload
	Withdraw  bool   `json:"withdraw,omitempty"`  // the upload is withdrawn
	First     bool   `json:"first,omitempty"`     // the account is newly connected: prices of its regions are fetched
	Rebuild   bool   `json:"rebuild,omitempty"`   // costs are rebuilt after a change of teams, groups or accounts
	Closed    bool   `json:"closed,omitempty"`    // a rebuild of closed months, which continues from call to call
	// the known costs of resources are updated; with an account, the prices of its regions are fetched before
	Renewal bool `json:"renewal,omitempty"`
}

// Organisation returns the organization that the input belongs to.
func (in Input) Organisation() string { return in.Org }

func (in Input) machine() string {
	if in.UploadID != "" {
		return UploadMachine
	}
	return Machine
}

// Run is the newest run over all accounts of an organization.
type Run struct {
	JobID     string    `json:"jobID"`
	StartedAt time.Time `json:"startedAt"`
	EndedAt   time.Time `json:"endedAt,omitzero"`
}

// IsUnderway reports whether the run may still be in progress at the time now.
func (r Run) IsUnderway(now time.Time) bool {
	return r.JobID != "" && r.EndedAt.IsZero() && now.Sub(r.StartedAt) < lost
}

// RunKey returns the key of the newest run of an organization.
func RunKey(org string) table.Key { return table.Key{PK: table.OrgPK(org) + "BILLING", SK: "RUN"} }

// StartRun begins a run over all accounts of the organization, or returns the one in progress.
func StartRun(ctx context.Context, p *platform.Platform, org string) (Run, error) {
	for range tries {
		before, err := table.Read[Run](ctx, p.Table, RunKey(org))
		if err != nil && !fault.Is(err, fault.NotFound) {
			return Run{}, fmt.Errorf("read the newest import of bills of %s: %w", org, err)
		}
		now := p.Clock.Now()
		if before.IsUnderway(now) {
			return before, nil
		}
		r := Run{JobID: id.New("job", now), StartedAt: now}
		if err = begin(ctx, p, org, r, before); err == nil {
			StartMachine(ctx, p, Input{Org: org, JobID: r.JobID})
			return r, nil
		}
		if _, faster := errors.AsType[*table.ConditionError](err); !faster {
			return Run{}, fmt.Errorf("begin to import bills of %s: %w", org, err)
		}
	}
	return Run{}, fault.New(fault.Conflict, "the import of bills is being started by others: try again")
}

// begin records a run, unless another one has begun since before was read.
func begin(ctx context.Context, p *platform.Platform, org string, r, before Run) error {
	it, err := table.NewItem(RunKey(org), r)
	if err != nil {
		return err
	}
	work, err := AddWork(Input{Org: org, JobID: r.JobID}, r.StartedAt)
	if err != nil {
		return err
	}
	same := table.Equal("jobID", before.JobID)
	if before.JobID == "" {
		same = table.Absent()
	}
	return p.Table.Transact(table.Within(ctx, workqueue.Prefix), table.Put(it, same), work)
}

// AddWork returns the write that lists a run as work to complete. Add it to the transaction that requests the run, run
// in table.Within(ctx, workqueue.Prefix).
func AddWork(in Input, now time.Time) (table.Write, error) {
	return workqueue.AddWork(workqueue.Work{ID: in.JobID, Org: in.Org, Machine: in.machine(), At: now}, in)
}

// StartMachine starts the machine of a recorded run. If that fails, the sweeper starts it a little later.
func StartMachine(ctx context.Context, p *platform.Platform, in Input) {
	if err := p.Workflow.Start(ctx, in.machine(), in.JobID, in); err != nil {
		p.Log.WarnContext(ctx, "bills will be imported by the sweeper's start", "job", in.JobID, "org", in.Org, "error",
			err)
	}
}

// Finish removes a run from the list of work, and records its end if it covered all accounts.
func Finish(ctx context.Context, p *platform.Platform, in Input) error {
	done := workqueue.RemoveWork(in.JobID)
	ctx = table.Within(ctx, workqueue.Prefix)
	var err error
	if in.AccountID == "" && in.UploadID == "" && !in.Rebuild && !in.Renewal {
		ended := table.Update(RunKey(in.Org), []table.Change{table.Set("endedAt", p.Clock.Now())},
			table.Equal("jobID", in.JobID))
		err = p.Table.Transact(ctx, ended, done)
		if _, other := errors.AsType[*table.ConditionError](err); !other {
			return fault.Wrap("finish "+in.JobID, err)
		}
	}
	_, err = p.Table.Write(ctx, done)
	return fault.Wrap("finish "+in.JobID, err)
}

// Each account is checked in one hour of every DueHours. The account's ID determines that hour, and the account is
// listed in the hour's partition. A transaction of an organization that writes there runs in table.Within(ctx,
// DuePrefix).
const (
	DuePrefix = "BILLDUE#"
	DueHours  = 6
)

// Due names an account whose bills are imported.
type Due struct {
	Org       string `json:"org"`
	AccountID string `json:"accountID"`
}

// DuePK returns the partition of the accounts that are due in the hour of t.
func DuePK(t time.Time) string { return duePK(t.Unix() / 3600) }

func duePK(hour int64) string { return fmt.Sprintf("%s%d", DuePrefix, hour%DueHours) }

// DueKey returns the key under which the account is listed.
func DueKey(accountID string) table.Key {
	h := fnv.New32a()
	_, _ = h.Write([]byte(accountID)) // a hash never fails
	return table.Key{PK: duePK(int64(h.Sum32())), SK: accountID}
}

// AddDue returns the write that lists the account. Add it to the transaction that connects the account. The worker
// that finds the account removed deletes it from the list.
func AddDue(org, accountID string) (table.Write, error) {
	it, err := table.NewItem(DueKey(accountID), Due{org, accountID})
	return table.Put(it), err
}

// NewFirst returns the writes that list an account which is being connected, and those that list the first import of
// its bills. It also returns the input of that import for StartMachine.
func NewFirst(org, accountID string, now time.Time) (Input, []table.Write, error) {
	in := Input{Org: org, JobID: id.New("job", now), AccountID: accountID, First: true}
	due, err := AddDue(org, accountID)
	if err != nil {
		return in, nil, err
	}
	work, err := AddWork(in, now)
	return in, []table.Write{due, work}, err
}

// The least time between imports: an account is imported each night, and after a failure in each round.
const (
	nightly = 20 * time.Hour
	retried = 5 * time.Hour
)

// IsDue reports whether the bills of the account are due for import at the time now.
func (e Entry) IsDue(now time.Time) bool {
	pause := nightly
	if e.Failure != nil {
		pause = retried
	}
	return !e.IsSyncing(now) && now.Sub(e.TriedAt) >= pause
}

// DueInput returns the input of the import that is due for an account in the hour of now. It is the same for every
// start within that hour.
func DueInput(d Due, now time.Time) Input {
	return Input{
		Org: d.Org, JobID: id.Derived("job", now.Truncate(time.Hour), "bills of "+d.AccountID),
		AccountID: d.AccountID,
	}
}
