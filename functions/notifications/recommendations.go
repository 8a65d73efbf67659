package notifications

import (
	"context"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/notification"
	"lamplighter.dev/shared/domain/recommendation"
)

// storedRecommendations reads recommendations from the store.
type storedRecommendations struct{ store *recommendation.Store }

// ReadRecommendation implements Recommendations: the caller shares what recommendations:read shows them.
func (r storedRecommendations) ReadRecommendation(ctx context.Context, org, recID string) (notification.Recommendation,
	error,
) {
	it, err := r.store.Find(ctx, org, recID, identity.CallerFrom(ctx).Scopes("recommendations:read"))
	if err != nil {
		return notification.Recommendation{}, err
	}
	return notification.Recommendation{
		ID: it.ID, Title: it.Title, Reason: it.Reason, Severity: string(it.Severity), Category: it.Category,
		ResourceName: it.ResourceName, ResourceUID: it.ResourceUID, ResourceType: it.ResourceType, Region: it.Region,
		SavingsUSD: it.Saving.Fixed(2),
	}, nil
}
