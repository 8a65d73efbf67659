package efs

// DescribeFileSystemsInput is the request of DescribeFileSystems.
type DescribeFileSystemsInput struct {
	Marker   *string `json:"-" query:"Marker"`
	MaxItems *int32  `json:"-" query:"MaxItems"`
}

// DescribeFileSystemsOutput is the response of DescribeFileSystems.
type DescribeFileSystemsOutput struct {
	FileSystems []FileSystemDescription `json:"FileSystems"`
	NextMarker  *string                 `json:"NextMarker"`
}

// FileSystemDescription is a part of responses.
type FileSystemDescription struct {
	AvailabilityZoneName         *string         `json:"AvailabilityZoneName"`
	Encrypted                    *bool           `json:"Encrypted"`
	FileSystemArn                *string         `json:"FileSystemArn"`
	NumberOfMountTargets         int32           `json:"NumberOfMountTargets"`
	ProvisionedThroughputInMibps *float64        `json:"ProvisionedThroughputInMibps"`
	SizeInBytes                  *FileSystemSize `json:"SizeInBytes"`
	ThroughputMode               ThroughputMode  `json:"ThroughputMode"`
}

// FileSystemSize is a part of responses.
type FileSystemSize struct {
	Value int64 `json:"Value"`
}

// PageToken returns the place of the token that names the page.
func (i *DescribeFileSystemsInput) PageToken() **string { return &i.Marker }

// NextPageToken returns the token of the next page, or nil.
func (o *DescribeFileSystemsOutput) NextPageToken() *string { return o.NextMarker }

// ThroughputMode is a throughput mode of a file system, in AWS's words.
type ThroughputMode string
