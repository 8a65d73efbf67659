package report

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
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// ExportMachine is the state machine that runs a job, named like its file in statemachines/. Worker is the function
// that it calls.
const (
	ExportMachine = "cost-export"
	ExportWorker  = "exporter"
)

// The partitions of exports: the jobs of an organization, and the jobs of all organizations by the time when their
// files are deleted.
const (
	ExportPartition    table.Partition = "ORG#*#EXPORT"
	ExportDuePartition table.Partition = "EXPORTDUE"
)

// The formats of an export.
const (
	CSV     = "csv"
	NDJSON  = "ndjson"
	Parquet = "parquet"
)

// The details of an export of costs: charges added up by day, or the lines of bills.
const (
	DetailDays  = "days"
	DetailLines = "lines"
)

// Limits of jobs.
const (
	// MaxExportRows is the largest number of rows of a job, a third of the rows that its worker writes within fifteen
	// minutes.
	MaxExportRows = 20_000_000
	// MaxExportsUnderway is the most jobs of an organization that run at once.
	MaxExportsUnderway = 10
	// ExportKept is how long a file is kept, and Linked how long a link to it is valid.
	ExportKept   = 24 * time.Hour
	ExportLinked = 15 * time.Minute
	// lost is the time after which a job counts as dead. It is longer than the machine's TimeoutSeconds.
	lost = 4 * time.Hour
)

// ExportStatus is the status of a job.
type ExportStatus string

// The statuses of a job.
const (
	ExportRunning   ExportStatus = "running"
	ExportSucceeded ExportStatus = "succeeded"
	ExportFailed    ExportStatus = "failed"
	ExportExpired   ExportStatus = "expired" // its file was deleted
)

// Export is a job that writes an export to a file, with the caller's rights at the time when the job began.
type Export struct {
	ID     string              `json:"id"` // job_…
	User   string              `json:"user"`
	Grants string              `json:"grants"` // grant.Encode
	Format string              `json:"format"`
	From   time.Time           `json:"from"`
	To     time.Time           `json:"to"`
	Filter map[string][]string `json:"filter,omitempty"`
	Detail string              `json:"detail,omitempty"` // DetailLines, or "" for DetailDays
	// the resources of an export of resources; nil for costs
	Resources *inventory.Filter `json:"resources,omitempty"`
	Status    ExportStatus      `json:"status"`
	Rows      int64             `json:"rows,omitempty"`
	Totals    *cost.Amounts     `json:"totals,omitempty"`
	// billed amounts that are not in Totals, because their currencies have no exchange rate
	Unconverted []cost.CurrencyTotal `json:"unconverted,omitempty"`
	// months of an export of lines whose rows are sums by day, because a bill has no line items
	SummedMonths []string `json:"summedMonths,omitempty"`
	// months whose bills were not all imported when the file was written
	Incomplete  []string  `json:"incomplete,omitempty"`
	Message     string    `json:"message,omitempty"` // of a failed job
	CreatedAt   time.Time `json:"createdAt"`
	CompletedAt time.Time `json:"completedAt,omitzero"`
	ExpiresAt   time.Time `json:"expiresAt"` // of its file
}

// Question returns the question of the job, without the rights of its caller.
func (j *Export) Question() cost.Question {
	return cost.Question{From: j.From, To: j.To, Filter: j.Filter}
}

// StatusAt returns the status of the job at the time now.
func (j *Export) StatusAt(now time.Time) ExportStatus {
	switch {
	case j.Status == ExportRunning && now.Sub(j.CreatedAt) >= lost:
		return ExportFailed
	case j.Status == ExportSucceeded && !now.Before(j.ExpiresAt):
		return ExportExpired
	}
	return j.Status
}

// IsOf reports whether the caller requested the job and still has the same rights. Another caller could see costs
// beyond their rights in it.
func (j *Export) IsOf(c identity.Caller) bool {
	return j.User == c.User && j.Grants == grant.Encode(c.Grants)
}

// FileName returns the name of the downloaded file.
func (j *Export) FileName() string {
	name := "costs-" + j.From.Format(time.DateOnly) + "." + j.Format
	if j.Resources != nil {
		name = "resources." + j.Format
	}
	if j.Format == Parquet {
		return name
	}
	return name + ".gz"
}

// ExportObjectName returns the name of the file in the archive. It begins with the organization, so that the file is
// erased with the organization's archive.
func ExportObjectName(org, jobID string) string { return org + "/exports/" + jobID }

// ExportKey returns the key of a job.
func ExportKey(org, jobID string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "EXPORT", SK: jobPrefix + jobID}
}

const jobPrefix = "J#"

// asked refers to the newest job of a question.
type asked struct {
	JobID string `json:"jobID"`
}

// askedKey returns the key of the reference to the job that answers the same question by the same caller.
func (j *Export) askedKey(org string) (table.Key, error) {
	b, err := json.Marshal([]any{j.User, j.Grants, j.Format, j.From, j.To, j.Filter, j.Detail, j.Resources})
	sum := sha256.Sum256(b)
	return table.Key{PK: table.OrgPK(org) + "EXPORT", SK: "Q#" + hex.EncodeToString(sum[:16])}, err
}

