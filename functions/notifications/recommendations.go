package notifications

import (
	"context"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/notification"
)

// readRecommendation returns a recommendation as a message shows it. The caller shares only what recommendations:read
// shows to them: any other one is fault.NotFound.
func (s *service) readRecommendation(ctx context.Context, recID string) (notification.Recommendation, error) {
	c := identity.CallerFrom(ctx)
	it, err := s.recommendations.Find(ctx, c.Org, recID, c.Scopes("recommendations:read"))
	if err != nil {
		return notification.Recommendation{}, err
	}
	return notification.Recommendation{
		ID: it.ID, Title: it.Title, Reason: it.Reason, Severity: string(it.Severity), Category: it.Category,
		ResourceName: it.ResourceName, ResourceUID: it.ResourceUID, ResourceType: it.ResourceType, Region: it.Region,
		SavingsUSD: it.Saving.Fixed(2),
	}, nil
}
