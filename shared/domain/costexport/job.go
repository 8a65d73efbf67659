package costexport

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// Machine is the state machine that runs a job, named as its file in statemachines/, and Worker the function that it calls.
const (
	Machine = "cost-export"
	Worker  = "exporter"
)

// What is stored: the jobs of an organization, and of all organizations when their files are to be removed.
const (
	Partition    table.Partition = "ORG#*#EXPORT"
	DuePartition table.Partition = "EXPORTDUE"
)

// The formats of an export.
const (
	CSV     = "csv"
	NDJSON  = "ndjson"
	Parquet = "parquet"
)

// Bounds of jobs.
const (
	// MaxRows is how many rows a job writes: what its worker writes within its fifteen minutes, three times over.
	MaxRows = 20_000_000
	// MaxUnderway is how many jobs of an organization may run at once.
	MaxUnderway = 10
	// Kept is how long a file is kept, and Linked how long a link to it opens.
	Kept   = 24 * time.Hour
	Linked = 15 * time.Minute
	// lost is after how long a job counts as dead; its machine's TimeoutSeconds are fewer.
	lost = 4 * time.Hour
)

// Status is how far a job is.
type Status string

// The statuses of a job.
const (
	Running   Status = "running"
	Succeeded Status = "succeeded"
	Failed    Status = "failed"
	Expired   Status = "expired" // its file is gone
)

// Job writes one export into a file. It sees what who asked for it saw then.
type Job struct {
	ID          string              `json:"id"` // job_…
	User        string              `json:"user"`
	Grants      string              `json:"grants"` // grant.Encode
	Format      string              `json:"format"`
	From        time.Time           `json:"from"`
	To          time.Time           `json:"to"`
	Filter      map[string][]string `json:"filter,omitempty"`
	Status      Status              `json:"status"`
	Rows        int64               `json:"rows,omitempty"`
	Totals      *cost.Amounts       `json:"totals,omitempty"`
	Message     string              `json:"message,omitempty"` // of one that failed
	CreatedAt   time.Time           `json:"createdAt"`
	CompletedAt time.Time           `json:"completedAt,omitzero"`
	ExpiresAt   time.Time           `json:"expiresAt"` // of its file
}

// Question is what the job exports, without what its caller may see.
func (j *Job) Question() cost.Question {
	return cost.Question{From: j.From, To: j.To, Filter: j.Filter}
}

// StatusAt returns how the job stands.
func (j *Job) StatusAt(now time.Time) Status {
	switch {
	case j.Status == Running && now.Sub(j.CreatedAt) >= lost:
		return Failed
	case j.Status == Succeeded && !now.Before(j.ExpiresAt):
		return Expired
	}
	return j.Status
}

// IsOf reports whether a caller is who asked for the job, with the same rights: others could see in it what they may not.
func (j *Job) IsOf(c identity.Caller) bool {
	return j.User == c.User && j.Grants == grant.Encode(c.Grants)
}

// FileName is what the file of the job is called for people.
func (j *Job) FileName() string {
	name := "costs-" + j.From.Format(time.DateOnly) + "." + j.Format
	if j.Format == Parquet {
		return name
	}
	return name + ".gz"
}

// ObjectName is the name under which the file is archived: it is erased with what the archive has of the organization.
func ObjectName(org, jobID string) string { return org + "/exports/" + jobID }

// JobKey returns where a job is stored.
func JobKey(org, jobID string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "EXPORT", SK: jobPrefix + jobID}
}

const jobPrefix = "J#"

// asked names the newest job of a question.
type asked struct {
	JobID string `json:"jobID"`
}

// askedKey returns where it is stored which job answers the same question, by the same caller.
func (j *Job) askedKey(org string) (table.Key, error) {
	b, err := json.Marshal([]any{j.User, j.Grants, j.Format, j.From, j.To, j.Filter})
	sum := sha256.Sum256(b)
	return table.Key{PK: table.OrgPK(org) + "EXPORT", SK: "Q#" + hex.EncodeToString(sum[:16])}, err
}

