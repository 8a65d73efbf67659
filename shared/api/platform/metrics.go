package platform

import (
	"log/slog"
	"time"
)

// Namespace is the CloudWatch namespace of the metrics in lines with Metrics. Their dimension is "stage".
const Namespace = "Lamplighter"

// embedded tells CloudWatch which members of a log line are metrics (CloudWatch user guide, "Specification: Embedded
// metric format").
type embedded struct {
	Timestamp         int64 // milliseconds since 1970
	CloudWatchMetrics [1]directive
}

type directive struct {
	Namespace  string
	Dimensions [1][1]string
	Metrics    []metric
}

type metric struct{ Name string }

// Metrics returns the attributes that make CloudWatch metrics of the line's numeric attributes with these names. Other
// attributes of the line, such as the organization, can be searched and grouped at no extra cost. Outside of AWS there
// is no stage, and it returns nil.
func (p *Platform) Metrics(at time.Time, names ...string) []slog.Attr {
	if p.Settings.Stage == "" {
		return nil
	}
	d := directive{Namespace: Namespace, Dimensions: [1][1]string{{"stage"}}}
	for _, n := range names {
		d.Metrics = append(d.Metrics, metric{n})
	}
	return []slog.Attr{
		slog.String("stage", p.Settings.Stage),
		slog.Any("_aws", embedded{at.UnixMilli(), [1]directive{d}}),
	}
}
