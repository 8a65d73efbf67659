package autoscalerpolicies

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
)

func scaling(a cloud.Autoscaling) string { return apitest.JSON(newScaling(a)) }

var larger = map[string]any{"min": 20, "max": 40, "desired": 30, "targetCPUPercent": 55, "cooldownSeconds": 120}

func TestPolicies_FromAdoptionToRestore(t *testing.T) {
	f := newFixture(t)
	for _, kind := range cloud.AutoscaledTypes() {
		t.Run(kind, func(t *testing.T) {
			made := apitest.Data[AutoscalerPolicy](f.Call(ada, "POST /autoscaler-policies",
				f.policyBody(kind, 0, larger)))
			found := f.liveScaling(made)
			if !id.IsValid("asp", made.ID) || made.Mode != readiness.Recommend || made.Status != "active" ||
				made.Target.Region != region || made.Applied != nil {
				t.Fatalf("%+v", made)
			}
			f.Equal("found", apitest.JSON(made.Found), scaling(found))
			f.Equal("read", apitest.JSON(f.getPolicy(made)), apitest.JSON(made))
			applied := apitest.Data[AutoscalerPolicy](f.postVerb(made, "apply"))
			f.Equal("in the cloud", scaling(f.liveScaling(made)),
				`{"min":20,"max":40,"desired":30,"targetCPUPercent":55,"cooldownSeconds":120}`)
			f.Equal("applied", apitest.JSON(applied.Applied), scaling(f.liveScaling(made)))
			f.wantLog(made, "adopted", "applied")
			gone := apitest.Data[DeletedAutoscalerPolicy](f.Call(ada, "DELETE /autoscaler-policies/"+made.ID))
			if gone.ID != made.ID || !gone.Restored || gone.Drift != nil {
				t.Errorf("%+v", gone)
			}
			f.Equal("given back", string(f.liveScaling(made).Native), string(found.Native))
			f.Call(ada, "GET /autoscaler-policies/"+made.ID).Want(http.StatusNotFound, made.ID)
			f.Equal("audited", f.LastAudited(apitest.Org).Target, made.ID)
		})
	}
}

func TestPolicies_AreOfOneOrganization(t *testing.T) {
	f := newFixture(t)
	p := f.createPolicy()
	path := "/autoscaler-policies/" + p.ID
	for _, request := range []string{
		"GET " + path, "PUT " + path, "DELETE " + path, "POST " + path + "/apply",
		"POST " + path + "/pause", "POST " + path + "/resume", "GET " + path + "/logs",
	} {
		f.Call(eve, request, "{}").Want(http.StatusNotFound, p.ID)
	}
	f.Equal("of the other one",
		apitest.Data[rest.List[AutoscalerPolicy]](f.Call(eve, "GET /autoscaler-policies")).Total, 0)
	f.Call(eve, "POST /autoscaler-policies", f.policyBody(cloud.AWSASG, 1)).Want(http.StatusBadRequest, "target.uid")
	f.Call(eve, "GET /autoscaler-policies/smart-defaults?cloud_account_id="+f.account+
		"&target_type=aws-asg&target_uid="+p.Target.UID).Want(http.StatusNotFound, "target.uid")
	for _, request := range []string{
		"POST /autoscaler-policies", "PUT " + path, "DELETE " + path,
		"POST " + path + "/apply", "POST " + path + "/pause", "POST " + path + "/resume",
	} {
		f.Call(vic, request, f.policyBody(cloud.AWSASG, 1)).Want(http.StatusForbidden)
	}
	f.Equal("of a viewer", apitest.Data[AutoscalerPolicy](f.Call(vic, "GET "+path)).ID, p.ID)
}

func TestPolicies_AGrantOnAResourceIsForItsPolicyAlone(t *testing.T) {
	f := newFixture(t)
	p, other := f.createPolicy(),
		apitest.Data[AutoscalerPolicy](f.Call(ada, "POST /autoscaler-policies", f.policyBody(cloud.AWSECS, 0)))
	found, err := inventoryID(f, p.Target.UID)
	f.Must(err)
	sam := apitest.Caller(apitest.Org, "sam",
		"autoscaler-policies:read,autoscaler-policies:write,actions:execute resource:"+found)
	f.Equal("list", apitest.Data[rest.List[AutoscalerPolicy]](f.Call(sam, "GET /autoscaler-policies")).Total, 1)
	f.Call(sam, "POST /autoscaler-policies/"+p.ID+"/apply", "{}").Want(http.StatusOK)
	f.Call(sam, "POST /autoscaler-policies/"+other.ID+"/apply", "{}").Want(http.StatusNotFound)
	f.Call(sam, "GET /autoscaler-policies/"+other.ID).Want(http.StatusNotFound)
	f.Call(sam, "POST /autoscaler-policies", f.policyBody(cloud.GCPMIG, 0)).Want(http.StatusBadRequest, "target.uid")
}

