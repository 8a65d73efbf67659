package recommendations

import (
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

// The plan of a recommendation for a resource that is made from code is a patch for it.
func TestRecommendations_ThePlanOfAResourceOfCodeIsAPatch(t *testing.T) {
	f := newFixture(t)
	detail := func(i int) RecommendationPlan {
		return apitest.Data[RecommendationDetail](f.Call(ada, "GET /recommendations/"+f.recs[i])).Plan
	}
	if p := detail(0); p.Patch != nil || !p.Executable {
		t.Errorf("without a mark: %s", apitest.JSON(p))
	}
	f.Clock.Advance(time.Minute)
	inventorytest.Discover(f.Fixture, apitest.Org, "aws-ec2", cloud.Resource{
		UID: "i-0", Name: "web-0", Status: cloud.Running,
		Tags: map[string]string{"aws:cloudformation:stack-name": "shop", "aws:cloudformation:logical-id": "Web"},
	})
	for i := range 2 { // a stop, and a change of its type that the request states
		p := detail(i)
		if p.Patch == nil || p.Executable || *p.Patch.Owner != "shop" || p.Patch.Tool != "cloudformation" ||
			!strings.Contains(*p.Why, "managed by cloudformation (shop)") || !strings.Contains(p.Patch.Text, "i-0") {
			t.Errorf("%s", apitest.JSON(p))
		}
	}
	if notes := detail(1).Patch.Notes; len(notes) != 1 || !strings.HasPrefix(notes[0], "class: ") {
		t.Errorf("notes %q", notes)
	}
}