// ExportDue identifies a file that will be deleted.
type ExportDue struct {
	Org   string `json:"org"`
	JobID string `json:"jobID"`
}

// ExportDueKey returns the key that lists when the file of a job expires.
func ExportDueKey(at time.Time, jobID string) table.Key {
	return table.Key{PK: string(ExportDuePartition), SK: at.UTC().Format(time.RFC3339) + "#" + jobID}
}

// ExportInput is the input of the machine.
type ExportInput struct {
	Org   string `json:"org"`
	JobID string `json:"jobID"`
}

// Organisation returns the organization that the input belongs to.
func (in ExportInput) Organisation() string { return in.Org }

// StartExport begins a job for the caller of ctx, or returns the running job that answers the same question.
func StartExport(ctx context.Context, p *platform.Platform, j Export) (Export, error) {
	c := identity.CallerFrom(ctx)
	j.User, j.Grants, j.Status = c.User, grant.Encode(c.Grants), ExportRunning
	for range table.MaxTurns {
		turn, err := table.ReadTurn(ctx, p.Table, ExportKey(c.Org, "").PK)
		if err != nil {
			return Export{}, err
		}
		before, newest, err := underway(ctx, p, c.Org, &j)
		if err != nil || before.ID != "" {
			return before, err
		}
		j.CreatedAt = p.Clock.Now()
		j.ID, j.ExpiresAt = id.New("job", j.CreatedAt), j.CreatedAt.Add(ExportKept)
		err = exportStart{org: c.Org, job: &j, newest: newest, turn: turn.Take()}.write(ctx, p)
		if err == nil {
			startMachine(ctx, p, ExportInput{c.Org, j.ID})
			return j, nil
		}
		if _, faster := errors.AsType[*table.ConditionError](err); !faster {
			return Export{}, fault.Wrap("begin the export "+j.ID, err)
		}
	}
	return Export{}, fault.New(fault.Conflict, "other exports are being started just now: try again")
}

// underway returns the running job that answers the same question. If there is none, it returns the condition under
// which a new job may replace the recorded one.
func underway(ctx context.Context, p *platform.Platform, org string, j *Export) (Export, table.Cond, error) {
	key, err := j.askedKey(org)
	if err != nil {
		return Export{}, table.Cond{}, err
	}
	newest, err := table.Read[asked](ctx, p.Table, key)
	if fault.Is(err, fault.NotFound) {
		return Export{}, table.Absent(), checkRoom(ctx, p, org)
	}
	if err != nil {
		return Export{}, table.Cond{}, fault.Wrap("read the newest export of a question", err)
	}
	before, err := ReadExport(ctx, p.Table, org, newest.JobID)
	if err == nil && before.StatusAt(p.Clock.Now()) == ExportRunning {
		return before, table.Cond{}, nil
	}
	if err != nil && !fault.Is(err, fault.NotFound) {
		return Export{}, table.Cond{}, err
	}
	return Export{}, table.Equal("jobID", newest.JobID), checkRoom(ctx, p, org)
}

// checkRoom returns an error if MaxExportsUnderway jobs are running.
func checkRoom(ctx context.Context, p *platform.Platform, org string) error {
	q := table.Query{PK: ExportKey(org, "").PK, Prefix: jobPrefix, Reverse: true, Limit: table.MaxPage}
	all, _, err := table.ReadPage[Export](ctx, p.Table, q)
	if err != nil {
		return fault.Wrap("list exports of "+org, err)
	}
	running := 0
	for i := range all {
		if all[i].StatusAt(p.Clock.Now()) == ExportRunning {
			running++
		}
	}
	if running >= MaxExportsUnderway {
		return fault.New(fault.Conflict,
			"%d exports of the organization run, which is the most at once: wait until one has ended", running)
	}
	return nil
}

// keptRow is how long the row of a job is kept. Its file is deleted earlier.
const keptRow = 7 * 24 * time.Hour

// exportStart is a new job with the conditions under which it begins.
type exportStart struct {
	org    string
	job    *Export
	newest table.Cond  // the condition of the row that names the newest job for the question
	turn   table.Write // takes the turn of the list of jobs; it fails after another job has begun
}

// write records the job, lists it as work to complete, and lists when its file is deleted, in one transaction.
func (s exportStart) write(ctx context.Context, p *platform.Platform) error {
	org, j := s.org, s.job
	key, err := j.askedKey(org)
	if err != nil {
		return err
	}
	newest, err1 := table.NewItem(key, asked{j.ID})
	newest.Expires = j.CreatedAt.Add(keptRow)
	job, err2 := PutExport(org, j, table.Absent())
	due, err3 := table.NewItem(ExportDueKey(j.ExpiresAt, j.ID), ExportDue{org, j.ID})
	work, err4 := workqueue.AddWork(workqueue.Work{ID: j.ID, Org: org, Machine: ExportMachine, At: j.CreatedAt},
		ExportInput{org, j.ID})
	if err = errors.Join(err1, err2, err3, err4); err != nil {
		return err
	}
	return p.Table.Transact(table.Within(ctx, workqueue.Prefix, string(ExportDuePartition)),
		table.Put(newest, s.newest), job, table.Put(due), work, s.turn)
}

