package elasticache

import (
	"lamplighter.dev/shared/cloud/aws/wire"
)

// DescribeCacheClustersInput is the request of DescribeCacheClusters.
type DescribeCacheClustersInput struct {
	Marker     *string `form:"Marker"`
	MaxRecords *int32  `form:"MaxRecords"`
}

// DescribeCacheClustersOutput is the response of DescribeCacheClusters.
type DescribeCacheClustersOutput struct {
	CacheClusters []CacheCluster `xml:"CacheClusters>CacheCluster"`
	Marker        *string        `xml:"Marker"`
}

// DescribeReplicationGroupsInput is the request of DescribeReplicationGroups.
type DescribeReplicationGroupsInput struct {
	Marker     *string `form:"Marker"`
	MaxRecords *int32  `form:"MaxRecords"`
}

// DescribeReplicationGroupsOutput is the response of DescribeReplicationGroups.
type DescribeReplicationGroupsOutput struct {
	Marker            *string            `xml:"Marker"`
	ReplicationGroups []ReplicationGroup `xml:"ReplicationGroups>ReplicationGroup"`
}

// CacheCluster is a part of responses.
type CacheCluster struct {
	ARN                       *string    `xml:"ARN"`
	CacheClusterCreateTime    *wire.Time `xml:"CacheClusterCreateTime"`
	CacheClusterId            *string    `xml:"CacheClusterId"`
	CacheClusterStatus        *string    `xml:"CacheClusterStatus"`
	CacheNodeType             *string    `xml:"CacheNodeType"`
	Engine                    *string    `xml:"Engine"`
	EngineVersion             *string    `xml:"EngineVersion"`
	NumCacheNodes             *int32     `xml:"NumCacheNodes"`
	PreferredAvailabilityZone *string    `xml:"PreferredAvailabilityZone"`
	ReplicationGroupId        *string    `xml:"ReplicationGroupId"`
	TransitEncryptionEnabled  *bool      `xml:"TransitEncryptionEnabled"`
}

// ReplicationGroup is a part of responses.
type ReplicationGroup struct {
	AutomaticFailover        AutomaticFailoverStatus `xml:"AutomaticFailover"`
	NodeGroups               []NodeGroup             `xml:"NodeGroups>NodeGroup"`
	ReplicationGroupId       *string                 `xml:"ReplicationGroupId"`
	TransitEncryptionEnabled *bool                   `xml:"TransitEncryptionEnabled"`
}

// NodeGroup is a part of responses.
type NodeGroup struct {
	NodeGroupMembers []NodeGroupMember `xml:"NodeGroupMembers>NodeGroupMember"`
}

// NodeGroupMember is a part of responses.
type NodeGroupMember struct{}

// PageToken returns the place of the token that names the page.
func (i *DescribeReplicationGroupsInput) PageToken() **string { return &i.Marker }

// NextPageToken returns the token of the next page, or nil.
func (o *DescribeReplicationGroupsOutput) NextPageToken() *string { return o.Marker }

// AutomaticFailoverStatus is an automatic failover status in AWS's words.
type AutomaticFailoverStatus string

// Values of AutomaticFailoverStatus that Lamplighter knows.
const (
	AutomaticFailoverStatusEnabled AutomaticFailoverStatus = "enabled"
)
