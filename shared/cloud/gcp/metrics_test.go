package gcp_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp/twin"
)

var midnight = time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)

// cpu is an instance's series of two hours.
func cpu(i *twin.Instance, first, second float64) twin.Series {
	return twin.Series{
		Metric: "compute.googleapis.com/instance/cpu/utilization", Resource: "gce_instance",
		Labels: map[string]string{"zone": i.Zone}, MetricLabels: map[string]string{"instance_name": i.Name},
		At: map[time.Time]float64{midnight.Add(time.Hour): first, midnight.Add(2 * time.Hour): second, midnight.Add(30 * time.Hour): 1},
	}
}

func request(kind string, uids ...string) cloud.MetricRequest {
	return cloud.MetricRequest{
		Type: kind, Region: region, UIDs: uids, Measures: cloud.MeasuresOf(kind), Period: time.Hour, From: midnight, To: midnight.Add(24 * time.Hour),
	}
}

func TestMetricsAreReadForAllResourcesInOneCallAMeasure(t *testing.T) {
	tw, c := connect(t)
	var uids []string
	for n := range 150 {
		i := tw.AddInstance(twin.Instance{Name: fmt.Sprint("web-", n), Zone: region + "-b"})
		tw.AddSeries(cpu(i, 0.25, 0.5))
		uids = append(uids, i.UID())
	}
	tw.AddSeries(cpu(tw.AddInstance(twin.Instance{Name: "web-0", Zone: "us-central1-a"}), 1, 1))
	r := request(cloud.GCPCompute, uids...)
	got, err := c.(cloud.Metered).Metrics(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	utilization := 0
	for _, m := range r.Measures {
		if m.Metric == "instance/cpu/utilization" {
			utilization++
		}
	}
	if got.Calls > 2*len(r.Measures) || utilization == 0 || got.Queries != utilization*150 || got.USD <= 0 || len(got.Points) != utilization*150 {
		t.Errorf("%d calls, %d series, %g USD, %d of points for %d measures of CPU", got.Calls, got.Queries, got.USD, len(got.Points), utilization)
	}
	p := got.Points[0]
	if want := []time.Time{midnight, midnight.Add(time.Hour)}; !slices.Equal(p.Times, want) || !slices.Equal(p.Values, []float64{0.25, 0.5}) {
		t.Errorf("points %v %v; want the two hours by their beginnings, in order", p.Times, p.Values)
	}
}

func TestMetricsOfAFewResourcesAreAskedByName(t *testing.T) {
	tw, c := connect(t)
	d := tw.AddDatabase(twin.Database{Name: "orders", Region: region})
	tw.AddSeries(twin.Series{
		Metric: "cloudsql.googleapis.com/database/cpu/utilization", Resource: "cloudsql_database",
		Labels: map[string]string{"region": region, "database_id": twin.Project + ":orders"}, At: map[time.Time]float64{midnight.Add(time.Hour): 0.1},
	})
	got, err := c.(cloud.Metered).Metrics(t.Context(), request(cloud.GCPCloudSQL, d.UID()))
	if err != nil || len(got.Points) == 0 || got.Points[0].UID != d.UID() || got.Points[0].Values[0] != 0.1 {
		t.Errorf("%+v, %v", got, err)
	}
	if f := tw.Calls("monitoring.timeSeries.list")[0].Query["filter"][0]; !strings.Contains(f, `one_of("acme-prod:orders")`) {
		t.Errorf("filter %s; want the name in it", f)
	}
}

func TestMetricsThatCannotBeReadAreToldSo(t *testing.T) {
	tw, c := connect(t)
	_, err := c.(cloud.Metered).Metrics(t.Context(), request("gcp-dns-zone"))
	wantClass(t, "a type without metrics", err, cloud.Unsupported)
	tw.AddFault(deny("monitoring.timeSeries.list"))
	i := tw.AddInstance(twin.Instance{Name: "web", Zone: region + "-b"})
	_, err = c.(cloud.Metered).Metrics(t.Context(), request(cloud.GCPCompute, i.UID()))
	wantClass(t, "without the permission", err, cloud.Denied)
}
