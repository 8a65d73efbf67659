package platform

import (
	"log/slog"
	"time"
)

// Namespace is where CloudWatch keeps the metrics of the lines that Metrics is in, by the dimension "stage".
const Namespace = "Lamplighter"

// embedded tells CloudWatch which members of a line of the log are metrics (CloudWatch user guide, "Specification: Embedded metric
// format").
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

// Metrics returns what makes metrics of the stage of a line's attributes of these names, which are numbers: CloudWatch then has
// their sum, their maximum and so on, and the other attributes of the line, such as the organization, can be searched for and
// grouped by, for no price of their own. Outside of AWS there is no stage, and nothing is returned.
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
