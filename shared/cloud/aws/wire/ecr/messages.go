package ecr

import (
	"lamplighter.dev/shared/cloud/aws/wire"
)

// DescribeImagesInput is the request of DescribeImages.
type DescribeImagesInput struct {
	RepositoryName *string `json:"repositoryName,omitzero"`
	MaxResults     *int32  `json:"maxResults,omitzero"`
	NextToken      *string `json:"nextToken,omitzero"`
}

// DescribeImagesOutput is the response of DescribeImages.
type DescribeImagesOutput struct {
	ImageDetails []ImageDetail `json:"imageDetails"`
	NextToken    *string       `json:"nextToken"`
}

// DescribeRepositoriesInput is the request of DescribeRepositories.
type DescribeRepositoriesInput struct {
	MaxResults *int32  `json:"maxResults,omitzero"`
	NextToken  *string `json:"nextToken,omitzero"`
}

// DescribeRepositoriesOutput is the response of DescribeRepositories.
type DescribeRepositoriesOutput struct {
	NextToken    *string      `json:"nextToken"`
	Repositories []Repository `json:"repositories"`
}

// GetLifecyclePolicyInput is the request of GetLifecyclePolicy.
type GetLifecyclePolicyInput struct {
	RepositoryName *string `json:"repositoryName,omitzero"`
}

// GetLifecyclePolicyOutput is the response of GetLifecyclePolicy.
type GetLifecyclePolicyOutput struct{}

// GetRegistryScanningConfigurationInput is the request of GetRegistryScanningConfiguration.
type GetRegistryScanningConfigurationInput struct{}

// GetRegistryScanningConfigurationOutput is the response of GetRegistryScanningConfiguration.
type GetRegistryScanningConfigurationOutput struct {
	ScanningConfiguration *RegistryScanningConfiguration `json:"scanningConfiguration"`
}

// ImageDetail is a part of responses.
type ImageDetail struct {
	ImageSizeInBytes     *int64     `json:"imageSizeInBytes"`
	ImageTags            []string   `json:"imageTags"`
	LastRecordedPullTime *wire.Time `json:"lastRecordedPullTime"`
}

// Repository is a part of responses.
type Repository struct {
	CreatedAt                  *wire.Time                  `json:"createdAt"`
	ImageScanningConfiguration *ImageScanningConfiguration `json:"imageScanningConfiguration"`
	RepositoryArn              *string                     `json:"repositoryArn"`
	RepositoryName             *string                     `json:"repositoryName"`
}

// ImageScanningConfiguration is a part of responses.
type ImageScanningConfiguration struct {
	ScanOnPush bool `json:"scanOnPush"`
}

// RegistryScanningConfiguration is a part of responses.
type RegistryScanningConfiguration struct {
	Rules []RegistryScanningRule `json:"rules"`
}

// RegistryScanningRule is a part of responses.
type RegistryScanningRule struct {
	RepositoryFilters []ScanningRepositoryFilter `json:"repositoryFilters"`
	ScanFrequency     ScanFrequency              `json:"scanFrequency"`
}

// ScanFrequency is an enumeration.
type ScanFrequency string

// The values of ScanFrequency that Lamplighter distinguishes.
const (
	ScanFrequencyManual ScanFrequency = "MANUAL"
)

// ScanningRepositoryFilter is a part of responses.
type ScanningRepositoryFilter struct {
	Filter *string `json:"filter"`
}

// PageToken returns the place of the token that names the page.
func (i *DescribeImagesInput) PageToken() **string { return &i.NextToken }

// NextPageToken returns the token of the next page, or nil.
func (o *DescribeImagesOutput) NextPageToken() *string { return o.NextToken }