func TestPolicies_BadInputIsRefusedByFieldAndValue(t *testing.T) {
	f := newFixture(t)
	p := f.createPolicy()
	target := func(of map[string]any) map[string]any { return map[string]any{"target": of} }
	uid := f.byType[cloud.AWSASG][1].UID
	for i, c := range []struct {
		change       map[string]any
		status       int
		field, value string
	}{
		{map[string]any{"name": ""}, 400, "name", ""},
		{map[string]any{"mode": "wild"}, 400, "mode", "monitor"},
		{map[string]any{"min": -1}, 400, "min", "-1"},
		{map[string]any{"min": 5, "max": 4}, 400, "min 5", "max 4"},
		{map[string]any{"min": 1, "max": 4, "desired": 5}, 400, "desired 5", "max 4"},
		{map[string]any{"max": 9_999_999_999}, 400, "max", "9999999999"},
		{map[string]any{"targetCPUPercent": 0}, 400, "targetCPUPercent", "0"},
		{map[string]any{"targetCPUPercent": 101}, 400, "targetCPUPercent", "101"},
		{map[string]any{"cooldownSeconds": 90000}, 400, "cooldownSeconds", "90000"},
		{map[string]any{"min": "many"}, 400, "min", ""},
		{map[string]any{"cloudAccountID": "nonsense"}, 400, "cloudAccountID", "nonsense"},
		{
			map[string]any{"cloudAccountID": "ca_01k6v0e4y0c2b7m9q8r5t3w1xz"},
			400, "target.uid",
			"ca_01k6v0e4y0c2b7m9q8r5t3w1xz",
		},
		{target(map[string]any{"type": "aws-asg", "uid": "arn:nothing"}), 400, "target.uid", "arn:nothing"},
		{target(map[string]any{"type": "aws-ec2", "uid": uid}), 400, "type", ""},
		{target(map[string]any{"type": "aws-ecs", "uid": uid}), 400, "target.type", "aws-asg"},
		{target(map[string]any{"type": "aws-asg", "uid": uid, "region": "mars"}), 400, "target.region", "mars"},
		{target(map[string]any{"type": "aws-asg"}), 400, "uid", ""},
		{map[string]any{"name": "AWS-asg"}, 409, "name", "AWS-asg"},
		{target(map[string]any{"type": "aws-asg", "uid": p.Target.UID}), 409, "target.uid", p.ID},
	} {
		body := f.policyBody(cloud.AWSASG, 1, map[string]any{"name": fmt.Sprint("p", i)}, c.change)
		f.Call(ada, "POST /autoscaler-policies", body).Want(c.status, c.field, c.value)
	}
	for _, body := range []string{
		`{"min":null}`, `{"mode":null}`, `{"name":null}`, `{"min":5000000}`, `{"desired":-4}`,
		`{"targetCPUPercent":0}`,
	} {
		f.Call(ada, "PUT /autoscaler-policies/"+p.ID, body).Want(http.StatusBadRequest)
	}
	f.Call(ada, "GET /autoscaler-policies/nonsense").Want(http.StatusNotFound, "nonsense")
	f.Equal("unchanged", apitest.JSON(f.getPolicy(p)), apitest.JSON(p))
	f.Equal("of one policy", apitest.Data[rest.List[AutoscalerPolicy]](f.Call(ada, "GET /autoscaler-policies")).Total,
		1)
	f.Equal("calls that change something", f.countCalls(), 0)
}

func TestPolicies_WhatIsLeftOutIsAsFound(t *testing.T) {
	f := newFixture(t)
	p := f.createPolicy()
	f.Equal("sizes", fmt.Sprint(p.Min, p.Max, p.Desired, p.TargetCPUPercent, p.CooldownSeconds),
		fmt.Sprint(p.Found.Min, p.Found.Max, p.Found.Desired, 70, 300))
}

