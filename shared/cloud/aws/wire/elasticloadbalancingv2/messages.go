package elasticloadbalancingv2

import (
	"lamplighter.dev/shared/cloud/aws/wire"
)

// DescribeListenersInput is the request of DescribeListeners.
type DescribeListenersInput struct {
	LoadBalancerArn *string `form:"LoadBalancerArn"`
	Marker          *string `form:"Marker"`
}

// DescribeListenersOutput is the response of DescribeListeners.
type DescribeListenersOutput struct {
	Listeners  []Listener `xml:"Listeners>member"`
	NextMarker *string    `xml:"NextMarker"`
}

// DescribeLoadBalancerAttributesInput is the request of DescribeLoadBalancerAttributes.
type DescribeLoadBalancerAttributesInput struct {
	LoadBalancerArn *string `form:"LoadBalancerArn"`
}

// DescribeLoadBalancerAttributesOutput is the response of DescribeLoadBalancerAttributes.
type DescribeLoadBalancerAttributesOutput struct {
	Attributes []LoadBalancerAttribute `xml:"Attributes>member"`
}

// DescribeLoadBalancersInput is the request of DescribeLoadBalancers.
type DescribeLoadBalancersInput struct {
	Marker   *string `form:"Marker"`
	PageSize *int32  `form:"PageSize"`
}

// DescribeLoadBalancersOutput is the response of DescribeLoadBalancers.
type DescribeLoadBalancersOutput struct {
	LoadBalancers []LoadBalancer `xml:"LoadBalancers>member"`
	NextMarker    *string        `xml:"NextMarker"`
}

// DescribeTargetGroupsInput is the request of DescribeTargetGroups.
type DescribeTargetGroupsInput struct {
	LoadBalancerArn *string `form:"LoadBalancerArn"`
}

// DescribeTargetGroupsOutput is the response of DescribeTargetGroups.
type DescribeTargetGroupsOutput struct {
	TargetGroups []TargetGroup `xml:"TargetGroups>member"`
}

// DescribeTargetHealthInput is the request of DescribeTargetHealth.
type DescribeTargetHealthInput struct {
	TargetGroupArn *string `form:"TargetGroupArn"`
}

// DescribeTargetHealthOutput is the response of DescribeTargetHealth.
type DescribeTargetHealthOutput struct {
	TargetHealthDescriptions []TargetHealthDescription `xml:"TargetHealthDescriptions>member"`
}

// Listener is a part of responses.
type Listener struct {
	DefaultActions []Action `xml:"DefaultActions>member"`
	Port           *int32   `xml:"Port"`
	SslPolicy      *string  `xml:"SslPolicy"`
}

// LoadBalancerAttribute is a part of responses.
type LoadBalancerAttribute struct {
	Key   *string `xml:"Key"`
	Value *string `xml:"Value"`
}

// LoadBalancer is a part of responses.
type LoadBalancer struct {
	CreatedTime      *wire.Time             `xml:"CreatedTime"`
	LoadBalancerArn  *string                `xml:"LoadBalancerArn"`
	LoadBalancerName *string                `xml:"LoadBalancerName"`
	Scheme           LoadBalancerSchemeEnum `xml:"Scheme"`
	State            *LoadBalancerState     `xml:"State"`
	Type             LoadBalancerTypeEnum   `xml:"Type"`
	VpcId            *string                `xml:"VpcId"`
}

// TargetGroup is a part of responses.
type TargetGroup struct {
	TargetGroupArn *string `xml:"TargetGroupArn"`
}

// TargetHealthDescription is a part of responses.
type TargetHealthDescription struct {
	TargetHealth *TargetHealth `xml:"TargetHealth"`
}

// Action is a part of responses.
type Action struct {
	Type ActionTypeEnum `xml:"Type"`
}

// LoadBalancerState is a part of responses.
type LoadBalancerState struct {
	Code LoadBalancerStateEnum `xml:"Code"`
}

// TargetHealth is a part of responses.
type TargetHealth struct {
	State TargetHealthStateEnum `xml:"State"`
}

// PageToken returns the place of the token that names the page.
func (i *DescribeListenersInput) PageToken() **string { return &i.Marker }

// NextPageToken returns the token of the next page, or nil.
func (o *DescribeListenersOutput) NextPageToken() *string { return o.NextMarker }

// ActionTypeEnum is an action type enum in AWS's words.
type ActionTypeEnum string

// LoadBalancerSchemeEnum is a load balancer scheme enum in AWS's words.
type LoadBalancerSchemeEnum string

// LoadBalancerStateEnum is a load balancer state enum in AWS's words.
type LoadBalancerStateEnum string

// LoadBalancerTypeEnum is a load balancer type enum in AWS's words.
type LoadBalancerTypeEnum string

// TargetHealthStateEnum is a target health state enum in AWS's words.
type TargetHealthStateEnum string

// Values of ActionTypeEnum that Lamplighter knows.
const (
	ActionTypeEnumForward ActionTypeEnum = "forward"
)

// Values of LoadBalancerStateEnum that Lamplighter knows.
const (
	LoadBalancerStateEnumActive         LoadBalancerStateEnum = "active"
	LoadBalancerStateEnumActiveImpaired LoadBalancerStateEnum = "active_impaired"
	LoadBalancerStateEnumFailed         LoadBalancerStateEnum = "failed"
	LoadBalancerStateEnumProvisioning   LoadBalancerStateEnum = "provisioning"
)

// Values of LoadBalancerTypeEnum that Lamplighter knows.
const (
	LoadBalancerTypeEnumApplication LoadBalancerTypeEnum = "application"
)

// Values of TargetHealthStateEnum that Lamplighter knows.
const (
	TargetHealthStateEnumHealthy TargetHealthStateEnum = "healthy"
)
