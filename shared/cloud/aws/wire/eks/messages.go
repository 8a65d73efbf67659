package eks

import (
	"lamplighter.dev/shared/cloud/aws/wire"
)

// DescribeClusterInput is the request of DescribeCluster.
type DescribeClusterInput struct {
	Name *string `json:"-" uri:"name"`
}

// DescribeClusterOutput is the response of DescribeCluster.
type DescribeClusterOutput struct {
	Cluster *Cluster `json:"cluster"`
}

// DescribeNodegroupInput is the request of DescribeNodegroup.
type DescribeNodegroupInput struct {
	ClusterName   *string `json:"-" uri:"clusterName"`
	NodegroupName *string `json:"-" uri:"nodegroupName"`
}

// DescribeNodegroupOutput is the response of DescribeNodegroup.
type DescribeNodegroupOutput struct {
	Nodegroup *Nodegroup `json:"nodegroup"`
}

// DescribeUpdateInput is the request of DescribeUpdate.
type DescribeUpdateInput struct {
	Name          *string `json:"-" uri:"name"`
	UpdateId      *string `json:"-" uri:"updateId"`
	NodegroupName *string `json:"-" query:"nodegroupName"`
}

// DescribeUpdateOutput is the response of DescribeUpdate.
type DescribeUpdateOutput struct {
	Update *Update `json:"update"`
}

// ListClustersInput is the request of ListClusters.
type ListClustersInput struct {
	MaxResults *int32  `json:"-" query:"maxResults"`
	NextToken  *string `json:"-" query:"nextToken"`
}

// ListClustersOutput is the response of ListClusters.
type ListClustersOutput struct {
	Clusters  []string `json:"clusters"`
	NextToken *string  `json:"nextToken"`
}

// ListNodegroupsInput is the request of ListNodegroups.
type ListNodegroupsInput struct {
	ClusterName *string `json:"-" uri:"clusterName"`
	MaxResults  *int32  `json:"-" query:"maxResults"`
	NextToken   *string `json:"-" query:"nextToken"`
}

// ListNodegroupsOutput is the response of ListNodegroups.
type ListNodegroupsOutput struct {
	NextToken  *string  `json:"nextToken"`
	Nodegroups []string `json:"nodegroups"`
}

// ListUpdatesInput is the request of ListUpdates.
type ListUpdatesInput struct {
	Name          *string `json:"-" uri:"name"`
	NodegroupName *string `json:"-" query:"nodegroupName"`
}

// ListUpdatesOutput is the response of ListUpdates.
type ListUpdatesOutput struct {
	UpdateIds []string `json:"updateIds"`
}

// UpdateNodegroupConfigInput is the request of UpdateNodegroupConfig.
type UpdateNodegroupConfigInput struct {
	ClusterName   *string                 `json:"-" uri:"clusterName"`
	NodegroupName *string                 `json:"-" uri:"nodegroupName"`
	ScalingConfig *NodegroupScalingConfig `json:"scalingConfig,omitzero"`
	// ClientRequestToken lets EKS recognize a repeated request. UpdateNodegroupConfig sets it.
	ClientRequestToken string `json:"clientRequestToken"`
}

// UpdateNodegroupConfigOutput is the response of UpdateNodegroupConfig.
type UpdateNodegroupConfigOutput struct{}

// Cluster is a part of responses.
type Cluster struct {
	Arn                  *string            `json:"arn"`
	CertificateAuthority *Certificate       `json:"certificateAuthority"`
	Endpoint             *string            `json:"endpoint"`
	ResourcesVpcConfig   *VpcConfigResponse `json:"resourcesVpcConfig"`
	Status               ClusterStatus      `json:"status"`
	Version              *string            `json:"version"`
}

// Nodegroup is a part of responses.
type Nodegroup struct {
	CapacityType  CapacityTypes           `json:"capacityType"`
	ClusterName   *string                 `json:"clusterName"`
	CreatedAt     *wire.Time              `json:"createdAt"`
	Health        *NodegroupHealth        `json:"health"`
	InstanceTypes []string                `json:"instanceTypes"`
	NodegroupArn  *string                 `json:"nodegroupArn"`
	NodegroupName *string                 `json:"nodegroupName"`
	ScalingConfig *NodegroupScalingConfig `json:"scalingConfig"`
	Status        NodegroupStatus         `json:"status"`
	Tags          map[string]string       `json:"tags"`
	Version       *string                 `json:"version"`
}

// Update is a part of responses.
type Update struct {
	Errors []ErrorDetail `json:"errors"`
	Id     *string       `json:"id"`
	Status UpdateStatus  `json:"status"`
}

// NodegroupScalingConfig is a part of requests and responses.
type NodegroupScalingConfig struct {
	DesiredSize *int32 `json:"desiredSize,omitzero"`
	MaxSize     *int32 `json:"maxSize,omitzero"`
	MinSize     *int32 `json:"minSize,omitzero"`
}

// Certificate is a part of responses.
type Certificate struct {
	Data *string `json:"data"`
}

// VpcConfigResponse is a part of responses.
type VpcConfigResponse struct {
	EndpointPrivateAccess bool `json:"endpointPrivateAccess"`
	EndpointPublicAccess  bool `json:"endpointPublicAccess"`
}

// NodegroupHealth is a part of responses.
type NodegroupHealth struct {
	Issues []Issue `json:"issues"`
}

// ErrorDetail is a part of responses.
type ErrorDetail struct {
	ErrorCode    ErrorCode `json:"errorCode"`
	ErrorMessage *string   `json:"errorMessage"`
}

// Issue is a part of responses.
type Issue struct {
	Code    NodegroupIssueCode `json:"code"`
	Message *string            `json:"message"`
}

// CapacityTypes is a capacity types in AWS's words.
type CapacityTypes string

// ClusterStatus is a cluster status in AWS's words.
type ClusterStatus string

// ErrorCode is an error code in AWS's words.
type ErrorCode string

// NodegroupIssueCode is a nodegroup issue code in AWS's words.
type NodegroupIssueCode string

// NodegroupStatus is a nodegroup status in AWS's words.
type NodegroupStatus string

// UpdateStatus is an update status in AWS's words.
type UpdateStatus string

// Values of ClusterStatus that Lamplighter knows.
const (
	ClusterStatusActive   ClusterStatus = "ACTIVE"
	ClusterStatusCreating ClusterStatus = "CREATING"
	ClusterStatusDeleting ClusterStatus = "DELETING"
	ClusterStatusFailed   ClusterStatus = "FAILED"
	ClusterStatusPending  ClusterStatus = "PENDING"
	ClusterStatusUpdating ClusterStatus = "UPDATING"
)

// Values of NodegroupStatus that Lamplighter knows.
const (
	NodegroupStatusActive   NodegroupStatus = "ACTIVE"
	NodegroupStatusCreating NodegroupStatus = "CREATING"
	NodegroupStatusDegraded NodegroupStatus = "DEGRADED"
	NodegroupStatusDeleting NodegroupStatus = "DELETING"
	NodegroupStatusUpdating NodegroupStatus = "UPDATING"
)
