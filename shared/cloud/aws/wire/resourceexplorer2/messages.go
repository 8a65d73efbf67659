package resourceexplorer2

import (
	"encoding/json"
)

// ListResourcesInput is the request of ListResources.
type ListResourcesInput struct {
	Filters    *SearchFilter `json:"Filters,omitzero"`
	MaxResults *int32        `json:"MaxResults,omitzero"`
	NextToken  *string       `json:"NextToken,omitzero"`
}

// ListResourcesOutput is the response of ListResources.
type ListResourcesOutput struct {
	NextToken *string    `json:"NextToken"`
	Resources []Resource `json:"Resources"`
}

// SearchFilter is a part of requests.
type SearchFilter struct {
	FilterString *string `json:"FilterString,omitzero"`
}

// Resource is a part of responses.
type Resource struct {
	Arn             *string            `json:"Arn"`
	OwningAccountId *string            `json:"OwningAccountId"`
	Properties      []ResourceProperty `json:"Properties"`
	Region          *string            `json:"Region"`
	ResourceType    *string            `json:"ResourceType"`
}

// ResourceProperty is a part of responses.
type ResourceProperty struct {
	Data json.RawMessage `json:"Data"`
	Name *string         `json:"Name"`
}
