package autoscaling

import (
	"lamplighter.dev/shared/cloud/aws/wire"
)

// DeletePolicyInput is the request of DeletePolicy.
type DeletePolicyInput struct {
	PolicyName           *string `form:"PolicyName"`
	AutoScalingGroupName *string `form:"AutoScalingGroupName"`
}

// DeletePolicyOutput is the response of DeletePolicy.
type DeletePolicyOutput struct{}

// DescribeAutoScalingGroupsInput is the request of DescribeAutoScalingGroups.
type DescribeAutoScalingGroupsInput struct {
	AutoScalingGroupNames []string `form:"AutoScalingGroupNames.member"`
	MaxRecords            *int32   `form:"MaxRecords"`
	NextToken             *string  `form:"NextToken"`
}

// DescribeAutoScalingGroupsOutput is the response of DescribeAutoScalingGroups.
type DescribeAutoScalingGroupsOutput struct {
	AutoScalingGroups []AutoScalingGroup `xml:"AutoScalingGroups>member"`
	NextToken         *string            `xml:"NextToken"`
}

// DescribePoliciesInput is the request of DescribePolicies.
type DescribePoliciesInput struct {
	AutoScalingGroupName *string  `form:"AutoScalingGroupName"`
	MaxRecords           *int32   `form:"MaxRecords"`
	NextToken            *string  `form:"NextToken"`
	PolicyTypes          []string `form:"PolicyTypes.member"`
}

// DescribePoliciesOutput is the response of DescribePolicies.
type DescribePoliciesOutput struct {
	NextToken       *string         `xml:"NextToken"`
	ScalingPolicies []ScalingPolicy `xml:"ScalingPolicies>member"`
}

// PutScalingPolicyInput is the request of PutScalingPolicy.
type PutScalingPolicyInput struct {
	AutoScalingGroupName        *string                      `form:"AutoScalingGroupName"`
	PolicyName                  *string                      `form:"PolicyName"`
	EstimatedInstanceWarmup     *int32                       `form:"EstimatedInstanceWarmup"`
	PolicyType                  *string                      `form:"PolicyType"`
	TargetTrackingConfiguration *TargetTrackingConfiguration `form:"TargetTrackingConfiguration"`
}

// PutScalingPolicyOutput is the response of PutScalingPolicy.
type PutScalingPolicyOutput struct{}

// ResumeProcessesInput is the request of ResumeProcesses.
type ResumeProcessesInput struct {
	AutoScalingGroupName *string  `form:"AutoScalingGroupName"`
	ScalingProcesses     []string `form:"ScalingProcesses.member"`
}

// ResumeProcessesOutput is the response of ResumeProcesses.
type ResumeProcessesOutput struct{}

// SuspendProcessesInput is the request of SuspendProcesses.
type SuspendProcessesInput struct {
	AutoScalingGroupName *string  `form:"AutoScalingGroupName"`
	ScalingProcesses     []string `form:"ScalingProcesses.member"`
}

// SuspendProcessesOutput is the response of SuspendProcesses.
type SuspendProcessesOutput struct{}

// UpdateAutoScalingGroupInput is the request of UpdateAutoScalingGroup.
type UpdateAutoScalingGroupInput struct {
	AutoScalingGroupName *string `form:"AutoScalingGroupName"`
	DesiredCapacity      *int32  `form:"DesiredCapacity"`
	MaxSize              *int32  `form:"MaxSize"`
	MinSize              *int32  `form:"MinSize"`
}

// UpdateAutoScalingGroupOutput is the response of UpdateAutoScalingGroup.
type UpdateAutoScalingGroupOutput struct{}

