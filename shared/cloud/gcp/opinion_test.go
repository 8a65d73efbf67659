package gcp

import (
	"encoding/json"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp/googlerest"
)

// Any recommendation becomes an opinion with bounded texts, and with an amount only beside a currency.
func FuzzNewOpinion(f *testing.F) {
	f.Add(`{"name":"a",
		"primaryImpact":{"costProjection":{"cost":{"currencyCode":"USD","units":"-1"},"duration":"1s"}}}`)
	f.Add(`{"targetResources":["//x/projects/1/zones/a-b1-c/instances/d"],"content":{"operationGroups":[{}]}}`)
	f.Add(`{"content":{"operationGroups":[{"operations":[
		{"resource":"//","path":"/tier","action":"test","value":1}]}]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var r googlerest.Recommendation
		if json.Unmarshal([]byte(text), &r) != nil {
			return
		}
		for _, from := range recommenders {
			taken := 0
			cloud.NewOpinionTaker(1, func(o cloud.Opinion) {
				taken++
				if (o.Saving == nil) != (o.Currency == "") || len(o.ResourceUID) > 3000 || len(o.Target) > 500 {
					t.Errorf("%s is %+v", text, o)
				}
			}).Take(newOpinion(from, &r))
			if taken != 1 {
				t.Errorf("%s was taken %d times", text, taken)
			}
		}
	})
}
