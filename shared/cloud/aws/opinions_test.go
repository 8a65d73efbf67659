package aws_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
)

// readOpinions reads the opinions of a new connection to the twin.
func readOpinions(t *testing.T, tw *awstwin.Cloud, limit int) ([]cloud.Opinion, cloud.OpinionAnswer, error) {
	t.Helper()
	var all []cloud.Opinion
	a, err := open(t, tw, numbered(awstwin.AccessKey)).(cloud.OpinionReader).ReadOpinions(t.Context(),
		cloud.OpinionRequest{Limit: limit}, func(o cloud.Opinion) { all = append(all, o) })
	return all, a, err
}

// recommended returns a recommendation with some fields set.
func recommended(n int, fields map[string]any) awstwin.HubRecommendation {
	out := awstwin.HubRecommendation{
		"recommendationId": fmt.Sprint("r-", n), "accountId": awstwin.Account, "region": "eu-west-1",
		"resourceId":          fmt.Sprintf("i-%017d", n),
		"resourceArn":         fmt.Sprintf("arn:aws:ec2:eu-west-1:111122223333:instance/i-%017d", n),
		"currentResourceType": "Ec2Instance", "actionType": "Rightsize", "currentResourceSummary": "m5.xlarge",
		"recommendedResourceSummary": "m5.large", "estimatedMonthlySavings": 70.08, "currencyCode": "USD",
		"restartNeeded": true, "rollbackPossible": true, "source": "ComputeOptimizer",
		"lastRefreshTimestamp": 1769904000.0,
	}
	maps.Copy(out, fields)
	return out
}

func TestReadOpinions_ReadsEveryPageOfTheHub(t *testing.T) {
	tw := &awstwin.Cloud{Page: 2}
	for n := range 5 {
		tw.AddHubRecommendations(recommended(n, nil))
	}
	tw.AddHubRecommendations(recommended(9, map[string]any{"accountId": "200000000001"})) // of a member
	all, a, err := readOpinions(t, tw, 100)
	if err != nil || len(all) != 5 || a.State != cloud.OpinionsRead || a.Calls != 3 || a.Cut {
		t.Fatalf("%d opinions, %+v, %v; want the 5 of this account, of 3 pages", len(all), a, err)
	}
	b, _ := json.Marshal(all[0])
	const want = `{"id":"r-0","uid":"i-00000000000000000","type":"Ec2Instance","region":"eu-west-1",` +
		`"action":"resize","native":"Rightsize","current":"m5.xlarge","recommended":"m5.large","target":"m5.large",` +
		`"saving":"70.08","currency":"USD","restart":true,"rollback":true,"origin":"ComputeOptimizer",` +
		`"refreshedAt":"2026-02-01T00:00:00Z"}`
	if string(b) != want {
		t.Errorf("opinion:\n got %s\nwant %s", b, want)
	}
	if all, a, err = readOpinions(t, tw, 3); err != nil || len(all) != 3 || !a.Cut {
		t.Errorf("with a limit of 3: %d opinions, %+v, %v", len(all), a, err)
	}
}

func TestReadOpinions_NamesResourcesAsDiscoveryDoes(t *testing.T) {
	const database = "arn:aws:rds:eu-west-1:111122223333:db:orders"
	function := "arn:aws:lambda:eu-west-1:111122223333:function:mail"
	for name, c := range map[string]struct {
		fields              map[string]any
		uid, action, target string
	}{
		"a volume by its ARN, with the type of storage": {map[string]any{
			"resourceId": "vol-1", "resourceArn": "arn:aws:ec2:eu-west-1:111122223333:volume/vol-1",
			"actionType": "Upgrade", "recommendedResourceSummary": "gp3/100.0 GB/3000.0 IOPS/125.0 MB/s",
		}, "arn:aws:ec2:eu-west-1:111122223333:volume/vol-1", "upgrade", "gp3"},
		"a database by its ARN": {map[string]any{
			"resourceId": "orders", "resourceArn": database, "recommendedResourceSummary": "db.r6g.large",
		}, database, "resize", "db.r6g.large"},
		"a function without its version": {map[string]any{
			"resourceId": "mail", "resourceArn": function + ":$LATEST", "recommendedResourceSummary": "128 MB",
		}, function, "resize", ""},
		"an instance without an ARN": {
			map[string]any{"resourceArn": nil, "actionType": "Stop", "recommendedResourceSummary": ""},
			"i-00000000000000001", "stop", "",
		},
		"a commitment is of the account": {map[string]any{
			"actionType": "PurchaseSavingsPlans", "resourceId": "x", "recommendedResourceSummary": "$1.2/hour",
		}, "", "commit", ""},
		"an action that is new": {map[string]any{"actionType": "Teleport"}, "i-00000000000000001", "other", ""},
	} {
		tw := &awstwin.Cloud{}
		tw.AddHubRecommendations(recommended(1, c.fields))
		all, _, err := readOpinions(t, tw, 10)
		if err != nil || len(all) != 1 || all[0].ResourceUID != c.uid || string(all[0].Action) != c.action ||
			all[0].Target != c.target {
			t.Errorf("%s: %+v, %v; want %+v", name, all, err, c)
		}
	}
}

