package cloudwatchlogs

// DescribeLogGroupsInput is the request of DescribeLogGroups.
type DescribeLogGroupsInput struct {
	Limit     *int32  `json:"limit,omitzero"`
	NextToken *string `json:"nextToken,omitzero"`
}

// DescribeLogGroupsOutput is the response of DescribeLogGroups.
type DescribeLogGroupsOutput struct {
	LogGroups []LogGroup `json:"logGroups"`
	NextToken *string    `json:"nextToken"`
}

// LogGroup is a part of responses.
type LogGroup struct {
	Arn             *string       `json:"arn"`
	LogGroupClass   LogGroupClass `json:"logGroupClass"`
	LogGroupName    *string       `json:"logGroupName"`
	RetentionInDays *int32        `json:"retentionInDays"`
	StoredBytes     *int64        `json:"storedBytes"`
}

// PageToken returns the place of the token that names the page.
func (i *DescribeLogGroupsInput) PageToken() **string { return &i.NextToken }

// NextPageToken returns the token of the next page, or nil.
func (o *DescribeLogGroupsOutput) NextPageToken() *string { return o.NextToken }

// LogGroupClass is a class of log groups, in AWS's words.
type LogGroupClass string
