package e2e

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"lamplighter.dev/cmd/lamplighter/testenv"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/engine/table"
)

// A plan runs from its creation to its end over HTTP, through the machine, the executor, the simulated cloud and the
// callback, on the machine's own clock. Its event begins in three seconds and lasts two.
func TestAnEventGoesFromDraftToCompletedAndGivesBackWhatWas(t *testing.T) {
	t.Parallel()
	s := testenv.Start(t, testenv.Setup{})
	c := s.NewOwner("event@example.com")
	c.ConnectAccount("111122223333", testenv.FastCloud(200))
	var groups []struct {
		UID, CloudAccountID string
		Capacity            map[string]int64
	}
	c.Call(http.MethodGet, "/resources?type=aws-asg&status=running&limit=1", nil, &groups)
	if len(groups) == 0 {
		t.Fatal("the simulated cloud has no group that runs")
	}
	var policy, plan struct {
		ID, Status string
		Targets    []map[string]any
	}
	c.Call(http.MethodPost, "/autoscaler-policies", map[string]any{
		"name": "Shop", "cloudAccountID": groups[0].CloudAccountID,
		"target": map[string]string{"type": "aws-asg", "uid": groups[0].UID},
	}, &policy)
	begins := s.Platform.Clock.Now().Add(3 * time.Second)
	c.Call(http.MethodPost, "/event-readiness", map[string]any{
		"name": "Launch", "eventStart": begins.Format(time.RFC3339Nano),
		"eventEnd":        begins.Add(2 * time.Second).Format(time.RFC3339Nano),
		"preScaleMinutes": 0, "postEventMinutes": 0, "expectedMultiplier": 3, "timezone": "Europe/Berlin",
		"targets": []map[string]string{{"policyId": policy.ID}},
	}, &plan)
	c.Call(http.MethodPost, "/event-readiness/"+plan.ID+"/schedule", map[string]any{}, nil)
	plans, ctx := readiness.New(s.Platform.Table, s.Platform.Clock), table.WithOrg(t.Context(), c.Org)
	s.Eventually("the end of the plan", func() bool { // in the store, for an organization has 100 requests a minute
		p, err := plans.Get(ctx, c.Org, plan.ID)
		return err == nil && (p.Status == readiness.Completed || p.Status == readiness.Failed)
	})
	var log struct {
		Items []struct{ Kind, To string }
	}
	c.Call(http.MethodGet, "/event-readiness/"+plan.ID+"/logs?limit=100", nil, &log)
	var to []string
	for _, line := range slices.Backward(log.Items) {
		if line.Kind == "transition" {
			to = append(to, line.To)
		}
	}
	if want := []string{
		"draft", "scheduling", "scheduled", "scaling_up", "active", "scaling_down",
		"completed",
	}; !slices.Equal(to, want) {
		t.Errorf("its transitions are %v; want %v", to, want)
	}
	var proposal struct{ Current map[string]any }
	c.Call(http.MethodGet,
		"/autoscaler-policies/smart-defaults?cloud_account_id="+groups[0].CloudAccountID+
			"&target_type=aws-asg&target_uid="+groups[0].UID, nil, &proposal)
	for _, size := range []string{"min", "max", "desired"} {
		if was := float64(groups[0].Capacity[size]); proposal.Current[size] != was {
			t.Errorf("%s is %v and was %v", size, proposal.Current[size], was)
		}
	}
}
