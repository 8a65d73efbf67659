package e2e

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/cmd/lamplighter/testenv"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/foundation/money"
)

// remedied is an instance with a recommendation to stop it.
type remedied struct {
	ID, UID, Name, Type, Provider, CloudAccountID, Region, Status string
}

// hurrying is a clock that runs as fast as the machine's, and faster between two changes of its pace: tokens last while
// requests are made.
type hurrying struct {
	clock.System

	mu       sync.Mutex
	at, real time.Time // the time that it showed at a moment of the machine's clock
	pace     time.Duration
}

func newHurrying() *hurrying {
	now := clock.System{}.Now()
	return &hurrying{at: now, real: now, pace: 1}
}

// run makes the clock run pace times as fast as the machine's from now on.
func (h *hurrying) run(pace time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.System.Now()
	h.at, h.real, h.pace = h.at.Add(h.pace*now.Sub(h.real)), now, pace
}

// Now returns the time.
func (h *hurrying) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.at.Add(h.pace * h.System.Now().Sub(h.real))
}

// Sleep waits for d at the present pace.
func (h *hurrying) Sleep(ctx context.Context, d time.Duration) error {
	h.mu.Lock()
	pace := h.pace
	h.mu.Unlock()
	return h.System.Sleep(ctx, d/pace)
}

// A recommendation is carried out over HTTP, through the function, the machine, the executor and the simulated cloud:
// one person proposes, another one approves, it runs, and it is rolled back to the state before. While it runs, a
// minute of the service's clock is a tenth of a second.
func TestARecommendationIsProposedApprovedCarriedOutAndRolledBack(t *testing.T) {
	t.Parallel()
	clk := newHurrying()
	s := testenv.Start(t, testenv.Setup{Clock: clk})
	ada := s.NewOwner("remedy@example.com")
	ada.ConnectAccount("111122224444", testenv.FastCloud(60).WithoutBills().WithSetting("stopped", "0"))
	bob := ada.InviteColleague("approver@example.com", "admin")
	var all []remedied
	ada.Call(http.MethodGet, "/resources?type=aws-ec2&status=running&schedulable=true&limit=1", nil, &all)
	if len(all) != 1 {
		t.Fatal("the simulated cloud has no instance that runs")
	}
	r := all[0]
	recID := recommendStop(t, s, ada.Org, r)

	var detail struct{ Plan struct{ Executable bool } }
	ada.Call(http.MethodGet, "/recommendations/"+recID, nil, &detail)
	var dry struct {
		Digest  string
		Targets []struct {
			Plan struct{ Before, After map[string]string }
		}
	}
	ada.Call(http.MethodPost, "/recommendations/"+recID+"/remediate", map[string]any{"dryRun": true}, &dry)
	if !detail.Plan.Executable || len(dry.Targets) != 1 || dry.Targets[0].Plan.Before["status"] != "running" {
		t.Fatalf("executable %v, %+v", detail.Plan.Executable, dry)
	}
	var job struct{ JobID string }
	ada.Call(http.MethodPost, "/remediation-workflows", map[string]any{"recommendationIDs": []string{recID}}, &job)
	path := "/remediation-workflows/" + job.JobID
	ada.CallRefused(http.StatusForbidden, http.MethodPost, path+"/approve", nil)
	var w struct {
		Status, Digest string
		Steps          []struct{ Status string }
		History        []struct{ To string }
	}
	bob.Call(http.MethodPost, path+"/approve", nil, &w)
	if w.Digest != dry.Digest {
		t.Error("the approved digest is not that of the dry run")
	}
	clk.run(600)
	awaitWorkflow(t, s, ada.Org, job.JobID, remediation.Succeeded)
	clk.run(1)
	ada.LogIn("remedy@example.com", ada.Org) // tokens have expired meanwhile
	bob.LogIn("approver@example.com", ada.Org)
	var now remedied
	ada.Call(http.MethodGet, "/resources/"+r.ID, nil, &now)
	var rec struct{ Status string }
	ada.Call(http.MethodGet, "/recommendations/"+recID, nil, &rec)
	if now.Status != "stopped" || rec.Status != "applied" {
		t.Errorf("the instance is %s, the recommendation %s", now.Status, rec.Status)
	}

	bob.Call(http.MethodPost, path+"/rollback", nil, nil)
	clk.run(600)
	awaitWorkflow(t, s, ada.Org, job.JobID, remediation.RolledBack)
	clk.run(1)
	ada.LogIn("remedy@example.com", ada.Org)
	ada.Call(http.MethodGet, "/resources/"+r.ID, nil, &now)
	ada.Call(http.MethodGet, "/recommendations/"+recID, nil, &rec)
	if now != r || rec.Status != "open" {
		t.Errorf("before it was %+v, it is %+v; the recommendation is %s", r, now, rec.Status)
	}
	ada.Call(http.MethodGet, path, nil, &w)
	var to []string
	for _, e := range w.History {
		to = append(to, e.To)
	}
	if want := []string{
		"pending", "awaiting_approval", "running", "succeeded", "rolled_back",
	}; !slices.Equal(to, want) {
		t.Errorf("its transitions are %v; want %v", to, want)
	}
}

// recommendStop opens the recommendation to stop an instance, whatever the rules say of it.
func recommendStop(t *testing.T, s *testenv.Env, org string, r remedied) string {
	t.Helper()
	const ruleID = "aws-ec2-idle"
	f := recommendation.Finding{
		RuleID: ruleID, RuleVersion: 1, Outcome: recommendation.True, Category: "idle", Severity: recommendation.High,
		Effort: "low", Risk: "low", Title: "Instance does almost nothing", Reason: "no use",
		Resource: recommendation.Resource{
			ResourceID: r.ID, ResourceUID: r.UID, ResourceName: r.Name, ResourceType: r.Type, Provider: r.Provider,
			CloudAccountID: r.CloudAccountID, Region: r.Region,
		},
		Savings: recommendation.Savings{
			Gross: money.FromInt(9), Net: money.FromInt(9), Basis: recommendation.Estimated,
		},
	}
	now := s.Platform.Clock.Now()
	_, err := recommendation.New(s.Platform).Settle(table.WithOrg(t.Context(), org), org,
		recommendation.ShardOf(r.UID), recommendation.Pass{ID: id.New("job", now), At: now},
		[]recommendation.Finding{f})
	if err != nil {
		t.Fatal(err)
	}
	return recommendation.IDOf(r.ID, r.UID, ruleID)
}

// awaitWorkflow waits until a workflow has a status. It reads the store, because an organization has 100 requests a
// minute.
func awaitWorkflow(t *testing.T, s *testenv.Env, org, workflowID string, want remediation.Status) {
	t.Helper()
	store, ctx := remediation.New(s.Platform), table.WithOrg(t.Context(), org)
	s.Eventually("the workflow to be "+string(want), func() bool {
		w, err := store.Get(ctx, org, workflowID)
		if err == nil && w.Status == remediation.Failed {
			t.Fatalf("it failed: %s", w.Message)
		}
		return err == nil && w.Status == want
	})
}
