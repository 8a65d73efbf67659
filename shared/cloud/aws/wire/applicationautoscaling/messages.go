package applicationautoscaling

// DeleteScalingPolicyInput is the request of DeleteScalingPolicy.
type DeleteScalingPolicyInput struct {
	PolicyName        *string           `json:"PolicyName,omitzero"`
	ResourceId        *string           `json:"ResourceId,omitzero"`
	ScalableDimension ScalableDimension `json:"ScalableDimension,omitzero"`
	ServiceNamespace  ServiceNamespace  `json:"ServiceNamespace,omitzero"`
}

// DeleteScalingPolicyOutput is the response of DeleteScalingPolicy.
type DeleteScalingPolicyOutput struct{}

// DeregisterScalableTargetInput is the request of DeregisterScalableTarget.
type DeregisterScalableTargetInput struct {
	ResourceId        *string           `json:"ResourceId,omitzero"`
	ScalableDimension ScalableDimension `json:"ScalableDimension,omitzero"`
	ServiceNamespace  ServiceNamespace  `json:"ServiceNamespace,omitzero"`
}

// DeregisterScalableTargetOutput is the response of DeregisterScalableTarget.
type DeregisterScalableTargetOutput struct{}

// DescribeScalableTargetsInput is the request of DescribeScalableTargets.
type DescribeScalableTargetsInput struct {
	ServiceNamespace  ServiceNamespace  `json:"ServiceNamespace,omitzero"`
	ResourceIds       []string          `json:"ResourceIds,omitzero"`
	ScalableDimension ScalableDimension `json:"ScalableDimension,omitzero"`
}

// DescribeScalableTargetsOutput is the response of DescribeScalableTargets.
type DescribeScalableTargetsOutput struct {
	ScalableTargets []ScalableTarget `json:"ScalableTargets"`
}

// DescribeScalingPoliciesInput is the request of DescribeScalingPolicies.
type DescribeScalingPoliciesInput struct {
	ServiceNamespace  ServiceNamespace  `json:"ServiceNamespace,omitzero"`
	MaxResults        *int32            `json:"MaxResults,omitzero"`
	NextToken         *string           `json:"NextToken,omitzero"`
	ResourceId        *string           `json:"ResourceId,omitzero"`
	ScalableDimension ScalableDimension `json:"ScalableDimension,omitzero"`
}

// DescribeScalingPoliciesOutput is the response of DescribeScalingPolicies.
type DescribeScalingPoliciesOutput struct {
	NextToken       *string         `json:"NextToken"`
	ScalingPolicies []ScalingPolicy `json:"ScalingPolicies"`
}

// PutScalingPolicyInput is the request of PutScalingPolicy.
type PutScalingPolicyInput struct {
	PolicyName                               *string                                   `json:"PolicyName,omitzero"`
	ResourceId                               *string                                   `json:"ResourceId,omitzero"`
	ScalableDimension                        ScalableDimension                         `json:"ScalableDimension,omitzero"`
	ServiceNamespace                         ServiceNamespace                          `json:"ServiceNamespace,omitzero"`
	PolicyType                               PolicyType                                `json:"PolicyType,omitzero"`
	TargetTrackingScalingPolicyConfiguration *TargetTrackingScalingPolicyConfiguration `json:"TargetTrackingScalingPolicyConfiguration,omitzero"`
}

// PutScalingPolicyOutput is the response of PutScalingPolicy.
type PutScalingPolicyOutput struct{}

// RegisterScalableTargetInput is the request of RegisterScalableTarget.
type RegisterScalableTargetInput struct {
	ResourceId        *string           `json:"ResourceId,omitzero"`
	ScalableDimension ScalableDimension `json:"ScalableDimension,omitzero"`
	ServiceNamespace  ServiceNamespace  `json:"ServiceNamespace,omitzero"`
	MaxCapacity       *int32            `json:"MaxCapacity,omitzero"`
	MinCapacity       *int32            `json:"MinCapacity,omitzero"`
	SuspendedState    *SuspendedState   `json:"SuspendedState,omitzero"`
}

// RegisterScalableTargetOutput is the response of RegisterScalableTarget.
type RegisterScalableTargetOutput struct{}

// ScalableTarget is a part of responses.
type ScalableTarget struct {
	MaxCapacity    *int32          `json:"MaxCapacity"`
	MinCapacity    *int32          `json:"MinCapacity"`
	ResourceId     *string         `json:"ResourceId"`
	SuspendedState *SuspendedState `json:"SuspendedState"`
}

// ScalingPolicy is a part of responses.
type ScalingPolicy struct {
	PolicyName                               *string                                   `json:"PolicyName"`
	TargetTrackingScalingPolicyConfiguration *TargetTrackingScalingPolicyConfiguration `json:"TargetTrackingScalingPolicyConfiguration"`
}

// TargetTrackingScalingPolicyConfiguration is a part of requests and responses.
type TargetTrackingScalingPolicyConfiguration struct {
	TargetValue                   *float64                       `json:"TargetValue,omitzero"`
	PredefinedMetricSpecification *PredefinedMetricSpecification `json:"PredefinedMetricSpecification,omitzero"`
	ScaleInCooldown               *int32                         `json:"ScaleInCooldown,omitzero"`
	ScaleOutCooldown              *int32                         `json:"ScaleOutCooldown,omitzero"`
}

// SuspendedState is a part of requests and responses.
type SuspendedState struct {
	DynamicScalingInSuspended  *bool `json:"DynamicScalingInSuspended,omitzero"`
	DynamicScalingOutSuspended *bool `json:"DynamicScalingOutSuspended,omitzero"`
	ScheduledScalingSuspended  *bool `json:"ScheduledScalingSuspended,omitzero"`
}

// PredefinedMetricSpecification is a part of requests and responses.
type PredefinedMetricSpecification struct {
	PredefinedMetricType MetricType `json:"PredefinedMetricType,omitzero"`
}

// PageToken returns the place of the token that names the page.
func (i *DescribeScalingPoliciesInput) PageToken() **string { return &i.NextToken }

// NextPageToken returns the token of the next page, or nil.
func (o *DescribeScalingPoliciesOutput) NextPageToken() *string { return o.NextToken }

// MetricType is a metric type in AWS's words.
type MetricType string

// PolicyType is a policy type in AWS's words.
type PolicyType string

// ScalableDimension is a scalable dimension in AWS's words.
type ScalableDimension string

// ServiceNamespace is a service namespace in AWS's words.
type ServiceNamespace string

// Values of MetricType that Lamplighter knows.
const (
	MetricTypeECSServiceAverageCPUUtilization MetricType = "ECSServiceAverageCPUUtilization"
)

// Values of PolicyType that Lamplighter knows.
const (
	PolicyTypeTargetTrackingScaling PolicyType = "TargetTrackingScaling"
)

// Values of ScalableDimension that Lamplighter knows.
const (
	ScalableDimensionECSServiceDesiredCount ScalableDimension = "ecs:service:DesiredCount"
)

// Values of ServiceNamespace that Lamplighter knows.
const (
	ServiceNamespaceEcs ServiceNamespace = "ecs"
)
