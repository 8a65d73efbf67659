package autoscalerpolicies

import (
	"net/http"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
)

func inventoryID(f *fixture, uid string) (string, error) {
	found, err := inventory.New(f.Platform).ByUIDs(f.In(apitest.Org), apitest.Org, []string{uid},
		inventory.SeeEverything())
	if err != nil || len(found) == 0 {
		return "", err
	}
	return found[0].ID, nil
}

func TestApply_ModesDoWhatTheyMay(t *testing.T) {
	f := newFixture(t)
	p := f.createPolicy(larger, map[string]any{"mode": "monitor"})
	f.postVerb(p, "apply").Want(http.StatusConflict, "monitor")
	f.postVerb(p, "resume").Want(http.StatusOK)
	f.Equal("calls of monitor", f.countCalls(), 0)
	f.Call(ada, "PUT /autoscaler-policies/"+p.ID, `{"mode":"recommend"}`).Want(http.StatusOK)
	f.Equal("calls of recommend, unasked", f.countCalls(), 0)
	done := apitest.Data[AutoscalerPolicy](f.Call(ada, "PUT /autoscaler-policies/"+p.ID, `{"mode":"autopilot"}`))
	f.Equal("of autopilot", scaling(f.liveScaling(p)), apitest.JSON(done.Applied))
	f.Equal("max", f.liveScaling(p).Max, int64(40))
	f.Call(ada, "PUT /autoscaler-policies/"+p.ID, `{"max":60}`).Want(http.StatusOK)
	f.Equal("max after a change", f.liveScaling(p).Max, int64(60))
	other := apitest.Data[AutoscalerPolicy](f.Call(ada, "POST /autoscaler-policies",
		f.policyBody(cloud.AWSECS, 0, larger, map[string]any{"mode": "autopilot"})))
	f.Equal("made on autopilot", f.liveScaling(other).Max, int64(40))
	f.wantLog(other, "adopted", "applied")
}

func TestApply_NeverAboveWhatTheCredentialAllows(t *testing.T) {
	f := newFixture(t)
	f.connectAccount(nil, "read_only")
	f.Call(ada, "POST /autoscaler-policies",
		f.policyBody(cloud.AWSASG, 0, map[string]any{"mode": "autopilot"})).Want(http.StatusBadRequest, "mode",
		"read_only")
	p := f.createPolicy(map[string]any{"mode": "recommend"})
	f.Call(ada, "PUT /autoscaler-policies/"+p.ID, `{"mode":"autopilot"}`).Want(http.StatusBadRequest, "mode",
		"read_only")
	f.postVerb(p, "apply").Want(http.StatusForbidden, "read_only")
	f.connectAccount(nil, "read_write")
	auto := apitest.Data[AutoscalerPolicy](f.Call(ada, "PUT /autoscaler-policies/"+p.ID,
		`{"mode":"autopilot","min":3,"max":30,"desired":4}`))
	f.connectAccount(nil, "read_only") // after the fact
	f.postVerb(auto, "apply").Want(http.StatusForbidden, "read_only")
	f.Call(ada, "DELETE /autoscaler-policies/"+p.ID).Want(http.StatusConflict, "read_only", "force=true")
	f.Equal("still there", f.liveScaling(p).Max, int64(30))
}

func TestApply_TellsWhatSomebodyElseChanged(t *testing.T) {
	f := newFixture(t)
	p := f.createPolicy(larger)
	f.postVerb(p, "apply").Want(http.StatusOK)
	theirs := f.liveScaling(p)
	theirs.Desired++ // as its rule does
	f.changeScaling(p, theirs)
	f.postVerb(p, "apply").Want(http.StatusOK)
	f.wantLog(p, "adopted", "applied", "applied")
	theirs.Max = 99
	f.changeScaling(p, theirs)
	f.postVerb(p, "apply").Want(http.StatusOK)
	f.wantLog(p, "adopted", "applied", "applied", "drifted", "applied")
	drifted := f.readLog(p)[3]
	f.Equal("drift", []int64{drifted.Before.Max, drifted.After.Max}[1], int64(99))
	f.Equal("undone", f.liveScaling(p).Max, int64(40))
}

func TestApply_APauseLeavesTheCloudAsItIs(t *testing.T) {
	f := newFixture(t)
	p := f.createPolicy(larger, map[string]any{"mode": "autopilot"})
	f.postVerb(p, "pause").Want(http.StatusOK, "paused")
	before := f.countCalls()
	f.postVerb(p, "apply").Want(http.StatusConflict, "paused", "resume")
	f.Call(ada, "PUT /autoscaler-policies/"+p.ID, `{"max":60}`).Want(http.StatusOK, "paused")
	f.postVerb(p, "pause").Want(http.StatusOK, "paused")
	f.Equal("calls while paused", f.countCalls(), before)
	f.Equal("max while paused", f.liveScaling(p).Max, int64(40))
	resumed := apitest.Data[AutoscalerPolicy](f.postVerb(p, "resume"))
	f.Equal("status", resumed.Status, "active")
	f.Equal("max after", f.liveScaling(p).Max, int64(60))
	f.wantLog(p, "adopted", "applied", "paused", "resumed", "applied")
}

