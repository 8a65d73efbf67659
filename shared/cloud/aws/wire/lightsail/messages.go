package lightsail

import (
	"lamplighter.dev/shared/cloud/aws/wire"
)

// GetInstancesInput is the request of GetInstances.
type GetInstancesInput struct {
	PageToken *string `json:"pageToken,omitzero"`
}

// GetInstancesOutput is the response of GetInstances.
type GetInstancesOutput struct {
	Instances     []Instance `json:"instances"`
	NextPageToken *string    `json:"nextPageToken"`
}

// StartInstanceInput is the request of StartInstance.
type StartInstanceInput struct {
	InstanceName *string `json:"instanceName,omitzero"`
}

// StartInstanceOutput is the response of StartInstance.
type StartInstanceOutput struct{}

// StopInstanceInput is the request of StopInstance.
type StopInstanceInput struct {
	InstanceName *string `json:"instanceName,omitzero"`
}

// StopInstanceOutput is the response of StopInstance.
type StopInstanceOutput struct{}

// Instance is a part of responses.
type Instance struct {
	Arn       *string        `json:"arn"`
	BundleId  *string        `json:"bundleId"`
	CreatedAt *wire.Time     `json:"createdAt"`
	Name      *string        `json:"name"`
	State     *InstanceState `json:"state"`
	Tags      []Tag          `json:"tags"`
}

// InstanceState is a part of responses.
type InstanceState struct {
	Name *string `json:"name"`
}

// Tag is a part of responses.
type Tag struct {
	Key   *string `json:"key"`
	Value *string `json:"value"`
}
