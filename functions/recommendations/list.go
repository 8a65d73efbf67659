package recommendations

import (
	"context"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/recommendation"
)

// Recommendation is a recommendation as lists show it.
type Recommendation struct {
	ID             string                  `json:"id" example:"rec_01k6v0e4y0c2b7m9q8r5t3w1xz"`
	RuleID         string                  `json:"ruleID" example:"aws-ec2-idle"`
	ResourceUID    string                  `json:"resourceUid" doc:"The native id of the resource"`
	ResourceName   string                  `json:"resourceName"`
	ResourceType   string                  `json:"resourceType" example:"aws-ec2"`
	Provider       string                  `json:"provider" example:"aws"`
	CloudAccountID string                  `json:"cloudAccountID"`
	Category       string                  `json:"category" enum:"idle,orphan,rightsizing,schedule,discount,governance,compliance,security,reliability"`
	Severity       recommendation.Severity `json:"severity" enum:"info,low,medium,high,critical"`
	Title          string                  `json:"title"`
	Reason         string                  `json:"reason"`
	Evidence       RecommendationEvidence  `json:"evidence"`
	SavingsUSD     string                  `json:"savingsUSD" doc:"Net a month; 0.00 for an alternative" example:"41.25"`
	Effort         string                  `json:"effort" enum:"low,medium,high"`
	Risk           string                  `json:"risk" enum:"low,medium,high"`
	Status         recommendation.Status   `json:"status" enum:"open,applied,dismissed,optimised"`
	CreatedAt      time.Time               `json:"createdAt"`
	UpdatedAt      time.Time               `json:"updatedAt"`
}

// RecommendationEvidence is what a recommendation was decided on. With this version of the rule, it decides the
// condition again.
type RecommendationEvidence struct {
	Values       map[string]any `json:"values" doc:"Facts (res.…) and statistics of metrics (m.…) by their names in the condition"`
	Thresholds   map[string]any `json:"thresholds" doc:"The parameters of the rule"`
	Window       *string        `json:"window" doc:"Of the metrics; null without metrics" example:"14d"`
	Points       int            `json:"points" doc:"The smallest number of points of a metric"`
	Rule         string         `json:"rule"`
	RuleVersion  int            `json:"ruleVersion"`
	PriceVersion *string        `json:"priceVersion"`
	Confirmed    *string        `json:"confirmed"` // last day of the 5-minute points of the metrics
	At           time.Time      `json:"at" doc:"When the condition was evaluated; later evaluations that show the same are not written"`
}

// Recommendations is a page of recommendations.
type Recommendations struct {
	Items []Recommendation `json:"items"`
	Total int              `json:"total"`
	Page  int              `json:"page"`
	Size  int              `json:"size"`
}

// maxSize is the largest page.
const maxSize = 100

// recommendationOrders are the fields that the list can be sorted by.
type recommendationOrders struct{}

var _ rest.Orders[Recommendation] = recommendationOrders{}

// Orders returns them; the index of the columns sorts.
func (recommendationOrders) Orders() []rest.Order[Recommendation] {
	return []rest.Order[Recommendation]{
		{Field: recommendation.SavingsOrder, LargestFirst: true},
		{Field: recommendation.UpdatedOrder, LargestFirst: true},
		{Field: recommendation.SeverityOrder, LargestFirst: true},
	}
}

type listInput struct {
	Status   []string `query:"status" maxItems:"4" enum:"open,applied,dismissed,optimised" doc:"Only in these statuses"`
	Severity []string `query:"severity" maxItems:"5" enum:"info,low,medium,high,critical" doc:"Only of these severities"`
	Category []string `query:"category" maxItems:"9" enum:"idle,orphan,rightsizing,schedule,discount,governance,compliance,security,reliability" doc:"Only of these categories"`
	Provider []string `query:"provider" maxItems:"10" doc:"Only of these providers"`
	Type     []string `query:"resource_type" maxItems:"50" doc:"Only for resources of these types, such as aws-ec2"`
	Account  []string `query:"cloud_account_id" maxItems:"50" doc:"Only of these cloud accounts"`
	Search   string   `query:"search" maxLength:"200" doc:"Only those with this text in the name or native id of the resource, the title or the rule"`
	Page     int      `query:"page" minimum:"1" maximum:"999999" default:"1" doc:"Number of the page, from 1"`
	Size     int      `query:"size" minimum:"1" default:"10" doc:"Items per page; more than 100 counts as 100"`
	rest.Sort[Recommendation, recommendationOrders]
}

func (s *service) list(ctx context.Context, in *listInput) (Recommendations, error) {
	c := identity.CallerFrom(ctx)
	size := min(in.Size, maxSize)
	items, total, err := s.store.List(ctx, c.Org, recommendation.List{
		Statuses: in.Status, Severities: in.Severity, Categories: in.Category, Providers: in.Provider, Types: in.Type,
		Accounts: in.Account, Search: in.Search, By: in.Field(), Descending: in.Descending(),
		Skip: (in.Page - 1) * size, Limit: size, Scopes: c.Scopes(reading),
	})
	out := Recommendations{make([]Recommendation, len(items)), total, in.Page, size}
	for i := range items {
		out.Items[i] = newRecommendation(&items[i])
	}
	return out, err
}

func newRecommendation(it *recommendation.Item) Recommendation {
	e := &it.Evidence
	return Recommendation{
		ID: it.ID, RuleID: it.RuleID, ResourceUID: it.ResourceUID, ResourceName: it.ResourceName,
		ResourceType: it.ResourceType, Provider: it.Provider, CloudAccountID: it.CloudAccountID, Category: it.Category,
		Severity: it.Severity, Title: it.Title, Reason: it.Reason, SavingsUSD: it.Saving.Fixed(2), Effort: it.Effort,
		Risk: it.Risk, Status: it.Status, CreatedAt: it.CreatedAt, UpdatedAt: it.UpdatedAt,
		Evidence: RecommendationEvidence{
			Values: rest.NonNilMap(e.Values), Thresholds: rest.NonNilMap(e.Thresholds), Window: rest.Optional(e.Window),
			Points: e.Points, Rule: e.Rule, RuleVersion: e.RuleVersion,
			PriceVersion: rest.Optional(e.PriceVersion), Confirmed: rest.Optional(e.Confirmed), At: e.At,
		},
	}
}
