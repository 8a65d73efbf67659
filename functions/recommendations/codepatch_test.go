package recommendations

import (
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/testkit/apitest"
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
	evaluated := f.findings()[:2]
	for i := range evaluated {
		evaluated[i].Code = &recommendation.Code{Tool: "cloudformation", Name: "shop", Part: "Web"}
	}
	f.settle(evaluated...)
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