// AutoScalingGroup is a part of responses.
type AutoScalingGroup struct {
	AutoScalingGroupName    *string                `xml:"AutoScalingGroupName"`
	AvailabilityZones       []string               `xml:"AvailabilityZones>member"`
	CreatedTime             *wire.Time             `xml:"CreatedTime"`
	DesiredCapacity         *int32                 `xml:"DesiredCapacity"`
	HealthCheckType         *string                `xml:"HealthCheckType"`
	MaxSize                 *int32                 `xml:"MaxSize"`
	MinSize                 *int32                 `xml:"MinSize"`
	AutoScalingGroupARN     *string                `xml:"AutoScalingGroupARN"`
	Instances               []Instance             `xml:"Instances>member"`
	LaunchConfigurationName *string                `xml:"LaunchConfigurationName"`
	MixedInstancesPolicy    *MixedInstancesPolicy  `xml:"MixedInstancesPolicy"`
	Status                  *string                `xml:"Status"`
	SuspendedProcesses      []SuspendedProcess     `xml:"SuspendedProcesses>member"`
	Tags                    []TagDescription       `xml:"Tags>member"`
	TargetGroupARNs         []string               `xml:"TargetGroupARNs>member"`
	WarmPoolConfiguration   *WarmPoolConfiguration `xml:"WarmPoolConfiguration"`
	WarmPoolSize            *int32                 `xml:"WarmPoolSize"`
}

// ScalingPolicy is a part of responses.
type ScalingPolicy struct {
	AutoScalingGroupName        *string                      `xml:"AutoScalingGroupName"`
	EstimatedInstanceWarmup     *int32                       `xml:"EstimatedInstanceWarmup"`
	PolicyName                  *string                      `xml:"PolicyName"`
	TargetTrackingConfiguration *TargetTrackingConfiguration `xml:"TargetTrackingConfiguration"`
}

// TargetTrackingConfiguration is a part of requests and responses.
type TargetTrackingConfiguration struct {
	TargetValue                   *float64                       `form:"TargetValue" xml:"TargetValue"`
	PredefinedMetricSpecification *PredefinedMetricSpecification `form:"PredefinedMetricSpecification" xml:"PredefinedMetricSpecification"`
}

// Instance is a part of responses.
type Instance struct {
	InstanceId           *string        `xml:"InstanceId"`
	LifecycleState       LifecycleState `xml:"LifecycleState"`
	ProtectedFromScaleIn *bool          `xml:"ProtectedFromScaleIn"`
	InstanceType         *string        `xml:"InstanceType"`
}

// MixedInstancesPolicy is a part of responses.
type MixedInstancesPolicy struct {
	InstancesDistribution *InstancesDistribution `xml:"InstancesDistribution"`
}

// SuspendedProcess is a part of responses.
type SuspendedProcess struct {
	ProcessName *string `xml:"ProcessName"`
}

// TagDescription is a part of responses.
type TagDescription struct {
	Key   *string `xml:"Key"`
	Value *string `xml:"Value"`
}

// WarmPoolConfiguration is a part of responses.
type WarmPoolConfiguration struct {
	MaxGroupPreparedCapacity *int32 `xml:"MaxGroupPreparedCapacity"`
	MinSize                  *int32 `xml:"MinSize"`
}

// PredefinedMetricSpecification is a part of requests and responses.
type PredefinedMetricSpecification struct {
	PredefinedMetricType MetricType `form:"PredefinedMetricType" xml:"PredefinedMetricType"`
}

// InstancesDistribution is a part of responses.
type InstancesDistribution struct {
	OnDemandPercentageAboveBaseCapacity *int32 `xml:"OnDemandPercentageAboveBaseCapacity"`
}

// PageToken returns the place of the token that names the page.
func (i *DescribePoliciesInput) PageToken() **string { return &i.NextToken }

// NextPageToken returns the token of the next page, or nil.
func (o *DescribePoliciesOutput) NextPageToken() *string { return o.NextToken }

// LifecycleState is a lifecycle state in AWS's words.
type LifecycleState string

// MetricType is a metric type in AWS's words.
type MetricType string

// Values of LifecycleState that Lamplighter knows.
const (
	LifecycleStateInService       LifecycleState = "InService"
	LifecycleStateStandby         LifecycleState = "Standby"
	LifecycleStateTerminatingWait LifecycleState = "Terminating:Wait"
)

// Values of MetricType that Lamplighter knows.
const (
	MetricTypeASGAverageCPUUtilization MetricType = "ASGAverageCPUUtilization"
)