// Due names a file that is to be removed.
type Due struct {
	Org   string `json:"org"`
	JobID string `json:"jobID"`
}

// DueKey returns where it is listed when the file of a job expires.
func DueKey(at time.Time, jobID string) table.Key {
	return table.Key{PK: string(DuePartition), SK: at.UTC().Format(time.RFC3339) + "#" + jobID}
}

// Input is the input of the machine.
type Input struct {
	Org   string `json:"org"`
	JobID string `json:"jobID"`
}

// Organisation returns the organization that the input belongs to.
func (in Input) Organisation() string { return in.Org }

// Start begins a job for the caller of ctx, or gives the one that answers the same question and runs.
func Start(ctx context.Context, p *platform.Platform, j Job) (Job, error) {
	c := identity.CallerFrom(ctx)
	j.User, j.Grants, j.Status = c.User, grant.Encode(c.Grants), Running
	for range table.MaxTurns {
		turn, err := table.ReadTurn(ctx, p.Table, JobKey(c.Org, "").PK)
		if err != nil {
			return Job{}, err
		}
		before, same, err := underway(ctx, p, c.Org, &j)
		if err != nil || before.ID != "" {
			return before, err
		}
		j.CreatedAt = p.Clock.Now()
		j.ID, j.ExpiresAt = id.New("job", j.CreatedAt), j.CreatedAt.Add(Kept)
		err = begin(ctx, p, c.Org, &j, same, turn.Take())
		if err == nil {
			startMachine(ctx, p, Input{c.Org, j.ID})
			return j, nil
		}
		if _, faster := errors.AsType[*table.ConditionError](err); !faster {
			return Job{}, fault.Wrap("begin the export "+j.ID, err)
		}
	}
	return Job{}, fault.New(fault.Conflict, "other exports are being started just now: try again")
}

// underway returns the job that answers the same question, if one runs, and else the condition on which a new one may take its place.
func underway(ctx context.Context, p *platform.Platform, org string, j *Job) (Job, table.Cond, error) {
	key, err := j.askedKey(org)
	if err != nil {
		return Job{}, table.Cond{}, err
	}
	newest, err := table.Read[asked](ctx, p.Table, key)
	if fault.Is(err, fault.NotFound) {
		return Job{}, table.Absent(), checkRoom(ctx, p, org)
	}
	if err != nil {
		return Job{}, table.Cond{}, fault.Wrap("read the newest export of a question", err)
	}
	before, err := Read(ctx, p.Table, org, newest.JobID)
	if err == nil && before.StatusAt(p.Clock.Now()) == Running {
		return before, table.Cond{}, nil
	}
	if err != nil && !fault.Is(err, fault.NotFound) {
		return Job{}, table.Cond{}, err
	}
	return Job{}, table.Equal("jobID", newest.JobID), checkRoom(ctx, p, org)
}

// checkRoom refuses one job too many.
func checkRoom(ctx context.Context, p *platform.Platform, org string) error {
	q := table.Query{PK: JobKey(org, "").PK, Prefix: jobPrefix, Reverse: true, Limit: table.MaxPage}
	all, _, err := table.ReadPage[Job](ctx, p.Table, q)
	if err != nil {
		return fault.Wrap("list exports of "+org, err)
	}
	running := 0
	for i := range all {
		if all[i].StatusAt(p.Clock.Now()) == Running {
			running++
		}
	}
	if running >= MaxUnderway {
		return fault.New(fault.Conflict,
			"%d exports of the organization run, which is the most at once: wait until one has ended", running)
	}
	return nil
}

// keptRow is how long the row of a job can be read: its file is removed before.
const keptRow = 7 * 24 * time.Hour