// PutExport returns the write that stores a job.
func PutExport(org string, j *Export, conds ...table.Cond) (table.Write, error) {
	it, err := table.NewItem(ExportKey(org, j.ID), j)
	it.Expires = j.CreatedAt.Add(keptRow)
	return table.Put(it, conds...), err
}

// ReadExport returns a job, or fault.NotFound.
func ReadExport(ctx context.Context, s table.Store, org, jobID string) (Export, error) {
	j, err := table.Read[Export](ctx, s, ExportKey(org, jobID))
	if fault.Is(err, fault.NotFound) {
		return j, MissingExport(jobID)
	}
	return j, fault.Wrap("read export "+jobID, err)
}

// MissingExport returns the error for a job that does not exist or that another caller requested.
func MissingExport(jobID string) error {
	return fault.New(fault.NotFound,
		"there is no export %.64q of yours: exports can be asked after for a week, by who began them and with the "+
			"same rights", jobID)
}

// startMachine starts the machine of a job. If that fails, the sweeper starts it a little later.
func startMachine(ctx context.Context, p *platform.Platform, in ExportInput) {
	if err := p.Workflow.Start(ctx, ExportMachine, in.JobID, in); err != nil {
		p.Log.WarnContext(ctx, "costs will be exported by the sweeper's start", "job", in.JobID, "org", in.Org, "error",
			err)
	}
}

// EndExport applies change to a job and ends it. It does nothing if the job has already ended.
func EndExport(ctx context.Context, p *platform.Platform, in ExportInput, change func(*Export)) error {
	j, err := ReadExport(ctx, p.Table, in.Org, in.JobID)
	if fault.Is(err, fault.NotFound) || err == nil && !j.CompletedAt.IsZero() {
		return nil
	}
	if err != nil {
		return err
	}
	change(&j)
	j.CompletedAt = p.Clock.Now()
	put, err := PutExport(in.Org, &j, table.Exists(), table.Lacks("completedAt"))
	if err != nil {
		return err
	}
	_, err = p.Table.Write(ctx, put)
	if _, ended := errors.AsType[*table.ConditionError](err); ended {
		return nil
	}
	return fault.Wrap("end export "+in.JobID, err)
}

// FinishExport removes a job from the list of work.
func FinishExport(ctx context.Context, p *platform.Platform, in ExportInput) error {
	_, err := p.Table.Write(table.Within(ctx, workqueue.Prefix), workqueue.RemoveWork(in.JobID))
	return fault.Wrap("finish "+in.JobID, err)
}

// ExportLinkTask is the task of archive.LinkWorker that creates a link to the file of a job: its input is an
// ExportLinkQuestion, its answer an ExportLink.
const ExportLinkTask = "link"

// ExportLinkQuestion asks for a link to the file of a job.
type ExportLinkQuestion struct {
	ExportInput
	FileName string    `json:"fileName"`
	Until    time.Time `json:"until"`
}

// ExportLink is the address from which a file is fetched with the HTTP method GET.
type ExportLink struct {
	URL string `json:"url"`
}

// MakeExportLink returns a link to the file of a job of the caller of ctx, and its end. It returns nil for a job
// without a file. It asks the worker for the link, since the API links no client of the archive.
func MakeExportLink(ctx context.Context, p *platform.Platform, j *Export) (url *string, until *time.Time, err error) {
	now, org := p.Clock.Now(), identity.CallerOrg(ctx)
	if j.StatusAt(now) != ExportSucceeded {
		return nil, nil, nil
	}
	end := clock.Earliest(now.Add(ExportLinked), j.ExpiresAt)
	in := ExportLinkQuestion{ExportInput: ExportInput{org, j.ID}, FileName: j.FileName(), Until: end}
	var out ExportLink
	err = p.Workers.RunTask(ctx, archive.LinkWorker, map[string]any{"task": ExportLinkTask, "input": in}, &out)
	if err != nil {
		return nil, nil, fmt.Errorf("make a link to %s: %w", j.ID, err)
	}
	return &out.URL, &end, nil
}

// ReadOwnExport returns a job of the caller of ctx, or fault.NotFound.
func ReadOwnExport(ctx context.Context, p *platform.Platform, jobID string) (Export, error) {
	if !id.IsValid("job", jobID) {
		return Export{}, MissingExport(jobID)
	}
	c := identity.CallerFrom(ctx)
	j, err := ReadExport(ctx, p.Table, c.Org, jobID)
	if err == nil && !j.IsOf(c) {
		err = MissingExport(jobID)
	}
	return j, err
}
