package gcp_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/gcptwin"
)

var midnight = time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)

// cpu is an instance's series of two hours.
func cpu(i *gcptwin.Instance, first, second float64) gcptwin.Series {
	return gcptwin.Series{
		Metric: "compute.googleapis.com/instance/cpu/utilization", Resource: "gce_instance",
		Labels: map[string]string{"zone": i.Zone}, MetricLabels: map[string]string{"instance_name": i.Name},
		At: map[time.Time]float64{
			midnight.Add(time.Hour): first, midnight.Add(2 * time.Hour): second,
			midnight.Add(30 * time.Hour): 1,
		},
	}
}

func request(kind string, uids ...string) cloud.MetricRequest {
	return cloud.MetricRequest{
		Type: kind, Region: region, UIDs: uids, Measures: cloud.MeasuresOf(kind), Period: time.Hour, From: midnight,
		To: midnight.Add(24 * time.Hour),
	}
}

func TestMetricsAreReadForAllResourcesInOneCallAMeasure(t *testing.T) {
	tw, c := connect(t)
	var uids []string
	for n := range 150 {
		i := tw.AddInstance(gcptwin.Instance{Name: fmt.Sprint("web-", n), Zone: region + "-b"})
		tw.AddSeries(cpu(i, 0.25, 0.5))
		uids = append(uids, i.UID())
	}
	tw.AddSeries(cpu(tw.AddInstance(gcptwin.Instance{Name: "web-0", Zone: "us-central1-a"}), 1, 1))
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
	if got.Calls > 2*len(r.Measures) || utilization == 0 || got.Queries != utilization*150 || got.USD <= 0 ||
		len(got.Points) != utilization*150 {
		t.Errorf("%d calls, %d series, %g USD, %d of points for %d measures of CPU", got.Calls, got.Queries, got.USD,
			len(got.Points), utilization)
	}
	p := got.Points[0]
	if want := []time.Time{midnight, midnight.Add(time.Hour)}; !slices.Equal(p.Times, want) ||
		!slices.Equal(p.Values, []float64{0.25, 0.5}) {
		t.Errorf("points %v %v; want the two hours by their beginnings, in order", p.Times, p.Values)
	}
}

func TestMetricsOfAFewResourcesAreAskedByName(t *testing.T) {
	tw, c := connect(t)
	d := tw.AddDatabase(gcptwin.Database{Name: "orders", Region: region})
	tw.AddSeries(gcptwin.Series{
		Metric: "cloudsql.googleapis.com/database/cpu/utilization", Resource: "cloudsql_database",
		Labels: map[string]string{"region": region, "database_id": gcptwin.Project + ":orders"},
		At:     map[time.Time]float64{midnight.Add(time.Hour): 0.1},
	})
	got, err := c.(cloud.Metered).Metrics(t.Context(), request(cloud.GCPCloudSQL, d.UID()))
	if err != nil || len(got.Points) == 0 || got.Points[0].UID != d.UID() || got.Points[0].Values[0] != 0.1 {
		t.Errorf("%+v, %v", got, err)
	}
	if f := tw.Calls("monitoring.timeSeries.list")[0].Query["filter"][0]; !strings.Contains(f,
		`one_of("acme-prod:orders")`) {
		t.Errorf("filter %s; want the name in it", f)
	}
}

func TestMetricsThatCannotBeReadAreToldSo(t *testing.T) {
	tw, c := connect(t)
	_, err := c.(cloud.Metered).Metrics(t.Context(), request("gcp-dns-zone"))
	wantClass(t, "a type without metrics", err, cloud.Unsupported)
	tw.AddFault(deny("monitoring.timeSeries.list"))
	i := tw.AddInstance(gcptwin.Instance{Name: "web", Zone: region + "-b"})
	_, err = c.(cloud.Metered).Metrics(t.Context(), request(cloud.GCPCompute, i.UID()))
	wantClass(t, "without the permission", err, cloud.Denied)
}