// begin records a job, as work that must come to an end, and when its file is to be removed.
func begin(ctx context.Context, p *platform.Platform, org string, j *Job, same table.Cond, take table.Write) error { //nolint:revive // on which conditions
	key, err := j.askedKey(org)
	if err != nil {
		return err
	}
	newest, err1 := table.NewItem(key, asked{j.ID})
	newest.Expires = j.CreatedAt.Add(keptRow)
	job, err2 := Put(org, j, table.Absent())
	due, err3 := table.NewItem(DueKey(j.ExpiresAt, j.ID), Due{org, j.ID})
	work, err4 := workqueue.AddWork(workqueue.Work{ID: j.ID, Org: org, Machine: Machine, At: j.CreatedAt},
		Input{org, j.ID})
	if err = errors.Join(err1, err2, err3, err4); err != nil {
		return err
	}
	return p.Table.Transact(table.Within(ctx, workqueue.Prefix, string(DuePartition)), table.Put(newest, same), job,
		table.Put(due), work, take)
}

// Put returns the write that stores a job.
func Put(org string, j *Job, conds ...table.Cond) (table.Write, error) {
	it, err := table.NewItem(JobKey(org, j.ID), j)
	it.Expires = j.CreatedAt.Add(keptRow)
	return table.Put(it, conds...), err
}

// Read reads a job; one that does not exist is fault.NotFound.
func Read(ctx context.Context, s table.Store, org, jobID string) (Job, error) {
	j, err := table.Read[Job](ctx, s, JobKey(org, jobID))
	if fault.Is(err, fault.NotFound) {
		return j, Missing(jobID)
	}
	return j, fault.Wrap("read export "+jobID, err)
}

// Missing is the error of a job that does not exist, or not for whom it is asked for.
func Missing(jobID string) error {
	return fault.New(fault.NotFound,
		"there is no export %.64q of yours: exports can be asked after for a week, by who began them and with the "+
			"same rights", jobID)
}

// startMachine starts the machine of a job. When that fails the sweeper does it a little later.
func startMachine(ctx context.Context, p *platform.Platform, in Input) {
	if err := p.Workflow.Start(ctx, Machine, in.JobID, in); err != nil {
		p.Log.WarnContext(ctx, "costs will be exported by the sweeper's start", "job", in.JobID, "org", in.Org, "error",
			err)
	}
}

// End ends a job that has not ended.
func End(ctx context.Context, p *platform.Platform, in Input, change func(*Job)) error {
	j, err := Read(ctx, p.Table, in.Org, in.JobID)
	if fault.Is(err, fault.NotFound) || err == nil && !j.CompletedAt.IsZero() {
		return nil
	}
	if err != nil {
		return err
	}
	change(&j)
	j.CompletedAt = p.Clock.Now()
	put, err := Put(in.Org, &j, table.Exists(), table.Lacks("completedAt"))
	if err != nil {
		return err
	}
	_, err = p.Table.Write(ctx, put)
	if _, ended := errors.AsType[*table.ConditionError](err); ended {
		return nil
	}
	return fault.Wrap("end export "+in.JobID, err)
}

// Finish takes a job off the list of work.
func Finish(ctx context.Context, p *platform.Platform, in Input) error {
	_, err := p.Table.Write(table.Within(ctx, workqueue.Prefix), workqueue.RemoveWork(in.JobID))
	return fault.Wrap("finish "+in.JobID, err)
}

// LinkTask is the task of archive.LinkWorker that makes a link to the file of a job: its input is a LinkQuestion, its answer a Link.
const LinkTask = "link"

// LinkQuestion asks for a link to the file of a job.
type LinkQuestion struct {
	Input
	FileName string    `json:"fileName"`
	Until    time.Time `json:"until"`
}

// Link is where a file is fetched, by the HTTP method GET.
type Link struct {
	URL string `json:"url"`
}

// MakeLink asks the worker for a link, as the API links no client of what keeps files.
func MakeLink(ctx context.Context, p *platform.Platform, in LinkQuestion) (string, error) {
	var out Link
	err := p.Workers.RunTask(ctx, archive.LinkWorker, map[string]any{"task": LinkTask, "input": in}, &out)
	if err != nil {
		return "", fmt.Errorf("make a link to %s: %w", in.JobID, err)
	}
	return out.URL, nil
}
