package cloudwatch

import (
	"lamplighter.dev/shared/cloud/aws/wire"
)

// GetMetricDataInput is the request of GetMetricData.
type GetMetricDataInput struct {
	EndTime           *wire.Time        `form:"EndTime"`
	MetricDataQueries []MetricDataQuery `form:"MetricDataQueries.member"`
	StartTime         *wire.Time        `form:"StartTime"`
	NextToken         *string           `form:"NextToken"`
	ScanBy            ScanBy            `form:"ScanBy"`
}

// GetMetricDataOutput is the response of GetMetricData.
type GetMetricDataOutput struct {
	MetricDataResults []MetricDataResult `xml:"MetricDataResults>member"`
	NextToken         *string            `xml:"NextToken"`
}

// MetricDataQuery is a part of requests.
type MetricDataQuery struct {
	Id         *string     `form:"Id"`
	MetricStat *MetricStat `form:"MetricStat"`
	ReturnData *bool       `form:"ReturnData"`
}

// MetricDataResult is a part of responses.
type MetricDataResult struct {
	Id         *string     `xml:"Id"`
	Timestamps []wire.Time `xml:"Timestamps>member"`
	Values     []float64   `xml:"Values>member"`
}

// MetricStat is a part of requests.
type MetricStat struct {
	Metric *Metric `form:"Metric"`
	Period *int32  `form:"Period"`
	Stat   *string `form:"Stat"`
}

// Metric is a part of requests.
type Metric struct {
	Dimensions []Dimension `form:"Dimensions.member"`
	MetricName *string     `form:"MetricName"`
	Namespace  *string     `form:"Namespace"`
}

// Dimension is a part of requests.
type Dimension struct {
	Name  *string `form:"Name"`
	Value *string `form:"Value"`
}

// ScanBy is a scan by in AWS's words.
type ScanBy string

// Values of ScanBy that Lamplighter knows.
const (
	ScanByTimestampAscending ScanBy = "TimestampAscending"
)

// DescribeAlarmsInput is the request of DescribeAlarms.
type DescribeAlarmsInput struct {
	AlarmNames []string    `form:"AlarmNames.member"`
	AlarmTypes []AlarmType `form:"AlarmTypes.member"`
	MaxRecords *int32      `form:"MaxRecords"`
}

// DescribeAlarmsOutput is the response of DescribeAlarms.
type DescribeAlarmsOutput struct {
	CompositeAlarms []CompositeAlarm `xml:"CompositeAlarms>member"`
	MetricAlarms    []MetricAlarm    `xml:"MetricAlarms>member"`
}

// CompositeAlarm is a part of responses.
type CompositeAlarm struct {
	AlarmActions          []string   `xml:"AlarmActions>member"`
	AlarmArn              *string    `xml:"AlarmArn"`
	StateUpdatedTimestamp *wire.Time `xml:"StateUpdatedTimestamp"`
	StateValue            StateValue `xml:"StateValue"`
}

// MetricAlarm is a part of responses.
type MetricAlarm struct {
	AlarmActions          []string   `xml:"AlarmActions>member"`
	AlarmArn              *string    `xml:"AlarmArn"`
	StateUpdatedTimestamp *wire.Time `xml:"StateUpdatedTimestamp"`
	StateValue            StateValue `xml:"StateValue"`
}

// AlarmType is a type of alarm in AWS's words.
type AlarmType string

// Values of AlarmType that Lamplighter knows.
const (
	AlarmTypeCompositeAlarm AlarmType = "CompositeAlarm"
	AlarmTypeMetricAlarm    AlarmType = "MetricAlarm"
)

// StateValue is a state of an alarm in AWS's words.
type StateValue string
