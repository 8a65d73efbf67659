package rds

import (
	"lamplighter.dev/shared/cloud/aws/wire"
)

// DescribeBlueGreenDeploymentsInput is the request of DescribeBlueGreenDeployments.
type DescribeBlueGreenDeploymentsInput struct {
	Marker *string `form:"Marker"`
}

// DescribeBlueGreenDeploymentsOutput is the response of DescribeBlueGreenDeployments.
type DescribeBlueGreenDeploymentsOutput struct {
	BlueGreenDeployments []BlueGreenDeployment `xml:"BlueGreenDeployments>member"`
	Marker               *string               `xml:"Marker"`
}

// DescribeDBClustersInput is the request of DescribeDBClusters.
type DescribeDBClustersInput struct {
	Filters    []Filter `form:"Filters.Filter"`
	Marker     *string  `form:"Marker"`
	MaxRecords *int32   `form:"MaxRecords"`
}

// DescribeDBClustersOutput is the response of DescribeDBClusters.
type DescribeDBClustersOutput struct {
	DBClusters []DBCluster `xml:"DBClusters>DBCluster"`
	Marker     *string     `xml:"Marker"`
}

// DescribeDBInstancesInput is the request of DescribeDBInstances.
type DescribeDBInstancesInput struct {
	Filters    []Filter `form:"Filters.Filter"`
	Marker     *string  `form:"Marker"`
	MaxRecords *int32   `form:"MaxRecords"`
}

// DescribeDBInstancesOutput is the response of DescribeDBInstances.
type DescribeDBInstancesOutput struct {
	DBInstances []DBInstance `xml:"DBInstances>DBInstance"`
	Marker      *string      `xml:"Marker"`
}

// DescribeDBMajorEngineVersionsInput is the request of DescribeDBMajorEngineVersions.
type DescribeDBMajorEngineVersionsInput struct {
	Marker     *string `form:"Marker"`
	MaxRecords *int32  `form:"MaxRecords"`
}

// DescribeDBMajorEngineVersionsOutput is the response of DescribeDBMajorEngineVersions.
type DescribeDBMajorEngineVersionsOutput struct {
	DBMajorEngineVersions []DBMajorEngineVersion `xml:"DBMajorEngineVersions>DBMajorEngineVersion"`
	Marker                *string                `xml:"Marker"`
}

// StartDBClusterInput is the request of StartDBCluster.
type StartDBClusterInput struct {
	DBClusterIdentifier *string `form:"DBClusterIdentifier"`
}

// StartDBClusterOutput is the response of StartDBCluster.
type StartDBClusterOutput struct{}

// StartDBInstanceInput is the request of StartDBInstance.
type StartDBInstanceInput struct {
	DBInstanceIdentifier *string `form:"DBInstanceIdentifier"`
}

// StartDBInstanceOutput is the response of StartDBInstance.
type StartDBInstanceOutput struct{}

// StopDBClusterInput is the request of StopDBCluster.
type StopDBClusterInput struct {
	DBClusterIdentifier *string `form:"DBClusterIdentifier"`
}

// StopDBClusterOutput is the response of StopDBCluster.
type StopDBClusterOutput struct{}

// StopDBInstanceInput is the request of StopDBInstance.
type StopDBInstanceInput struct {
	DBInstanceIdentifier *string `form:"DBInstanceIdentifier"`
}

// StopDBInstanceOutput is the response of StopDBInstance.
type StopDBInstanceOutput struct{}

// BlueGreenDeployment is a part of responses.
type BlueGreenDeployment struct {
	BlueGreenDeploymentName *string            `xml:"BlueGreenDeploymentName"`
	Source                  *string            `xml:"Source"`
	Status                  *string            `xml:"Status"`
	SwitchoverDetails       []SwitchoverDetail `xml:"SwitchoverDetails>member"`
	Target                  *string            `xml:"Target"`
}

// Filter is a part of requests.
type Filter struct {
	Name   *string  `form:"Name"`
	Values []string `form:"Values.Value"`
}

