package simulated

import (
	"reflect"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/tabletest"
)

func TestReadOpinions_AreAboutResourcesAndFollowTheSeed(t *testing.T) {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	read := func(seed string, limit int) (all []cloud.Opinion, cut bool, uids map[string]bool) {
		p := New(tabletest.New(t), clock.NewManual(now))
		c := apitest.Value(p.Connect(t.Context(), account(map[string]string{
			"size": "400", "kinds": "aws-ec2,aws-ebs", "regions": "eu-west-1", "seed": seed,
		})))(t)
		a := apitest.Value(c.(cloud.OpinionReader).ReadOpinions(t.Context(), cloud.OpinionRequest{Limit: limit},
			func(o cloud.Opinion) { all = append(all, o) }))(t)
		uids = map[string]bool{}
		for _, kind := range []string{"aws-ec2", cloud.CollectiveOf(Name).Type} {
			for _, r := range apitest.Value(c.List(t.Context(), kind, "eu-west-1", ""))(t).Resources {
				uids[r.UID] = true
			}
		}
		return all, a.Cut, uids
	}
	all, cut, uids := read("1", 1000)
	actions := map[cloud.OpinionAction]int{}
	for _, o := range all {
		actions[o.Action]++
		if !uids[o.ResourceUID] || o.Saving != nil && o.Saving.Sign() <= 0 ||
			(o.Action == cloud.OpinionResize) != (o.Target != "") {
			t.Errorf("an opinion is %+v", o)
		}
	}
	if cut || actions[cloud.OpinionStop] < 5 || actions[cloud.OpinionResize] < 5 || actions[cloud.OpinionDelete] < 5 {
		t.Errorf("opinions by action: %v, cut %v", actions, cut)
	}
	again, _, _ := read("1", 1000)
	other, _, _ := read("2", 1000)
	if !reflect.DeepEqual(all, again) || reflect.DeepEqual(all, other) {
		t.Error("the same seed has other opinions, or another one the same")
	}
	if few, cut, _ := read("1", 3); len(few) != 3 || !cut {
		t.Errorf("%d opinions with a limit of 3, cut %v", len(few), cut)
	}
}
