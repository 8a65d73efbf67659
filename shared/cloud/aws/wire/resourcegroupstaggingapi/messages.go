package resourcegroupstaggingapi

// GetResourcesInput is the request of GetResources.
type GetResourcesInput struct {
	PaginationToken  *string  `json:"PaginationToken,omitzero"`
	ResourceARNList  []string `json:"ResourceARNList,omitzero"`
	ResourcesPerPage *int32   `json:"ResourcesPerPage,omitzero"`
}

// GetResourcesOutput is the response of GetResources.
type GetResourcesOutput struct {
	PaginationToken        *string              `json:"PaginationToken"`
	ResourceTagMappingList []ResourceTagMapping `json:"ResourceTagMappingList"`
}

// ResourceTagMapping is a part of responses.
type ResourceTagMapping struct {
	ResourceARN *string `json:"ResourceARN"`
	Tags        []Tag   `json:"Tags"`
}

// Tag is a part of responses.
type Tag struct {
	Key   *string `json:"Key"`
	Value *string `json:"Value"`
}
