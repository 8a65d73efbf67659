package googlerest

import "encoding/json"

// TimeSeries is the points of a metric of one resource, newest first.
type TimeSeries struct {
	Metadata *struct {
		SystemLabels json.RawMessage   `json:"systemLabels"`
		UserLabels   map[string]string `json:"userLabels"`
	} `json:"metadata"`
	Metric struct {
		Labels map[string]string `json:"labels"`
	} `json:"metric"`
	Points []struct {
		Interval struct {
			EndTime string `json:"endTime"`
		} `json:"interval"`
		Value TypedValue `json:"value"`
	} `json:"points"`
	Resource struct {
		Labels map[string]string `json:"labels"`
	} `json:"resource"`
}

// TypedValue is the value of a point: one of the two, or neither for a type that this service does not read.
type TypedValue struct {
	DoubleValue *Float `json:"doubleValue"`
	Int64Value  *int64 `json:"int64Value,string"`
}

// TimeSeriesList is a page of time series.
type TimeSeriesList struct {
	NextPageToken string        `json:"nextPageToken"`
	TimeSeries    []*TimeSeries `json:"timeSeries"`
}
