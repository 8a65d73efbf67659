package databasemigrationservice

// DescribeReplicationInstancesInput is the request of DescribeReplicationInstances.
type DescribeReplicationInstancesInput struct {
	Marker     *string `json:"Marker,omitzero"`
	MaxRecords *int32  `json:"MaxRecords,omitzero"`
}

// DescribeReplicationInstancesOutput is the response of DescribeReplicationInstances.
type DescribeReplicationInstancesOutput struct {
	Marker               *string               `json:"Marker"`
	ReplicationInstances []ReplicationInstance `json:"ReplicationInstances"`
}

// DescribeReplicationTasksInput is the request of DescribeReplicationTasks.
type DescribeReplicationTasksInput struct {
	Marker     *string `json:"Marker,omitzero"`
	MaxRecords *int32  `json:"MaxRecords,omitzero"`
}

// DescribeReplicationTasksOutput is the response of DescribeReplicationTasks.
type DescribeReplicationTasksOutput struct {
	Marker           *string           `json:"Marker"`
	ReplicationTasks []ReplicationTask `json:"ReplicationTasks"`
}

// ReplicationInstance is a part of responses.
type ReplicationInstance struct {
	MultiAZ                   bool    `json:"MultiAZ"`
	ReplicationInstanceArn    *string `json:"ReplicationInstanceArn"`
	ReplicationInstanceStatus *string `json:"ReplicationInstanceStatus"`
}

// ReplicationTask is a part of responses.
type ReplicationTask struct {
	ReplicationInstanceArn *string `json:"ReplicationInstanceArn"`
	Status                 *string `json:"Status"`
}

// PageToken returns the place of the token that names the page.
func (i *DescribeReplicationInstancesInput) PageToken() **string { return &i.Marker }

// NextPageToken returns the token of the next page, or nil.
func (o *DescribeReplicationInstancesOutput) NextPageToken() *string { return o.Marker }

// PageToken returns the place of the token that names the page.
func (i *DescribeReplicationTasksInput) PageToken() **string { return &i.Marker }

// NextPageToken returns the token of the next page, or nil.
func (o *DescribeReplicationTasksOutput) NextPageToken() *string { return o.Marker }
