package costandusagereportservice

// DescribeReportDefinitionsInput is the request of DescribeReportDefinitions.
type DescribeReportDefinitionsInput struct {
	MaxResults *int32  `json:"MaxResults,omitzero"`
	NextToken  *string `json:"NextToken,omitzero"`
}

// DescribeReportDefinitionsOutput is the response of DescribeReportDefinitions.
type DescribeReportDefinitionsOutput struct {
	NextToken         *string            `json:"NextToken"`
	ReportDefinitions []ReportDefinition `json:"ReportDefinitions"`
}

// ReportDefinition is a part of responses.
type ReportDefinition struct {
	ReportName   *string       `json:"ReportName"`
	S3Bucket     *string       `json:"S3Bucket"`
	S3Prefix     *string       `json:"S3Prefix"`
	S3Region     AWSRegion     `json:"S3Region"`
	ReportStatus *ReportStatus `json:"ReportStatus"`
}

// ReportStatus is a part of responses.
type ReportStatus struct {
	LastStatus LastStatus `json:"lastStatus"`
}

// PageToken returns the place of the token that names the page.
func (i *DescribeReportDefinitionsInput) PageToken() **string { return &i.NextToken }

// NextPageToken returns the token of the next page, or nil.
func (o *DescribeReportDefinitionsOutput) NextPageToken() *string { return o.NextToken }

// AWSRegion is an awsregion in AWS's words.
type AWSRegion string

// LastStatus is a last status in AWS's words.
type LastStatus string