// DBCluster is a part of responses.
type DBCluster struct {
	AutomaticRestartTime             *wire.Time                            `xml:"AutomaticRestartTime"`
	ClusterCreateTime                *wire.Time                            `xml:"ClusterCreateTime"`
	DBClusterArn                     *string                               `xml:"DBClusterArn"`
	DBClusterIdentifier              *string                               `xml:"DBClusterIdentifier"`
	DBClusterInstanceClass           *string                               `xml:"DBClusterInstanceClass"`
	DBClusterMembers                 []DBClusterMember                     `xml:"DBClusterMembers>DBClusterMember"`
	DeletionProtection               *bool                                 `xml:"DeletionProtection"`
	Engine                           *string                               `xml:"Engine"`
	EngineMode                       *string                               `xml:"EngineMode"`
	EngineVersion                    *string                               `xml:"EngineVersion"`
	GlobalClusterIdentifier          *string                               `xml:"GlobalClusterIdentifier"`
	ReadReplicaIdentifiers           []string                              `xml:"ReadReplicaIdentifiers>ReadReplicaIdentifier"`
	ReplicationSourceIdentifier      *string                               `xml:"ReplicationSourceIdentifier"`
	ServerlessV2ScalingConfiguration *ServerlessV2ScalingConfigurationInfo `xml:"ServerlessV2ScalingConfiguration"`
	Status                           *string                               `xml:"Status"`
	StorageEncrypted                 *bool                                 `xml:"StorageEncrypted"`
	StorageType                      *string                               `xml:"StorageType"`
	TagList                          []Tag                                 `xml:"TagList>Tag"`
}

// DBInstance is a part of responses.
type DBInstance struct {
	AllocatedStorage                      *int32              `xml:"AllocatedStorage"`
	AutoMinorVersionUpgrade               *bool               `xml:"AutoMinorVersionUpgrade"`
	AutomaticRestartTime                  *wire.Time          `xml:"AutomaticRestartTime"`
	AvailabilityZone                      *string             `xml:"AvailabilityZone"`
	BackupRetentionPeriod                 *int32              `xml:"BackupRetentionPeriod"`
	CertificateDetails                    *CertificateDetails `xml:"CertificateDetails"`
	DBClusterIdentifier                   *string             `xml:"DBClusterIdentifier"`
	DBInstanceArn                         *string             `xml:"DBInstanceArn"`
	DBInstanceClass                       *string             `xml:"DBInstanceClass"`
	DBInstanceIdentifier                  *string             `xml:"DBInstanceIdentifier"`
	DBInstanceStatus                      *string             `xml:"DBInstanceStatus"`
	DeletionProtection                    *bool               `xml:"DeletionProtection"`
	Engine                                *string             `xml:"Engine"`
	EngineVersion                         *string             `xml:"EngineVersion"`
	InstanceCreateTime                    *wire.Time          `xml:"InstanceCreateTime"`
	Iops                                  *int32              `xml:"Iops"`
	LicenseModel                          *string             `xml:"LicenseModel"`
	MaxAllocatedStorage                   *int32              `xml:"MaxAllocatedStorage"`
	MultiAZ                               *bool               `xml:"MultiAZ"`
	PerformanceInsightsRetentionPeriod    *int32              `xml:"PerformanceInsightsRetentionPeriod"`
	PubliclyAccessible                    *bool               `xml:"PubliclyAccessible"`
	ReadReplicaDBClusterIdentifiers       []string            `xml:"ReadReplicaDBClusterIdentifiers>ReadReplicaDBClusterIdentifier"`
	ReadReplicaDBInstanceIdentifiers      []string            `xml:"ReadReplicaDBInstanceIdentifiers>ReadReplicaDBInstanceIdentifier"`
	ReadReplicaSourceDBClusterIdentifier  *string             `xml:"ReadReplicaSourceDBClusterIdentifier"`
	ReadReplicaSourceDBInstanceIdentifier *string             `xml:"ReadReplicaSourceDBInstanceIdentifier"`
	StorageEncrypted                      *bool               `xml:"StorageEncrypted"`
	StorageType                           *string             `xml:"StorageType"`
	TagList                               []Tag               `xml:"TagList>Tag"`
}

// DBMajorEngineVersion is a part of responses.
type DBMajorEngineVersion struct {
	Engine                    *string                    `xml:"Engine"`
	MajorEngineVersion        *string                    `xml:"MajorEngineVersion"`
	SupportedEngineLifecycles []SupportedEngineLifecycle `xml:"SupportedEngineLifecycles>SupportedEngineLifecycle"`
}

