package sqs

// GetQueueAttributesInput is the request of GetQueueAttributes.
type GetQueueAttributesInput struct {
	QueueUrl       *string              `json:"QueueUrl,omitzero"`
	AttributeNames []QueueAttributeName `json:"AttributeNames,omitzero"`
}

// GetQueueAttributesOutput is the response of GetQueueAttributes.
type GetQueueAttributesOutput struct {
	Attributes map[string]string `json:"Attributes"`
}

// ListQueuesInput is the request of ListQueues.
type ListQueuesInput struct {
	MaxResults *int32  `json:"MaxResults,omitzero"`
	NextToken  *string `json:"NextToken,omitzero"`
}

// ListQueuesOutput is the response of ListQueues.
type ListQueuesOutput struct {
	NextToken *string  `json:"NextToken"`
	QueueUrls []string `json:"QueueUrls"`
}

// QueueAttributeName is a queue attribute name in AWS's words.
type QueueAttributeName string
