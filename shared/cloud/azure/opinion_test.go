package azure

import (
	"encoding/json"
	"testing"

	"lamplighter.dev/shared/cloud"
)

// Any row becomes an opinion with an action, bounded texts, and an amount only beside a currency.
func FuzzAdvice(f *testing.F) {
	f.Add(`{"id":"/subscriptions/a/x",
		"properties":{"extendedProperties":{"savingsAmount":"1","savingsCurrency":"EUR"}}}`)
	f.Add(`{"properties":{"extendedProperties":{"annualSavingsAmount":1e300,"targetSku":null,"region":[]}}}`)
	f.Add(`{"properties":{"shortDescription":{"solution":"shut down"},"lastUpdated":"soon","suppressionIds":[]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var a advice
		if json.Unmarshal([]byte(text), &a) != nil {
			return
		}
		cloud.NewOpinionTaker(1, func(o cloud.Opinion) {
			if o.Action == "" || (o.Saving == nil) != (o.Currency == "") || len(o.Recommended) > 1500 {
				t.Errorf("%s is %+v", text, o)
			}
		}).Take(a.opinion())
	})
}
