package redshift

import (
	"lamplighter.dev/shared/cloud/aws/wire"
)

// DescribeClustersInput is the request of DescribeClusters.
type DescribeClustersInput struct {
	ClusterIdentifier *string `form:"ClusterIdentifier"`
	Marker            *string `form:"Marker"`
	MaxRecords        *int32  `form:"MaxRecords"`
}

// DescribeClustersOutput is the response of DescribeClusters.
type DescribeClustersOutput struct {
	Clusters []Cluster `xml:"Clusters>Cluster"`
	Marker   *string   `xml:"Marker"`
}

// DescribeStorageInput is the request of DescribeStorage.
type DescribeStorageInput struct{}

// DescribeStorageOutput is the response of DescribeStorage.
type DescribeStorageOutput struct {
	TotalBackupSizeInMegaBytes *float64 `xml:"TotalBackupSizeInMegaBytes"`
}

// PauseClusterInput is the request of PauseCluster.
type PauseClusterInput struct {
	ClusterIdentifier *string `form:"ClusterIdentifier"`
}

// PauseClusterOutput is the response of PauseCluster.
type PauseClusterOutput struct{}

// ResumeClusterInput is the request of ResumeCluster.
type ResumeClusterInput struct {
	ClusterIdentifier *string `form:"ClusterIdentifier"`
}

// ResumeClusterOutput is the response of ResumeCluster.
type ResumeClusterOutput struct{}

// Cluster is a part of responses.
type Cluster struct {
	AvailabilityZone              *string    `xml:"AvailabilityZone"`
	ClusterCreateTime             *wire.Time `xml:"ClusterCreateTime"`
	ClusterIdentifier             *string    `xml:"ClusterIdentifier"`
	ClusterNamespaceArn           *string    `xml:"ClusterNamespaceArn"`
	ClusterStatus                 *string    `xml:"ClusterStatus"`
	Encrypted                     *bool      `xml:"Encrypted"`
	HsmStatus                     *HsmStatus `xml:"HsmStatus"`
	ManualSnapshotRetentionPeriod *int32     `xml:"ManualSnapshotRetentionPeriod"`
	MultiAZ                       *string    `xml:"MultiAZ"`
	NodeType                      *string    `xml:"NodeType"`
	NumberOfNodes                 *int32     `xml:"NumberOfNodes"`
	PubliclyAccessible            *bool      `xml:"PubliclyAccessible"`
	Tags                          []Tag      `xml:"Tags>Tag"`
}

// HsmStatus is a part of responses.
type HsmStatus struct{}

// Tag is a part of responses.
type Tag struct {
	Key   *string `xml:"Key"`
	Value *string `xml:"Value"`
}
