package gcp_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/gcptwin"
)

const (
	machineTypes = "google.compute.instance.MachineTypeRecommender"
	idleDisks    = "google.compute.disk.IdleResourceRecommender"
	commitments  = "google.compute.commitment.UsageCommitmentRecommender"
)

// readOpinions reads the opinions of a zone and of its region.
func readOpinions(t *testing.T, tw *gcptwin.Cloud, limit int) ([]cloud.Opinion, cloud.OpinionAnswer, error) {
	t.Helper()
	var all []cloud.Opinion
	a, err := open(t, tw, keyAccount(gcptwin.KeyFile())).(cloud.OpinionReader).ReadOpinions(t.Context(),
		cloud.OpinionRequest{Limit: limit, Locations: []string{zone}}, func(o cloud.Opinion) { all = append(all, o) })
	slices.SortFunc(all, func(a, b cloud.Opinion) int { return strings.Compare(a.ID, b.ID) })
	return all, a, err
}

// resize returns a recommendation to resize an instance of the project, with an impact.
func resize(n int, impact string) gcptwin.Advice {
	uid := fmt.Sprintf("//compute.googleapis.com/projects/%s/zones/%s/instances/web-%d", gcptwin.Project, zone, n)
	return gcptwin.Advice{Recommender: machineTypes, Location: zone, Recommendation: fmt.Sprintf(`{
		"name": "projects/1/locations/%[1]s/recommenders/%[2]s/recommendations/%05[3]d",
		"description": "Save cost by changing the machine type", "recommenderSubtype": "CHANGE_MACHINE_TYPE",
		"lastRefreshTime": "2026-02-01T00:00:00.5Z", "stateInfo": {"state": "ACTIVE"},
		"primaryImpact": {"category": "COST", "costProjection": %[5]s},
		"content": {"operationGroups": [{"operations": [
			{"action": "test", "path": "/machineType", "resource": %[4]q, "value": "zones/x/machineTypes/n1-standard-4",
				"resourceType": "compute.googleapis.com/Instance"},
			{"action": "replace", "path": "/machineType", "resource": %[4]q,
				"value": "zones/x/machineTypes/n1-standard-2"}]}]}}`, zone, machineTypes, n, uid, impact)}
}

const halfAHundred = `{"cost": {"currencyCode": "USD", "units": "-50", "nanos": -500000000}, "duration": "2592000s"}`

func TestReadOpinions_ReadsEveryPageOfEveryRecommender(t *testing.T) {
	tw := &gcptwin.Cloud{Page: 2}
	for n := range 5 {
		tw.AddAdvice(resize(n, halfAHundred))
	}
	tw.AddAdvice(gcptwin.Advice{Recommender: commitments, Location: region, Recommendation: `{"name": "c"}`})
	all, a, err := readOpinions(t, tw, 100)
	if err != nil || len(all) != 6 || a.State != cloud.OpinionsRead || a.Cut {
		t.Fatalf("%d opinions, %+v, %v; want 6", len(all), a, err)
	}
	if c := all[0]; c.ResourceUID != "" || c.Action != cloud.OpinionCommit || c.Saving != nil {
		t.Errorf("a commitment is %+v", c)
	}
	b, _ := json.Marshal(all[1])
	want := `{"id":"projects/1/locations/` + zone + `/recommenders/` + machineTypes + `/recommendations/00000",` +
		`"uid":"//compute.googleapis.com/projects/` + gcptwin.Project + `/zones/` + zone + `/instances/web-0",` +
		`"type":"compute.googleapis.com/Instance","region":"` + region + `","action":"resize",` +
		`"native":"CHANGE_MACHINE_TYPE","current":"n1-standard-4",` +
		`"recommended":"Save cost by changing the machine type","target":"n1-standard-2","saving":"50.5",` +
		`"currency":"USD","origin":"` + machineTypes + `","refreshedAt":"2026-02-01T00:00:00.5Z"}`
	if string(b) != want {
		t.Errorf("opinion:\n got %s\nwant %s", b, want)
	}
	if all, a, err = readOpinions(t, tw, 3); err != nil || len(all) != 3 || !a.Cut {
		t.Errorf("with a limit of 3: %d opinions, %+v, %v", len(all), a, err)
	}
}

