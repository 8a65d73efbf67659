package aws

import (
	"encoding/json"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/wire/costoptimizationhub"
)

// Any recommendation becomes an opinion with an action, bounded texts, and an amount only beside a currency.
func FuzzHubOpinion(f *testing.F) {
	f.Add(`{"resourceArn":"arn:aws:lambda:a:b:function:c:$LATEST","estimatedMonthlySavings":1.5,"currencyCode":"USD"}`)
	f.Add(`{"resourceArn":":::::::","actionType":"Upgrade","recommendedResourceSummary":"gp3/1"}`)
	f.Add(`{"resourceArn":"arn:aws:lambda","lastRefreshTimestamp":1e18}`)
	f.Fuzz(func(t *testing.T, text string) {
		var r costoptimizationhub.Recommendation
		if json.Unmarshal([]byte(text), &r) != nil {
			return
		}
		cloud.NewOpinionTaker(1, func(o cloud.Opinion) {
			if _, err := json.Marshal(o); err != nil || o.Action == "" || (o.Saving == nil) != (o.Currency == "") ||
				len(o.Recommended) > 1500 {
				t.Errorf("%s is %+v, %v", text, o, err)
			}
		}).Take(hubOpinion(&r))
	})
}
