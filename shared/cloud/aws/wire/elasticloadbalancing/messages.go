package elasticloadbalancing

import (
	"lamplighter.dev/shared/cloud/aws/wire"
)

// DescribeInstanceHealthInput is the request of DescribeInstanceHealth.
type DescribeInstanceHealthInput struct {
	LoadBalancerName *string `form:"LoadBalancerName"`
}

// DescribeInstanceHealthOutput is the response of DescribeInstanceHealth.
type DescribeInstanceHealthOutput struct {
	InstanceStates []InstanceState `xml:"InstanceStates>member"`
}

// DescribeLoadBalancerAttributesInput is the request of DescribeLoadBalancerAttributes.
type DescribeLoadBalancerAttributesInput struct {
	LoadBalancerName *string `form:"LoadBalancerName"`
}

// DescribeLoadBalancerAttributesOutput is the response of DescribeLoadBalancerAttributes.
type DescribeLoadBalancerAttributesOutput struct {
	LoadBalancerAttributes *LoadBalancerAttributes `xml:"LoadBalancerAttributes"`
}

// DescribeLoadBalancersInput is the request of DescribeLoadBalancers.
type DescribeLoadBalancersInput struct {
	Marker   *string `form:"Marker"`
	PageSize *int32  `form:"PageSize"`
}

// DescribeLoadBalancersOutput is the response of DescribeLoadBalancers.
type DescribeLoadBalancersOutput struct {
	LoadBalancerDescriptions []LoadBalancerDescription `xml:"LoadBalancerDescriptions>member"`
	NextMarker               *string                   `xml:"NextMarker"`
}

// InstanceState is a part of responses.
type InstanceState struct {
	State *string `xml:"State"`
}

// LoadBalancerAttributes is a part of responses.
type LoadBalancerAttributes struct {
	AccessLog *AccessLog `xml:"AccessLog"`
}

// LoadBalancerDescription is a part of responses.
type LoadBalancerDescription struct {
	CreatedTime          *wire.Time            `xml:"CreatedTime"`
	Instances            []Instance            `xml:"Instances>member"`
	ListenerDescriptions []ListenerDescription `xml:"ListenerDescriptions>member"`
	LoadBalancerName     *string               `xml:"LoadBalancerName"`
	Scheme               *string               `xml:"Scheme"`
}

// AccessLog is a part of responses.
type AccessLog struct {
	Enabled bool `xml:"Enabled"`
}

// Instance is a part of responses.
type Instance struct{}

// ListenerDescription is a part of responses.
type ListenerDescription struct {
	Listener    *Listener `xml:"Listener"`
	PolicyNames []string  `xml:"PolicyNames>member"`
}

// Listener is a part of responses.
type Listener struct {
	LoadBalancerPort int32   `xml:"LoadBalancerPort"`
	Protocol         *string `xml:"Protocol"`
}
