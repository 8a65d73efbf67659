package googlerest

import "encoding/json"

// Recommendation is a recommendation of a recommender. A negative cost is a saving over the duration.
type Recommendation struct {
	Name               string   `json:"name"`
	Description        string   `json:"description"`
	RecommenderSubtype string   `json:"recommenderSubtype"`
	LastRefreshTime    string   `json:"lastRefreshTime"`
	TargetResources    []string `json:"targetResources"`
	StateInfo          struct {
		State string `json:"state"`
	} `json:"stateInfo"`
	PrimaryImpact struct {
		Category       string `json:"category"`
		CostProjection struct {
			Cost     *Money `json:"cost"`
			Duration string `json:"duration"` // "2592000s"
		} `json:"costProjection"`
	} `json:"primaryImpact"`
	Content struct {
		OperationGroups []struct {
			Operations []RecommendedOperation `json:"operations"`
		} `json:"operationGroups"`
	} `json:"content"`
}

// RecommendedOperation is a step of a recommendation: an action on a field of a resource, in the form of JSON Patch.
type RecommendedOperation struct {
	Action       string          `json:"action"` // test, replace, remove, add …
	ResourceType string          `json:"resourceType"`
	Resource     string          `json:"resource"`
	Path         string          `json:"path"`
	Value        json.RawMessage `json:"value"`
}

// Money is an amount in a currency: whole units, and billionths with the same sign.
type Money struct {
	CurrencyCode string          `json:"currencyCode"`
	Units        json.RawMessage `json:"units"` // a text with a whole number
	Nanos        int64           `json:"nanos"`
}

// RecommendationList is a page of recommendations.
type RecommendationList struct {
	Recommendations []*Recommendation `json:"recommendations"`
	NextPageToken   string            `json:"nextPageToken"`
}