func TestPolicies_ListFiltersAndPages(t *testing.T) {
	f := newFixture(t)
	a := f.createPolicy(map[string]any{"name": "b"})
	f.Clock.Advance(time.Second)
	b := apitest.Data[AutoscalerPolicy](f.Call(ada, "POST /autoscaler-policies",
		f.policyBody(cloud.AWSECS, 0, map[string]any{"name": "a", "mode": "monitor"})))
	f.postVerb(a, "pause").Want(http.StatusOK)
	for query, want := range map[string]string{
		"": b.ID + " " + a.ID, "?sort_by=createdAt": a.ID + " " + b.ID, "?status=paused": a.ID, "?mode=monitor": b.ID,
		"?limit=1&page=2":           a.ID,
		"?cloud_account_id=ca_none": "",
	} {
		var got []string
		for _, p := range apitest.Data[rest.List[AutoscalerPolicy]](f.Call(ada,
			"GET /autoscaler-policies"+query)).Items {
			got = append(got, p.ID)
		}
		f.Equal("list"+query, strings.Join(got, " "), want)
	}
	f.Call(ada, "GET /autoscaler-policies?status=wild").Want(http.StatusBadRequest, "status")
}

func TestPolicies_APlanThatHasThePolicyKeepsItsCapacity(t *testing.T) {
	f := newFixture(t)
	p := f.createPolicy(larger)
	store := readiness.NewPolicyStore(f.Table, f.Clock)
	f.Must(f.Table.Transact(f.In(apitest.Org), store.Hold(apitest.Org, p.ID, "evt_1")))
	held := f.getPolicy(p)
	f.Equal("status", held.Status, "held")
	f.Equal("by", *held.HeldBy, "evt_1")
	for _, verb := range []string{"apply", "resume"} {
		f.postVerb(p, verb).Want(http.StatusConflict, "evt_1")
	}
	f.Call(ada, "PUT /autoscaler-policies/"+p.ID, `{"max":50}`).Want(http.StatusConflict, "evt_1")
	f.Call(ada, "DELETE /autoscaler-policies/"+p.ID).Want(http.StatusConflict, "evt_1")
	f.Call(ada, "DELETE /autoscaler-policies/"+p.ID+"?force=true").Want(http.StatusConflict, "evt_1")
	f.Equal("calls that change something", f.countCalls(), 0)
	f.Must(f.Table.Transact(f.In(apitest.Org), store.Release(apitest.Org, p.ID, "evt_1")))
	f.postVerb(p, "apply").Want(http.StatusOK)
}

func TestPolicies_AreAtMostSoMany(t *testing.T) {
	f := newFixture(t)
	for i := range readiness.MaxPolicies {
		p := readiness.Policy{
			ID: id.New("asp", f.Clock.Now()), Name: strconv.Itoa(i),
			Target: readiness.PolicyTarget{UID: strconv.Itoa(i)},
		}
		it, err := table.NewItem(readiness.PolicyKey(apitest.Org, p.ID), p)
		f.Must(err)
		f.Write(table.Put(it))
	}
	f.Call(ada, "POST /autoscaler-policies", f.policyBody(cloud.AWSASG, 0)).Want(http.StatusBadRequest, "500")
}

// Of several that count the policies at the same moment, as many are added as there is room for.
func TestPolicies_SeveralAtOnceAreNoMoreThanTheMost(t *testing.T) {
	f := newFixture(t)
	for i := range readiness.MaxPolicies - 1 {
		p := readiness.Policy{
			ID: id.New("asp", f.Clock.Now()), Name: strconv.Itoa(i),
			Target: readiness.PolicyTarget{UID: strconv.Itoa(i)},
		}
		f.Write(table.Put(apitest.Value(table.NewItem(readiness.PolicyKey(apitest.Org, p.ID), p))(f)))
	}
	const makers = 3
	store := readiness.NewPolicyStore(apitest.Meet(f.Table, readiness.PolicyKey(apitest.Org, "").PK, makers), f.Clock)
	var wg sync.WaitGroup
	errs := make([]error, makers)
	for i := range errs {
		wg.Go(func() {
			name := "late " + strconv.Itoa(i)
			p := readiness.Policy{
				ID: id.New("asp", f.Clock.Now()), Name: name,
				Target: readiness.PolicyTarget{UID: name},
			}
			_, errs[i] = store.Create(f.In(apitest.Org), apitest.Org, p, nil)
		})
	}
	wg.Wait()
	made := 0
	for _, err := range errs {
		if err == nil {
			made++
		} else if !strings.Contains(err.Error(), "has 500 autoscaler policies, which is the most") {
			t.Errorf("%v", err)
		}
	}
	if all := apitest.Value(readiness.NewPolicyStore(f.Table, f.Clock).List(f.In(apitest.Org),
		apitest.Org))(f); made != 1 || len(all) != readiness.MaxPolicies {
		t.Errorf("%d are made, and there are %d", made, len(all))
	}
}