func TestApply_AFailureIsToldAndNothingIsClaimedAfterwards(t *testing.T) {
	f := newFixture(t)
	p := f.createPolicy(larger)
	simulated.DenyCapability(f.provider, f.account, "scale", true)
	f.postVerb(p, "apply").Want(http.StatusBadRequest, "not authorized")
	failed := f.getPolicy(p)
	if failed.Status != "error" || failed.Note == nil || failed.Applied != nil {
		t.Errorf("%+v", failed)
	}
	f.wantLog(p, "adopted", "refused")
	auto := apitest.Data[AutoscalerPolicy](f.Call(ada, "PUT /autoscaler-policies/"+p.ID, `{"mode":"autopilot"}`))
	f.Equal("status on autopilot", auto.Status, "error")
	simulated.DenyCapability(f.provider, f.account, "scale", false)
	done := apitest.Data[AutoscalerPolicy](f.postVerb(p, "apply"))
	if done.Status != "active" || done.Note != nil || done.Applied == nil {
		t.Errorf("%+v", done)
	}
}

func TestApply_WhatRunsNothingIsNotTouched(t *testing.T) {
	f := newFixture(t)
	p := f.createPolicy(larger)
	f.postVerb(p, "apply").Want(http.StatusOK)
	for _, r := range f.conn().Act(f.Context(), cloud.Stop, p.Target.Type, region,
		[]cloud.Target{{UID: p.Target.UID}, {UID: f.byType[cloud.AWSASG][1].UID}}) {
		f.Must(r.Err)
	}
	f.postVerb(p, "apply").Want(http.StatusConflict, "start it first")
	f.Call(ada, "DELETE /autoscaler-policies/"+p.ID).Want(http.StatusConflict, "start it first", "force=true")
	f.Call(ada, "POST /autoscaler-policies",
		f.policyBody(cloud.AWSASG, 1, map[string]any{"name": "other"})).Want(http.StatusConflict, "start it first")
	f.Equal("still off", f.liveScaling(p).Desired, int64(0))
}

func TestRemove_GivesBackWhatWasFound(t *testing.T) {
	f := newFixture(t)
	t.Run("what was never applied is left alone", func(t *testing.T) {
		p := f.createPolicy(larger)
		theirs := f.liveScaling(p)
		theirs.Max += 7
		f.changeScaling(p, theirs)
		gone := apitest.Data[DeletedAutoscalerPolicy](f.Call(ada, "DELETE /autoscaler-policies/"+p.ID))
		f.Equal("restored", gone.Restored, false)
		f.Equal("the customer's own change", f.liveScaling(p).Max, theirs.Max)
	})
	t.Run("and tells drift", func(t *testing.T) {
		p := f.createPolicy(larger)
		f.postVerb(p, "apply").Want(http.StatusOK)
		theirs := f.liveScaling(p)
		theirs.Max = 99
		f.changeScaling(p, theirs)
		gone := apitest.Data[DeletedAutoscalerPolicy](f.Call(ada, "DELETE /autoscaler-policies/"+p.ID))
		if !gone.Restored || gone.Drift == nil || gone.Drift.Applied.Max != 40 || gone.Drift.Live.Max != 99 {
			t.Errorf("%+v", gone)
		}
		f.Equal("given back", scaling(f.liveScaling(p)), apitest.JSON(p.Found))
	})
	t.Run("of a target that is gone nothing", func(t *testing.T) {
		p := f.createPolicy(larger)
		f.postVerb(p, "apply").Want(http.StatusOK)
		f.connectAccount(map[string]string{"vanish": "1"}, "read_write")
		f.Equal("restored",
			apitest.Data[DeletedAutoscalerPolicy](f.Call(ada, "DELETE /autoscaler-policies/"+p.ID)).Restored, false)
		f.connectAccount(nil, "read_write")
	})
	t.Run("a cloud that does not let it keeps the policy, until it is forgotten by force", func(t *testing.T) {
		p := apitest.Data[AutoscalerPolicy](f.Call(ada, "POST /autoscaler-policies",
			f.policyBody(cloud.AWSECS, 0, larger)))
		f.postVerb(p, "apply").Want(http.StatusOK)
		simulated.DenyCapability(f.provider, f.account, "scale", true)
		f.Call(ada, "DELETE /autoscaler-policies/"+p.ID).Want(http.StatusConflict, "kept", "force=true")
		f.Equal("status", f.getPolicy(p).Status, "error")
		f.Call(ada, "DELETE /autoscaler-policies/"+p.ID+"?force=true").Want(http.StatusOK)
		f.Call(ada, "GET /autoscaler-policies/"+p.ID).Want(http.StatusNotFound)
		f.Equal("left as it is", f.liveScaling(p).Max, int64(40))
	})
}

func TestRemove_AnAccountThatIsGoneTakesForce(t *testing.T) {
	f := newFixture(t)
	p := f.createPolicy(larger)
	f.postVerb(p, "apply").Want(http.StatusOK)
	_, err := f.Table.Write(f.In(apitest.Org), table.Delete(inventory.AccountKey(apitest.Org, f.account)))
	f.Must(err)
	f.postVerb(p, "apply").Want(http.StatusConflict, "not connected any more")
	f.Call(ada, "DELETE /autoscaler-policies/"+p.ID).Want(http.StatusConflict, "force=true")
	f.Call(ada, "DELETE /autoscaler-policies/"+p.ID+"?force=true").Want(http.StatusOK)
}
