package sagemaker

import (
	"lamplighter.dev/shared/cloud/aws/wire"
)

// DescribeNotebookInstanceInput is the request of DescribeNotebookInstance.
type DescribeNotebookInstanceInput struct {
	NotebookInstanceName *string `json:"NotebookInstanceName,omitzero"`
}

// DescribeNotebookInstanceOutput is the response of DescribeNotebookInstance.
type DescribeNotebookInstanceOutput struct {
	DirectInternetAccess   DirectInternetAccess   `json:"DirectInternetAccess"`
	FailureReason          *string                `json:"FailureReason"`
	NotebookInstanceArn    *string                `json:"NotebookInstanceArn"`
	NotebookInstanceStatus NotebookInstanceStatus `json:"NotebookInstanceStatus"`
	VolumeSizeInGB         *int32                 `json:"VolumeSizeInGB"`
}

// ListNotebookInstancesInput is the request of ListNotebookInstances.
type ListNotebookInstancesInput struct {
	MaxResults *int32  `json:"MaxResults,omitzero"`
	NextToken  *string `json:"NextToken,omitzero"`
}

// ListNotebookInstancesOutput is the response of ListNotebookInstances.
type ListNotebookInstancesOutput struct {
	NextToken         *string                   `json:"NextToken"`
	NotebookInstances []NotebookInstanceSummary `json:"NotebookInstances"`
}

// ListTagsInput is the request of ListTags.
type ListTagsInput struct {
	ResourceArn *string `json:"ResourceArn,omitzero"`
	MaxResults  *int32  `json:"MaxResults,omitzero"`
}

// ListTagsOutput is the response of ListTags.
type ListTagsOutput struct {
	Tags []Tag `json:"Tags"`
}

// StartNotebookInstanceInput is the request of StartNotebookInstance.
type StartNotebookInstanceInput struct {
	NotebookInstanceName *string `json:"NotebookInstanceName,omitzero"`
}

// StartNotebookInstanceOutput is the response of StartNotebookInstance.
type StartNotebookInstanceOutput struct{}

// StopNotebookInstanceInput is the request of StopNotebookInstance.
type StopNotebookInstanceInput struct {
	NotebookInstanceName *string `json:"NotebookInstanceName,omitzero"`
}

// StopNotebookInstanceOutput is the response of StopNotebookInstance.
type StopNotebookInstanceOutput struct{}

// NotebookInstanceSummary is a part of responses.
type NotebookInstanceSummary struct {
	NotebookInstanceArn                 *string                `json:"NotebookInstanceArn"`
	NotebookInstanceName                *string                `json:"NotebookInstanceName"`
	CreationTime                        *wire.Time             `json:"CreationTime"`
	InstanceType                        InstanceType           `json:"InstanceType"`
	LastModifiedTime                    *wire.Time             `json:"LastModifiedTime"`
	NotebookInstanceLifecycleConfigName *string                `json:"NotebookInstanceLifecycleConfigName"`
	NotebookInstanceStatus              NotebookInstanceStatus `json:"NotebookInstanceStatus"`
}

// Tag is a part of responses.
type Tag struct {
	Key   *string `json:"Key"`
	Value *string `json:"Value"`
}

// DirectInternetAccess is a direct internet access in AWS's words.
type DirectInternetAccess string

// InstanceType is an instance type in AWS's words.
type InstanceType string

// NotebookInstanceStatus is a notebook instance status in AWS's words.
type NotebookInstanceStatus string

// Values of NotebookInstanceStatus that Lamplighter knows.
const (
	NotebookInstanceStatusDeleting  NotebookInstanceStatus = "Deleting"
	NotebookInstanceStatusInService NotebookInstanceStatus = "InService"
	NotebookInstanceStatusPending   NotebookInstanceStatus = "Pending"
	NotebookInstanceStatusStopped   NotebookInstanceStatus = "Stopped"
	NotebookInstanceStatusStopping  NotebookInstanceStatus = "Stopping"
	NotebookInstanceStatusUpdating  NotebookInstanceStatus = "Updating"
)
