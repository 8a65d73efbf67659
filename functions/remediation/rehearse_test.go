package remediation

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"lamplighter.dev/shared/api/rest"
	domain "lamplighter.dev/shared/domain/remediation"
	engine "lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/testkit/apitest"
)

// rehearsed answers the task that rehearses a workflow: its first run gives everything back, its second does not.
func (f *fixture) rehearsed(call engine.Call) (any, error) {
	var asked domain.RehearsalInput
	f.Must(json.Unmarshal(call.Input, &asked))
	if f.meanwhile != nil {
		f.meanwhile()
	}
	good, bad := domain.RehearsedTarget{RecID: asked.Targets[0].RecID, Restored: true},
		domain.RehearsedTarget{RecID: asked.Targets[0].RecID, Differences: []string{`iops was "3000" and is "9000"`}}
	return domain.Rehearsal{Runs: []domain.RehearsedRun{
		{
			Fault: domain.NoFault, Status: domain.Succeeded, RolledBack: domain.RolledBack,
			Targets: []domain.RehearsedTarget{good}, Steps: []domain.RehearsedStep{{
				After: 90 * time.Second, RecID: asked.Targets[0].RecID, Call: "ec2:StopInstances",
			}},
		},
		{Fault: domain.DeniedHalfWay, Status: domain.Failed, Targets: []domain.RehearsedTarget{bad}},
	}}, nil
}

func (f *fixture) propose() WorkflowDetail {
	f.Helper()
	return f.get(apitest.Data[rest.Job](f.remediate(ada, 0, `{}`), http.StatusAccepted).JobID)
}

func TestRehearse_AnswersTheRunsAndStoresThem(t *testing.T) {
	f := newFixture(t)
	w := f.propose()
	if w.Rehearsal != nil {
		t.Errorf("%+v before it is rehearsed", w.Rehearsal)
	}
	got := apitest.Data[WorkflowRehearsal](f.Call(ada, "POST /remediation-workflows/"+w.ID+"/rehearse"))
	f.Equal("passed", got.Passed, false)
	f.Equal("by", got.By, ada.Email)
	run, denied := got.Runs[0], got.Runs[1]
	if !run.Passed || *run.RolledBack != domain.RolledBack || run.Steps[0].AfterSeconds != 90 || denied.Passed ||
		denied.RolledBack != nil || denied.Targets[0].Differences[0] != `iops was "3000" and is "9000"` {
		t.Errorf("%s", apitest.JSON(got))
	}
	after := f.get(w.ID)
	f.Equal("stored", apitest.JSON(after.Rehearsal), apitest.JSON(got))
	f.Equal("digest", after.Digest, w.Digest)
	f.Equal("rehearsed digest", got.Digest, w.Digest)
	f.Equal("status", after.Status, domain.AwaitingApproval)
	f.Equal("started", len(f.started), 0)
	f.Equal("audited", f.LastAudited(apitest.Org).Target, w.ID)
	f.Call(bob, "POST /remediation-workflows/"+w.ID+"/approve").Want(http.StatusOK)
}

func TestRehearse_OnlyWhatAwaitsApproval(t *testing.T) {
	f := newFixture(t)
	w := f.propose()
	f.Call(eve, "POST /remediation-workflows/"+w.ID+"/rehearse").Want(http.StatusNotFound)
	f.Call(apitest.Caller(apitest.Org, "sam", "remediation:read"),
		"POST /remediation-workflows/"+w.ID+"/rehearse").Want(http.StatusForbidden)
	f.Clock.Advance(domain.ApprovalTime)
	f.Call(ada, "POST /remediation-workflows/"+w.ID+"/rehearse").Want(http.StatusConflict)
}

// A decision while the rehearsal runs stands, and the rehearsal is not stored.
func TestRehearse_ADecisionMeanwhileStands(t *testing.T) {
	f := newFixture(t)
	w := f.propose()
	f.meanwhile = func() { f.Call(bob, "POST /remediation-workflows/"+w.ID+"/approve").Want(http.StatusOK) }
	f.Call(ada, "POST /remediation-workflows/"+w.ID+"/rehearse").Want(http.StatusConflict)
	after := f.get(w.ID)
	f.Equal("status", after.Status, domain.Running)
	if after.Rehearsal != nil {
		t.Errorf("%+v", after.Rehearsal)
	}
}

// A rehearsal that is stored while somebody approves neither fails the approval nor is lost.
func TestRehearse_AnApprovalMeanwhileSucceeds(t *testing.T) {
	f := newFixture(t)
	w := f.propose()
	f.planning = func() {
		f.planning = nil
		f.Call(ada, "POST /remediation-workflows/"+w.ID+"/rehearse").Want(http.StatusOK)
	}
	f.Call(bob, "POST /remediation-workflows/"+w.ID+"/approve").Want(http.StatusOK)
	after := f.get(w.ID)
	f.Equal("status", after.Status, domain.Running)
	f.Equal("rehearsed", after.Rehearsal != nil, true)
}
