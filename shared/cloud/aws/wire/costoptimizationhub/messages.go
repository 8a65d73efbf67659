package costoptimizationhub

import "lamplighter.dev/shared/cloud/aws/wire"

// ListRecommendationsInput is the request of ListRecommendations.
type ListRecommendationsInput struct {
	Filter     *Filter `json:"filter,omitzero"`
	MaxResults *int32  `json:"maxResults,omitzero"`
	NextToken  *string `json:"nextToken,omitzero"`
}

// Filter is a part of requests.
type Filter struct {
	AccountIds []string `json:"accountIds,omitzero"`
}

// ListRecommendationsOutput is the response of ListRecommendations.
type ListRecommendationsOutput struct {
	Items     []Recommendation `json:"items"`
	NextToken *string          `json:"nextToken"`
}

// Recommendation is a part of responses.
type Recommendation struct {
	AccountId                  *string    `json:"accountId"`
	ActionType                 *string    `json:"actionType"`
	CurrencyCode               *string    `json:"currencyCode"`
	CurrentResourceSummary     *string    `json:"currentResourceSummary"`
	CurrentResourceType        *string    `json:"currentResourceType"`
	EstimatedMonthlySavings    *float64   `json:"estimatedMonthlySavings"`
	LastRefreshTimestamp       *wire.Time `json:"lastRefreshTimestamp"`
	RecommendationId           *string    `json:"recommendationId"`
	RecommendedResourceSummary *string    `json:"recommendedResourceSummary"`
	Region                     *string    `json:"region"`
	ResourceArn                *string    `json:"resourceArn"`
	ResourceId                 *string    `json:"resourceId"`
	RestartNeeded              *bool      `json:"restartNeeded"`
	RollbackPossible           *bool      `json:"rollbackPossible"`
	Source                     Source     `json:"source"`
}

// Source is a source in AWS's words.
type Source string
