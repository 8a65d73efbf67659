package cloudwatchlogs

// DescribeLogGroupsInput is the request of DescribeLogGroups.
type DescribeLogGroupsInput struct {
	LogGroupIdentifiers []string `json:"logGroupIdentifiers,omitzero"`
}

// DescribeLogGroupsOutput is the response of DescribeLogGroups.
type DescribeLogGroupsOutput struct {
	LogGroups []LogGroup `json:"logGroups"`
}

// LogGroup is a part of responses.
type LogGroup struct {
	Arn             *string       `json:"arn"`
	LogGroupClass   LogGroupClass `json:"logGroupClass"`
	LogGroupName    *string       `json:"logGroupName"`
	RetentionInDays *int32        `json:"retentionInDays"`
	StoredBytes     *int64        `json:"storedBytes"`
}

// LogGroupClass is a class of log groups, in AWS's words.
type LogGroupClass string
