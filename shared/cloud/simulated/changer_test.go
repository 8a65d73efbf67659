package simulated

import (
	"maps"
	"strconv"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/tabletest"
)

// Every change of the catalogue is made in a simulated account that has its kind, and given back exactly.
func TestChanger_EveryChangeIsMadeAndGivenBack(t *testing.T) {
	found := map[string]cloud.Resource{}
	settings := map[string]string{"size": "6000", "kinds": "*", "facts": "complete"}
	for _, r := range others(t, settings) {
		if _, seen := found[r.Type]; !seen {
			found[r.Type] = r
		}
	}
	p := New(tabletest.New(t), clock.NewManual(billedAt))
	conn := apitest.Value(p.Connect(t.Context(), account(settings)))(t).(cloud.Changer)
	made := 0
	for _, provider := range []string{"aws", "azure", "gcp"} {
		for _, of := range cloud.ChangesOf(provider) {
			r, there := found[of.Type]
			if !there || of.Verb.RemovesResource() {
				continue
			}
			made++
			t.Run(of.Type+" "+string(of.Verb), func(t *testing.T) {
				change := cloud.Change{
					Verb: of.Verb, Kind: of.Type, Region: r.Region, UID: r.UID, Token: "rem_1-0",
				}
				before := apitest.Value(conn.DescribeForChange(t.Context(), change))(t).Values
				change.Want = wantedOf(of, before)
				plan := apitest.Value(conn.PlanChange(t.Context(), change))(t)
				for _, set := range []cloud.Values{plan.After, plan.Before} {
					call := cloud.ChangeCall{Change: change, Set: set, Native: plan.Native}
					if err := conn.ApplyChange(t.Context(), call); err != nil {
						t.Fatal(err)
					}
					if ok, now, err := conn.CheckChange(t.Context(), call); err != nil || !ok {
						t.Fatalf("%v, %v; want %v", now, err, set)
					}
				}
				after := apitest.Value(conn.DescribeForChange(t.Context(), change))(t).Values
				if !maps.Equal(before, after) {
					t.Errorf("%v, before %v", after, before)
				}
			})
		}
	}
	if made < 35 { // those of the kinds that simulated accounts have
		t.Errorf("%d changes were made", made)
	}
}

// wantedOf returns another value for each of a change, of the kind of the present one.
func wantedOf(of cloud.KindChange, now cloud.Values) cloud.Values {
	out := cloud.Values{}
	for _, name := range of.Sets {
		n, err := strconv.ParseFloat(now[name], 64)
		switch {
		case now[name] == "true", now[name] == "false":
			out[name] = strconv.FormatBool(now[name] == "false")
		case err == nil:
			out[name] = strconv.FormatFloat(n+1, 'f', -1, 64)
		default:
			out[name] = "changed"
		}
	}
	for _, name := range of.Adds {
		out[name] = cloud.Added + "audit"
	}
	return out
}
