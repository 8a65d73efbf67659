package connector

import (
	"context"
	"time"

	"lamplighter.dev/shared/cloud"
)

// metricsPatience is how long the cloud may take: less than a caller of the API waits.
const metricsPatience = 20 * time.Second

// readMetrics asks the cloud for the measured usage of a resource.
func readMetrics(ctx context.Context, conn cloud.Conn, r cloud.MetricRequest) (cloud.MetricAnswer, error) {
	m, ok := conn.(cloud.Metered)
	if !ok {
		return cloud.MetricAnswer{},
			clientFault(&cloud.Error{Class: cloud.Unsupported, Message: "this provider has no metrics"})
	}
	ctx, cancel := context.WithTimeout(ctx, metricsPatience)
	defer cancel()
	got, err := m.Metrics(ctx, r)
	return got, clientFault(err)
}
