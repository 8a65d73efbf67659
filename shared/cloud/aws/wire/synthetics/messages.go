package synthetics

import (
	"lamplighter.dev/shared/cloud/aws/wire"
)

// DescribeCanariesInput is the request of DescribeCanaries.
type DescribeCanariesInput struct {
	MaxResults *int32  `json:"MaxResults,omitzero"`
	NextToken  *string `json:"NextToken,omitzero"`
}

// DescribeCanariesOutput is the response of DescribeCanaries.
type DescribeCanariesOutput struct {
	Canaries  []Canary `json:"Canaries"`
	NextToken *string  `json:"NextToken"`
}

// GetCanaryInput is the request of GetCanary.
type GetCanaryInput struct {
	Name *string `json:"-" uri:"Name"`
}

// GetCanaryOutput is the response of GetCanary.
type GetCanaryOutput struct {
	Canary *Canary `json:"Canary"`
}

// StartCanaryInput is the request of StartCanary.
type StartCanaryInput struct {
	Name *string `json:"-" uri:"Name"`
}

// StartCanaryOutput is the response of StartCanary.
type StartCanaryOutput struct{}

// StopCanaryInput is the request of StopCanary.
type StopCanaryInput struct {
	Name *string `json:"-" uri:"Name"`
}

// StopCanaryOutput is the response of StopCanary.
type StopCanaryOutput struct{}

// Canary is a part of responses.
type Canary struct {
	EngineArn *string           `json:"EngineArn"`
	Name      *string           `json:"Name"`
	Status    *CanaryStatus     `json:"Status"`
	Tags      map[string]string `json:"Tags"`
	Timeline  *CanaryTimeline   `json:"Timeline"`
}

// CanaryStatus is a part of responses.
type CanaryStatus struct {
	State       CanaryState `json:"State"`
	StateReason *string     `json:"StateReason"`
}

// CanaryTimeline is a part of responses.
type CanaryTimeline struct {
	Created *wire.Time `json:"Created"`
}

// CanaryState is a canary state in AWS's words.
type CanaryState string

// Values of CanaryState that Lamplighter knows.
const (
	CanaryStateCreating CanaryState = "CREATING"
	CanaryStateDeleting CanaryState = "DELETING"
	CanaryStateReady    CanaryState = "READY"
	CanaryStateRunning  CanaryState = "RUNNING"
	CanaryStateStarting CanaryState = "STARTING"
	CanaryStateStopped  CanaryState = "STOPPED"
	CanaryStateStopping CanaryState = "STOPPING"
	CanaryStateUpdating CanaryState = "UPDATING"
)
