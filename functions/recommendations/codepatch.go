package recommendations

import (
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/domain/rule"
)

// planOf returns the plan of a recommendation whose resource may be made from code: then the change is made there. The
// recommendation knows the code since the last evaluation.
func planOf(it *recommendation.Item, p RecommendationPlan) RecommendationPlan {
	r := rule.ByID(it.RuleID)
	if r == nil || r.Verb.ForPeople() || it.Code == nil {
		return p
	}
	code := remediation.CodeOwner{Tool: it.Code.Tool, Name: it.Code.Name, Part: it.Code.Part}
	after, notes := remediation.PatchValues(r, remediation.Observed{
		Values: it.Evidence.Values, Thresholds: it.Evidence.Thresholds,
	})
	patch := remediation.NewPatch(code, remediation.PatchSubject{
		Type: it.ResourceType, UID: it.ResourceUID, Name: it.ResourceName, Verb: r.Verb, After: after, Notes: notes,
	})
	why := "its resource is managed by " + code.String() + ", which would undo the change: make the change there"
	p.Executable, p.Why, p.Undo, p.Patch = false, &why, nil, &patch
	return p
}