func TestReadOpinions_Amounts(t *testing.T) {
	for impact, want := range map[string]string{
		`{"cost": {"currencyCode": "EUR", "units": -10}, "duration": "2592000s"}`:                    "10 EUR",
		`{"cost": {"currencyCode": "EUR", "units": "-10"}, "duration": "2592000.5s"}`:                "10 EUR",
		`{"cost": {"currencyCode": "EUR", "units": "-365"}, "duration": "31536000s"}`:                "30 EUR",
		`{"cost": {"currencyCode": "EUR", "nanos": -1}}`:                                             "0.000000001 EUR",
		`{"cost": {"currencyCode": "EUR", "units": "3"}}`:                                            "-3 EUR",
		`{"cost": {"currencyCode": "EUR", "units": "3", "nanos": -1}}`:                               "none",
		`{"cost": {"currencyCode": "EUR", "units": "many"}}`:                                         "none",
		`{"cost": {"currencyCode": "EUR", "units": "-3"}, "duration": "0s"}`:                         "none",
		`{"cost": {"currencyCode": "EUR", "units": "-3"}, "duration": "soon"}`:                       "none",
		`{"cost": {"currencyCode": "<b>", "units": "-3"}}`:                                           "none",
		`{"cost": {"currencyCode": "EUR", "units": "-9223372036854775808"}, "duration": "2592000s"}`: "none",
		`{"cost": null}`: "none",
		`null`:           "none",
	} {
		tw := &gcptwin.Cloud{}
		tw.AddAdvice(resize(1, impact))
		all, _, err := readOpinions(t, tw, 10)
		if err != nil || len(all) != 1 {
			t.Fatalf("%s: %v, %v", impact, all, err)
		}
		got := "none"
		if all[0].Saving != nil {
			got = all[0].Saving.String() + " " + all[0].Currency
		}
		if got != want {
			t.Errorf("%s: %s; want %s", impact, got, want)
		}
	}
}

func TestReadOpinions_ThinAndHostileAnswers(t *testing.T) {
	tw := &gcptwin.Cloud{}
	for _, r := range []string{
		`null`, `{}`, `{"name": "dismissed", "stateInfo": {"state": "DISMISSED"}}`,
		`{"name": "a", "content": {"operationGroups": [{"operations": [{"action": "replace", "path": "/machineType",
			"resource": "//", "value": {"x": 1}}]}]}}`,
		`{"name": "b", "targetResources": ["//compute.googleapis.com/projects/p/zones/` + zone + `/instances/x"],
			"description": "a\u0000b\u202e"}`,
	} {
		tw.AddAdvice(gcptwin.Advice{Recommender: machineTypes, Location: zone, Recommendation: r})
	}
	all, _, err := readOpinions(t, tw, 10)
	if err != nil || len(all) != 3 || all[1].Target != "" || all[2].Recommended != "ab" ||
		all[2].ResourceUID != "//compute.googleapis.com/projects/p/zones/"+zone+"/instances/x" {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestReadOpinions_StatesWithAWayOut(t *testing.T) {
	tw := &gcptwin.Cloud{}
	tw.AddAdvice(resize(1, halfAHundred))
	tw.DenyRecommenders(idleDisks)
	all, a, err := readOpinions(t, tw, 10)
	if err != nil || len(all) != 1 || a.State != cloud.OpinionsPartial ||
		!strings.HasSuffix(a.Message, ": recommender.computeDiskIdleResourceRecommendations.list") {
		t.Errorf("one is denied: %+v, %+v, %v", all, a, err)
	}
	tw.AddFault(gcptwin.Fault{
		Op: "recommender.recommendations.list", Reason: "PERMISSION_DENIED", Status: 403, Message: "no", Times: -1,
	})
	if _, a, err = readOpinions(t, tw, 10); err != nil || a.State != cloud.OpinionsDenied {
		t.Errorf("all are denied: %+v, %v", a, err)
	}
	tw.EndFaults()
	tw.AddFault(gcptwin.Fault{
		Op: "recommender.recommendations.list", Reason: "SERVICE_DISABLED", Status: 403, Message: "is off", Times: -1,
		Consumer: "projects/1",
	})
	if _, a, err = readOpinions(t, tw, 10); err != nil || a.State != cloud.OpinionsNotEnrolled ||
		!strings.Contains(a.Message, "gcloud services enable recommender.googleapis.com") {
		t.Errorf("the API is off: %+v, %v", a, err)
	}
	tw.EndFaults()
	tw.ThrottleCalls(1000)
	if _, _, err = readOpinions(t, tw, 10); cloud.ClassOf(err) != cloud.Throttled {
		t.Errorf("throttled: %v", err)
	}
}

func TestReadOpinions_TwentyThousand(t *testing.T) {
	tw := &gcptwin.Cloud{}
	for n := range 20_001 {
		tw.AddAdvice(resize(n, halfAHundred))
	}
	all, a, err := readOpinions(t, tw, 20_000)
	if err != nil || len(all) != 20_000 || !a.Cut {
		t.Errorf("%d opinions, %+v, %v", len(all), a, err)
	}
}
