package simulated

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"lamplighter.dev/shared/cloud"
)

// Each change of the catalogue is made and given back on a resource of its type, if there are such resources here.
func TestChanger_MakesAndGivesBackEachChangeOfTheCatalogue(t *testing.T) {
	c := newFixture(t).open(t, map[string]string{"size": "6000", "kinds": "*", "regions": "1", "stopped": "0"})
	of := map[string]cloud.Resource{}
	kinds := []string{"simulated-*"}
	for _, k := range New(nil, nil).Kinds() {
		kinds = append(kinds, k.Type)
	}
	regions, err := c.Regions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range kinds {
		for _, r := range in(c, kind, regions[0]).list(t) {
			of[r.Type] = r
		}
	}
	tested := map[string]int{}
	for _, provider := range []string{"aws", "azure", "gcp", "kubernetes"} {
		for _, change := range cloud.ChangesOf(provider) {
			if r, is := of[change.Type]; is {
				for _, want := range wantedOf(change) {
					changeAndGiveBack(t, c.(cloud.Changer), r, cloud.Change{Verb: change.Verb, Want: want})
					tested[provider]++
				}
			}
		}
	}
	if tested["aws"] < 10 || tested["kubernetes"] < 20 {
		t.Errorf("%v changes were tested", tested)
	}
}

// wantedOf returns a text for each value of a change, or one removal.
func wantedOf(of cloud.KindChange) []cloud.Values {
	out := []cloud.Values{}
	for _, name := range of.Sets {
		text := "17"
		if slices.Contains(of.Adds, name) {
			text = cloud.Added + "audit"
		}
		out = append(out, cloud.Values{name: text})
	}
	if of.Verb == cloud.Delete && !cloud.IsSnapshot(of.Type) {
		out = append(out, nil)
	}
	return out
}

func changeAndGiveBack(t *testing.T, c cloud.Changer, r cloud.Resource, want cloud.Change) {
	t.Helper()
	want.Kind, want.Region, want.UID, want.Token = r.Type, r.Region, r.UID, "wf_1-0"
	before := valuesIn(t, c, want)
	p, err := c.PlanChange(t.Context(), want)
	if err != nil {
		if cloud.ClassOf(err) != cloud.Unsupported || want.Verb != cloud.Delete {
			t.Errorf("%s of %s: %v", want.Verb, want.Kind, err)
		}
		return // it is in use
	}
	for _, set := range []cloud.Values{p.After, p.Before} {
		call := cloud.ChangeCall{Change: want, Set: set}
		if err = c.ApplyChange(t.Context(), call); err != nil {
			t.Fatalf("%s of %s to %v: %v", want.Verb, want.Kind, set, err)
		}
		if reached, now, err := c.CheckChange(t.Context(), call); !reached || err != nil {
			t.Errorf("%s of %s to %v: it has %v, %v", want.Verb, want.Kind, set, now, err)
		}
	}
	if now := valuesIn(t, c, want); fmt.Sprint(now) != fmt.Sprint(before) {
		t.Errorf("%s of %s: it has %v, had %v", want.Verb, want.Kind, now, before)
	}
}

// valuesIn returns the values of a resource that are not empty.
func valuesIn(t *testing.T, c cloud.Changer, of cloud.Change) cloud.Values {
	t.Helper()
	d, err := c.DescribeForChange(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(d.Values, func(_, text string) bool { return text == "" })
	return d.Values
}