// A resource that consists of parts has a series for each part. Cloud Monitoring combines them into one.
func TestMetricsOfWhatHasPartsAreMadeOneSeries(t *testing.T) {
	for kind, tt := range map[string]struct {
		uid    string
		series gcptwin.Series
		want   map[string]float64 // by measure and statistic, of two parts with 0.2 and 0.6
	}{
		cloud.GCPMIG: {
			"//compute.googleapis.com/projects/acme-prod/zones/europe-west1-b/instanceGroupManagers/web",
			gcptwin.Series{
				Metric: "compute.googleapis.com/instance/cpu/utilization", Resource: "gce_instance",
				Labels: map[string]string{"zone": "europe-west1-b"},
				System: map[string]string{"instance_group": "web"},
			},
			map[string]float64{"instance/cpu/utilization ALIGN_MAX": 0.6, "instance/cpu/utilization ALIGN_MEAN": 0.4},
		},
		cloud.GCPGKENodepool: {
			"//container.googleapis.com/projects/acme-prod/locations/europe-west1/clusters/prod/nodePools/batch",
			gcptwin.Series{
				Metric: "kubernetes.io/node/cpu/allocatable_utilization", Resource: "k8s_node",
				Labels: map[string]string{"location": "europe-west1", "cluster_name": "prod"},
				User:   map[string]string{"cloud.google.com/gke-nodepool": "batch"},
			},
			map[string]float64{
				"node/cpu/allocatable_utilization ALIGN_MAX":  0.6,
				"node/cpu/allocatable_utilization ALIGN_MEAN": 0.4,
			},
		},
		cloud.GCPCloudRun: {
			"//run.googleapis.com/projects/acme-prod/locations/europe-west1/services/shop",
			gcptwin.Series{
				Metric: "run.googleapis.com/container/instance_count", Resource: "cloud_run_revision",
				Labels:       map[string]string{"location": "europe-west1", "service_name": "shop"},
				MetricLabels: map[string]string{"state": "idle"},
			},
			map[string]float64{
				"container/instance_count ALIGN_MEAN":            0.8,
				"container/instance_count state=idle ALIGN_MEAN": 0.8,
			},
		},
		"gcp-memorystore": {
			"//redis.googleapis.com/projects/acme-prod/locations/europe-west1/instances/c",
			gcptwin.Series{
				Metric: "redis.googleapis.com/stats/memory/usage_ratio", Resource: "redis_instance",
				Labels: map[string]string{
					"region":      "europe-west1",
					"instance_id": "projects/acme-prod/locations/europe-west1/instances/c",
				},
			},
			map[string]float64{"stats/memory/usage_ratio ALIGN_MAX": 0.6},
		},
	} {
		tw, c := connect(t)
		for _, v := range []float64{0.2, 0.6} {
			tt.series.At = map[time.Time]float64{midnight.Add(time.Hour): v}
			tw.AddSeries(tt.series)
		}
		r := request(kind, tt.uid)
		got, err := c.(cloud.Metered).Metrics(t.Context(), r)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		told := map[string]float64{}
		for _, p := range got.Points {
			if p.UID != tt.uid || len(p.Values) != 1 {
				t.Fatalf("%s: %+v", kind, p)
			}
			told[r.Measures[p.Measure].Metric+" "+r.Measures[p.Measure].Statistic] = p.Values[0]
		}
		if fmt.Sprint(told) != fmt.Sprint(tt.want) || got.Calls != len(r.Measures) {
			t.Errorf("%s: %v by %d calls; want %v by %d", kind, told, got.Calls, tt.want, len(r.Measures))
		}
	}
}

// The bar is 120 calls for 10,000 resources (issue). A page holds 100,000 points.
func TestMetricsOfTenThousandResourcesTakeFewCalls(t *testing.T) {
	tw, c := connect(t)
	var uids []string
	at := map[time.Time]float64{midnight.Add(time.Hour): 0.5} // one point: the calls are counted, not the points
	tw.Page = 4166                                            // series of 24 points that a page holds
	for n := range 10_000 {
		name := fmt.Sprint("web-", n)
		s := gcptwin.Series{
			Resource: "gce_instance", Labels: map[string]string{"zone": region + "-b"},
			MetricLabels: map[string]string{"instance_name": name}, At: at,
		}
		s.Metric = "compute.googleapis.com/instance/cpu/utilization"
		tw.AddSeries(s)
		uids = append(uids, "//compute.googleapis.com/projects/"+gcptwin.Project+"/zones/"+region+"-b/instances/"+name)
	}
	got, err := c.(cloud.Metered).Metrics(t.Context(), request(cloud.GCPCompute, uids...))
	if err != nil || got.Calls > 120 || got.Calls != len(tw.Calls("monitoring.timeSeries.list")) ||
		got.Queries < 10_000 {
		t.Errorf("%d calls, %d series, %v; want 120 calls at most", got.Calls, got.Queries, err)
	}
	t.Logf("%d calls, %.4f USD", got.Calls, got.USD)
}
