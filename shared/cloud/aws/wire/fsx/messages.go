package fsx

// DescribeFileSystemsInput is the request of DescribeFileSystems.
type DescribeFileSystemsInput struct {
	MaxResults *int32  `json:"MaxResults,omitzero"`
	NextToken  *string `json:"NextToken,omitzero"`
}

// DescribeFileSystemsOutput is the response of DescribeFileSystems.
type DescribeFileSystemsOutput struct {
	FileSystems []FileSystem `json:"FileSystems"`
	NextToken   *string      `json:"NextToken"`
}

// FileSystem is a part of responses.
type FileSystem struct {
	FileSystemType       FileSystemType                  `json:"FileSystemType"`
	LustreConfiguration  *LustreFileSystemConfiguration  `json:"LustreConfiguration"`
	OntapConfiguration   *OntapFileSystemConfiguration   `json:"OntapConfiguration"`
	OpenZFSConfiguration *OpenZFSFileSystemConfiguration `json:"OpenZFSConfiguration"`
	ResourceARN          *string                         `json:"ResourceARN"`
	StorageCapacity      *int32                          `json:"StorageCapacity"`
	WindowsConfiguration *WindowsFileSystemConfiguration `json:"WindowsConfiguration"`
}

// LustreFileSystemConfiguration is a part of responses.
type LustreFileSystemConfiguration struct {
	DeploymentType LustreDeploymentType `json:"DeploymentType"`
}

// OntapFileSystemConfiguration is a part of responses.
type OntapFileSystemConfiguration struct {
	DeploymentType     OntapDeploymentType `json:"DeploymentType"`
	ThroughputCapacity *int32              `json:"ThroughputCapacity"`
}

// OpenZFSFileSystemConfiguration is a part of responses.
type OpenZFSFileSystemConfiguration struct {
	DeploymentType     OpenZFSDeploymentType `json:"DeploymentType"`
	ThroughputCapacity *int32                `json:"ThroughputCapacity"`
}

// WindowsFileSystemConfiguration is a part of responses.
type WindowsFileSystemConfiguration struct {
	DeploymentType     WindowsDeploymentType `json:"DeploymentType"`
	ThroughputCapacity *int32                `json:"ThroughputCapacity"`
}

// PageToken returns the place of the token that names the page.
func (i *DescribeFileSystemsInput) PageToken() **string { return &i.NextToken }

// NextPageToken returns the token of the next page, or nil.
func (o *DescribeFileSystemsOutput) NextPageToken() *string { return o.NextToken }

// FileSystemType is a type of file system, in AWS's words.
type FileSystemType string

// LustreDeploymentType is a deployment type of Lustre, in AWS's words.
type LustreDeploymentType string

// OntapDeploymentType is a deployment type of ONTAP, in AWS's words.
type OntapDeploymentType string

// OpenZFSDeploymentType is a deployment type of OpenZFS, in AWS's words.
type OpenZFSDeploymentType string

// WindowsDeploymentType is a deployment type of Windows, in AWS's words.
type WindowsDeploymentType string
