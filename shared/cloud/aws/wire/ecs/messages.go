package ecs

import (
	"lamplighter.dev/shared/cloud/aws/wire"
)

// DescribeServicesInput is the request of DescribeServices.
type DescribeServicesInput struct {
	Services []string       `json:"services,omitzero"`
	Cluster  *string        `json:"cluster,omitzero"`
	Include  []ServiceField `json:"include,omitzero"`
}

// DescribeServicesOutput is the response of DescribeServices.
type DescribeServicesOutput struct {
	Services []Service `json:"services"`
}

// DescribeTaskDefinitionInput is the request of DescribeTaskDefinition.
type DescribeTaskDefinitionInput struct {
	TaskDefinition *string `json:"taskDefinition,omitzero"`
}

// DescribeTaskDefinitionOutput is the response of DescribeTaskDefinition.
type DescribeTaskDefinitionOutput struct {
	TaskDefinition *TaskDefinition `json:"taskDefinition"`
}

// ListClustersInput is the request of ListClusters.
type ListClustersInput struct {
	MaxResults *int32  `json:"maxResults,omitzero"`
	NextToken  *string `json:"nextToken,omitzero"`
}

// ListClustersOutput is the response of ListClusters.
type ListClustersOutput struct {
	ClusterArns []string `json:"clusterArns"`
	NextToken   *string  `json:"nextToken"`
}

// ListServicesInput is the request of ListServices.
type ListServicesInput struct {
	Cluster    *string `json:"cluster,omitzero"`
	MaxResults *int32  `json:"maxResults,omitzero"`
	NextToken  *string `json:"nextToken,omitzero"`
}

// ListServicesOutput is the response of ListServices.
type ListServicesOutput struct {
	NextToken   *string  `json:"nextToken"`
	ServiceArns []string `json:"serviceArns"`
}

// UpdateServiceInput is the request of UpdateService.
type UpdateServiceInput struct {
	Service      *string `json:"service,omitzero"`
	Cluster      *string `json:"cluster,omitzero"`
	DesiredCount *int32  `json:"desiredCount,omitzero"`
}

// UpdateServiceOutput is the response of UpdateService.
type UpdateServiceOutput struct{}

// Service is a part of responses.
type Service struct {
	CapacityProviderStrategy []CapacityProviderStrategyItem `json:"capacityProviderStrategy"`
	ClusterArn               *string                        `json:"clusterArn"`
	CreatedAt                *wire.Time                     `json:"createdAt"`
	DeploymentConfiguration  *DeploymentConfiguration       `json:"deploymentConfiguration"`
	Deployments              []Deployment                   `json:"deployments"`
	DesiredCount             int32                          `json:"desiredCount"`
	Events                   []ServiceEvent                 `json:"events"`
	LaunchType               LaunchType                     `json:"launchType"`
	PendingCount             int32                          `json:"pendingCount"`
	RunningCount             int32                          `json:"runningCount"`
	SchedulingStrategy       SchedulingStrategy             `json:"schedulingStrategy"`
	ServiceArn               *string                        `json:"serviceArn"`
	ServiceName              *string                        `json:"serviceName"`
	Status                   *string                        `json:"status"`
	Tags                     []Tag                          `json:"tags"`
	TaskDefinition           *string                        `json:"taskDefinition"`
}

// TaskDefinition is a part of responses.
type TaskDefinition struct {
	Cpu              *string           `json:"cpu"`
	EphemeralStorage *EphemeralStorage `json:"ephemeralStorage"`
	Memory           *string           `json:"memory"`
	RuntimePlatform  *RuntimePlatform  `json:"runtimePlatform"`
}

// EphemeralStorage is a part of responses.
type EphemeralStorage struct {
	SizeInGiB int32 `json:"sizeInGiB"`
}

// CapacityProviderStrategyItem is a part of responses.
type CapacityProviderStrategyItem struct {
	Base             int32   `json:"base"`
	CapacityProvider *string `json:"capacityProvider"`
	Weight           int32   `json:"weight"`
}

// DeploymentConfiguration is a part of responses.
type DeploymentConfiguration struct {
	DeploymentCircuitBreaker *DeploymentCircuitBreaker `json:"deploymentCircuitBreaker"`
}

// Deployment is a part of responses.
type Deployment struct {
	RolloutState       DeploymentRolloutState `json:"rolloutState"`
	RolloutStateReason *string                `json:"rolloutStateReason"`
	Status             *string                `json:"status"`
}

// ServiceEvent is a part of responses.
type ServiceEvent struct {
	Message *string `json:"message"`
}

// Tag is a part of responses.
type Tag struct {
	Key   *string `json:"key"`
	Value *string `json:"value"`
}

// RuntimePlatform is a part of responses.
type RuntimePlatform struct {
	CpuArchitecture       CPUArchitecture `json:"cpuArchitecture"`
	OperatingSystemFamily *string         `json:"operatingSystemFamily"`
}

// DeploymentCircuitBreaker is a part of responses.
type DeploymentCircuitBreaker struct {
	Enable bool `json:"enable"`
}

// CPUArchitecture is a cpuarchitecture in AWS's words.
type CPUArchitecture string

// DeploymentRolloutState is a deployment rollout state in AWS's words.
type DeploymentRolloutState string

// LaunchType is a launch type in AWS's words.
type LaunchType string

// SchedulingStrategy is a scheduling strategy in AWS's words.
type SchedulingStrategy string

// ServiceField is a service field in AWS's words.
type ServiceField string

// Values of DeploymentRolloutState that Lamplighter knows.
const (
	DeploymentRolloutStateFailed DeploymentRolloutState = "FAILED"
)

// Values of SchedulingStrategy that Lamplighter knows.
const (
	SchedulingStrategyDaemon SchedulingStrategy = "DAEMON"
)

// Values of ServiceField that Lamplighter knows.
const (
	ServiceFieldTags ServiceField = "TAGS"
)

// DescribeClustersInput is the request of DescribeClusters.
type DescribeClustersInput struct {
	Clusters []string `json:"clusters,omitzero"`
}

// DescribeClustersOutput is the response of DescribeClusters.
type DescribeClustersOutput struct {
	Clusters []Cluster `json:"clusters"`
}

// Cluster is a part of responses.
type Cluster struct {
	ClusterArn                        *string `json:"clusterArn"`
	RegisteredContainerInstancesCount int32   `json:"registeredContainerInstancesCount"`
	RunningTasksCount                 int32   `json:"runningTasksCount"`
}
