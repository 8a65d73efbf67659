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
		cloud.GCPAlloyDB: {
			"//alloydb.googleapis.com/projects/acme-prod/locations/europe-west1/clusters/c/instances/i",
			gcptwin.Series{
				Metric: "alloydb.googleapis.com/instance/postgres/total_connections",
				Labels: map[string]string{
					"location": "europe-west1", "cluster_id": "c", "instance_id": "i",
				},
				Resource: "alloydb.googleapis.com/Instance",
			},
			map[string]float64{"instance/postgres/total_connections ALIGN_MAX": 0.6},
		},
		cloud.GCPDataproc: {
			"//dataproc.googleapis.com/projects/acme-prod/regions/europe-west1/clusters/spark",
			gcptwin.Series{
				Metric: "dataproc.googleapis.com/cluster/job/submitted_count", Resource: "cloud_dataproc_cluster",
				Labels:       map[string]string{"region": "europe-west1", "cluster_name": "spark"},
				MetricLabels: map[string]string{"job_type": "SPARK_JOB"},
			},
			map[string]float64{"cluster/job/submitted_count ALIGN_DELTA": 0.8},
		},
		"gcp-filestore": {
			"//file.googleapis.com/projects/acme-prod/locations/europe-west1-b/instances/nfs",
			gcptwin.Series{
				Metric: "file.googleapis.com/nfs/server/read_ops_count", Resource: "filestore_instance",
				Labels:       map[string]string{"location": "europe-west1-b", "instance_name": "nfs"},
				MetricLabels: map[string]string{"file_share": "vol1"},
			},
			map[string]float64{"nfs/server/read_ops_count ALIGN_DELTA": 0.8},
		},
		"gcp-vpn": {
			"//compute.googleapis.com/projects/acme-prod/regions/europe-west1/vpnTunnels/office",
			gcptwin.Series{
				Metric: "vpn.googleapis.com/network/sent_bytes_count", Resource: "vpn_gateway",
				Labels:       map[string]string{"region": "europe-west1", "gateway_id": "7"},
				MetricLabels: map[string]string{"tunnel_name": "office"},
			},
			map[string]float64{"network/sent_bytes_count ALIGN_DELTA": 0.8},
		},
		"gcp-interconnect-attachment": {
			"//compute.googleapis.com/projects/acme-prod/regions/europe-west1/interconnectAttachments/line",
			gcptwin.Series{
				Metric:   "interconnect.googleapis.com/network/attachment/sent_bytes_count",
				Resource: "interconnect_attachment",
				Labels:   map[string]string{"region": "europe-west1", "attachment": "line"},
			},
			map[string]float64{"network/attachment/sent_bytes_count ALIGN_RATE": 0.8},
		},
		"gcp-gcs": {
			"//storage.googleapis.com/Acme_media.example.com",
			gcptwin.Series{
				Metric: "storage.googleapis.com/storage/v2/total_bytes", Resource: "gcs_bucket",
				Labels:       map[string]string{"location": "us", "bucket_name": "Acme_media.example.com"},
				MetricLabels: map[string]string{"storage_class": "STANDARD", "type": "noncurrent-object"},
			},
			map[string]float64{
				"storage/v2/total_bytes ALIGN_MEAN":                        0.8,
				"storage/v2/total_bytes type=noncurrent-object ALIGN_MEAN": 0.8,
			},
		},
		"gcp-spanner": {
			"//spanner.googleapis.com/projects/acme-prod/instances/ledger",
			gcptwin.Series{
				Metric: "spanner.googleapis.com/instance/cpu/utilization_by_priority", Resource: "spanner_instance",
				Labels:       map[string]string{"instance_id": "ledger"},
				MetricLabels: map[string]string{"priority": "high", "database": "d"},
			},
			map[string]float64{"instance/cpu/utilization_by_priority priority=high ALIGN_MEAN": 0.8},
		},
		"gcp-bigtable": {
			"//bigtableadmin.googleapis.com/projects/acme-prod/instances/events",
			gcptwin.Series{
				Metric: "bigtable.googleapis.com/server/request_count", Resource: "bigtable_table",
				Labels: map[string]string{"instance": "events", "table": "t"},
			},
			map[string]float64{"server/request_count ALIGN_DELTA": 0.8},
		},
		"gcp-pubsub-subscription": {
			"//pubsub.googleapis.com/projects/acme-prod/subscriptions/orders.eu",
			gcptwin.Series{
				Metric: "pubsub.googleapis.com/subscription/sent_message_count", Resource: "pubsub_subscription",
				Labels:       map[string]string{"subscription_id": "orders.eu"},
				MetricLabels: map[string]string{"delivery_type": "pull"},
			},
			map[string]float64{"subscription/sent_message_count ALIGN_DELTA": 0.8},
		},
		"gcp-log-bucket": {
			"//logging.googleapis.com/projects/acme-prod/locations/global/buckets/_Default",
			gcptwin.Series{
				Metric: "logging.googleapis.com/billing/log_bucket_bytes_ingested", Resource: "global",
				MetricLabels: map[string]string{"log_bucket_location": "global", "log_bucket_id": "_Default"},
			},
			map[string]float64{"billing/log_bucket_bytes_ingested ALIGN_DELTA": 0.8},
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

// The machine of a workbench has the name of its instance.
func TestMetricsOfAWorkbenchAreThoseOfItsMachine(t *testing.T) {
	tw, c := connect(t)
	tw.AddSeries(cpu(tw.AddInstance(gcptwin.Instance{Name: "lab", Zone: region + "-b"}), 0.25, 0.5))
	const uid = "//notebooks.googleapis.com/projects/acme-prod/locations/europe-west1-b/instances/lab"
	got, err := c.(cloud.Metered).Metrics(t.Context(), request(cloud.GCPNotebook, uid))
	if err != nil || len(got.Points) != 1 || got.Points[0].UID != uid || got.Points[0].Values[1] != 0.5 {
		t.Errorf("%+v, %v", got, err)
	}
}

// A resource of several regions is global. Its metrics are read if its name selects them, and unread otherwise: a count
// of them is not 0.
func TestMetricsOfWhatIsGlobalAreReadByName(t *testing.T) {
	tw, c := connect(t)
	const bucket = "//storage.googleapis.com/acme-media"
	tw.AddSeries(gcptwin.Series{
		Metric: "storage.googleapis.com/storage/v2/total_count", Resource: "gcs_bucket",
		Labels: map[string]string{"location": "eu", "bucket_name": "acme-media"},
		At:     map[time.Time]float64{midnight.Add(time.Hour): 7},
	})
	r := request("gcp-gcs", bucket)
	r.Region = cloud.Global
	got, err := c.(cloud.Metered).Metrics(t.Context(), r)
	if err != nil || len(got.Points) != 1 || got.Points[0].Values[0] != 7 || len(got.Unread) != 0 {
		t.Errorf("bucket: %+v, %v", got, err)
	}
	r = request("gcp-vpn", "//compute.googleapis.com/projects/acme-prod/regions/r/vpnTunnels/t")
	r.Region = cloud.Global
	got, err = c.(cloud.Metered).Metrics(t.Context(), r)
	if err != nil || got.Calls != 0 || len(got.Unread) != len(r.Measures) {
		t.Errorf("tunnel: %+v, %v", got, err)
	}
	got, err = c.(cloud.Metered).Metrics(t.Context(), request("gcp-gcs", bucket, `//storage.googleapis.com/a"b`))
	if n := len(cloud.MeasuresOf("gcp-gcs")); err != nil || len(got.Unread) != n {
		t.Errorf("a name that is none: %+v, %v; want its %d measures unread", got.Unread, err, n)
	}
}
