package costexplorer

// GetCostAndUsageInput is the request of GetCostAndUsage.
type GetCostAndUsageInput struct {
	Granularity   Granularity       `json:"Granularity,omitzero"`
	Metrics       []string          `json:"Metrics,omitzero"`
	TimePeriod    *DateInterval     `json:"TimePeriod,omitzero"`
	GroupBy       []GroupDefinition `json:"GroupBy,omitzero"`
	NextPageToken *string           `json:"NextPageToken,omitzero"`
}

// GetCostAndUsageOutput is the response of GetCostAndUsage.
type GetCostAndUsageOutput struct {
	NextPageToken *string        `json:"NextPageToken"`
	ResultsByTime []ResultByTime `json:"ResultsByTime"`
}

// DateInterval is a part of requests and responses.
type DateInterval struct {
	End   *string `json:"End,omitzero"`
	Start *string `json:"Start,omitzero"`
}

// GroupDefinition is a part of requests.
type GroupDefinition struct {
	Key  *string             `json:"Key,omitzero"`
	Type GroupDefinitionType `json:"Type,omitzero"`
}

// ResultByTime is a part of responses.
type ResultByTime struct {
	Groups     []Group                `json:"Groups"`
	TimePeriod *DateInterval          `json:"TimePeriod"`
	Total      map[string]MetricValue `json:"Total"`
}

// Group is a part of responses.
type Group struct {
	Keys    []string               `json:"Keys"`
	Metrics map[string]MetricValue `json:"Metrics"`
}

// MetricValue is a part of responses.
type MetricValue struct {
	Amount *string `json:"Amount"`
	Unit   *string `json:"Unit"`
}

// Granularity is a granularity in AWS's words.
type Granularity string

// GroupDefinitionType is a group definition type in AWS's words.
type GroupDefinitionType string

// Values of Granularity that Lamplighter knows.
const (
	GranularityDaily   Granularity = "DAILY"
	GranularityMonthly Granularity = "MONTHLY"
)

// Values of GroupDefinitionType that Lamplighter knows.
const (
	GroupDefinitionTypeDimension GroupDefinitionType = "DIMENSION"
)
