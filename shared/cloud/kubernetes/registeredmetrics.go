package kubernetes

import (
	"context"
	"strings"

	"lamplighter.dev/shared/cloud"
)

// Metrics are those of the cloud, or of the clusters that the uids are in.
func (a *account) Metrics(ctx context.Context, r cloud.MetricRequest) (cloud.MetricAnswer, error) {
	_, inside := promTypes[r.Type]
	if inside && len(a.clustersIn(r.Region)) > 0 {
		return a.metricsInside(ctx, r)
	}
	c, ok := a.Conn.(cloud.Metered)
	if !ok || isInCluster(r.Type) {
		return cloud.MetricAnswer{}, cloud.ErrUnsupported("%s is not measured here", r.Type)
	}
	return c.Metrics(ctx, r)
}

// metricsInside asks each cluster for its objects. Those of a cluster that does not give metrics are unread. An error
// that may pass is returned, and one of the only cluster.
func (a *account) metricsInside(ctx context.Context, r cloud.MetricRequest) (cloud.MetricAnswer, error) {
	o := a.openClusters(ctx, r.Region)
	in := map[*conn][]string{}
	out := cloud.MetricAnswer{}
	for _, uid := range r.UIDs {
		c, err := o.clusterOf(uid)
		if err != nil && mayPass(err) {
			return cloud.MetricAnswer{}, err
		}
		if err != nil {
			out.Unread, out.UnreadReason = append(out.Unread, cloud.UnreadAll([]string{uid}, r)...), err.Error()
			continue
		}
		in[c] = append(in[c], uid)
	}
	for c, uids := range in {
		mine := r
		mine.UIDs = uids
		got, err := c.Metrics(ctx, mine)
		switch {
		case err != nil && (mayPass(err) || len(uids) == len(r.UIDs)):
			return cloud.MetricAnswer{}, err
		case err != nil:
			name := strings.TrimPrefix(c.displayName()+": ", "cluster: ")
			got = cloud.MetricAnswer{Unread: cloud.UnreadAll(uids, mine), UnreadReason: name + err.Error()}
		}
		out.Points, out.Unread = append(out.Points, got.Points...), append(out.Unread, got.Unread...)
		out.Calls, out.Queries = out.Calls+got.Calls, out.Queries+got.Queries
		if got.UnreadReason != "" {
			out.UnreadReason = got.UnreadReason
		}
	}
	return out, nil
}
