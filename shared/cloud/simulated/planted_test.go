package simulated

import (
	"slices"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/tabletest"
)

// plantedAccount is an account with exactly the planted resources.
func plantedAccount() cloud.Account {
	return account(map[string]string{"facts": "planted", "regions": "eu-west-1"})
}

func TestPlanted_AnAccountHasExactlyThePlantedResources(t *testing.T) {
	p := New(tabletest.New(t), clock.NewManual(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)))
	c := apitest.Value(p.Connect(t.Context(), plantedAccount()))(t)
	listed := map[string]cloud.Resource{}
	for _, k := range append(p.Kinds(), cloud.CollectiveOf(Name)) {
		page := apitest.Value(c.List(t.Context(), k.Type, "eu-west-1", ""))(t)
		for _, r := range page.Resources {
			listed[r.UID] = r
		}
	}
	all := apitest.Value(PlantedWaste(plantedAccount()))(t)
	for _, w := range all {
		if r, is := listed[w.UID]; !is || r.Type != w.Type || r.Status != cloud.Running || r.Unschedulable != "" {
			t.Errorf("%+v is listed as %+v", w, r)
		}
	}
	if len(listed) != len(all) || len(all) < 20 {
		t.Errorf("%d resources are listed, %d are planted", len(listed), len(all))
	}
}

// Each rule of the table is one of the product's, for the type of its resource, and each type has a healthy resource.
func TestPlanted_TheRulesAreThoseOfTheType(t *testing.T) {
	healthy, planted := map[string]bool{}, map[string]bool{}
	for _, w := range apitest.Value(PlantedWaste(plantedAccount()))(t) {
		if planted[w.Type] = true; len(w.Rules) == 0 {
			healthy[w.Type] = true
		}
		for _, id := range w.Rules {
			if r := rule.ByID(id); r == nil || r.Type != w.Type {
				t.Errorf("%s is planted for %s, which is no rule of its type", w.UID, id)
			}
		}
	}
	for kind := range planted {
		if !healthy[kind] {
			t.Errorf("%s has no healthy resource", kind)
		}
	}
}

func TestPlanted_OtherAccountsHaveNone(t *testing.T) {
	if got := apitest.Value(PlantedWaste(account(map[string]string{"facts": "complete"})))(t); len(got) > 0 {
		t.Error(got)
	}
	if r := others(t, map[string]string{"size": "3000", "kinds": "*"}); slices.ContainsFunc(r,
		func(r cloud.Resource) bool { return r.Type == "aws-cloudtrail" }) {
		t.Error("an account without planted resources has a trail")
	}
}
