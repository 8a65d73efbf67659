package recommendations

import (
	"context"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/foundation/fault"
)

// planOf returns the plan of a recommendation whose resource may be made from code: then the change is made there.
func (s *service) planOf(ctx context.Context, it *recommendation.Item, p RecommendationPlan) (RecommendationPlan,
	error,
) {
	r := rule.ByID(it.RuleID)
	if r == nil || r.Verb.ForPeople() || it.ResourceID == "" {
		return p, nil
	}
	found, err := s.inventory.ByID(ctx, identity.CallerOrg(ctx), it.ResourceID, inventory.SeeEverything())
	switch {
	case fault.Is(err, fault.NotFound):
		return p, nil
	case err != nil:
		return p, fault.Wrap("read the tags of resource "+it.ResourceID, err)
	}
	_, code := remediation.ControllerOf(found.Tags)
	if code == nil {
		return p, nil
	}
	after, notes := remediation.PatchValues(r, remediation.Observed{
		Values: it.Evidence.Values, Thresholds: it.Evidence.Thresholds,
	})
	patch := remediation.NewPatch(*code, remediation.PatchSubject{
		Type: it.ResourceType, UID: it.ResourceUID, Name: it.ResourceName, Verb: r.Verb, After: after, Notes: notes,
	})
	why := "its resource is managed by " + code.String() + ", which would undo the change: make the change there"
	p.Executable, p.Why, p.Undo, p.Patch = false, &why, nil, &patch
	return p, nil
}