func TestReadOpinions_ThinAndHostileAnswers(t *testing.T) {
	tw := &awstwin.Cloud{}
	tw.AddHubRecommendations(awstwin.HubRecommendation{}, recommended(1, map[string]any{
		"estimatedMonthlySavings": nil, "lastRefreshTimestamp": nil, "restartNeeded": nil,
		"currentResourceSummary":     "a\x00b\u202ec\n" + strings.Repeat("x", 5000),
		"recommendedResourceSummary": "<script>",
	}), recommended(2, map[string]any{"estimatedMonthlySavings": -3.5}),
		recommended(3, map[string]any{"estimatedMonthlySavings": 1e300}),
		recommended(4, map[string]any{"currencyCode": "dollars"}))
	all, _, err := readOpinions(t, tw, 10)
	if err != nil || len(all) != 5 {
		t.Fatalf("%d opinions, %v", len(all), err)
	}
	switch {
	case all[0].Action != cloud.OpinionOther || all[0].ResourceUID != "" || all[0].Saving != nil:
		t.Errorf("an empty recommendation is %+v", all[0])
	case all[1].Saving != nil || all[1].Currency != "" || all[1].Restart != nil || len(all[1].Current) > 400 ||
		!strings.HasPrefix(all[1].Current, "abc"):
		t.Errorf("a thin one is %+v", all[1])
	case all[2].Saving == nil || all[2].Saving.String() != "-3.5":
		t.Errorf("a cost is %+v", all[2])
	case all[3].Saving != nil || all[4].Saving != nil:
		t.Errorf("amounts that cannot be right are %v, %v", all[3].Saving, all[4].Saving)
	}
}

func TestReadOpinions_StatesWithAWayOut(t *testing.T) {
	tw := &awstwin.Cloud{}
	tw.SetHubEnrolled(false)
	all, a, err := readOpinions(t, tw, 10)
	if err != nil || a.State != cloud.OpinionsNotEnrolled || !strings.Contains(a.Message, "enable it") || len(all) > 0 {
		t.Errorf("not enrolled: %+v, %v", a, err)
	}
	tw.SetHubEnrolled(true)
	tw.Refuse = func(op string) bool { return op == "cost-optimization-hub:ListRecommendations" }
	if _, a, err = readOpinions(t, tw, 10); err != nil || a.State != cloud.OpinionsDenied ||
		!strings.Contains(a.Message, "cost-optimization-hub:ListRecommendations") {
		t.Errorf("denied: %+v, %v", a, err)
	}
	tw.Refuse = nil
	tw.ThrottleCalls(1000)
	if _, _, err = readOpinions(t, tw, 10); cloud.ClassOf(err) != cloud.Throttled {
		t.Errorf("throttled: %v; want an error that may pass", err)
	}
}

func TestReadOpinions_TwentyThousand(t *testing.T) {
	tw := &awstwin.Cloud{}
	for n := range 20_001 {
		tw.AddHubRecommendations(recommended(n, nil))
	}
	all, a, err := readOpinions(t, tw, 20_000)
	if err != nil || len(all) != 20_000 || !a.Cut || a.Calls != 21 {
		t.Errorf("%d opinions, %+v, %v; want 20,000 of 21 calls, and cut", len(all), a, err)
	}
}