// SwitchoverDetail is a part of responses.
type SwitchoverDetail struct {
	SourceMember *string `xml:"SourceMember"`
	TargetMember *string `xml:"TargetMember"`
}

// DBClusterMember is a part of responses.
type DBClusterMember struct {
	IsClusterWriter *bool `xml:"IsClusterWriter"`
}

// ServerlessV2ScalingConfigurationInfo is a part of responses.
type ServerlessV2ScalingConfigurationInfo struct {
	MinCapacity *float64 `xml:"MinCapacity"`
}

// Tag is a part of responses.
type Tag struct {
	Key   *string `xml:"Key"`
	Value *string `xml:"Value"`
}

// CertificateDetails is a part of responses.
type CertificateDetails struct {
	ValidTill *wire.Time `xml:"ValidTill"`
}

// SupportedEngineLifecycle is a part of responses.
type SupportedEngineLifecycle struct {
	LifecycleSupportEndDate *wire.Time           `xml:"LifecycleSupportEndDate"`
	LifecycleSupportName    LifecycleSupportName `xml:"LifecycleSupportName"`
}

// PageToken returns the place of the token that names the page.
func (i *DescribeBlueGreenDeploymentsInput) PageToken() **string { return &i.Marker }

// NextPageToken returns the token of the next page, or nil.
func (o *DescribeBlueGreenDeploymentsOutput) NextPageToken() *string { return o.Marker }

// PageToken returns the place of the token that names the page.
func (i *DescribeDBInstancesInput) PageToken() **string { return &i.Marker }

// NextPageToken returns the token of the next page, or nil.
func (o *DescribeDBInstancesOutput) NextPageToken() *string { return o.Marker }

// PageToken returns the place of the token that names the page.
func (i *DescribeDBMajorEngineVersionsInput) PageToken() **string { return &i.Marker }

// NextPageToken returns the token of the next page, or nil.
func (o *DescribeDBMajorEngineVersionsOutput) NextPageToken() *string { return o.Marker }

// LifecycleSupportName is a lifecycle support name in AWS's words.
type LifecycleSupportName string

// DescribeDBSnapshotsInput is the request of DescribeDBSnapshots.
type DescribeDBSnapshotsInput struct {
	Marker     *string `form:"Marker"`
	MaxRecords *int32  `form:"MaxRecords"`
}

// DescribeDBSnapshotsOutput is the response of DescribeDBSnapshots.
type DescribeDBSnapshotsOutput struct {
	DBSnapshots []DBSnapshot `xml:"DBSnapshots>DBSnapshot"`
	Marker      *string      `xml:"Marker"`
}

// DBSnapshot is a part of responses.
type DBSnapshot struct {
	DBInstanceIdentifier *string `xml:"DBInstanceIdentifier"`
	DBSnapshotArn        *string `xml:"DBSnapshotArn"`
	SnapshotType         *string `xml:"SnapshotType"`
}

// PageToken returns the place of the token that names the page.
func (i *DescribeDBSnapshotsInput) PageToken() **string { return &i.Marker }

// NextPageToken returns the token of the next page, or nil.
func (o *DescribeDBSnapshotsOutput) NextPageToken() *string { return o.Marker }

// ModifyDBInstanceInput is the request of ModifyDBInstance.
type ModifyDBInstanceInput struct {
	ApplyImmediately                   *bool   `form:"ApplyImmediately"`
	AutoMinorVersionUpgrade            *bool   `form:"AutoMinorVersionUpgrade"`
	BackupRetentionPeriod              *int32  `form:"BackupRetentionPeriod"`
	DBInstanceIdentifier               *string `form:"DBInstanceIdentifier"`
	DeletionProtection                 *bool   `form:"DeletionProtection"`
	Iops                               *int32  `form:"Iops"`
	MaxAllocatedStorage                *int32  `form:"MaxAllocatedStorage"`
	MultiAZ                            *bool   `form:"MultiAZ"`
	PerformanceInsightsRetentionPeriod *int32  `form:"PerformanceInsightsRetentionPeriod"`
	StorageType                        *string `form:"StorageType"`
}

// ModifyDBInstanceOutput is the response of ModifyDBInstance.
type ModifyDBInstanceOutput struct {
	DBInstance *DBInstance `xml:"DBInstance"`
}
