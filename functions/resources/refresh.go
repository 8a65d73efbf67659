package resources

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

func (s *service) refreshOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "refreshResources", Method: http.MethodPost, Path: refresh, Policy: "resources:write",
		Status:  http.StatusAccepted,
		Summary: "Discover every account again",
		Description: "Starts a discovery of each account, or joins the one under way. Accounts that their cloud " +
			"organisation has disconnected are left out. Poll statusURL.",
	}, s.refreshAll)
	rest.Handle(g, rest.Op{
		ID: "getRefresh", Method: http.MethodGet, Path: refresh + "/{jobID}", Policy: policy,
		Statuses: []int{http.StatusNotFound},
		Summary:  "Get the progress of a refresh",
		Description: "running while one of its discoveries is running; then succeeded, partial or failed. Each " +
			"discovery has its own statusURL.",
	}, s.refreshProgress)
}

// refreshTTL is how long a refresh is kept: as long as its discoveries.
const refreshTTL = 30 * 24 * time.Hour

// startConcurrency is how many discoveries are started at the same time.
const startConcurrency = 8

// pass is the record of a refresh: the discovery that it started in each account.
type pass struct {
	ID        string    `json:"id"`
	Jobs      []started `json:"jobs"`
	StartedAt time.Time `json:"startedAt"`
}

type started struct {
	AccountID string `json:"accountID"`
	JobID     string `json:"jobID"`
}

func passKey(org, jobID string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "REFRESH", SK: jobID}
}

func (s *service) refreshAll(ctx context.Context, _ *struct{}) (rest.Job, error) {
	org := identity.CallerOrg(ctx)
	jobs, err := s.startAll(ctx, org)
	if err != nil {
		return rest.Job{}, err
	}
	now := s.p.Clock.Now()
	p := pass{ID: id.New("job", now), Jobs: jobs, StartedAt: now}
	it, err := table.NewItem(passKey(org, p.ID), p)
	if err != nil {
		return rest.Job{}, err
	}
	it.Expires = now.Add(refreshTTL)
	if _, err = s.p.Table.Write(ctx, table.Put(it, table.Absent())); err != nil {
		return rest.Job{}, fault.Wrap("record refresh "+p.ID, err)
	}
	audit.NoteChange(ctx, audit.Change{Target: p.ID, After: p})
	status := discovery.Running
	if len(jobs) == 0 {
		status = discovery.Succeeded
	}
	return rest.Job{JobID: p.ID, Status: string(status), StatusURL: refresh + "/" + p.ID}, nil
}

// startAll starts the discoveries of all accounts. If one cannot be started, the call fails; a repeated call joins
// the others.
func (s *service) startAll(ctx context.Context, org string) ([]started, error) {
	accounts, err := s.inventory.ListAccounts(ctx, org)
	if err != nil {
		return nil, err
	}
	accounts = slices.DeleteFunc(accounts, func(a inventory.Account) bool { return a.Ended != "" })
	out, errs := make([]started, len(accounts)), make([]error, len(accounts))
	slots := make(chan struct{}, startConcurrency)
	var wg sync.WaitGroup
	for i, a := range accounts {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			j, err := discovery.StartDiscovery(ctx, s.p, org, a.ID)
			out[i], errs[i] = started{a.ID, j.ID}, err
		})
	}
	wg.Wait()
	kept := out[:0]
	for i, err := range errs {
		if fault.Is(err, fault.NotFound) { // disconnected meanwhile
			continue
		}
		if err != nil {
			return nil, fault.Wrap("discover account "+accounts[i].ID, err)
		}
		kept = append(kept, out[i])
	}
	return kept, nil
}

// Refresh is the progress of a refresh.
type Refresh struct {
	JobID       string           `json:"jobID"`
	Status      discovery.Status `json:"status" enum:"running,succeeded,partial,failed"`
	Discoveries []Discovery      `json:"discoveries" doc:"One for each account"`
	StartedAt   time.Time        `json:"startedAt"`
}

// Discovery is the progress of the discovery of one account.
type Discovery struct {
	CloudAccountID string           `json:"cloudAccountID" doc:"Our id of the cloud account"`
	JobID          string           `json:"jobID"`
	Status         discovery.Status `json:"status" enum:"running,succeeded,partial,failed"`
	StatusURL      string           `json:"statusURL"`
	Error          *string          `json:"error" doc:"Why it failed, else null"`
}

type refreshInput struct {
	JobID string `path:"jobID" maxLength:"64"`
}

func (s *service) refreshProgress(ctx context.Context, in *refreshInput) (Refresh, error) {
	org := identity.CallerOrg(ctx)
	missing := fault.New(fault.NotFound, "there is no refresh %.64q", in.JobID)
	if !id.IsValid("job", in.JobID) {
		return Refresh{}, missing
	}
	p, err := table.Read[pass](ctx, s.p.Table, passKey(org, in.JobID))
	if fault.Is(err, fault.NotFound) {
		return Refresh{}, missing
	}
	if err != nil {
		return Refresh{}, fault.Wrap("read refresh "+in.JobID, err)
	}
	jobs, err := s.readJobs(ctx, org, p)
	if err != nil {
		return Refresh{}, err
	}
	return Refresh{JobID: p.ID, Status: combinedStatus(jobs), Discoveries: jobs, StartedAt: p.StartedAt}, nil
}

func (s *service) readJobs(ctx context.Context, org string, p pass) ([]Discovery, error) {
	keys := make([]table.Key, len(p.Jobs))
	for i, j := range p.Jobs {
		keys[i] = discovery.JobKey(org, j.JobID)
	}
	out := make([]Discovery, 0, len(keys))
	if len(keys) == 0 {
		return out, nil
	}
	got, err := s.p.Table.BatchGet(ctx, keys...)
	if err != nil {
		return nil, fault.Wrap("read discoveries of "+p.ID, err)
	}
	for i, j := range p.Jobs {
		it, ok := got[keys[i]]
		if !ok { // its record has ended
			continue
		}
		job, err := table.Decode[discovery.Job](it)
		if err != nil {
			return nil, err
		}
		out = append(out,
			Discovery{
				j.AccountID, j.JobID, job.Status, "/cloud-accounts/" + j.AccountID + "/discover/" + j.JobID,
				rest.Optional(job.Error),
			})
	}
	return out, nil
}

// combinedStatus returns one status for several discoveries.
func combinedStatus(jobs []Discovery) discovery.Status {
	count := map[discovery.Status]int{}
	for _, j := range jobs {
		count[j.Status]++
	}
	switch {
	case count[discovery.Running] > 0:
		return discovery.Running
	case count[discovery.Succeeded] == len(jobs):
		return discovery.Succeeded
	case count[discovery.Failed] == len(jobs):
		return discovery.Failed
	default:
		return discovery.Partial
	}
}
